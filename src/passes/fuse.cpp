// Chain lengths, and the choice of which send a receive absorbs.
#include "passes/fuse.h"

#include <algorithm>

namespace hocket::passes {

// Node order is topological, so one walk does.
BigVector<std::uint32_t> heights(const Graph& graph) {
  BigVector<std::uint32_t> height(graph.size(), 0);
  for (std::size_t i = graph.size(); i-- > 0;) {
    const Node& node = graph.nodes[i];
    if (!node.active) continue;
    const auto raise = [&](NodeId pred) {
      if (pred != i) height[pred] = std::max(height[pred], height[i] + 1);
    };
    for (const NodeId pred : graph.preds_of(static_cast<NodeId>(i))) raise(graph.resolve(pred));
    if (node.in != kNone) raise(graph.messages[node.in].send);
  }
  return height;
}

BigVector<std::uint32_t> depths(const Graph& graph) {
  BigVector<std::uint32_t> depth(graph.size(), 0);
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const Node& node = graph.nodes[i];
    if (!node.active) continue;
    for (const NodeId p : graph.preds_of(static_cast<NodeId>(i))) {
      const NodeId pred = graph.resolve(p);
      if (pred != i) depth[i] = std::max(depth[i], depth[pred] + 1);
    }
    if (node.in != kNone) depth[i] = std::max(depth[i], depth[graph.messages[node.in].send] + 1);
  }
  return depth;
}

void fuse(Graph& graph) {
  const BigVector<std::uint32_t> height = heights(graph);
  BigVector<NodeId> chosen(graph.size(), kNone);  // of a receive: the send it will absorb
  for (NodeId y = 0; y < graph.size(); ++y) {
    const Node& send = graph.nodes[y];
    if (send.op != OpCode::send || graph.preds_of(y).size() != 1) continue;
    const NodeId x = graph.preds_of(y)[0];
    const Node& recv = graph.nodes[x];
    if (recv.op != OpCode::recv && recv.op != OpCode::recv_reduce_copy) continue;
    const bool same_place = recv.dst_buffer == send.src_buffer &&
                            recv.dst_index == send.src_index && recv.count == send.count;
    const bool same_home = recv.instance == send.instance && recv.manual_tb == send.manual_tb &&
                           recv.channel == send.channel;
    if (!same_place || !same_home) continue;
    if (chosen[x] == kNone || height[chosen[x]] < height[y]) chosen[x] = y;
  }
  for (NodeId x = 0; x < graph.size(); ++x) {
    if (chosen[x] == kNone) continue;
    const bool value_dead = graph.readers[x] == 1 &&
                            graph.dead_parts[x] == static_cast<std::uint32_t>(graph.nodes[x].count);
    graph.fuse(x, chosen[x], value_dead);
  }
}

}  // namespace hocket::passes
