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

}  // namespace hocket::passes
