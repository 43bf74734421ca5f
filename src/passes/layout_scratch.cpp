// Runs of scratch parts, their lives, and first-fit placement.
#include "passes/layout_scratch.h"

#include <algorithm>

#include "passes/local_clocks.h"

namespace hocket::passes {
namespace {

// One scratch operand of a node.
struct Access {
  std::uint32_t buffer = 0;
  std::int32_t first = 0;
  std::int32_t end = 0;
  std::uint32_t node_in_rank = 0;  // position in the rank's order
  bool writes = false;
  bool is_dst = false;
};

struct Run {
  std::uint32_t buffer = 0;
  std::int32_t first = 0;
  std::int32_t end = 0;
  std::uint32_t born = 0xffffffffu;  // first and last access, as positions in the rank's order
  std::uint32_t last = 0;
  std::int32_t offset = -1;
};

// One rank after another; the arrays are kept for the next.
class ScratchLayout {
 public:
  explicit ScratchLayout(Graph& graph) : graph_(graph) {}

  // Returns the parts used.
  std::int32_t run(std::size_t rank) {
    rank_ = rank;
    first_ = graph_.first_of_rank[rank];
    num_nodes_ = graph_.first_of_rank[rank + 1] - first_;
    collect_accesses();
    if (accesses_.empty()) return 0;
    form_runs();
    std::int32_t used = 0;
    if (runs_.size() == 1) {
      runs_[0].offset = 0;
      used = runs_[0].end - runs_[0].first;
    } else {
      learn_lives();
      used = place();
    }
    rewrite();
    return used;
  }

 private:
  using Written = std::vector<std::pair<std::int32_t, std::int32_t>>;  // disjoint, sorted

  void collect_accesses() {
    accesses_.clear();
    for (std::uint32_t i = 0; i < num_nodes_; ++i) {
      const Node& node = graph_.nodes[first_ + i];
      if (Graph::reads(node) && node.src_buffer >= kFirstScratch) {
        accesses_.push_back(
            {node.src_buffer, node.src_index, node.src_index + node.count, i, false, false});
      }
      if (Graph::writes(node) && node.dst_buffer >= kFirstScratch) {
        accesses_.push_back(
            {node.dst_buffer, node.dst_index, node.dst_index + node.count, i, true, true});
      }
    }
  }

  void form_runs() {
    by_place_.resize(accesses_.size());
    for (std::uint32_t i = 0; i < by_place_.size(); ++i) by_place_[i] = i;
    std::sort(by_place_.begin(), by_place_.end(), [&](std::uint32_t a, std::uint32_t b) {
      const Access& x = accesses_[a];
      const Access& y = accesses_[b];
      if (x.buffer != y.buffer) return x.buffer < y.buffer;
      if (x.first != y.first) return x.first < y.first;
      return a < b;
    });
    run_of_.resize(accesses_.size());
    runs_.clear();
    for (const std::uint32_t i : by_place_) {
      const Access& a = accesses_[i];
      if (runs_.empty() || runs_.back().buffer != a.buffer || runs_.back().end <= a.first) {
        runs_.push_back({a.buffer, a.first, a.end});
      }
      Run& run = runs_.back();
      run.end = std::max(run.end, a.end);
      run.born = std::min(run.born, a.node_in_rank);
      run.last = std::max(run.last, a.node_in_rank);
      run_of_[i] = static_cast<std::uint32_t>(runs_.size() - 1);
    }
  }

  // For every run: the last access of each threadblock, and what is known of every threadblock at
  // all of the run's first writes.
  void learn_lives() {
    const std::size_t width = graph_.num_blocks(rank_);
    last_.assign(runs_.size() * width,
                 0);  // number of nodes of the threadblock up to its last access
    known_.assign(runs_.size() * width, 0xffffffffu);
    for (Written& w : written_) w.clear();
    if (written_.size() < runs_.size()) written_.resize(runs_.size());
    std::vector<bool> awaited(num_nodes_, false);
    for (std::uint32_t i = 0; i < num_nodes_; ++i) {
      for (const NodeId w : graph_.waits_of(first_ + i)) awaited[w - first_] = true;
    }
    LocalClocks clocks(width, first_, num_nodes_);
    std::size_t next = 0;  // accesses_ is in the rank's order
    for (std::uint32_t i = 0; i < num_nodes_; ++i) {
      const NodeId n = first_ + i;
      const std::uint32_t tb = graph_.local_block(graph_.block_of[n]);
      for (const NodeId w : graph_.waits_of(n)) {
        clocks.wait(tb, graph_.local_block(graph_.block_of[w]), graph_.position[w], w);
      }
      for (; next < accesses_.size() && accesses_[next].node_in_rank == i; ++next) {
        const Access& a = accesses_[next];
        const std::size_t run = run_of_[next];
        last_[run * width + tb] = graph_.position[n] + 1;
        if (a.writes && covers_new_parts(written_[run], a)) {
          const std::span<const std::uint32_t> now = clocks.of(tb);
          for (std::size_t t = 0; t < width; ++t) {
            known_[run * width + t] = std::min(known_[run * width + t], now[t]);
          }
        }
      }
      clocks.advance(tb, graph_.position[n]);
      if (awaited[i]) clocks.remember(tb, n);
    }
  }

