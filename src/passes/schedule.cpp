// The greedy execution; see schedule.h for why its order is safe.
#include "passes/schedule.h"

#include <algorithm>

#include "hocket/diagnostic.h"
#include "passes/assign_channels.h"
#include "passes/fuse.h"
#include "passes/min_set.h"

namespace hocket::passes {
namespace {

// The active nodes, most urgent first: the least deep, of those the one with the longest way to go,
// then trace order. Two counting sorts.
std::vector<NodeId> by_urgency(const Graph& graph) {
  std::vector<NodeId> nodes;
  for (NodeId n = 0; n < graph.size(); ++n) {
    if (graph.nodes[n].active) nodes.push_back(n);
  }
  std::vector<NodeId> sorted(nodes.size());
  const auto counting_sort = [&](const std::vector<std::uint32_t>& key, bool descending) {
    std::uint32_t top = 0;
    for (const NodeId n : nodes) top = std::max(top, key[n]);
    std::vector<std::uint32_t> next(std::size_t{top} + 2, 0);
    const auto bucket = [&](NodeId n) { return descending ? top - key[n] : key[n]; };
    for (const NodeId n : nodes) ++next[bucket(n) + 1];
    for (std::size_t i = 1; i < next.size(); ++i) next[i] += next[i - 1];
    for (const NodeId n : nodes) sorted[next[bucket(n)]++] = n;
    nodes.swap(sorted);
  };
  counting_sort(heights(graph), true);
  counting_sort(depths(graph), false);
  return nodes;
}

enum class Care : std::uint8_t { eager, bubble };

class Greedy {
 public:
  Greedy(Graph& graph, const Capacity& capacity, Care care)
      : graph_(graph),
        capacity_(capacity),
        care_(care),
        by_urgency_(by_urgency(graph)),
        urgency_(graph.size(), kNone),
        ready_(by_urgency_.size()),
        open_preds_(graph.size(), 0),
        taken_(graph.size(), false),
        waiting_head_(graph.size(), kNone),
        sent_(graph.messages.size(), false),
        next_message_(graph.messages.size(), kNone),
        fifos_(graph.connections.size()),
        rank_stamp_(static_cast<std::size_t>(graph.trace->num_ranks()), 0) {
    for (std::uint32_t i = 0; i < by_urgency_.size(); ++i) urgency_[by_urgency_[i]] = i;
    index_successors();
    for (const Message& m : graph.messages) {
      if (graph.absorbed[m.send] != kNone) fifos_[m.connection].passes_on = true;
    }
  }

  bool run(std::vector<NodeId>& stuck) {
    graph_.order.clear();
    graph_.order.reserve(by_urgency_.size());
    for (const NodeId n : by_urgency_) {
      if (open_preds_[n] == 0) offer(n);
    }
    while (!ready_.empty()) try_take(by_urgency_[ready_.take_min()]);
    if (graph_.order.size() == by_urgency_.size()) return true;
    collect_stuck(stuck);
    return false;
  }

 private:
  struct Fifo {
    bool passes_on = false;  // some fused node sends on it
    std::uint32_t used = 0;  // transfers in it
    MessageId head = kNone;  // the oldest message in it
    MessageId tail = kNone;
    std::uint32_t blocked = kNone;  // list of senders to try again when it drains
  };
  struct Cell {
    NodeId node = kNone;
    std::uint32_t next = kNone;
  };

  void index_successors() {
    first_succ_.assign(graph_.size() + 1, 0);
    for_each_edge([&](NodeId pred, NodeId node) {
      ++first_succ_[pred + 1];
      ++open_preds_[node];
    });
    for (std::size_t i = 1; i < first_succ_.size(); ++i) first_succ_[i] += first_succ_[i - 1];
    succs_.resize(first_succ_.back());
    // Filling from the back leaves first_succ_ as the starts again.
    for_each_edge([&](NodeId pred, NodeId node) { succs_[--first_succ_[pred + 1]] = node; });
    for (std::size_t i = 0; i + 1 < first_succ_.size(); ++i) first_succ_[i] = first_succ_[i + 1];
    first_succ_.back() = static_cast<std::uint32_t>(succs_.size());
  }

  template <typename F>
  void for_each_edge(F&& each) const {
    for (NodeId n = 0; n < graph_.size(); ++n) {
      if (!graph_.nodes[n].active) continue;
      for (const NodeId p : graph_.preds_of(n)) {
        const NodeId pred = graph_.resolve(p);
        if (pred != n) each(pred, n);
      }
    }
  }

