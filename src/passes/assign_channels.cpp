// Automatic channels; the manual ones are in manual_channels.cpp.
#include "passes/assign_channels.h"

#include <algorithm>
#include <unordered_map>

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
  std::vector<HashKey> fresh_;
};

class Chains {
 public:
  Chains(Graph& graph, std::int32_t budget) : graph_(graph), budget_(std::max(budget, 1)) {}

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
      for (std::int32_t c = 1; said < 0 && fits < chain_.size() && c < budget_; ++c) {
        ties_.undo();
        fits = tie_as_far_as_possible(c);
        channel = c;
      }
      if (fits < chain_.size() && said < 0) {
        ties_.undo();
        channel = 0;
        fits = tie_as_far_as_possible(channel);
      }
      ties_.keep();
      for (std::size_t i = 0; i < fits; ++i) graph_.messages[chain_[i]].channel = channel;
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

  std::int32_t source(MessageId m) const { return graph_.nodes[graph_.messages[m].send].rank; }
  std::int32_t target(MessageId m) const { return graph_.nodes[graph_.messages[m].recv].rank; }

  Graph& graph_;
  std::int32_t budget_;
  Ties ties_;
  std::vector<MessageId> chain_;
};

void make_connections(Graph& graph) {
  std::int32_t channels = 0;
  for (const Message& m : graph.messages) channels = std::max(channels, m.channel + 1);
  std::unordered_map<HashKey, ConnectionId, HashKeyHash> ids;
  graph.num_channels = 0;
  for (Message& m : graph.messages) {
    const Node& send = graph.nodes[m.send];
    const Node& recv = graph.nodes[m.recv];
    m.channel += static_cast<std::int32_t>(send.instance) * channels;
    graph.num_channels = std::max(graph.num_channels, m.channel + 1);
    const auto [it, fresh] =
        ids.try_emplace({pack(send.rank, recv.rank), static_cast<std::uint64_t>(m.channel)},
                        static_cast<ConnectionId>(graph.connections.size()));
    if (fresh) {
      graph.connections.push_back({send.rank, recv.rank, m.channel, send.instance, kNone, kNone});
    }
    m.connection = it->second;
  }
}

}  // namespace

void assign_channels(Graph& graph, std::int32_t budget) {
  graph.connections.clear();
  if (graph.trace->placement == Placement::manual) {
    assign_manual_channels(graph);
  } else {
    Chains(graph, budget).run();
  }
  make_connections(graph);
}

}  // namespace hocket::passes
