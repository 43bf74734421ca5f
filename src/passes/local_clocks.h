// How far each threadblock of a rank is known to be, seen from each other one: vector clocks over
// one rank.
//
// Entry (a, b) is the number of nodes at the head of threadblock b that have completed whenever the
// last node entered for a starts. Threadblocks are numbered locally, 0.. in the order given.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "passes/instruction_graph.h"

namespace hocket::passes {

class LocalClocks {
 public:
  explicit LocalClocks(std::size_t threadblocks)
      : width_(threadblocks), now_(threadblocks * threadblocks, 0) {}

  std::span<const std::uint32_t> of(std::size_t tb) const {
    return {now_.data() + tb * width_, width_};
  }
  bool knows(std::size_t tb, std::size_t other, std::uint32_t position) const {
    return now_[tb * width_ + other] > position;
  }
  // `tb` has waited for a node remembered as `key`, at `position` of `other`.
  void wait(std::size_t tb, std::size_t other, std::uint32_t position, NodeId key) {
    std::uint32_t* row = now_.data() + tb * width_;
    const auto it = remembered_.find(key);
    if (it != remembered_.end()) {
      const std::uint32_t* then = snapshots_.data() + it->second;
      for (std::size_t i = 0; i < width_; ++i) row[i] = std::max(row[i], then[i]);
    }
    row[other] = std::max(row[other], position + 1);
  }
  // The node at `position` of `tb` has been entered.
  void advance(std::size_t tb, std::uint32_t position) { now_[tb * width_ + tb] = position + 1; }
  // Keeps what `tb` knows now, as what a node waited for brings along.
  void remember(std::size_t tb, NodeId key) {
    remembered_.emplace(key, snapshots_.size());
    snapshots_.insert(snapshots_.end(), now_.begin() + static_cast<std::ptrdiff_t>(tb * width_),
                      now_.begin() + static_cast<std::ptrdiff_t>((tb + 1) * width_));
  }

 private:
  std::size_t width_;
  std::vector<std::uint32_t> now_;
  std::vector<std::uint32_t> snapshots_;
  std::unordered_map<NodeId, std::size_t> remembered_;
};

// The nodes of each rank in the global order, and the number of each threadblock within its rank.
struct RankOrder {
  std::vector<std::uint32_t> first;  // by rank, into nodes
  std::vector<NodeId> nodes;
  std::vector<std::uint32_t> local_block;  // by BlockId
  std::vector<std::uint32_t> num_blocks;   // by rank

  explicit RankOrder(const Graph& graph) {
    const auto ranks = static_cast<std::size_t>(graph.trace->num_ranks());
    first.assign(ranks + 1, 0);
    for (const NodeId n : graph.order) ++first[static_cast<std::size_t>(graph.nodes[n].rank) + 1];
    for (std::size_t r = 0; r < ranks; ++r) first[r + 1] += first[r];
    nodes.resize(graph.order.size());
    std::vector<std::uint32_t> next(first.begin(), first.end() - 1);
    for (const NodeId n : graph.order)
      nodes[next[static_cast<std::size_t>(graph.nodes[n].rank)]++] = n;
    num_blocks.assign(ranks, 0);
    for (const Block& b : graph.blocks) {
      local_block.push_back(num_blocks[static_cast<std::size_t>(b.rank)]++);
    }
  }
  std::span<const NodeId> of(std::size_t rank) const {
    return {nodes.data() + first[rank], first[rank + 1] - first[rank]};
  }
};

}  // namespace hocket::passes
