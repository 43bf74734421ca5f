// Threads the global order through threadblocks; see the header for the rules.
#include "passes/assign_threadblocks.h"

#include <algorithm>
#include <span>
#include <unordered_map>

#include "hocket/diagnostic.h"
#include "passes/hash_key.h"

namespace hocket::passes {
namespace {

class Assigner {
 public:
  Assigner(Graph& graph, const Capacity& capacity)
      : graph_(graph),
        capacity_(capacity),
        ranks_(static_cast<std::size_t>(graph.trace->num_ranks())) {}

  void run() {
    graph_.blocks.clear();
    graph_.blocks.reserve(graph_.connections.size());
    length_.reserve(graph_.connections.size());
    graph_.first_block_of_rank.assign(1, 0);
    graph_.block_of.assign(graph_.size(), kNone);
    graph_.position.assign(graph_.size(), 0);
    const bool manual = graph_.trace->placement == Placement::manual;
    if (!manual) prepare();
    for (std::size_t r = 0; r < ranks_; ++r) {
      if (manual) {
        place_manually(r);
      } else {
        bind_fused(r);
        pair_the_rest(r);
        place_automatically(r);
      }
      graph_.first_block_of_rank.push_back(static_cast<BlockId>(graph_.blocks.size()));
    }
    list_nodes();
  }

 private:
  BlockId new_block(std::size_t rank, std::int32_t channel, std::uint32_t instance) {
    const auto id = static_cast<BlockId>(graph_.blocks.size());
    graph_.blocks.push_back({static_cast<std::int32_t>(rank), -1, -1, channel, instance});
    length_.push_back(0);
    return id;
  }

  void append(NodeId n, BlockId b) {
    graph_.block_of[n] = b;
    graph_.position[n] = length_[b]++;
  }

  void give_send(ConnectionId c, BlockId b) {
    graph_.connections[c].send_block = b;
    graph_.blocks[b].send = graph_.connections[c].dst;
    graph_.blocks[b].channel = graph_.connections[c].channel;
  }
  void give_recv(ConnectionId c, BlockId b) {
    graph_.connections[c].recv_block = b;
    graph_.blocks[b].recv = graph_.connections[c].src;
    graph_.blocks[b].channel = graph_.connections[c].channel;
  }

  ConnectionId in_of(const Node& n) const { return graph_.messages[n.in].connection; }
  ConnectionId out_of(const Node& n) const { return graph_.messages[n.out].connection; }

  void place_manually(std::size_t rank) {
    std::unordered_map<std::uint64_t, BlockId> ids;  // by number and instance
    for (const NodeId n : graph_.nodes_of_rank(rank)) {
      const Node& node = graph_.nodes[n];
      const auto [it, fresh] =
          ids.try_emplace(pack(node.manual_tb, static_cast<std::int32_t>(node.instance)), kNone);
      if (fresh) it->second = new_block(rank, 0, node.instance);
      if (node.out != kNone) give_send(out_of(node), it->second);
      if (node.in != kNone) give_recv(in_of(node), it->second);
      append(n, it->second);
    }
  }

  // Connections of each rank, and those that carry a step of more transfers than there are slots.
  void prepare() {
    const std::size_t count = graph_.connections.size();
    first_out_.assign(ranks_ + 1, 0);
    first_in_.assign(ranks_ + 1, 0);
    for (const Connection& c : graph_.connections) {
      ++first_out_[static_cast<std::size_t>(c.src) + 1];
      ++first_in_[static_cast<std::size_t>(c.dst) + 1];
    }
    for (std::size_t r = 0; r < ranks_; ++r) {
      first_out_[r + 1] += first_out_[r];
      first_in_[r + 1] += first_in_[r];
    }
    in_.resize(count);
    BigVector<std::uint32_t> next(first_in_.begin(), first_in_.end() - 1);
    for (ConnectionId c = 0; c < count; ++c) {
      in_[next[static_cast<std::size_t>(graph_.connections[c].dst)]++] = c;
    }
    tight_.assign(count, false);
    for (const Message& m : graph_.messages) {
      if (capacity_.transfers(graph_.nodes[m.recv].count) > capacity_.slots) {
        tight_[m.connection] = true;
      }
    }
    latest_from_.assign(ranks_, kNone);
    next_from_.assign(count, kNone);
    consumer_.assign(graph_.size(), kNone);
  }

  // assign_channels has made the ties of fused nodes one to one.
  void bind_fused(std::size_t rank) {
    for (const NodeId n : graph_.nodes_of_rank(rank)) {
      const Node& node = graph_.nodes[n];
      if (node.in == kNone || node.out == kNone) continue;
      const ConnectionId in = in_of(node);
      const ConnectionId out = out_of(node);
      if (graph_.connections[in].recv_block != kNone) continue;
      const BlockId b = new_block(rank, graph_.connections[in].channel, node.instance);
      give_recv(in, b);
      give_send(out, b);
    }
  }

