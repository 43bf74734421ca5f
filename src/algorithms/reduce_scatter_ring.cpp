// Ring reduce-scatter: the k-th chunk travels round the ring to rank k, collecting the sum.
//
// Cost: (n-1) alpha + (n-1)/n S beta.
#include "algorithms/entry.h"

namespace hocket::algorithms {
namespace {

Program trace(const Arguments& args) {
  const int n = args.ranks();
  const int c = args.integer("chunk_factor");
  args.limit_size(2.0 * n * n * c, 2.0 * n * (n + 1.0) * c);
  Program p(args.algorithm(), ring(n), reduce_scatter(n, c, args.flag("in_place")), args.options());

  for (int owner = 0; owner < n; ++owner) {
    for (int k = 0; k < c; ++k) {
      const int place = owner * c + k;
      const Via via = args.stream(place);
      if (n == 1) {
        summand(p, owner, place, 1, Buffer::output, k);
        continue;
      }
      Ref sum = p.chunk((owner + 1) % n, Buffer::input, place);
      for (int hop = 2; hop < n; ++hop) {
        Ref next = summand(p, (owner + hop) % n, place, 1, "sums", place);
        sum = next.reduce(sum, via);
      }
      summand(p, owner, place, 1, Buffer::output, k).reduce(sum, via);
    }
  }
  return p;
}

}  // namespace

Entry reduce_scatter_ring() {
  return {
      "reduce_scatter",
      "every sum once round a ring to its owner: the fewest bytes, n-1 hops",
      "any",
      {ranks_parameter(), chunk_factor_parameter(), in_place_parameter(), channels_parameter("1")},
      trace};
}

}  // namespace hocket::algorithms
