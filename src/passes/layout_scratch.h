// layout-scratch: an offset for every named scratch buffer's parts, sharing what can be shared.
//
// Only parts that some instruction touches get room. Parts that one instruction touches together
// must stay together: they form runs (maximal unions of overlapping operands). A run may take the
// place of an earlier one when every access to the earlier is known to be complete, by the waits
// already there, before any node that first writes a part of the later: then no schedule can see
// both alive. No wait is added for it. Runs are placed first-fit in the order of their first
// access.
//
// Rewrites scratch operands of all active nodes to buffer kFirstScratch with final offsets, sets
// scratch_parts. Time: nodes times threadblocks of their rank, where there is more than one run;
// the search for a place looks at a bounded number of candidates.
#pragma once

#include "passes/instruction_graph.h"

namespace hocket::passes {

void layout_scratch(Graph& graph);

}  // namespace hocket::passes
