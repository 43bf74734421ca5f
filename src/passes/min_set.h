// A set of numbers below n that gives its smallest: a tree of 64-bit words, one bit a number at the
// bottom, one bit a word above, and the place of the lowest word that is not empty. Taking numbers
// that lie close together touches one word; the worst case one a level, four for a million numbers.
// Inserting twice is inserting once.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace hocket::passes {

class MinSet {
 public:
  explicit MinSet(std::size_t n) {
    do {
      n = (n + 63) / 64;
      levels_.emplace_back(n, 0);
    } while (n > 1);
  }

  bool empty() const { return lowest_ == kNone; }

  void insert(std::uint32_t x) {
    lowest_ = std::min(lowest_, x / 64);
    for (std::vector<std::uint64_t>& level : levels_) {
      std::uint64_t& word = level[x / 64];
      const bool had_any = word != 0;
      word |= std::uint64_t{1} << (x % 64);
      if (had_any) return;
      x /= 64;
    }
  }

  // The smallest, removed. The set must not be empty.
  std::uint32_t take_min() {
    std::uint64_t& word = levels_[0][lowest_];
    const std::uint32_t x = lowest_ * 64 + static_cast<std::uint32_t>(std::countr_zero(word));
    word &= word - 1;
    if (word == 0) leave_lowest();
    return x;
  }

 private:
  static constexpr std::uint32_t kNone = 0xffffffffu;

  // The lowest word has become empty: up to the first word that is not, and down again.
  void leave_lowest() {
    std::uint32_t at = lowest_;
    lowest_ = kNone;
    for (std::size_t i = 1; i < levels_.size(); ++i) {
      std::uint64_t& word = levels_[i][at / 64];
      word &= ~(std::uint64_t{1} << (at % 64));
      at /= 64;
      if (word == 0) continue;
      for (; i > 0; --i) {
        at = at * 64 + static_cast<std::uint32_t>(std::countr_zero(levels_[i][at]));
      }
      lowest_ = at;
      return;
    }
  }

  std::vector<std::vector<std::uint64_t>> levels_;  // bottom first
  std::uint32_t lowest_ = kNone;                    // of the words at the bottom that are not empty
};

}  // namespace hocket::passes
