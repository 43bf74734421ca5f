// How far each threadblock of a rank is known to be, seen from each other one: vector clocks over
// one rank.
//
// Entry (a, b) is the number of nodes at the head of threadblock b that have completed whenever the
// last node entered for a starts. Threadblocks are numbered locally, 0.. in the order given; nodes
// of the rank are `first` and the `count - 1` after it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "passes/instruction_graph.h"

namespace hocket::passes {

class LocalClocks {
 public:
  LocalClocks(std::size_t threadblocks, NodeId first, std::size_t count)
      : width_(threadblocks),
        first_(first),
        now_(threadblocks * threadblocks, 0),
        remembered_(count, kNone) {}

  std::span<const std::uint32_t> of(std::size_t tb) const {
    return {now_.data() + tb * width_, width_};
  }
  bool knows(std::size_t tb, std::size_t other, std::uint32_t position) const {
    return now_[tb * width_ + other] > position;
  }
  // `tb` has waited for `node`, at `position` of `other`.
  void wait(std::size_t tb, std::size_t other, std::uint32_t position, NodeId node) {
    std::uint32_t* row = now_.data() + tb * width_;
    const std::uint32_t snapshot = remembered_[node - first_];
    if (snapshot != kNone) {
      const std::uint32_t* then = snapshots_.data() + snapshot * width_;
      for (std::size_t i = 0; i < width_; ++i) row[i] = std::max(row[i], then[i]);
    }
    row[other] = std::max(row[other], position + 1);
  }
  // The node at `position` of `tb` has been entered.
  void advance(std::size_t tb, std::uint32_t position) { now_[tb * width_ + tb] = position + 1; }
  // Keeps what `tb` knows now, as what waiting for `node` brings along.
  void remember(std::size_t tb, NodeId node) {
    remembered_[node - first_] = num_snapshots_++;
    snapshots_.insert(snapshots_.end(), now_.begin() + static_cast<std::ptrdiff_t>(tb * width_),
                      now_.begin() + static_cast<std::ptrdiff_t>((tb + 1) * width_));
  }

 private:
  std::size_t width_;
  NodeId first_;
  BigVector<std::uint32_t> now_;
  BigVector<std::uint32_t> snapshots_;
  BigVector<std::uint32_t> remembered_;  // of a node: its snapshot
  std::uint32_t num_snapshots_ = 0;
};

}  // namespace hocket::passes
