// Ways to break an algorithm. Each is named; some leave it right now and then, and a few always do.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "mutation/draft.h"

namespace hocket::mutation {

// mt19937_64 is the same everywhere; the standard distributions are not, so none is used.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(engine_() % n); }
  int between(int low, int high) {
    return low + static_cast<int>(below(static_cast<std::size_t>(high - low) + 1));
  }
  bool chance(int percent) { return below(100) < static_cast<std::size_t>(percent); }
  template <typename T>
  const T& pick(const std::vector<T>& list) {
    return list[below(list.size())];
  }

 private:
  std::mt19937_64 engine_;
};

struct Operator {
  std::string name;
  // Changes the draft; false where it finds nothing to change.
  bool (*apply)(Draft&, Dice&);
};

const std::vector<Operator>& operators();

}  // namespace hocket::mutation
