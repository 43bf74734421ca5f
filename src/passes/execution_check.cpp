// One greedy execution of the scheduled graph, transfer by transfer.
#include "passes/execution_check.h"

namespace hocket::passes {
namespace {

class Execution {
 public:
  Execution(const Graph& graph, const Capacity& capacity)
      : graph_(graph),
        capacity_(capacity),
        at_(graph.blocks.size(), 0),
        piece_(graph.blocks.size(), 0),
        queued_(graph.blocks.size(), true),
        done_(graph.size(), false),
        listed_(graph.blocks.size(), false),
        first_waiter_(graph.blocks.size(), kNone),
        next_waiter_(graph.blocks.size(), kNone),
        used_(graph.connections.size(), 0) {}

  bool run() {
    for (BlockId b = static_cast<BlockId>(graph_.blocks.size()); b-- > 0;) ready_.push_back(b);
    std::size_t finished = 0;
    while (!ready_.empty()) {
      const BlockId b = ready_.back();
      ready_.pop_back();
      queued_[b] = false;
      const std::span<const NodeId> nodes = graph_.nodes_of_block(b);
      while (at_[b] < nodes.size() && step(b, nodes[at_[b]])) {
      }
      if (at_[b] == nodes.size()) ++finished;
    }
    return finished == graph_.blocks.size();
  }

 private:
  void wake(BlockId b) {
    if (queued_[b] || at_[b] == graph_.nodes_of_block(b).size()) return;
    queued_[b] = true;
    ready_.push_back(b);
  }

  // One transfer of the node, or the whole of a local one. False: it cannot go on; whoever changes
  // that wakes it.
  bool step(BlockId b, NodeId n) {
    const Node& node = graph_.nodes[n];
    if (piece_[b] == 0) {
      for (const NodeId w : graph_.waits_of(n)) {
        if (!done_[w]) {
          if (!listed_[b]) {
            listed_[b] = true;
            next_waiter_[b] = first_waiter_[graph_.block_of[w]];
            first_waiter_[graph_.block_of[w]] = b;
          }
          return false;
        }
      }
    }
    const ConnectionId in = node.in == kNone ? kNone : graph_.messages[node.in].connection;
    const ConnectionId out = node.out == kNone ? kNone : graph_.messages[node.out].connection;
    if (in != kNone && used_[in] == 0) return false;
    if (out != kNone && used_[out] == capacity_.slots) return false;
    if (in != kNone && used_[in]-- == capacity_.slots) wake(graph_.connections[in].send_block);
    if (out != kNone && used_[out]++ == 0) wake(graph_.connections[out].recv_block);
    const bool local = in == kNone && out == kNone;
    if (!local && ++piece_[b] < capacity_.transfers(node.count)) return true;
    piece_[b] = 0;
    done_[n] = true;
    ++at_[b];
    while (first_waiter_[b] != kNone) {
      const BlockId waiter = first_waiter_[b];
      first_waiter_[b] = next_waiter_[waiter];
      listed_[waiter] = false;
      wake(waiter);
    }
    return true;
  }

  const Graph& graph_;
  Capacity capacity_;
  BigVector<std::size_t> at_;
  BigVector<int> piece_;
  std::vector<bool> queued_;
  std::vector<bool> done_;
  std::vector<bool> listed_;         // a block that is in such a list already
  BigVector<BlockId> first_waiter_;  // lists of the blocks that wait for some node of a block;
  BigVector<BlockId> next_waiter_;   // a block waits for one other at a time
  BigVector<int> used_;
  BigVector<BlockId> ready_;
};

}  // namespace

bool runs_to_end(const Graph& graph, const Capacity& capacity) {
  return Execution(graph, capacity).run();
}

}  // namespace hocket::passes
