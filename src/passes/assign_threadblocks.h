// assign-threadblocks: a threadblock for every node, its nodes in the global order.
//
// Manual placement: the program's own threadblocks, one set an instance (assign_channels has
// checked their peers). Automatic: a connection has one threadblock at each end, and a fused node's
// two connections share it. What is then free is paired, per rank, instance and channel: a send
// connection with the receive connection from the same peer, else with one whose data it passes on.
// Pairs whose steps do not fit into the slots stay apart: a threadblock that must finish a send
// before it receives would make both ranks take turns. A local operation goes to a threadblock of
// its instance that has the operation it waits for, else one that waits for it, else the least
// loaded.
//
// Any assignment is right (schedule.h); this one wants few threadblocks and few waits. Near-linear.
#pragma once

#include "passes/instruction_graph.h"
#include "passes/schedule.h"

namespace hocket::passes {

void assign_threadblocks(Graph& graph, const Capacity& capacity);

}  // namespace hocket::passes
