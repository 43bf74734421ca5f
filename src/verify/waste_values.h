// Contents that nobody needs (code HK1013) and sums that lie on the rank already (HK1016).
//
// Both read one order backwards or forwards: without races, what is read in one order is read in
// all.
#pragma once

#include <vector>

#include "verify/execution_order.h"
#include "verify/loaded.h"
#include "verify/waste_list.h"

namespace hocket::verifying {

// Of each instruction: where it writes, does anybody read a chunk of what it wrote, or does the
// postcondition want it? Where it is a plain send, the same of what it reads, after it.
std::vector<bool> find_reads(const Loaded& loaded, const ExecutionOrder& order);

// `read` is what find_reads() says.
void find_dead_steps(const Loaded& loaded, const ExecutionOrder& order,
                     const std::vector<bool>& read, const VerifyOptions& options, WasteList& list);

// A local reduce whose sum, of the same terms in the same grouping, another chunk of the rank holds
// for good, for certain before.
void find_computed_twice(const Loaded& loaded, const ExecutionOrder& order, WasteList& list);

}  // namespace hocket::verifying
