// synchronize: the waits that remain when all implied ones are dropped.
//
// A node must wait for every node it depends on that runs in another threadblock of its rank.
// Waiting for a node means waiting for everything before it in its threadblock and for everything
// those waited for. Walking a rank's nodes in the global order, each threadblock carries a vector
// of how far it knows every other threadblock to be; a dependence that the vector covers is implied
// by program order or by another wait, and is dropped. Taking a node's dependences latest first
// leaves a minimal set: what a later one implies is never kept beside it.
//
// Orderings that exist only through another rank (a message out and one back) are not counted: for
// a read after a write the runtimes do not promise them.
//
// Time: nodes times the threadblocks of their rank, and only on ranks where something waits.
#pragma once

#include "passes/instruction_graph.h"

namespace hocket::passes {

// Sets graph.first_wait and graph.waits; the waits of a node are of distinct threadblocks, latest
// last.
void synchronize(Graph& graph);

}  // namespace hocket::passes
