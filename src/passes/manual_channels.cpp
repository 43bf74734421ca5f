// Threadblocks that the program placed itself: their peers, and channels that fit.
#include "passes/manual_channels.h"

#include <fmt/format.h>

#include <numeric>
#include <unordered_map>

#include "hocket/diagnostic.h"
#include "passes/hash_key.h"

namespace hocket::passes {
namespace {

// A threadblock of the program's, in one instance.
struct Manual {
  std::int32_t rank = 0;
  std::int32_t number = 0;
  std::uint32_t instance = 0;
  std::int32_t send = -1;
  std::int32_t recv = -1;
  std::uint32_t send_site = 0;
  std::uint32_t recv_site = 0;
  std::int32_t channel = -1;  // of its group, kept at the group's root
  std::uint32_t channel_site = 0;
};

class ManualChannels {
 public:
  explicit ManualChannels(Graph& graph) : graph_(graph) {}

  void run() {
    for (const Node& node : graph_.nodes) {
      if (node.active && (node.in != kNone || node.out != kNone)) take_peers(node);
    }
    parent_.resize(blocks_.size());
    std::iota(parent_.begin(), parent_.end(), 0u);
    for (const Message& m : graph_.messages) {
      const Node& send = graph_.nodes[m.send];
      const Node& recv = graph_.nodes[m.recv];
      join(find(send), find(recv), send);
      if (send.channel >= 0) say(root(find(send)), send.channel, send);
    }
    for (std::uint32_t b = 0; b < blocks_.size(); ++b) {
      if (blocks_[root(b)].channel >= 0) claim_or_refuse(b, blocks_[root(b)].channel);
    }
    choose_for_the_rest();
    for (Message& m : graph_.messages) {
      m.channel = blocks_[root(find(graph_.nodes[m.send]))].channel;
    }
  }

 private:
  static HashKey key(const Node& node) { return {pack(node.rank, node.manual_tb), node.instance}; }
  std::uint32_t find(const Node& node) const { return ids_.at(key(node)); }

  std::uint32_t root(std::uint32_t b) {
    while (parent_[b] != b) b = parent_[b] = parent_[parent_[b]];
    return b;
  }

  Location where(std::uint32_t site) const { return Location(graph_.trace->sites[site]); }

  static std::string title(const Manual& b) {
    return fmt::format("threadblock {} of rank {}", b.number, b.rank);
  }

  void take_peers(const Node& node) {
    const auto [it, fresh] =
        ids_.try_emplace(key(node), static_cast<std::uint32_t>(blocks_.size()));
    if (fresh) blocks_.push_back({node.rank, node.manual_tb, node.instance});
    Manual& b = blocks_[it->second];
    if (node.out != kNone) {
      take(b, b.send, b.send_site, graph_.nodes[graph_.messages[node.out].recv].rank, node,
           "sends to");
    }
    if (node.in != kNone) {
      take(b, b.recv, b.recv_site, graph_.nodes[graph_.messages[node.in].send].rank, node,
           "receives from");
    }
  }

  void take(const Manual& b, std::int32_t& peer, std::uint32_t& site, std::int32_t wanted,
            const Node& node, const char* verb) const {
    if (peer < 0) {
      peer = wanted;
      site = node.site;
    } else if (peer != wanted) {
      throw Error(Code::ThreadblockClash,
                  fmt::format("{} {} rank {} already, and cannot also serve rank {}", title(b),
                              verb, peer, wanted),
                  where(node.site), "give this operation another threadblock on that rank",
                  {{fmt::format("it {} rank {} since here", verb, peer), where(site)}});
    }
  }

  void say(std::uint32_t r, std::int32_t channel, const Node& node) {
    Manual& b = blocks_[r];
    if (b.channel < 0) {
      b.channel = channel;
      b.channel_site = node.site;
    } else if (b.channel != channel) {
      refuse_channels(b, channel, node);
    }
  }

