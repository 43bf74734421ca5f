// Direct reduce-scatter: everyone sends the k-th chunk straight to rank k, which adds as they
// arrive.
//
// Cost: alpha + (n-1)/n S beta.
#include "algorithms/entry.h"

namespace hocket::algorithms {
namespace {

Program trace(const Arguments& args) {
  const int n = args.ranks();
  const int c = args.integer("chunk_factor");
  args.limit_size(1.0 * n * n, 1.0 * n * (n + 1.0) * c);
  Program p(args.algorithm(), fully_connected(n), reduce_scatter(n, c, args.flag("in_place")),
            args.options());

  for (int owner = 0; owner < n; ++owner) {
    Ref sum = summand(p, owner, owner * c, c, Buffer::output, 0);
    for (int hop = 1; hop < n; ++hop) {
      sum = sum.reduce(p.chunk((owner + hop) % n, Buffer::input, owner * c, c));
    }
  }
  return p;
}

}  // namespace

Entry reduce_scatter_direct() {
  return {"reduce_scatter",
          "everyone sends the k-th chunk to rank k, which adds: one hop",
          "any",
          {ranks_parameter(), chunk_factor_parameter(), in_place_parameter()},
          trace};
}

}  // namespace hocket::algorithms
