// Binomial broadcast: whoever has the data gives it to a rank that has not; the number of those
// that have it doubles every round.
//
// Cost: ceil(log2 n) (alpha + S beta).
#include "algorithms/binomial.h"
#include "algorithms/entry.h"

namespace hocket::algorithms {
namespace {

Program trace(const Arguments& args) {
  const int n = args.ranks();
  const int c = args.integer("chunk_factor");
  const int root = args.root(n);
  const bool in_place = args.flag("in_place");
  args.limit_size(1.0 * n * c, 2.0 * n * c);
  Program p(args.algorithm(), fully_connected(n), broadcast(n, c, root, in_place), args.options());
  const BinomialTree tree(n, root);

  // Chunk by chunk, so that the tree works on several at once.
  for (int k = 0; k < c; ++k) {
    Ref data = p.chunk(root, Buffer::input, k);
    if (!in_place) data.copy(root, Buffer::output, k);
    for (int place = 1; place < n; ++place) {
      const int above = tree.parent(place);
      Ref from = above == 0 ? data : p.chunk(tree.rank(above), Buffer::output, k);
      from.copy(tree.rank(place), Buffer::output, k);
    }
  }
  return p;
}

}  // namespace

Entry broadcast_binomial() {
  return {"broadcast",
          "down a binomial tree: ceil(log2 n) rounds",
          "any",
          {ranks_parameter(), root_parameter(), chunk_factor_parameter(), in_place_parameter()},
          trace};
}

}  // namespace hocket::algorithms