  // Puts a node whose dependences are taken among those to be tried.
  void offer(NodeId n) { ready_.insert(urgency_[n]); }

  std::uint32_t transfers(const Node& node) const {
    return static_cast<std::uint32_t>(capacity_.transfers(node.count));
  }

  // A node may be offered more than once; one that cannot go is offered again by whatever it lacks.
  void try_take(NodeId n) {
    if (taken_[n] || open_preds_[n] != 0) return;
    const Node& node = graph_.nodes[n];
    if (node.in != kNone) {
      if (!sent_[node.in]) {
        wake_upstream(n);
        return;  // offered again when its message is sent
      }
      // Offered again when its message is the oldest.
      if (fifos_[graph_.messages[node.in].connection].head != node.in) return;
    }
    if (node.out == kNone) {
      take(n);
      return;
    }
    group_.clear();
    if (!can_send(n)) return;
    for (const NodeId member : group_) take(member);
  }

  // Whether `n` can send all it has to, alone or in lock step with nodes downstream; fills group_.
  // Where not, `n` is left where the missing event will find it.
  bool can_send(NodeId n) {
    ++stamp_;
    NodeId at = n;
    while (true) {
      const Node& node = graph_.nodes[at];
      std::uint32_t& stamp = rank_stamp_[static_cast<std::size_t>(node.rank)];
      if (stamp == stamp_) return false;  // two nodes of one rank in lock step: never safe
      stamp = stamp_;
      group_.push_back(at);
      if (node.out == kNone) return true;
      Fifo& fifo = fifos_[graph_.messages[node.out].connection];
      const std::uint32_t needed = transfers(node);
      const auto slots = static_cast<std::uint32_t>(capacity_.slots);
      const std::uint32_t kept_free =
          care_ == Care::bubble && fifo.passes_on && node.in == kNone && fifo.used > 0 ? 1 : 0;
      if (fifo.used + needed + kept_free <= slots) return true;
      if (needed <= slots || fifo.used > 0) {
        block(fifo, n);
        return false;
      }
      const NodeId next = graph_.messages[node.out].recv;
      if (open_preds_[next] != 0) {
        waiting_head_[next] = n;
        return false;
      }
      at = next;
    }
  }

  void block(Fifo& fifo, NodeId n) {
    std::uint32_t cell = free_cell_;
    if (cell == kNone) {
      cell = static_cast<std::uint32_t>(cells_.size());
      cells_.emplace_back();
    } else {
      free_cell_ = cells_[cell].next;
    }
    cells_[cell] = {n, fifo.blocked};
    fifo.blocked = cell;
  }

  void unblock_all(Fifo& fifo) {
    while (fifo.blocked != kNone) {
      Cell& cell = cells_[fifo.blocked];
      offer(cell.node);
      const std::uint32_t next = cell.next;
      cell.next = free_cell_;
      free_cell_ = fifo.blocked;
      fifo.blocked = next;
    }
  }

  // `n` has just become ready but its message has not been sent: a sender may be waiting for
  // exactly that.
  void wake_upstream(NodeId n) {
    const NodeId head = waiting_head_[n];
    if (head == kNone) return;
    waiting_head_[n] = kNone;
    offer(head);
  }

  void take(NodeId n) {
    taken_[n] = true;
    graph_.order.push_back(n);
    const Node& node = graph_.nodes[n];
    if (node.in != kNone) receive(node);
    if (node.out != kNone) send(node);
    for (std::uint32_t i = first_succ_[n]; i < first_succ_[n + 1]; ++i) {
      if (--open_preds_[succs_[i]] == 0) offer(succs_[i]);
    }
  }

  void receive(const Node& node) {
    Fifo& fifo = fifos_[graph_.messages[node.in].connection];
    fifo.used -= transfers(node);
    fifo.head = next_message_[node.in];
    if (fifo.head != kNone) offer(graph_.messages[fifo.head].recv);
    unblock_all(fifo);
  }

