// Ring allgather: every chunk goes once round the ring.
//
// Cost: (n-1) alpha + (n-1)/n S beta.
#include "algorithms/entry.h"

namespace hocket::algorithms {
namespace {

Program trace(const Arguments& args) {
  const int n = args.ranks();
  const int c = args.integer("chunk_factor");
  const bool in_place = args.flag("in_place");
  args.limit_size(1.0 * n * n * c, 1.0 * n * (n + 1.0) * c);
  Program p(args.algorithm(), ring(n), allgather(n, c, in_place), args.options());

  for (int r = 0; r < n; ++r) {
    for (int k = 0; k < c; ++k) {
      const int place = r * c + k;
      const Via via = args.stream(place);
      Ref mine = p.chunk(r, Buffer::input, k);
      if (!in_place) mine.copy(r, Buffer::output, place);
      if (n == 1) continue;
      Ref there = mine.copy((r + 1) % n, Buffer::output, place, via);
      for (int hop = 2; hop < n; ++hop) there = there.copy((r + hop) % n, via);
    }
  }
  return p;
}

}  // namespace

Entry allgather_ring() {
  return {
      "allgather",
      "every chunk once round a ring: the fewest bytes, n-1 hops",
      "any",
      {ranks_parameter(), chunk_factor_parameter(), in_place_parameter(), channels_parameter("1")},
      trace};
}

}  // namespace hocket::algorithms
