// The graph as people read it, for --print-after: one line an instruction, by rank; before the
// schedule in trace order, after threadblocks are assigned by threadblock.
#pragma once

#include <string>

#include "passes/instruction_graph.h"

namespace hocket::passes {

std::string print(const Graph& graph);

}  // namespace hocket::passes
