// All-pairs allgather: everyone sends its chunk to everyone. One hop, and the fewest bytes too,
// where every two ranks have a link of their own.
//
// Cost: alpha + (n-1)/n S beta.
#include "algorithms/entry.h"

namespace hocket::algorithms {
namespace {

Program trace(const Arguments& args) {
  const int n = args.ranks();
  const int c = args.integer("chunk_factor");
  const bool in_place = args.flag("in_place");
  args.limit_size(1.0 * n * n, 1.0 * n * (n + 1.0) * c);
  Program p(args.algorithm(), fully_connected(n), allgather(n, c, in_place), args.options());

  for (int r = 0; r < n; ++r) {
    Ref mine = p.chunk(r, Buffer::input, 0, c);
    for (int hop = in_place ? 1 : 0; hop < n; ++hop) {
      mine.copy((r + hop) % n, Buffer::output, r * c);
    }
  }
  return p;
}

}  // namespace

Entry allgather_allpairs() {
  return {"allgather",
          "everyone sends its chunk to everyone: one hop",
          "any",
          {ranks_parameter(), chunk_factor_parameter(), in_place_parameter()},
          trace};
}

}  // namespace hocket::algorithms
