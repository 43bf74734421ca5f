// One permutation, applied to everything that names a node.
#include "passes/number_by_rank.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace hocket::passes {
namespace {

// The new number of every node, kNone of absorbed ones. Sets first_of_rank.
BigVector<NodeId> new_numbers(Graph& graph) {
  const auto ranks = static_cast<std::size_t>(graph.trace->num_ranks());
  const auto rank = [&](NodeId n) { return static_cast<std::size_t>(graph.nodes[n].rank); };
  graph.first_of_rank.assign(ranks + 1, 0);
  for (const NodeId n : graph.order) ++graph.first_of_rank[rank(n) + 1];
  for (std::size_t r = 0; r < ranks; ++r) graph.first_of_rank[r + 1] += graph.first_of_rank[r];
  BigVector<NodeId> next(graph.first_of_rank.begin(), graph.first_of_rank.end() - 1);
  BigVector<NodeId> number(graph.size(), kNone);
  for (NodeId& n : graph.order) {
    number[n] = next[rank(n)]++;
    n = number[n];
  }
  return number;
}

// Of every new number, the old one.
BigVector<NodeId> inverse(const BigVector<NodeId>& number, std::size_t count) {
  BigVector<NodeId> old(count);
  for (NodeId n = 0; n < number.size(); ++n) {
    if (number[n] < count) old[number[n]] = n;
  }
  return old;
}

void renumber_dependences(Graph& graph, const BigVector<NodeId>& number,
                          const BigVector<NodeId>& old) {
  BigVector<std::uint32_t> first;
  BigVector<NodeId> preds;
  first.reserve(old.size() + 1);
  preds.reserve(graph.preds.size());
  first.push_back(0);
  for (NodeId n = 0; n < old.size(); ++n) {
    const auto start = static_cast<std::ptrdiff_t>(preds.size());
    for (const NodeId p : graph.preds_of(old[n])) {
      const NodeId pred = number[graph.resolve(p)];
      if (pred != n) preds.push_back(pred);
    }
    std::sort(preds.begin() + start, preds.end());
    first.push_back(static_cast<std::uint32_t>(preds.size()));
  }
  graph.first_pred = std::move(first);
  graph.preds = std::move(preds);
}

void gather_nodes(Graph& graph, const BigVector<NodeId>& old) {
  BigVector<Node> nodes;
  nodes.reserve(old.size());
  for (const NodeId n : old) nodes.push_back(graph.nodes[n]);
  graph.nodes = std::move(nodes);
}

void renumber_messages(Graph& graph) {
  BigVector<MessageId> number(graph.messages.size(), kNone);
  BigVector<Message> messages;
  messages.reserve(graph.messages.size());
  for (NodeId n = 0; n < graph.size(); ++n) {
    Node& node = graph.nodes[n];
    if (node.out == kNone) continue;
    const auto id = static_cast<MessageId>(messages.size());
    messages.push_back(graph.messages[node.out]);
    messages.back().send = n;
    number[node.out] = id;
    node.out = id;
  }
  for (NodeId n = 0; n < graph.size(); ++n) {
    Node& node = graph.nodes[n];
    if (node.in == kNone) continue;
    node.in = number[node.in];
    messages[node.in].recv = n;
  }
  graph.messages = std::move(messages);
}

}  // namespace

void number_by_rank(Graph& graph) {
  {
    BigVector<NodeId> number = new_numbers(graph);
    const BigVector<NodeId> old = inverse(number, graph.order.size());
    renumber_dependences(graph, number, old);
    // The nodes are about to be there twice.
    BigVector<NodeId>().swap(number);
    BigVector<NodeId>().swap(graph.absorbed);
    BigVector<NodeId>().swap(graph.absorbed_into);
    gather_nodes(graph, old);
  }
  renumber_messages(graph);
}

}  // namespace hocket::passes
