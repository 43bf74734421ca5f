// Finds the first dependent of every copy, folds, and moves the dependences.
#include "passes/fold_copies.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace hocket::passes {
namespace {

bool folds_into(const Node& copy, const Node& reduce) {
  return reduce.op == OpCode::recv_reduce_copy && reduce.src_buffer == copy.dst_buffer &&
         reduce.src_index == copy.dst_index && reduce.dst_buffer == copy.dst_buffer &&
         reduce.dst_index == copy.dst_index && reduce.count == copy.count &&
         reduce.instance == copy.instance && reduce.manual_tb == copy.manual_tb;
}

// Gives every node that has swallowed a copy the dependences of both.
void move_dependences(Graph& graph, const BigVector<NodeId>& copy_of) {
  BigVector<std::uint32_t> first;
  BigVector<NodeId> preds;
  first.reserve(graph.size() + 1);
  preds.reserve(graph.preds.size());
  first.push_back(0);
  for (NodeId n = 0; n < graph.size(); ++n) {
    const auto start = static_cast<std::ptrdiff_t>(preds.size());
    if (graph.nodes[n].active) {
      const NodeId copy = copy_of[n];
      for (const NodeId p : graph.preds_of(n)) {
        if (p != copy) preds.push_back(p);
      }
      if (copy != kNone) {
        for (const NodeId p : graph.preds_of(copy)) preds.push_back(p);
        std::sort(preds.begin() + start, preds.end());
        preds.erase(std::unique(preds.begin() + start, preds.end()), preds.end());
      }
    }
    first.push_back(static_cast<std::uint32_t>(preds.size()));
  }
  graph.first_pred = std::move(first);
  graph.preds = std::move(preds);
}

}  // namespace

void fold_copies(Graph& graph) {
  BigVector<NodeId> first_dependent(graph.size(), kNone);
  bool any = false;
  for (NodeId n = 0; n < graph.size(); ++n) {
    for (const NodeId p : graph.preds_of(n)) {
      if (first_dependent[p] != kNone) continue;
      first_dependent[p] = n;
      any = any || graph.nodes[p].op == OpCode::copy;
    }
  }
  if (!any) return;
  BigVector<NodeId> copy_of(graph.size(), kNone);  // that a node has swallowed
  any = false;
  for (NodeId c = 0; c < graph.size(); ++c) {
    Node& copy = graph.nodes[c];
    const NodeId x = first_dependent[c];
    if (copy.op != OpCode::copy || x == kNone || !folds_into(copy, graph.nodes[x])) continue;
    graph.nodes[x].src_buffer = copy.src_buffer;
    graph.nodes[x].src_index = copy.src_index;
    copy.active = false;
    graph.absorbed_into[c] = x;
    copy_of[x] = c;
    any = true;
  }
  if (any) move_dependences(graph, copy_of);
}

}  // namespace hocket::passes
