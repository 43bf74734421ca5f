// What every chunk holds at the end: one run on contents instead of data, in any order. Without
// races every other schedule ends with the same.
//
// Contents are multisets of origins (ir/chunk_values.h). What is computed from a chunk that nobody
// wrote is worth nothing, and nothing is never right.
#pragma once

#include <vector>

#include "ir/chunk_values.h"
#include "verify/execution_order.h"
#include "verify/loaded.h"

namespace hocket::verifying {

struct Execution {
  PropertyRuling initialised;     // HK1007
  PropertyRuling postcondition;   // HK1008
  std::vector<ValueId> contents;  // of every cell at the end; kNothing: worth nothing
};

// The order must be complete. `loaded.collective` says what to expect; where its postcondition is
// not known, that is undecided.
Execution execute(const Loaded& loaded, const ExecutionOrder& order, const VerifyOptions& options);

}  // namespace hocket::verifying