  void pair_the_rest(std::size_t rank) {
    const std::span<const ConnectionId> in(in_.data() + first_in_[rank],
                                           first_in_[rank + 1] - first_in_[rank]);
    for (const ConnectionId c : in) {
      const auto peer = static_cast<std::size_t>(graph_.connections[c].src);
      if (graph_.connections[c].recv_block != kNone || tight_[c]) continue;
      next_from_[c] = latest_from_[peer];
      latest_from_[peer] = c;
    }
    // make_connections numbers connections by their source.
    for (ConnectionId c = first_out_[rank]; c < first_out_[rank + 1]; ++c) {
      const Connection& connection = graph_.connections[c];
      if (connection.send_block != kNone) continue;
      const BlockId b = new_block(rank, connection.channel, connection.instance);
      give_send(c, b);
      if (tight_[c]) continue;
      ConnectionId back = latest_from_[static_cast<std::size_t>(connection.dst)];
      while (back != kNone && graph_.connections[back].channel != connection.channel) {
        back = next_from_[back];
      }
      if (back != kNone) give_recv(back, b);
    }
    for (const ConnectionId c : in) {
      latest_from_[static_cast<std::size_t>(graph_.connections[c].src)] = kNone;
      if (graph_.connections[c].recv_block != kNone) continue;
      give_recv(c, new_block(rank, graph_.connections[c].channel, graph_.connections[c].instance));
    }
  }

  void place_automatically(std::size_t rank) {
    find_consumers(rank);
    for (const NodeId n : graph_.nodes_of_rank(rank)) {
      const Node& node = graph_.nodes[n];
      if (node.out != kNone) {
        append(n, graph_.connections[out_of(node)].send_block);
      } else if (node.in != kNone) {
        append(n, graph_.connections[in_of(node)].recv_block);
      } else {
        append(n, choose_local(n, rank));
      }
    }
  }

  // Of every local operation: the threadblock of the first node that sends or receives and depends
  // on it.
  void find_consumers(std::size_t rank) {
    for (const NodeId n : graph_.nodes_of_rank(rank)) {
      const Node& node = graph_.nodes[n];
      if (node.in == kNone && node.out == kNone) continue;
      for (const NodeId p : graph_.preds_of(n)) {
        BlockId& consumer = consumer_[p];
        if (consumer != kNone) continue;
        consumer = node.out != kNone ? graph_.connections[out_of(node)].send_block
                                     : graph_.connections[in_of(node)].recv_block;
      }
    }
  }

  // Beside what it waits for (one wait less), else beside what waits for it, else where least is to
  // do.
  BlockId choose_local(NodeId n, std::size_t rank) {
    const Node& node = graph_.nodes[n];
    BlockId latest = kNone;
    std::uint32_t latest_position = 0;
    for (const NodeId pred : graph_.preds_of(n)) {
      const BlockId b = graph_.block_of[pred];
      if (graph_.blocks[b].instance != node.instance) continue;
      if (latest == kNone || graph_.position[pred] >= latest_position) {
        latest = b;
        latest_position = graph_.position[pred];
      }
    }
    if (latest != kNone) return latest;
    if (consumer_[n] != kNone && graph_.blocks[consumer_[n]].instance == node.instance) {
      return consumer_[n];
    }
    BlockId least = kNone;
    for (BlockId b = graph_.first_block_of_rank[rank]; b < graph_.blocks.size(); ++b) {
      if (graph_.blocks[b].instance != node.instance) continue;
      if (least == kNone || length_[b] < length_[least]) least = b;
    }
    if (least != kNone) return least;
    const std::int32_t channels =
        graph_.num_channels / static_cast<std::int32_t>(graph_.num_instances);
    return new_block(rank, static_cast<std::int32_t>(node.instance) * channels, node.instance);
  }

  void list_nodes() {
    graph_.first_of_block.assign(graph_.blocks.size() + 1, 0);
    for (BlockId b = 0; b < graph_.blocks.size(); ++b) {
      graph_.first_of_block[b + 1] = graph_.first_of_block[b] + length_[b];
    }
    graph_.block_nodes.resize(graph_.size());
    for (NodeId n = 0; n < graph_.size(); ++n) {
      graph_.block_nodes[graph_.first_of_block[graph_.block_of[n]] + graph_.position[n]] = n;
    }
  }

  Graph& graph_;
  Capacity capacity_;
  std::size_t ranks_;
  BigVector<std::uint32_t> length_;     // nodes placed so far, by block
  BigVector<std::uint32_t> first_out_;  // connections by source: ids are in that order
  BigVector<std::uint32_t> first_in_;   // CSR: connections by destination
  BigVector<ConnectionId> in_;
  std::vector<bool> tight_;
  BigVector<ConnectionId> latest_from_;  // by peer: receive connections still to be paired, a list
  BigVector<ConnectionId> next_from_;
  BigVector<BlockId> consumer_;
};

}  // namespace

void assign_threadblocks(Graph& graph, const Capacity& capacity) {
  Assigner(graph, capacity).run();
}

}  // namespace hocket::passes