  [[noreturn]] void refuse_channels(const Manual& b, std::int32_t channel, const Node& node) const {
    throw Error(
        Code::ThreadblockClash,
        fmt::format(
            "threadblock {} of rank {} cannot be on channel {}: it is joined by messages to "
            "operations on channel {}, and a threadblock has one channel",
            node.manual_tb, node.rank, channel, b.channel),
        where(node.site), "use one channel for all operations of these threadblocks",
        {{fmt::format("channel {} is given here", b.channel), where(b.channel_site)}});
  }

  void join(std::uint32_t a, std::uint32_t b, const Node& node) {
    a = root(a);
    b = root(b);
    if (a == b) return;
    if (b < a) std::swap(a, b);
    parent_[b] = a;
    if (blocks_[b].channel < 0) return;
    if (blocks_[a].channel >= 0 && blocks_[a].channel != blocks_[b].channel) {
      refuse_channels(blocks_[a], blocks_[b].channel, node);
    }
    blocks_[a].channel = blocks_[b].channel;
    blocks_[a].channel_site = blocks_[b].channel_site;
  }

  HashKey end(const Manual& b, bool sends, std::int32_t channel) const {
    return {pack(b.rank, sends ? b.send : b.recv),
            pack(channel * 2 + (sends ? 1 : 0), static_cast<std::int32_t>(b.instance))};
  }

  bool is_free(const Manual& b, std::int32_t channel) const {
    return (b.send < 0 || !owners_.contains(end(b, true, channel))) &&
           (b.recv < 0 || !owners_.contains(end(b, false, channel)));
  }

  void claim_or_refuse(std::uint32_t id, std::int32_t channel) {
    const Manual& b = blocks_[id];
    for (const bool sends : {true, false}) {
      const std::int32_t peer = sends ? b.send : b.recv;
      if (peer < 0) continue;
      const auto [it, fresh] = owners_.emplace(end(b, sends, channel), id);
      if (fresh) continue;
      const Manual& other = blocks_[it->second];
      throw Error(Code::ConnectionClash,
                  fmt::format("threadblocks {} and {} of rank {} both {} rank {} on channel {}; a "
                              "connection has one threadblock at each end",
                              other.number, b.number, b.rank, sends ? "send to" : "receive from",
                              peer, channel),
                  where(sends ? b.send_site : b.recv_site),
                  "use one threadblock for both, or give them different channels",
                  {{fmt::format("threadblock {} is used here", other.number),
                    where(sends ? other.send_site : other.recv_site)}});
    }
  }

  // Groups to which the program gave no channel: the lowest that gives no connection a second
  // owner.
  void choose_for_the_rest() {
    std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> members;
    std::vector<std::uint32_t> roots;
    for (std::uint32_t b = 0; b < blocks_.size(); ++b) {
      const std::uint32_t r = root(b);
      if (blocks_[r].channel >= 0) continue;
      std::vector<std::uint32_t>& group = members[r];
      if (group.empty()) roots.push_back(r);
      group.push_back(b);
    }
    for (const std::uint32_t r : roots) {
      const std::vector<std::uint32_t>& group = members[r];
      std::int32_t channel = 0;
      const auto fits = [&] {
        for (const std::uint32_t b : group) {
          if (!is_free(blocks_[b], channel)) return false;
        }
        return true;
      };
      while (!fits()) ++channel;
      blocks_[r].channel = channel;
      for (const std::uint32_t b : group) claim_or_refuse(b, channel);
    }
  }

  Graph& graph_;
  std::unordered_map<HashKey, std::uint32_t, HashKeyHash> ids_;
  std::vector<Manual> blocks_;
  std::vector<std::uint32_t> parent_;
  std::unordered_map<HashKey, std::uint32_t, HashKeyHash> owners_;  // of connection ends
};

}  // namespace

void assign_manual_channels(Graph& graph) { ManualChannels(graph).run(); }

}  // namespace hocket::passes
