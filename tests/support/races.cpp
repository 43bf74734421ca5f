#include "support/races.h"

#include <fmt/format.h>

#include <cstdint>
#include <set>

namespace hocket::oracle {
namespace {

using fmt::format;
using Node = std::uint32_t;

// A graph of moments. Small and plain: successors in lists, closure by bit sets.
struct Graph {
  std::vector<std::vector<Node>> next;

  Node add() {
    next.emplace_back();
    return static_cast<Node>(next.size() - 1);
  }
  void edge(Node a, Node b) { next[a].push_back(b); }

  // Topological order; shorter than the graph where there is a cycle.
  std::vector<Node> order() const {
    std::vector<int> missing(next.size(), 0);
    for (const auto& list : next) {
      for (const Node n : list) ++missing[n];
    }
    std::vector<Node> result;
    for (Node n = 0; n < next.size(); ++n) {
      if (missing[n] == 0) result.push_back(n);
    }
    for (std::size_t i = 0; i < result.size(); ++i) {
      for (const Node n : next[result[i]]) {
        if (--missing[n] == 0) result.push_back(n);
      }
    }
    return result;
  }
};

// For chosen source nodes: which of them reach each node.
class Reach {
 public:
  Reach(const Graph& graph, const std::vector<Node>& order, const std::vector<Node>& sources)
      : words_((sources.size() + 63) / 64),
        index_(graph.next.size(), -1),
        bits_(graph.next.size() * words_, 0) {
    for (std::size_t i = 0; i < sources.size(); ++i) {
      index_[sources[i]] = static_cast<std::int64_t>(i);
      bits_[sources[i] * words_ + i / 64] |= std::uint64_t{1} << (i % 64);
    }
    for (const Node a : order) {
      for (const Node b : graph.next[a]) {
        for (std::size_t w = 0; w < words_; ++w) bits_[b * words_ + w] |= bits_[a * words_ + w];
      }
    }
  }

  // `from` must be a source. A node reaches itself.
  bool operator()(Node from, Node to) const {
    const auto i = static_cast<std::size_t>(index_[from]);
    return (bits_[to * words_ + i / 64] >> (i % 64) & 1) != 0;
  }

 private:
  std::size_t words_;
  std::vector<std::int64_t> index_;
  std::vector<std::uint64_t> bits_;
};

struct Moments {
  Node start = 0;
  Node end = 0;
  std::vector<Node> mid;  // by lane
};

struct Access {
  TbRef at;
  int step = 0;  // position in the threadblock
  Moments* moments = nullptr;
  int lane = 0;
  bool write = false;
};

class RaceFinder {
 public:
  explicit RaceFinder(const View& view) : view_(view), tbs_(view.threadblocks()) {}

  Findings run() {
    build();
    const auto all_order = all_.order();
    if (all_order.size() != all_.next.size()) {
      // Name one threadblock a rank that is on or behind the cycle.
      std::vector<bool> ordered(all_.next.size(), false);
      for (const Node n : all_order) ordered[n] = true;
      for (const TbRef at : tbs_) {
        const auto& list = moments_[at];
        for (std::size_t i = 0; i < list.size(); ++i) {
          if (ordered[list[i].start]) continue;
          findings_.push_back({FindingKind::deadlock, at.rank, at.tb, view_.of(at)[i].step,
                               "waits, over flags and messages, for itself"});
          break;
        }
      }
      return std::move(findings_);
    }
    const auto local_order = local_.order();
    for (int r = 0; r < view_.algorithm->num_ranks(); ++r) check_rank(r, all_order, local_order);
    return std::move(findings_);
  }

 private:
  void edge(Node a, Node b, bool local) {
    all_.edge(a, b);
    if (local) local_.edge(a, b);
  }

  Node node() {
    local_.add();
    return all_.add();
  }

  void build() {
    for (const TbRef at : tbs_) {
      auto& list = moments_[at];
      for (const Instruction& i : view_.of(at)) {
        Moments m;
        m.start = node();
        m.end = node();
        for (int lane = 0; lane < i.what.count; ++lane) {
          m.mid.push_back(node());
          edge(m.start, m.mid.back(), true);
          edge(m.mid.back(), m.end, true);
        }
        if (!list.empty()) edge(list.back().end, m.start, true);
        list.push_back(m);
      }
    }
    for (const TbRef at : tbs_) {
      add_waits(at);
      if (view_.tb(at).send >= 0) add_messages(at);
    }
  }

