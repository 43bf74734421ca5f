// Threads the global order through threadblocks; see the header for the rules.
#include "passes/assign_threadblocks.h"

#include <algorithm>
#include <tuple>
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
        by_rank_(static_cast<std::size_t>(graph.trace->num_ranks())) {}

  void run() {
    graph_.blocks.clear();
    graph_.block_of.assign(graph_.size(), kNone);
    graph_.position.assign(graph_.size(), 0);
    if (graph_.trace->placement == Placement::manual) {
      place_manually();
    } else {
      bind_fused();
      pair_the_rest();
      place_automatically();
    }
  }

 private:
  BlockId new_block(std::int32_t rank, std::int32_t channel, std::uint32_t instance) {
    const auto id = static_cast<BlockId>(graph_.blocks.size());
    graph_.blocks.push_back({rank, -1, -1, channel, instance, {}});
    by_rank_[static_cast<std::size_t>(rank)].push_back(id);
    return id;
  }

  void append(NodeId n, BlockId b) {
    Block& block = graph_.blocks[b];
    graph_.block_of[n] = b;
    graph_.position[n] = static_cast<std::uint32_t>(block.nodes.size());
    block.nodes.push_back(n);
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

  void place_manually() {
    std::unordered_map<HashKey, BlockId, HashKeyHash> ids;
    for (const NodeId n : graph_.order) {
      const Node& node = graph_.nodes[n];
      const auto [it, fresh] =
          ids.try_emplace(HashKey{pack(node.rank, node.manual_tb), node.instance}, kNone);
      if (fresh) it->second = new_block(node.rank, 0, node.instance);
      if (node.out != kNone) give_send(out_of(node), it->second);
      if (node.in != kNone) give_recv(in_of(node), it->second);
      append(n, it->second);
    }
  }

  // assign_channels has made the ties of fused nodes one to one.
  void bind_fused() {
    for (const NodeId n : graph_.order) {
      const Node& node = graph_.nodes[n];
      if (node.in == kNone || node.out == kNone) continue;
      const ConnectionId in = in_of(node);
      const ConnectionId out = out_of(node);
      BlockId b = graph_.connections[in].recv_block;
      if (b == kNone) b = graph_.connections[out].send_block;
      if (b == kNone) b = new_block(node.rank, graph_.connections[in].channel, node.instance);
      give_recv(in, b);
      give_send(out, b);
    }
  }

  void pair_the_rest() {
    const std::vector<bool> tight = tight_connections();
    std::unordered_map<HashKey, ConnectionId, HashKeyHash> free_recv;  // by rank, peer, channel
    const auto key = [](std::int32_t rank, std::int32_t peer, const Connection& c) {
      return HashKey{pack(rank, peer), static_cast<std::uint64_t>(c.channel)};
    };
    for (ConnectionId c = 0; c < graph_.connections.size(); ++c) {
      const Connection& connection = graph_.connections[c];
      if (connection.recv_block == kNone && !tight[c]) {
        free_recv.emplace(key(connection.dst, connection.src, connection), c);
      }
    }
    for (ConnectionId c = 0; c < graph_.connections.size(); ++c) {
      const Connection& connection = graph_.connections[c];
      if (connection.send_block != kNone) continue;
      const BlockId b = new_block(connection.src, connection.channel, connection.instance);
      give_send(c, b);
      if (tight[c]) continue;
      const auto it = free_recv.find(key(connection.src, connection.dst, connection));
      if (it == free_recv.end()) continue;
      give_recv(it->second, b);
      free_recv.erase(it);
    }
    for (ConnectionId c = 0; c < graph_.connections.size(); ++c) {
      const Connection& connection = graph_.connections[c];
      if (connection.recv_block == kNone) {
        give_recv(c, new_block(connection.dst, connection.channel, connection.instance));
      }
    }
  }

  // Connections that carry a step of more transfers than there are slots.
  std::vector<bool> tight_connections() const {
    std::vector<bool> tight(graph_.connections.size(), false);
    for (const Message& m : graph_.messages) {
      if (capacity_.transfers(graph_.nodes[m.recv].count) > capacity_.slots) {
        tight[m.connection] = true;
      }
    }
    return tight;
  }

  void place_automatically() {
    find_consumers();
    for (const NodeId n : graph_.order) {
      const Node& node = graph_.nodes[n];
      BlockId b = kNone;
      if (node.out != kNone) {
        b = graph_.connections[out_of(node)].send_block;
      } else if (node.in != kNone) {
        b = graph_.connections[in_of(node)].recv_block;
      } else {
        b = choose_local(n);
      }
      append(n, b);
    }
  }

  // Of every local operation: the threadblock of the first node that sends or receives and depends
  // on it.
  void find_consumers() {
    consumer_.assign(graph_.size(), kNone);
    for (const NodeId n : graph_.order) {
      const Node& node = graph_.nodes[n];
      if (node.in == kNone && node.out == kNone) continue;
      for (const NodeId p : graph_.preds_of(n)) {
        BlockId& consumer = consumer_[graph_.resolve(p)];
        if (consumer != kNone) continue;
        consumer = node.out != kNone ? graph_.connections[out_of(node)].send_block
                                     : graph_.connections[in_of(node)].recv_block;
      }
    }
  }

  // Beside what it waits for (one wait less), else beside what waits for it, else where least is to
  // do.
  BlockId choose_local(NodeId n) {
    const Node& node = graph_.nodes[n];
    BlockId latest = kNone;
    std::uint32_t latest_position = 0;
    for (const NodeId p : graph_.preds_of(n)) {
      const NodeId pred = graph_.resolve(p);
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
    for (const BlockId b : by_rank_[static_cast<std::size_t>(node.rank)]) {
      if (graph_.blocks[b].instance != node.instance) continue;
      if (least == kNone || graph_.blocks[b].nodes.size() < graph_.blocks[least].nodes.size()) {
        least = b;
      }
    }
    if (least != kNone) return least;
    return new_block(node.rank, static_cast<std::int32_t>(node.instance) * channels_per_instance(),
                     node.instance);
  }

  std::int32_t channels_per_instance() const {
    return graph_.num_channels / static_cast<std::int32_t>(graph_.num_instances);
  }

  Graph& graph_;
  Capacity capacity_;
  std::vector<std::vector<BlockId>> by_rank_;
  std::vector<BlockId> consumer_;
};

}  // namespace

void assign_threadblocks(Graph& graph, const Capacity& capacity) {
  Assigner(graph, capacity).run();
}

}  // namespace hocket::passes