  // Inside a group the receiver is taken next, so nothing stays in the connection beyond its slots.
  void send(const Node& node) {
    Fifo& fifo = fifos_[graph_.messages[node.out].connection];
    sent_[node.out] = true;
    fifo.used += transfers(node);
    if (fifo.head == kNone) {
      fifo.head = node.out;
      offer(graph_.messages[node.out].recv);
    } else {
      next_message_[fifo.tail] = node.out;
    }
    fifo.tail = node.out;
  }

  // The fused nodes not taken whose dependences are; if there are none, all fused ones left.
  void collect_stuck(std::vector<NodeId>& stuck) const {
    stuck.clear();
    for (const bool only_ready : {true, false}) {
      for (NodeId n = 0; n < graph_.size(); ++n) {
        if (!graph_.nodes[n].active || taken_[n] || graph_.absorbed[n] == kNone) continue;
        if (!only_ready || open_preds_[n] == 0) stuck.push_back(n);
      }
      if (!stuck.empty()) return;
    }
  }

  Graph& graph_;
  Capacity capacity_;
  Care care_;
  std::vector<NodeId> by_urgency_;
  std::vector<std::uint32_t> urgency_;  // of a node: its place in by_urgency_
  MinSet ready_;                        // urgencies of the nodes to be tried
  std::vector<std::uint32_t> first_succ_;
  std::vector<NodeId> succs_;
  std::vector<std::uint32_t> open_preds_;
  std::vector<bool> taken_;
  std::vector<NodeId> waiting_head_;  // of a receiver: the sender that waits for it to be ready
  std::vector<bool> sent_;
  std::vector<MessageId> next_message_;  // in a connection
  std::vector<Fifo> fifos_;
  std::vector<Cell> cells_;
  std::uint32_t free_cell_ = kNone;
  std::vector<NodeId> group_;
  std::vector<std::uint32_t> rank_stamp_;
  std::uint32_t stamp_ = 0;
};

// One greedy attempt. True: graph.order is complete. False: `stuck` has the fused nodes that cannot
// go on.
bool attempt(Graph& graph, const Capacity& capacity, Care care, std::vector<NodeId>& stuck) {
  return Greedy(graph, capacity, care).run(stuck);
}

void take_trace_order(Graph& graph) {
  graph.order.clear();
  for (NodeId n = 0; n < graph.size(); ++n) {
    HOCKET_CHECK(graph.absorbed[n] == kNone, "trace order is for unfused programs");
    graph.order.push_back(n);
  }
}

int find_order(Graph& graph, const Capacity& capacity, std::int32_t channel_budget) {
  constexpr int kRounds = 8;
  int walls = 0;
  std::vector<NodeId> stuck;
  const auto try_all = [&](ChainPolicy policy) {
    assign_channels(graph, channel_budget, policy);
    for (const Care care : {Care::eager, Care::bubble}) {
      if (attempt(graph, capacity, care, stuck)) return true;
      ++walls;
    }
    return false;
  };
  if (try_all(ChainPolicy::shared) || try_all(ChainPolicy::apart)) return walls;
  for (int round = 0; round < kRounds && !stuck.empty(); ++round) {
    for (const NodeId n : stuck) graph.unfuse(n);
    if (try_all(ChainPolicy::shared)) return walls;
  }
  for (NodeId n = 0; n < graph.size(); ++n) {
    if (graph.absorbed[n] != kNone) graph.unfuse(n);
  }
  if (!try_all(ChainPolicy::shared)) take_trace_order(graph);
  return walls;
}

void group_by_rank(Graph& graph) {
  const auto ranks = static_cast<std::size_t>(graph.trace->num_ranks());
  graph.first_of_rank.assign(ranks + 1, 0);
  const auto rank = [&](NodeId n) { return static_cast<std::size_t>(graph.nodes[n].rank); };
  for (const NodeId n : graph.order) ++graph.first_of_rank[rank(n) + 1];
  for (std::size_t r = 0; r < ranks; ++r) graph.first_of_rank[r + 1] += graph.first_of_rank[r];
  std::vector<std::uint32_t> next(graph.first_of_rank.begin(), graph.first_of_rank.end() - 1);
  graph.rank_nodes.resize(graph.order.size());
  for (const NodeId n : graph.order) graph.rank_nodes[next[rank(n)]++] = n;
}

}  // namespace

int schedule(Graph& graph, const Capacity& capacity, std::int32_t channel_budget) {
  const int walls = find_order(graph, capacity, channel_budget);
  group_by_rank(graph);
  return walls;
}

}  // namespace hocket::passes
