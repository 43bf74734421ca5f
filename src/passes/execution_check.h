// Does the scheduled graph run to its end? The exact criterion, by one greedy execution: every
// threadblock runs its nodes in order, transfer by transfer, waiting for its waits, for data and
// for slots. Execution is confluent (schedule.h), so the answer holds for every timing. Near-linear
// in transfers.
#pragma once

#include "passes/instruction_graph.h"
#include "passes/schedule.h"

namespace hocket::passes {

bool runs_to_end(const Graph& graph, const Capacity& capacity);

}  // namespace hocket::passes