  // Whether some part of the access has not been written before; adds it to the set of disjoint
  // intervals.
  static bool covers_new_parts(Written& written, const Access& a) {
    auto it = std::lower_bound(written.begin(), written.end(), a.first,
                               [](const auto& w, std::int32_t first) { return w.second < first; });
    if (it != written.end() && it->first <= a.first && it->second >= a.end) return false;
    std::int32_t first = a.first;
    std::int32_t end = a.end;
    auto stop = it;
    while (stop != written.end() && stop->first <= end) {
      first = std::min(first, stop->first);
      end = std::max(end, stop->second);
      ++stop;
    }
    it = written.erase(it, stop);
    written.insert(it, {first, end});
    return true;
  }

  // Whether every access to `a` is over, in every schedule, before `b` begins.
  bool over_before(std::uint32_t a, std::uint32_t b) const {
    if (runs_[a].last >= runs_[b].born) return false;
    const std::size_t width = graph_.num_blocks(rank_);
    for (std::size_t t = 0; t < width; ++t) {
      if (last_[a * width + t] > known_[b * width + t]) return false;
    }
    return true;
  }

  std::int32_t place() {
    constexpr int kMaxRefusals = 64;
    std::vector<std::uint32_t> order(runs_.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::pair(runs_[a].born, a) < std::pair(runs_[b].born, b);
    });
    std::vector<std::uint32_t>
        occupant;  // of each part: the run that has it last; being over is transitive
    std::uint32_t first_end = 0xffffffffu;  // of all lives so far
    for (const std::uint32_t r : order) {
      const auto length = static_cast<std::size_t>(runs_[r].end - runs_[r].first);
      // Before the first life has ended nothing can be free.
      std::size_t offset = runs_[r].born <= first_end ? occupant.size() : 0;
      std::size_t fits = 0;  // parts from `offset` that are free
      int refusals = 0;
      while (fits < length && offset + fits < occupant.size()) {
        const std::uint32_t there = occupant[offset + fits];
        const bool again = fits > 0 && occupant[offset + fits - 1] == there;
        if (again || over_before(there, r)) {
          ++fits;
          continue;
        }
        if (++refusals > kMaxRefusals) {
          offset = occupant.size();
          fits = 0;
          break;
        }
        offset += fits + 1;
        while (offset < occupant.size() && occupant[offset] == there) ++offset;
        fits = 0;
      }
      runs_[r].offset = static_cast<std::int32_t>(offset);
      first_end = std::min(first_end, runs_[r].last);
      if (occupant.size() < offset + length) occupant.resize(offset + length);
      std::fill_n(occupant.begin() + static_cast<std::ptrdiff_t>(offset), length, r);
    }
    return static_cast<std::int32_t>(occupant.size());
  }

  void rewrite() {
    for (std::size_t i = 0; i < accesses_.size(); ++i) {
      const Access& a = accesses_[i];
      const Run& run = runs_[run_of_[i]];
      Node& node = graph_.nodes[first_ + a.node_in_rank];
      const std::int32_t offset = run.offset + a.first - run.first;
      if (a.is_dst) {
        node.dst_buffer = kFirstScratch;
        node.dst_index = offset;
      } else {
        node.src_buffer = kFirstScratch;
        node.src_index = offset;
      }
    }
  }

  Graph& graph_;
  std::size_t rank_ = 0;
  NodeId first_ = 0;
  std::uint32_t num_nodes_ = 0;
  std::vector<Access> accesses_;
  std::vector<std::uint32_t> by_place_;
  std::vector<std::uint32_t> run_of_;  // of an access
  std::vector<Run> runs_;
  std::vector<Written> written_;  // of a run
  std::vector<std::uint32_t> last_;
  std::vector<std::uint32_t> known_;
};

}  // namespace

void layout_scratch(Graph& graph) {
  const auto count = static_cast<std::size_t>(graph.trace->num_ranks());
  graph.scratch_parts.assign(count, 0);
  ScratchLayout layout(graph);
  for (std::size_t r = 0; r < count; ++r) {
    graph.scratch_parts[r] = layout.run(r);
  }
}

}  // namespace hocket::passes
