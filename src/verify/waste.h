// What could be left out of a right algorithm (codes HK1010 to HK1017), as warnings.
//
// A warning is true: what it says can be done leaves the algorithm right, done alone or together
// with all others of its code; of dead steps only together, since one may be dead because what
// reads it is. What could not be shown to be safe is not claimed:
// * messages that nobody needs may still put a read before a write, so races are looked for again
//   without them;
// * a fused step must not make the algorithm stick, so it is run again with all fused, and its
//   waiters must not wait longer, so there are none;
// * removing a dependence or a flag must not make loaders merge reduces that they keep apart.
//
// Everything is linear, but for implied dependences: waits times threadblocks of the rank.
#pragma once

#include <cstdint>
#include <vector>

#include "verify/execution_order.h"
#include "verify/loaded.h"

namespace hocket::verifying {

struct Waste {
  std::vector<Finding> findings;  // at most options.max_findings of each code, code after code
  std::int64_t num_findings = 0;  // all of them
};

// The order must be complete, and everything but the result proved. `result_known`: the result is
// proved too, and this is the only way in which the algorithm is called; else nothing is said that
// rests on which contents anybody needs.
Waste find_waste(const Loaded& loaded, const ExecutionOrder& order, const VerifyOptions& options,
                 bool result_known);

}  // namespace hocket::verifying
