// What the algorithms of log2(n) rounds do when n is not a power of two: the ranks beyond the
// largest power below n ("guests") hand their data to a "host" among the first ranks, which does
// the rounds for both, and get the result from it. It costs them two more hops. Idea: R. Thakur, R.
// Rabenseifner, W. Gropp, "Optimization of collective communication operations in MPICH", IJHPCA 19
// (2005), section 4.
#pragma once

#include <bit>

namespace hocket::algorithms {

struct Fold {
  int ranks;
  int core;  // ranks that do the rounds, 0 .. core-1

  explicit Fold(int n)
      : ranks(n), core(static_cast<int>(std::bit_floor(static_cast<unsigned>(n)))) {}
  int host(int guest) const { return guest - core; }
};

}  // namespace hocket::algorithms
