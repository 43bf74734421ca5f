// Ring allreduce: each of n chunks travels once round the ring collecting the sum, and once more
// handing it out. Every link carries the same load at all times, so no algorithm moves fewer bytes.
//
// Cost: 2(n-1) alpha + 2 (n-1)/n S beta.
// Idea: P. Patarasuk, X. Yuan, "Bandwidth optimal all-reduce algorithms for clusters of
// workstations", JPDC 69 (2009).
#include "algorithms/entry.h"

namespace hocket::algorithms {
namespace {

Program trace(const Arguments& args) {
  const int n = args.ranks();
  const int c = args.integer("chunk_factor");
  args.limit_size(3.0 * n * n * c, 2.0 * n * n * c);
  Program p(args.algorithm(), ring(n), allreduce(n, n * c, args.flag("in_place")), args.options());

  for (int k = 0; k < n * c; ++k) {
    const int last = k % n;  // where the sum of chunk k is complete
    const Via via = args.stream(k);
    // The sum starts as the next rank's input and grows on every rank it passes.
    Ref sum =
        n == 1 ? summand(p, 0, k, 1, Buffer::output, k) : p.chunk((last + 1) % n, Buffer::input, k);
    for (int hop = 2; hop <= n; ++hop) {
      Ref next = summand(p, (last + hop) % n, k, 1, Buffer::output, k);
      sum = next.reduce(sum, via);
    }
    if (n > 1) sum = sum.copy((last + 1) % n, Buffer::output, k, via);
    for (int hop = 2; hop < n; ++hop) sum = sum.copy((last + hop) % n, via);
  }
  return p;
}

}  // namespace

Entry allreduce_ring() {
  return {
      "allreduce",
      "round a ring twice: the fewest bytes, 2(n-1) hops",
      "any",
      {ranks_parameter(), chunk_factor_parameter(), in_place_parameter(), channels_parameter("1")},
      trace};
}

}  // namespace hocket::algorithms
