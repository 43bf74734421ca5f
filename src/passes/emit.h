// emit: the algorithm, from the scheduled and synchronised graph.
//
// Threadblocks of a rank are numbered by (send peer, receive peer, channel), as the runtimes like
// them. Extra waits become nops before their step. Operands are those of the executing rank; the
// operand that a step does not use names the place at the other end of the message. Buffer sizes
// are the collective's, not the largest index used; in place, the buffer that aliasing leaves
// unused has none.
//
// Consecutive `re` steps of one destination are merged by the runtimes' loaders, which compare
// neither counts nor the length of the chain; a chain that would change its meaning, or grow past
// the target's limit, is broken by has_dependent on the step before the break (a store, nothing
// more).
#pragma once

#include <cstdint>
#include <optional>

#include "passes/instruction_graph.h"

namespace hocket::passes {

struct EmitOptions {
  int max_fused_reduces = 15;
  std::int64_t min_bytes = 0;
  std::optional<std::int64_t> max_bytes = {};
};

Algorithm emit(const Graph& graph, const EmitOptions& options);

}  // namespace hocket::passes
