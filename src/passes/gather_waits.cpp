// Moves the waits of runs of reduces, and takes the move back where it would deadlock.
#include "passes/gather_waits.h"

#include <algorithm>

#include "passes/execution_check.h"

namespace hocket::passes {

void gather_waits(Graph& graph, const Capacity& capacity) {
  std::vector<BigVector<NodeId>> moved(graph.size());
  bool any = false;
  for (BlockId b = 0; b < graph.blocks.size(); ++b) {
    const std::span<const NodeId> nodes = graph.nodes_of_block(b);
    for (std::size_t i = 0; i < nodes.size();) {
      std::size_t end = i;
      while (end < nodes.size() && graph.nodes[nodes[end]].op == OpCode::reduce) ++end;
      BigVector<NodeId> all;
      for (std::size_t k = i; k < end; ++k) {
        for (const NodeId w : graph.waits_of(nodes[k])) all.push_back(w);
      }
      // Of several waits for one threadblock the latest implies the others.
      std::sort(all.begin(), all.end(), [&](NodeId x, NodeId y) {
        return std::pair(graph.block_of[x], graph.position[x]) <
               std::pair(graph.block_of[y], graph.position[y]);
      });
      BigVector<NodeId> kept;
      for (const NodeId w : all) {
        if (!kept.empty() && graph.block_of[kept.back()] == graph.block_of[w]) kept.pop_back();
        kept.push_back(w);
      }
      if (end > i + 1) any = any || !kept.empty();
      if (end > i) moved[nodes[i]] = std::move(kept);
      i = std::max(end, i + 1);
    }
  }
  if (!any) return;

  const BigVector<std::uint32_t> old_first = graph.first_wait;
  const BigVector<NodeId> old_waits = graph.waits;
  graph.waits.clear();
  for (NodeId n = 0; n < graph.size(); ++n) {
    if (graph.nodes[n].active && graph.nodes[n].op == OpCode::reduce) {
      graph.waits.insert(graph.waits.end(), moved[n].begin(), moved[n].end());
    } else {
      graph.waits.insert(graph.waits.end(), old_waits.begin() + old_first[n],
                         old_waits.begin() + old_first[n + 1]);
    }
    graph.first_wait[n + 1] = static_cast<std::uint32_t>(graph.waits.size());
  }
  if (!runs_to_end(graph, capacity)) {
    graph.first_wait = old_first;
    graph.waits = old_waits;
  }
}

}  // namespace hocket::passes
