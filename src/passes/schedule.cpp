// The greedy execution; see schedule.h for why its order is safe.
#include "passes/schedule.h"

#include <algorithm>
#include <queue>

#include "hocket/diagnostic.h"
#include "passes/fuse.h"

namespace hocket::passes {
namespace {

class Greedy {
 public:
  Greedy(Graph& graph, const Capacity& capacity, Care care)
      : graph_(graph),
        capacity_(capacity),
        care_(care),
        depth_(depths(graph)),
        height_(heights(graph)),
        open_preds_(graph.size(), 0),
        taken_(graph.size(), false),
        waiting_head_(graph.size(), kNone),
        sent_(graph.messages.size(), false),
        fifos_(graph.connections.size()),
        rank_stamp_(static_cast<std::size_t>(graph.trace->num_ranks()), 0) {
    index_successors();
    for (const Message& m : graph.messages) {
      if (graph.absorbed[m.send] != kNone) fifos_[m.connection].passes_on = true;
    }
  }

  bool run(std::vector<NodeId>& stuck) {
    graph_.order.clear();
    std::size_t active = 0;
    for (NodeId n = 0; n < graph_.size(); ++n) {
      if (!graph_.nodes[n].active) continue;
      ++active;
      if (open_preds_[n] == 0) offer(n);
    }
    graph_.order.reserve(active);
    while (!ready_.empty()) {
      const NodeId n = ready_.top().node;
      ready_.pop();
      try_take(n);
    }
    if (graph_.order.size() == active) return true;
    collect_stuck(stuck);
    return false;
  }

 private:
  struct Candidate {
    std::uint32_t depth;
    std::uint32_t height;
    NodeId node;
    // std::priority_queue has the largest on top: the least deep, highest, earliest is "largest".
    bool operator<(const Candidate& other) const {
      if (depth != other.depth) return depth > other.depth;
      if (height != other.height) return height < other.height;
      return node > other.node;
    }
  };
  struct Fifo {
    bool passes_on = false;           // some fused node sends on it
    std::uint32_t used = 0;           // transfers in it
    std::uint32_t head = 0;           // index of the oldest message in `messages`
    std::vector<MessageId> messages;  // in the order in which they were sent
    std::vector<NodeId> blocked;      // senders to try again when it drains
  };

  void index_successors() {
    first_succ_.assign(graph_.size() + 1, 0);
    for_each_edge([&](NodeId pred, NodeId node) {
      ++first_succ_[pred + 1];
      ++open_preds_[node];
    });
    for (std::size_t i = 1; i < first_succ_.size(); ++i) first_succ_[i] += first_succ_[i - 1];
    succs_.resize(first_succ_.back());
    std::vector<std::uint32_t> next(first_succ_.begin(), first_succ_.end() - 1);
    for_each_edge([&](NodeId pred, NodeId node) { succs_[next[pred]++] = node; });
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
  void offer(NodeId n) { ready_.push({depth_[n], height_[n], n}); }

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
      const Fifo& fifo = fifos_[graph_.messages[node.in].connection];
      if (fifo.messages[fifo.head] != node.in) return;  // offered again when it is the oldest
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
        fifo.blocked.push_back(n);
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
    ++fifo.head;
    if (fifo.head < fifo.messages.size()) {
      offer(graph_.messages[fifo.messages[fifo.head]].recv);
    }
    for (const NodeId sender : fifo.blocked) offer(sender);
    fifo.blocked.clear();
  }

  // Inside a group the receiver is taken next, so nothing stays in the connection beyond its slots.
  void send(const Node& node) {
    Fifo& fifo = fifos_[graph_.messages[node.out].connection];
    sent_[node.out] = true;
    fifo.used += transfers(node);
    fifo.messages.push_back(node.out);
    if (fifo.head + 1 == fifo.messages.size()) offer(graph_.messages[node.out].recv);
  }

  // The fused nodes not taken whose dependences are, or that hold up a connection; if there are
  // none, all fused ones left.
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
  std::vector<std::uint32_t> depth_;
  std::vector<std::uint32_t> height_;
  std::vector<std::uint32_t> first_succ_;
  std::vector<NodeId> succs_;
  std::vector<std::uint32_t> open_preds_;
  std::vector<bool> taken_;
  std::vector<NodeId> waiting_head_;  // of a receiver: the sender that waits for it to be ready
  std::vector<bool> sent_;
  std::vector<Fifo> fifos_;
  std::priority_queue<Candidate> ready_;
  std::vector<NodeId> group_;
  std::vector<std::uint32_t> rank_stamp_;
  std::uint32_t stamp_ = 0;
};

}  // namespace

bool try_schedule(Graph& graph, const Capacity& capacity, Care care, std::vector<NodeId>& stuck) {
  return Greedy(graph, capacity, care).run(stuck);
}

void schedule_in_trace_order(Graph& graph) {
  graph.order.clear();
  for (NodeId n = 0; n < graph.size(); ++n) {
    HOCKET_CHECK(graph.absorbed[n] == kNone, "trace order is for unfused programs");
    graph.order.push_back(n);
  }
}

}  // namespace hocket::passes
