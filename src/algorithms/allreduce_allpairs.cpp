// All-pairs allreduce: rank k owns the k-th chunk; everyone sends it there, it adds them up and
// sends the sum to everyone. The bytes of a ring in two hops, over a machine where all can talk to
// all.
//
// Cost: 2 alpha + 2 (n-1)/n S beta.
// Idea: M. Cowan et al., "MSCCLang: Microsoft Collective Communication Language", ASPLOS 2023.
#include "algorithms/entry.h"

namespace hocket::algorithms {
namespace {

Program trace(const Arguments& args) {
  const int n = args.ranks();
  const int c = args.integer("chunk_factor");
  args.limit_size(3.0 * n * n, 3.0 * n * n * c);
  Program p(args.algorithm(), fully_connected(n), allreduce(n, n * c, args.flag("in_place")),
            args.options());

  for (int owner = 0; owner < n; ++owner) {
    Ref sum = summand(p, owner, owner * c, c, Buffer::output, owner * c);
    // The parts land side by side, so that none waits for another to be added.
    for (int hop = 1; hop < n; ++hop) {
      const int from = (owner + hop) % n;
      Ref part = p.chunk(from, Buffer::input, owner * c, c).copy(owner, "parts");
      sum = sum.reduce(part);
    }
    for (int hop = 1; hop < n; ++hop) {
      sum.copy((owner + hop) % n, Buffer::output, owner * c);
    }
  }
  return p;
}

}  // namespace

Entry allreduce_allpairs() {
  return {"allreduce",
          "everyone sends its k-th chunk to rank k, which adds and sends back: two hops",
          "any",
          {ranks_parameter(), chunk_factor_parameter(), in_place_parameter()},
          trace};
}

}  // namespace hocket::algorithms
