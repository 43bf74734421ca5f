// gather-waits (the language's dependence_nop): the waits of consecutive local reduces, moved
// before the first.
//
// The runtimes merge consecutive `re` steps into one pass over the data, but only steps that wait
// for nothing. Moving the waits of a whole run of `re` nodes to its first makes the run mergeable.
// Waiting earlier changes no meaning; it can deadlock, where a later reduce waits for something
// that an earlier one lets happen. So only nodes with nothing but `re` between them form a run, and
// the result is executed (execution_check.h): where it would not run to its end, all moves are
// taken back.
#pragma once

#include "passes/instruction_graph.h"
#include "passes/schedule.h"

namespace hocket::passes {

void gather_waits(Graph& graph, const Capacity& capacity);

}  // namespace hocket::passes
