// Channels and threadblocks where the program places every operation itself: the rules and the
// refusals are described in assign_channels.h.
#pragma once

#include "passes/instruction_graph.h"

namespace hocket::passes {

// Sets every message's channel (before instances are moved apart).
void assign_manual_channels(Graph& graph);

}  // namespace hocket::passes
