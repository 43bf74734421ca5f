// fuse: r + s -> rcs, rrc + s -> rrcs, or rrs where the sum is not needed locally.
//
// A receive X absorbs a send Y of its rank when Y sends exactly the parts that X wrote and X is the
// last writer of every one of them, i.e. Y depends on X and on nothing else. Nothing can then stand
// between them, so sending at once means the same (the received value goes out as it came in,
// whatever later overwrites the place). Of several such sends the one with the longest way still to
// go is taken. Never across instances, threadblocks or channels that the program kept apart.
//
// rrs leaves local memory as it was, which is right exactly when Y is the only reader of the sum
// and every part of it is overwritten later or not wanted at the end (readers and dead_parts, from
// expand).
//
// Linear.
#pragma once

#include "passes/instruction_graph.h"

namespace hocket::passes {

void fuse(Graph& graph);

// Longest chain of nodes from each active node to an end, over dependences and messages.
BigVector<std::uint32_t> heights(const Graph& graph);
// Longest chain of nodes to each active node from a start.
BigVector<std::uint32_t> depths(const Graph& graph);

}  // namespace hocket::passes
