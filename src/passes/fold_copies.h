// fold-copies: a local copy that only feeds the reduce which overwrites it becomes that reduce's
// local operand.
//
// Out of place, a reduction is written as "copy my input to the output, then reduce what arrives
// into the output". A receive-reduce-copy takes its local operand from any place: the copy C of S
// to D, followed by an X that adds what it receives to D, is X adding it to S and storing in D. One
// step less, and one trip through memory less.
//
// Folded when X is the first node that depends on C, is a receive-reduce-copy onto exactly C's
// destination, and is of the same instance and (placed by hand) threadblock. Then nobody between
// them reads D or writes S, both of which depend on C; whoever writes S later depended on C's read
// and now depends on X's, which is later but before it. Folding moves C's dependences to X, so node
// order stays topological. Values keep their numbers of readers: X reads S in C's stead.
//
// After expand, before fuse. Linear.
#pragma once

#include "passes/instruction_graph.h"

namespace hocket::passes {

void fold_copies(Graph& graph);

}  // namespace hocket::passes
