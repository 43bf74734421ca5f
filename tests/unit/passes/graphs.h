// Small programs as graphs, for the tests of the passes.
#pragma once

#include <string>
#include <vector>

#include "hocket/program.h"
#include "ir/trace.h"
#include "passes/assign_threadblocks.h"
#include "passes/expand.h"
#include "passes/fuse.h"
#include "passes/schedule.h"
#include "passes/synchronize.h"

namespace hocket::passes {

// A program on `ranks` fully connected ranks whose every slot is wanted at the end: each rank has
// `chunks` of input and of output.
inline Program program(int ranks, int chunks, ProgramOptions options = {}) {
  CustomCollective c("test", ranks, chunks);
  for (int r = 0; r < ranks; ++r) {
    c.buffers(r, chunks, chunks);
    for (int k = 0; k < chunks; ++k) c.holds(r, {BufferKind::input, k}, {r, k});
  }
  return Program("test", fully_connected(ranks), c.without_postcondition().build(), options);
}

// The active instructions of a rank in trace order, as "s input[0]" and the like.
inline std::vector<std::string> names(const Graph& graph, int rank) {
  std::vector<std::string> result;
  for (const Node& node : graph.nodes) {
    if (node.active && node.rank == rank) result.emplace_back(op_info(node.op).name);
  }
  return result;
}

inline Graph fused(const Program& p) {
  Graph graph = expand(p.trace(), {});
  fuse(graph);
  return graph;
}

inline Graph placed(const Program& p, const Capacity& capacity = {}) {
  Graph graph = fused(p);
  schedule(graph, capacity, 32);
  assign_threadblocks(graph, capacity);
  synchronize(graph);
  return graph;
}

}  // namespace hocket::passes
