// Recursive halving and doubling: in each of log2(n) rounds a rank and its partner split the range
// they both still sum, each taking one half from the other; then the same rounds backwards, each
// giving its range. The bytes of a ring in logarithmically many rounds.
//
// Cost: 2 log2(n) alpha + 2 (n-1)/n S beta; where n is not a power of two, 2 alpha + 2 S beta more.
// Idea: R. Rabenseifner, "Optimization of collective reduction operations", ICCS 2004.
#include "algorithms/entry.h"
#include "algorithms/power_of_two.h"

namespace hocket::algorithms {
namespace {

Program trace(const Arguments& args) {
  const int n = args.ranks();
  const int c = args.integer("chunk_factor");
  const Fold fold(n);
  args.limit_size(45.0 * n, 2.0 * n * fold.core * c);
  const int all = fold.core * c;
  Program p(args.algorithm(), fully_connected(n), allreduce(n, all, args.flag("in_place")),
            args.options());

  for (int r = 0; r < fold.core; ++r) summand(p, r, 0, all, Buffer::output, 0);
  for (int guest = fold.core; guest < n; ++guest) {
    p.chunk(fold.host(guest), Buffer::output, 0, all).reduce(p.chunk(guest, Buffer::input, 0, all));
  }

  // With d pieces left to a rank, they start at its number with the bits below d cleared.
  const auto pieces = [&](int owner, int rank, int d) {
    return p.chunk(rank, Buffer::output, (owner & ~(d - 1)) * c, d * c);
  };
  for (int d = fold.core / 2; d >= 1; d /= 2) {
    for (int r = 0; r < fold.core; ++r) pieces(r, r, d).reduce(pieces(r, r ^ d, d));
  }
  for (int d = 1; d < fold.core; d *= 2) {
    for (int r = 0; r < fold.core; ++r) pieces(r, r, d).copy(r ^ d);
  }

  for (int guest = fold.core; guest < n; ++guest) {
    p.chunk(fold.host(guest), Buffer::output, 0, all).copy(guest);
  }
  return p;
}

}  // namespace

Entry allreduce_recursive_halving_doubling() {
  return {"allreduce",
          "halve the range while summing, double it while sharing: few rounds, fewest bytes",
          "any; two extra hops unless a power of two",
          {ranks_parameter(), chunk_factor_parameter(), in_place_parameter()},
          trace};
}

}  // namespace hocket::algorithms
