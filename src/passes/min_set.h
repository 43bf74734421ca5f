// A set of numbers below n that gives its smallest: a tree of 64-bit words, one bit a number at the
// bottom, one bit a word above. Insert and take-smallest touch one word a level, four levels for a
// million numbers; inserting twice is inserting once.
#pragma once

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

  bool empty() const { return levels_.back().empty() || levels_.back()[0] == 0; }

  void insert(std::uint32_t x) {
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
    std::uint32_t x = 0;
    for (std::size_t i = levels_.size(); i-- > 0;) {
      x = x * 64 + static_cast<std::uint32_t>(std::countr_zero(levels_[i][x]));
    }
    std::uint32_t at = x;
    for (std::vector<std::uint64_t>& level : levels_) {
      std::uint64_t& word = level[at / 64];
      word &= ~(std::uint64_t{1} << (at % 64));
      if (word != 0) break;
      at /= 64;
    }
    return x;
  }

 private:
  std::vector<std::vector<std::uint64_t>> levels_;  // bottom first
};

}  // namespace hocket::passes