  void add_waits(TbRef at) {
    const auto& list = view_.of(at);
    for (std::size_t i = 0; i < list.size(); ++i) {
      for (const Wait& wait : list[i].waits) {
        const TbRef other{at.rank, wait.tb};
        const auto& published = view_.of(other);
        for (std::size_t k = 0; k < published.size(); ++k) {
          if (published[k].step < wait.step || !published[k].what.has_dependent) continue;
          edge(moments_[other][k].end, moments_[at][i].start, true);
          break;
        }
      }
    }
  }

  void add_messages(TbRef sender) {
    const ConnectionKey key = out_of(view_, sender);
    for (const TbRef receiver : tbs_) {
      if (view_.tb(receiver).recv < 0 || into(view_, receiver) != key) continue;
      std::vector<std::size_t> received;
      for (std::size_t i = 0; i < view_.of(receiver).size(); ++i) {
        if (receives(view_.of(receiver)[i].what)) received.push_back(i);
      }
      std::size_t k = 0;
      for (std::size_t i = 0; i < view_.of(sender).size(); ++i) {
        if (!sends(view_.of(sender)[i].what)) continue;
        const Moments& a = moments_[sender][i];
        const Moments& b = moments_[receiver][received[k++]];
        for (std::size_t lane = 0; lane < a.mid.size(); ++lane) {
          edge(a.mid[lane], b.mid[lane], false);
        }
      }
    }
  }

  void collect(int rank, std::map<Slot, std::vector<Access>>& accesses) {
    for (const TbRef at : tbs_) {
      if (at.rank != rank) continue;
      const auto& list = view_.of(at);
      for (std::size_t i = 0; i < list.size(); ++i) {
        const Step& step = list[i].what;
        const OpInfo& info = op_info(step.op);
        for (int lane = 0; lane < step.count; ++lane) {
          Access access{at, list[i].step, &moments_[at][i], lane, false};
          if (info.reads_src) {
            accesses[view_.canonical(rank, step.src_buffer, step.src_offset + lane)].push_back(
                access);
          }
          if (info.writes_dst) {
            const Slot slot = view_.canonical(rank, step.dst_buffer, step.dst_offset + lane);
            if (info.accumulates) accesses[slot].push_back(access);
            access.write = true;
            accesses[slot].push_back(access);
          }
        }
      }
    }
  }

  enum class Order { none, through_ranks, ordered };

  static Node last_moment(const Access& a) {
    return a.write ? a.moments->end : a.moments->mid[static_cast<std::size_t>(a.lane)];
  }
  static Node first_moment(const Access& a) {
    return a.write ? a.moments->mid[static_cast<std::size_t>(a.lane)] : a.moments->start;
  }

  // Is `a` done, and visible, before `b` happens?
  static Order before(const Access& a, const Access& b, const Reach& all, const Reach& local) {
    if (!all(last_moment(a), first_moment(b))) return Order::none;
    if (!a.write) return Order::ordered;
    return local(last_moment(a), first_moment(b)) ? Order::ordered : Order::through_ranks;
  }

  void check_rank(int rank, const std::vector<Node>& all_order,
                  const std::vector<Node>& local_order) {
    std::map<Slot, std::vector<Access>> accesses;
    collect(rank, accesses);
    std::set<Node> wanted;
    for (const auto& [slot, list] : accesses) {
      for (const Access& a : list) wanted.insert(last_moment(a));
    }
    const std::vector<Node> sources(wanted.begin(), wanted.end());
    const Reach all(all_, all_order, sources);
    const Reach local(local_, local_order, sources);
    for (const auto& [slot, list] : accesses) {
      for (std::size_t i = 0; i < list.size(); ++i) {
        for (std::size_t k = i + 1; k < list.size(); ++k) {
          const Access& a = list[i];
          const Access& b = list[k];
          if (a.at == b.at || !(a.write || b.write)) continue;
          const Order order = std::max(before(a, b, all, local), before(b, a, all, local));
          if (order == Order::ordered) continue;
          findings_.push_back(
              {order == Order::none ? FindingKind::race : FindingKind::through_ranks, rank, b.at.tb,
               b.step,
               format("{} {}[{}], which threadblock {} step {} {}", b.write ? "writes" : "reads",
                      buffer_kind_name(slot.buffer), slot.index, a.at.tb, a.step,
                      a.write ? "writes" : "reads")});
        }
      }
    }
  }

  const View& view_;
  const std::vector<TbRef> tbs_;
  Graph all_;
  Graph local_;
  std::map<TbRef, std::vector<Moments>> moments_;
  Findings findings_;
};

}  // namespace

Findings find_races(const View& view) { return RaceFinder(view).run(); }

}  // namespace hocket::oracle
