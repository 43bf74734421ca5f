// In which order is every element of the result added up? For people who reproduce numbers.
#pragma once

#include <vector>

#include "hocket/verify.h"
#include "verify/execution.h"
#include "verify/loaded.h"

namespace hocket::verifying {

// Of every slot that ends with a sum and that the postcondition names (of all, where there is
// none). The order must be complete and `execution` its run. O(slots, and the terms of each order).
std::vector<SumOrder> reduction_orders(const Loaded& loaded, const ExecutionOrder& order,
                                       const Execution& execution);

}  // namespace hocket::verifying
