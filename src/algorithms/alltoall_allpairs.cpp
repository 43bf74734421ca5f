// All-pairs alltoall: everyone sends each rank its block. No byte travels twice.
//
// Cost: (n-1) alpha + (n-1)/n S beta (the messages of a rank overlap where it has n-1 links).
#include "algorithms/alltoall.h"

namespace hocket::algorithms {
namespace {

Program trace(const Arguments& args) {
  const int n = args.ranks();
  const int c = args.integer("chunk_factor");
  const bool in_place = args.flag("in_place");
  args.limit_size(2.0 * n * n, 3.0 * n * n * c);
  Program p(args.algorithm(), fully_connected(n), alltoall(n, c, in_place), args.options());

  Delivery delivery(p, c);
  for (int hop = 0; hop < n; ++hop) {
    for (int r = 0; r < n; ++r) {
      const int to = (r + hop) % n;
      if (in_place && to == r) continue;
      delivery.send(p.chunk(r, Buffer::input, to * c, c), r, to);
    }
  }
  delivery.finish();
  return p;
}

}  // namespace

Entry alltoall_allpairs() {
  return {"alltoall",
          "everyone sends each rank its block: no byte travels twice",
          "any",
          {ranks_parameter(), chunk_factor_parameter(), in_place_parameter()},
          trace};
}

}  // namespace hocket::algorithms
