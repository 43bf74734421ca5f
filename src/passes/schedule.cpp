// The greedy execution; see schedule.h for why its order is safe.
#include "passes/schedule.h"

#include <algorithm>
#include <utility>

#include "hocket/diagnostic.h"
#include "passes/assign_channels.h"
#include "passes/fuse.h"
#include "passes/min_set.h"
#include "passes/number_by_rank.h"

namespace hocket::passes {
namespace {

// The active nodes, most urgent first: the least deep, of those the one with the longest way to go,
// then trace order. Two counting sorts.
BigVector<NodeId> by_urgency(const Graph& graph) {
  BigVector<NodeId> nodes;
  for (NodeId n = 0; n < graph.size(); ++n) {
    if (graph.nodes[n].active) nodes.push_back(n);
  }
  BigVector<NodeId> sorted(nodes.size());
  const auto counting_sort = [&](const BigVector<std::uint32_t>& key, bool descending) {
    std::uint32_t top = 0;
    for (const NodeId n : nodes) top = std::max(top, key[n]);
    BigVector<std::uint32_t> next(std::size_t{top} + 2, 0);
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

using TaskId = std::uint32_t;

// An active node as the execution sees it. Tasks are numbered by urgency: they are taken nearly in
// that order, and what one needs lies together, so that the execution walks memory instead of
// jumping through it.
struct Task {
  NodeId node = kNone;
  std::uint32_t open_preds = 0;
  ConnectionId in = kNone;
  ConnectionId out = kNone;
  TaskId receiver = kNone;  // of what it sends
  // Of a receiver: until its message is sent, the sender that waits for it to be ready; from then
  // on, the receiver of the next message in the connection.
  TaskId link = kNone;
  std::uint16_t transfers = 0;  // more than there are slots are all alike
  bool sent : 1 = false;        // of a receiver: its message is on the way
  bool taken : 1 = false;
  bool woken : 1 = false;  // to be tried because its connection has room; see wake_next()
};

class Greedy {
 public:
  Greedy(Graph& graph, const Capacity& capacity, Care care)
      : graph_(graph),
        slots_(static_cast<std::uint32_t>(capacity.slots)),
        care_(care),
        task_of_(graph.size(), kNone),
        fifos_(graph.connections.size()),
        rank_stamp_(static_cast<std::size_t>(graph.trace->num_ranks()), 0) {
    make_tasks(by_urgency(graph), capacity);
    index_successors();
  }

  bool run(BigVector<NodeId>& stuck) {
    MinSet ready(tasks_.size());
    ready_ = &ready;
    graph_.order.clear();
    graph_.order.reserve(tasks_.size());
    for (TaskId t = 0; t < tasks_.size(); ++t) {
      if (tasks_[t].open_preds == 0) offer(t);
    }
    while (!ready.empty()) try_take(ready.take_min());
    if (graph_.order.size() == tasks_.size()) return true;
    collect_stuck(stuck);
    return false;
  }

 private:
  struct Fifo {
    bool fused_senders = false;
    std::uint32_t used = 0;  // transfers in it
    TaskId head = kNone;     // receiver of the oldest message in it
    TaskId tail = kNone;
    // Senders to try again when it drains, as cells: those that send into it themselves, a heap of
    // those to be tried one after the other and a list of those that have been since it drained;
    // and a list of those that need it for a task downstream.
    std::uint32_t waiting = kNone;
    std::uint32_t tried = kNone;
    std::uint32_t upstream = kNone;
  };
  struct Cell {
    TaskId task = kNone;
    std::uint32_t next = kNone;
    std::uint32_t left = kNone;  // in a heap, where `next` is the right child
  };

  void make_tasks(const BigVector<NodeId>& nodes, const Capacity& capacity) {
    for (TaskId t = 0; t < nodes.size(); ++t) task_of_[nodes[t]] = t;
    tasks_.resize(nodes.size());
    for (TaskId t = 0; t < nodes.size(); ++t) {
      const Node& node = graph_.nodes[nodes[t]];
      Task& task = tasks_[t];
      task.node = nodes[t];
      task.transfers =
          static_cast<std::uint16_t>(std::min(capacity.transfers(node.count), capacity.slots + 1));
      if (node.in != kNone) task.in = graph_.messages[node.in].connection;
      if (node.out != kNone) {
        const Message& message = graph_.messages[node.out];
        task.out = message.connection;
        task.receiver = task_of_[message.recv];
        if (node.in != kNone) fifos_[task.out].fused_senders = true;
      }
    }
  }

  void index_successors() {
    first_succ_.assign(tasks_.size() + 1, 0);
    for_each_edge([&](TaskId pred, TaskId task) {
      ++first_succ_[pred + 1];
      ++tasks_[task].open_preds;
    });
    for (std::size_t i = 1; i < first_succ_.size(); ++i) first_succ_[i] += first_succ_[i - 1];
    succs_.resize(first_succ_.back());
    // Filling from the back leaves first_succ_ as the starts again.
    for_each_edge([&](TaskId pred, TaskId task) { succs_[--first_succ_[pred + 1]] = task; });
    for (std::size_t i = 0; i + 1 < first_succ_.size(); ++i) first_succ_[i] = first_succ_[i + 1];
    first_succ_.back() = static_cast<std::uint32_t>(succs_.size());
  }

  template <typename F>
  void for_each_edge(F&& each) const {
    for (NodeId n = 0; n < graph_.size(); ++n) {
      if (!graph_.nodes[n].active) continue;
      for (const NodeId p : graph_.preds_of(n)) {
        const NodeId pred = graph_.resolve(p);
        if (pred != n) each(task_of_[pred], task_of_[n]);
      }
    }
  }

  // Puts a task among those to be tried, unless it is known to lack something: whatever brings that
  // offers it again.
  void offer(TaskId t) {
    const Task& task = tasks_[t];
    if (task.open_preds != 0) return;
    if (task.in != kNone) {
      if (!task.sent) {
        wake_upstream(t);
        return;  // offered again when its message is sent
      }
      if (fifos_[task.in].head != t) return;  // offered again when its message is the oldest
    }
    ready_->insert(t);
  }

  // A sender may be offered more than once.
  void try_take(TaskId t) {
    Task& task = tasks_[t];
    if (task.out == kNone) {
      if (!task.taken) take(t);
      return;
    }
    const bool woken = task.woken;
    task.woken = false;
    if (!task.taken) {
      group_.clear();
      if (can_send(t)) {
        for (const TaskId member : group_) take(member);
      }
    }
    if (woken) wake_next(fifos_[task.out]);
  }

  // Whether `t` can send all it has to, alone or in lock step with tasks downstream; fills group_.
  // Where not, `t` is left where the missing event will find it.
  bool can_send(TaskId t) {
    TaskId at = t;
    while (true) {
      const Task& task = tasks_[at];
      group_.push_back(at);
      if (task.out == kNone) return true;
      Fifo& fifo = fifos_[task.out];
      const std::uint32_t kept_free =
          care_ == Care::bubble && fifo.fused_senders && task.in == kNone && fifo.used > 0 ? 1 : 0;
      if (fifo.used + task.transfers + kept_free <= slots_) return true;
      if (task.transfers <= slots_ || fifo.used > 0) {
        block(fifo, t);
        return false;
      }
      Task& next = tasks_[task.receiver];
      if (next.open_preds != 0) {
        next.link = t;
        return false;
      }
      if (at == t) {
        ++stamp_;
        rank_stamp_[rank_of(t)] = stamp_;
      }
      at = task.receiver;
      // Two tasks of one rank in lock step: never safe.
      if (std::exchange(rank_stamp_[rank_of(at)], stamp_) == stamp_) return false;
    }
  }

  std::size_t rank_of(TaskId t) const {
    return static_cast<std::size_t>(graph_.nodes[tasks_[t].node].rank);
  }

  void block(Fifo& fifo, TaskId t) {
    if (&fifo != &fifos_[tasks_[t].out]) {
      push(fifo.upstream, t);
    } else if (fifo.used < slots_) {
      push(fifo.tried, t);  // not room enough for this one
    } else {
      fifo.waiting = merged(fifo.waiting, new_cell(t));
    }
  }

  // There is room again.
  void unblock(Fifo& fifo) {
    while (fifo.tried != kNone) {
      const std::uint32_t cell = fifo.tried;
      fifo.tried = std::exchange(cells_[cell].next, kNone);
      fifo.waiting = merged(fifo.waiting, cell);
    }
    wake_next(fifo);
    while (fifo.upstream != kNone) {
      const std::uint32_t cell = fifo.upstream;
      fifo.upstream = cells_[cell].next;
      offer(cells_[cell].task);
      drop(cell);
    }
  }

  // Of the senders that wait for room the most urgent one; it wakes the next when it has been
  // tried. To try them all whenever there is room for one would cost the square of their number.
  void wake_next(Fifo& fifo) {
    while (fifo.waiting != kNone && fifo.used < slots_) {
      const std::uint32_t cell = fifo.waiting;
      fifo.waiting = merged(cells_[cell].left, cells_[cell].next);
      const TaskId t = cells_[cell].task;
      drop(cell);
      if (tasks_[t].taken) continue;
      tasks_[t].woken = true;
      ready_->insert(t);
      return;
    }
  }

  std::uint32_t new_cell(TaskId t) {
    std::uint32_t cell = free_cell_;
    if (cell == kNone) {
      cell = static_cast<std::uint32_t>(cells_.size());
      cells_.emplace_back();
    } else {
      free_cell_ = cells_[cell].next;
    }
    cells_[cell] = {t};
    return cell;
  }
  void drop(std::uint32_t cell) { cells_[cell].next = std::exchange(free_cell_, cell); }
  void push(std::uint32_t& list, TaskId t) {
    const std::uint32_t cell = new_cell(t);
    cells_[cell].next = std::exchange(list, cell);
  }

  // Of two skew heaps (D. Sleator, R. Tarjan, "Self-adjusting heaps", SIAM J. Comput. 15, 1986): a
  // logarithm a merge, amortised.
  std::uint32_t merged(std::uint32_t a, std::uint32_t b) {
    std::uint32_t root = kNone;
    std::uint32_t* place = &root;
    while (a != kNone && b != kNone) {
      if (cells_[b].task < cells_[a].task) std::swap(a, b);
      *place = a;
      const std::uint32_t right = std::exchange(cells_[a].next, cells_[a].left);
      place = &cells_[a].left;
      a = right;
    }
    *place = a != kNone ? a : b;
    return root;
  }

  // `t` is ready but for its message: its sender may be waiting for exactly that.
  void wake_upstream(TaskId t) {
    const TaskId sender = std::exchange(tasks_[t].link, kNone);
    if (sender != kNone) offer(sender);
  }

  // Tasks are taken nearly in order, so what the one a little ahead will touch can be on its way.
  void fetch_ahead(TaskId t) const {
    constexpr TaskId kAhead = 16;
    if (tasks_.size() - t <= kAhead) return;
    const TaskId ahead = t + kAhead;
    const TaskId receiver = tasks_[ahead].receiver;
    if (receiver != kNone) __builtin_prefetch(&tasks_[receiver]);
    const std::uint32_t succ = first_succ_[ahead];
    if (succ < succs_.size()) __builtin_prefetch(&tasks_[succs_[succ]]);
  }

  void take(TaskId t) {
    fetch_ahead(t);
    Task& task = tasks_[t];
    task.taken = true;
    graph_.order.push_back(task.node);
    if (task.in != kNone) receive(task);
    if (task.out != kNone) send(task);
    for (std::uint32_t i = first_succ_[t]; i < first_succ_[t + 1]; ++i) {
      if (--tasks_[succs_[i]].open_preds == 0) offer(succs_[i]);
    }
  }

  void receive(const Task& task) {
    Fifo& fifo = fifos_[task.in];
    fifo.used -= task.transfers;
    fifo.head = task.link;
    if (fifo.head != kNone) offer(fifo.head);
    unblock(fifo);
  }

  // Inside a group the receiver is taken next, so nothing stays in the connection beyond its slots.
  void send(const Task& task) {
    Fifo& fifo = fifos_[task.out];
    tasks_[task.receiver].sent = true;
    tasks_[task.receiver].link = kNone;
    fifo.used += task.transfers;
    if (fifo.head == kNone) {
      fifo.head = task.receiver;
      offer(task.receiver);
    } else {
      tasks_[fifo.tail].link = task.receiver;
    }
    fifo.tail = task.receiver;
  }

  // The fused nodes not taken whose dependences are; if there are none, all fused ones left.
  void collect_stuck(BigVector<NodeId>& stuck) const {
    stuck.clear();
    for (const bool only_ready : {true, false}) {
      for (NodeId n = 0; n < graph_.size(); ++n) {
        if (!graph_.nodes[n].active || graph_.absorbed[n] == kNone) continue;
        const Task& task = tasks_[task_of_[n]];
        if (!task.taken && (!only_ready || task.open_preds == 0)) stuck.push_back(n);
      }
      if (!stuck.empty()) return;
    }
  }

  Graph& graph_;
  std::uint32_t slots_;
  Care care_;
  BigVector<TaskId> task_of_;  // of a node
  BigVector<Task> tasks_;
  MinSet* ready_ = nullptr;  // tasks to be tried
  BigVector<std::uint32_t> first_succ_;
  BigVector<TaskId> succs_;
  BigVector<Fifo> fifos_;
  BigVector<Cell> cells_;
  std::uint32_t free_cell_ = kNone;
  BigVector<TaskId> group_;
  BigVector<std::uint32_t> rank_stamp_;
  std::uint32_t stamp_ = 0;
};

// One greedy attempt. True: graph.order is complete. False: `stuck` has the fused nodes that cannot
// go on.
bool attempt(Graph& graph, const Capacity& capacity, Care care, BigVector<NodeId>& stuck) {
  return Greedy(graph, capacity, care).run(stuck);
}

void take_trace_order(Graph& graph) {
  graph.order.clear();
  for (NodeId n = 0; n < graph.size(); ++n) {
    HOCKET_CHECK(graph.absorbed[n] == kNone, "trace order is for unfused programs");
    if (graph.nodes[n].active) graph.order.push_back(n);
  }
}

int find_order(Graph& graph, const Capacity& capacity, std::int32_t channel_budget) {
  constexpr int kRounds = 8;
  int walls = 0;
  BigVector<NodeId> stuck;
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

}  // namespace

int schedule(Graph& graph, const Capacity& capacity, std::int32_t channel_budget) {
  const int walls = find_order(graph, capacity, channel_budget);
  number_by_rank(graph);
  return walls;
}

}  // namespace hocket::passes
