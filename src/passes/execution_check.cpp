// One greedy execution of the scheduled graph, transfer by transfer.
#include "passes/execution_check.h"

namespace hocket::passes {
namespace {

class Execution {
 public:
  Execution(const Graph& graph, const Capacity& capacity)
      : graph_(graph),
        capacity_(capacity),
        blocks_(graph.blocks.size()),
        done_(graph.size(), false),
        used_(graph.connections.size(), 0) {
    for (ConnectionId c = 0; c < graph.connections.size(); ++c) {
      const Connection& connection = graph.connections[c];
      if (connection.send_block != kNone) blocks_[connection.send_block].out = c;
      if (connection.recv_block != kNone) blocks_[connection.recv_block].in = c;
    }
  }

  bool run() {
    for (BlockId b = static_cast<BlockId>(graph_.blocks.size()); b-- > 0;) ready_.push_back(b);
    std::size_t finished = 0;
    while (!ready_.empty()) {
      const BlockId b = ready_.back();
      ready_.pop_back();
      State& block = blocks_[b];
      block.queued = false;
      const std::span<const NodeId> nodes = graph_.nodes_of_block(b);
      while (block.at < nodes.size() && step(b, block, nodes[block.at])) {
      }
      if (block.at == nodes.size()) ++finished;
    }
    return finished == graph_.blocks.size();
  }

 private:
  // How far a block is. All its messages go by one connection each way.
  struct State {
    std::uint32_t at = 0;
    int piece = 0;
    ConnectionId in = kNone;
    ConnectionId out = kNone;
    BlockId first_waiter = kNone;  // list of the blocks that wait for some node of this one;
    BlockId next_waiter = kNone;   // a block waits for one other at a time
    bool listed = false;           // it is in such a list already
    bool queued = true;
  };

  void wake(BlockId b) {
    State& block = blocks_[b];
    if (block.queued || block.at == graph_.nodes_of_block(b).size()) return;
    block.queued = true;
    ready_.push_back(b);
  }

  // One transfer of the node, or the whole of a local one. False: it cannot go on; whoever changes
  // that wakes it.
  bool step(BlockId b, State& block, NodeId n) {
    const Node& node = graph_.nodes[n];
    if (block.piece == 0) {
      for (const NodeId w : graph_.waits_of(n)) {
        if (!done_[w]) {
          if (!block.listed) {
            State& other = blocks_[graph_.block_of[w]];
            block.listed = true;
            block.next_waiter = other.first_waiter;
            other.first_waiter = b;
          }
          return false;
        }
      }
    }
    const ConnectionId in = node.in == kNone ? kNone : block.in;
    const ConnectionId out = node.out == kNone ? kNone : block.out;
    if (in != kNone && used_[in] == 0) return false;
    if (out != kNone && used_[out] == capacity_.slots) return false;
    if (in != kNone && used_[in]-- == capacity_.slots) wake(graph_.connections[in].send_block);
    if (out != kNone && used_[out]++ == 0) wake(graph_.connections[out].recv_block);
    const bool local = in == kNone && out == kNone;
    if (!local && ++block.piece < capacity_.transfers(node.count)) return true;
    block.piece = 0;
    done_[n] = true;
    ++block.at;
    while (block.first_waiter != kNone) {
      const BlockId waiter = block.first_waiter;
      block.first_waiter = blocks_[waiter].next_waiter;
      blocks_[waiter].listed = false;
      wake(waiter);
    }
    return true;
  }

  const Graph& graph_;
  Capacity capacity_;
  BigVector<State> blocks_;
  std::vector<bool> done_;  // nodes
  BigVector<int> used_;     // slots of a connection
  BigVector<BlockId> ready_;
};

}  // namespace

bool runs_to_end(const Graph& graph, const Capacity& capacity) {
  return Execution(graph, capacity).run();
}

}  // namespace hocket::passes
