// Drops the waits that vector clocks show to be implied.
#include "passes/synchronize.h"

#include <algorithm>
#include <functional>

#include "passes/local_clocks.h"

namespace hocket::passes {
namespace {

class Synchronizer {
 public:
  explicit Synchronizer(Graph& graph)
      : graph_(graph), awaited_(graph.size(), false), kept_first_(graph.size(), kNone) {}

  void run() {
    for (std::size_t r = 0; r < static_cast<std::size_t>(graph_.trace->num_ranks()); ++r) rank(r);
    graph_.first_wait.assign(graph_.size() + 1, 0);
    graph_.waits.clear();
    for (NodeId n = 0; n < graph_.size(); ++n) {
      if (kept_first_[n] != kNone) {
        for (std::uint32_t i = kept_first_[n]; kept_[i] != kNone; ++i) {
          graph_.waits.push_back(kept_[i]);
        }
      }
      graph_.first_wait[n + 1] = static_cast<std::uint32_t>(graph_.waits.size());
    }
  }

 private:
  // The nodes that `n` depends on in other threadblocks, latest first.
  const BigVector<NodeId>& foreign(NodeId n) {
    found_.clear();
    for (const NodeId pred : graph_.preds_of(n)) {
      if (graph_.block_of[pred] != graph_.block_of[n]) found_.push_back(pred);
    }
    if (found_.size() > 1) {
      std::sort(found_.begin(), found_.end(), std::greater<>());
      found_.erase(std::unique(found_.begin(), found_.end()), found_.end());
    }
    return found_;
  }

  void rank(std::size_t r) {
    const NodeRange nodes = graph_.nodes_of_rank(r);
    // Which nodes somebody may wait for: only they are worth remembering.
    bool any = false;
    for (const NodeId n : nodes) {
      for (const NodeId pred : foreign(n)) {
        awaited_[pred] = true;
        any = true;
      }
    }
    if (!any) return;
    LocalClocks clocks(graph_.num_blocks(r), graph_.first_of_rank[r], nodes.size());
    for (const NodeId n : nodes) {
      const std::uint32_t tb = graph_.local_block(graph_.block_of[n]);
      const auto first = static_cast<std::uint32_t>(kept_.size());
      for (const NodeId pred : foreign(n)) {
        const std::uint32_t other = graph_.local_block(graph_.block_of[pred]);
        if (clocks.knows(tb, other, graph_.position[pred])) continue;
        clocks.wait(tb, other, graph_.position[pred], pred);
        kept_.push_back(pred);
      }
      if (kept_.size() > first) {
        kept_first_[n] = first;
        std::reverse(kept_.begin() + first, kept_.end());
        kept_.push_back(kNone);
      }
      clocks.advance(tb, graph_.position[n]);
      if (awaited_[n]) clocks.remember(tb, n);
    }
  }

  Graph& graph_;
  std::vector<bool> awaited_;
  BigVector<NodeId> found_;
  BigVector<NodeId> kept_;  // runs ended by kNone
  BigVector<std::uint32_t> kept_first_;
};

}  // namespace

void synchronize(Graph& graph) { Synchronizer(graph).run(); }

}  // namespace hocket::passes
