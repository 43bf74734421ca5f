// Does what warnings of waste say could be done. Knows nothing of how they were found.
#pragma once

#include <vector>

#include "hocket/algorithm.h"
#include "hocket/verify.h"

namespace hocket::mutation {

// All findings are of one code.
Algorithm apply_waste(const Algorithm& algorithm, const std::vector<Finding>& findings);

}  // namespace hocket::mutation
