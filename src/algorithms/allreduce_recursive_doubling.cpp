// Recursive doubling: in round d = 1, 2, 4, ... every rank swaps its whole sum with the rank whose
// number differs in that bit, and adds. The fewest rounds, but each carries everything.
//
// Cost: log2(n) (alpha + S beta); two hops more where n is not a power of two.
// Idea: R. Thakur, R. Rabenseifner, W. Gropp, IJHPCA 19 (2005).
#include "algorithms/entry.h"
#include "algorithms/power_of_two.h"

namespace hocket::algorithms {
namespace {

Program trace(const Arguments& args) {
  const int n = args.ranks();
  const int c = args.integer("chunk_factor");
  args.limit_size(45.0 * n, 25.0 * n * c);
  Program p(args.algorithm(), fully_connected(n), allreduce(n, c, args.flag("in_place")),
            args.options());
  const Fold fold(n);

  std::vector<Ref> sums;
  for (int r = 0; r < fold.core; ++r) sums.push_back(summand(p, r, 0, c, Buffer::output, 0));
  const auto sum = [&](int r) -> Ref& { return sums[static_cast<std::size_t>(r)]; };

  for (int guest = fold.core; guest < n; ++guest) {
    Ref& host = sum(fold.host(guest));
    host = host.reduce(p.chunk(guest, Buffer::input, 0, c));
  }
  for (int d = 1; d < fold.core; d *= 2) {
    // Both ends need the other's sum as it was before the round.
    std::vector<Ref> theirs;
    for (int r = 0; r < fold.core; ++r) theirs.push_back(sum(r ^ d).copy(r, "theirs"));
    for (int r = 0; r < fold.core; ++r) {
      sum(r) = sum(r).reduce(theirs[static_cast<std::size_t>(r)]);
    }
  }
  for (int guest = fold.core; guest < n; ++guest) {
    sum(fold.host(guest)).copy(guest, Buffer::output, 0);
  }
  return p;
}

}  // namespace

Entry allreduce_recursive_doubling() {
  return {"allreduce",
          "swap whole sums over distance 1, 2, 4, ...: the fewest rounds",
          "any; two extra hops unless a power of two",
          {ranks_parameter(), chunk_factor_parameter(), in_place_parameter()},
          trace};
}

}  // namespace hocket::algorithms
