// Numbers the nodes of a scheduled graph anew: those of a rank together, in the order in which the
// rank runs them.
//
// Before it, nodes are numbered as the trace has them, which is how the scheduler needs them. After
// it every pass works rank by rank, and walks nodes, dependences and messages where they lie in
// memory: at a million nodes that is worth a third of the compiler's time.
//
// Absorbed nodes are gone, and dependence lists name the node that absorbed them; resolve() is the
// identity from here on. Messages are numbered by their senders. graph.order has the new numbers.
// Linear.
#pragma once

#include "passes/instruction_graph.h"

namespace hocket::passes {

void number_by_rank(Graph& graph);

}  // namespace hocket::passes
