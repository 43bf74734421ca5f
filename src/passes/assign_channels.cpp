// Automatic channels; the manual ones are in manual_channels.cpp.
#include "passes/assign_channels.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "passes/hash_key.h"
#include "passes/manual_channels.h"

namespace hocket::passes {
namespace {

// Which receive peer goes with which send peer, by rank, instance and channel.
class Ties {
 public:
  // Ties the two, unless one of them is tied to another already.
  bool tie(const Node& node, std::int32_t from, std::int32_t to, std::int32_t channel) {
    const HashKey in = key(node, from, channel, 0);
    const HashKey out = key(node, to, channel, 1);
    const auto [in_at, in_fresh] = peers_.try_emplace(in, to);
    if (!in_fresh) return in_at->second == to;
    const auto [out_at, out_fresh] = peers_.try_emplace(out, from);
    if (!out_fresh) {
      peers_.erase(in);
      return false;
    }
    fresh_.push_back(in);
    fresh_.push_back(out);
    return true;
  }
  void keep() { fresh_.clear(); }
  // Takes back all ties since the last keep().
  void undo() {
    for (const HashKey& k : fresh_) peers_.erase(k);
    fresh_.clear();
  }

 private:
  static HashKey key(const Node& node, std::int32_t peer, std::int32_t channel, int end) {
    return {pack(node.rank, peer),
            pack(channel * 2 + end, static_cast<std::int32_t>(node.instance))};
  }
  std::unordered_map<HashKey, std::int32_t, HashKeyHash> peers_;
  BigVector<HashKey> fresh_;
};

class Chains {
 public:
  Chains(Graph& graph, std::int32_t budget, ChainPolicy policy)
      : graph_(graph), budget_(std::max(budget, 1)), apart_(policy == ChainPolicy::apart) {}

  void run() {
    for (MessageId m = 0; m < graph_.messages.size(); ++m) {
      if (graph_.nodes[graph_.messages[m].send].in == kNone) place_from(m);
    }
  }

 private:
  // Places the chain that starts with `head`, taking it apart as often as it must.
  void place_from(MessageId head) {
    while (head != kNone) {
      chain_.clear();
      for (MessageId m = head; m != kNone; m = graph_.nodes[graph_.messages[m].recv].out) {
        chain_.push_back(m);
      }
      const std::int32_t said = graph_.nodes[graph_.messages[head].send].channel;
      std::int32_t channel = std::max(said, 0);
      std::size_t fits = tie_as_far_as_possible(channel);
      if (said < 0) {
        // The lowest channel on which the whole chain fits (apart: and meets no other chain), else
        // the one on which most of it does. Beyond the first channel that no chain uses all are
        // alike.
        const auto good = [&](std::int32_t c, std::size_t fit) {
          return fit == chain_.size() && !(apart_ && fit > 1 && is_used(c));
        };
        std::int32_t c = 0;
        std::size_t here = fits;
        while (!good(c, here) && c < std::min(budget_ - 1, highest_used_ + 1)) {
          ties_.undo();
          here = tie_as_far_as_possible(++c);
          if (here > fits || good(c, here)) {
            fits = here;
            channel = c;
          }
        }
        if (c != channel) {
          ties_.undo();
          tie_as_far_as_possible(channel);
        }
        highest_used_ = std::max(highest_used_, channel);
      }
      ties_.keep();
      for (std::size_t i = 0; i < fits; ++i) {
        graph_.messages[chain_[i]].channel = channel;
        if (apart_ && fits > 1) used_.insert(connection(chain_[i], channel));
      }
      if (fits == chain_.size()) return;
      head = chain_[fits];
      graph_.unfuse(graph_.messages[chain_[fits - 1]].recv);
    }
  }

  // Ties the fused nodes of chain_ on `channel`, from the first until one conflicts (a chain that
  // comes by a rank twice can conflict with itself). Returns how many messages can go by the
  // channel in one piece; at least one.
  std::size_t tie_as_far_as_possible(std::int32_t channel) {
    for (std::size_t i = 0; i + 1 < chain_.size(); ++i) {
      const Node& node = graph_.nodes[graph_.messages[chain_[i]].recv];
      if (!ties_.tie(node, source(chain_[i]), target(chain_[i + 1]), channel)) return i + 1;
    }
    return chain_.size();
  }

  HashKey connection(MessageId m, std::int32_t channel) const {
    const std::uint32_t instance = graph_.nodes[graph_.messages[m].send].instance;
    return {pack(source(m), target(m)), pack(channel, static_cast<std::int32_t>(instance))};
  }
  bool is_used(std::int32_t channel) const {
    return std::any_of(chain_.begin(), chain_.end(),
                       [&](MessageId m) { return used_.contains(connection(m, channel)); });
  }

  std::int32_t source(MessageId m) const { return graph_.nodes[graph_.messages[m].send].rank; }
  std::int32_t target(MessageId m) const { return graph_.nodes[graph_.messages[m].recv].rank; }

  Graph& graph_;
  std::int32_t budget_;
  bool apart_;
  std::int32_t highest_used_ = 0;
  Ties ties_;
  std::unordered_set<HashKey, HashKeyHash> used_;  // connections of chains, where they go apart
  BigVector<MessageId> chain_;
};

// Numbers the connections rank by rank; of a rank's, those to one destination form a list.
void make_connections(Graph& graph) {
  std::int32_t channels = 0;
  for (const Message& m : graph.messages) channels = std::max(channels, m.channel + 1);
  const auto ranks = static_cast<std::size_t>(graph.trace->num_ranks());
  BigVector<std::uint32_t> first(ranks + 1, 0);
  const auto source = [&](const Message& m) {
    return static_cast<std::size_t>(graph.nodes[m.send].rank);
  };
  for (const Message& m : graph.messages) ++first[source(m) + 1];
  for (std::size_t r = 0; r < ranks; ++r) first[r + 1] += first[r];
  BigVector<MessageId> by_source(graph.messages.size());
  for (MessageId m = 0; m < graph.messages.size(); ++m) {
    by_source[first[source(graph.messages[m])]++] = m;
  }
  BigVector<ConnectionId> latest(ranks, kNone);  // by destination
  BigVector<ConnectionId> next;                  // of a connection: another to the same destination
  graph.num_channels = 0;
  for (const MessageId id : by_source) {
    Message& m = graph.messages[id];
    const Node& send = graph.nodes[m.send];
    const std::int32_t dst = graph.nodes[m.recv].rank;
    m.channel += static_cast<std::int32_t>(send.instance) * channels;
    graph.num_channels = std::max(graph.num_channels, m.channel + 1);
    ConnectionId& head = latest[static_cast<std::size_t>(dst)];
    if (head != kNone && graph.connections[head].src != send.rank) head = kNone;
    ConnectionId c = head;
    while (c != kNone && graph.connections[c].channel != m.channel) c = next[c];
    if (c == kNone) {
      c = static_cast<ConnectionId>(graph.connections.size());
      graph.connections.push_back({send.rank, dst, m.channel, send.instance, kNone, kNone});
      next.push_back(head);
      head = c;
    }
    m.connection = c;
  }
}

}  // namespace

void assign_channels(Graph& graph, std::int32_t budget, ChainPolicy policy) {
  graph.connections.clear();
  if (graph.trace->placement == Placement::manual) {
    assign_manual_channels(graph);
  } else {
    Chains(graph, budget, policy).run();
  }
  make_connections(graph);
}

}  // namespace hocket::passes
