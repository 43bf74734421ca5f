// Binomial gather: a rank collects the blocks of its subtree, a run of consecutive ranks, and sends
// them up in one message.
//
// Cost: ceil(log2 n) alpha + (n-1)/n S beta.
#include "algorithms/binomial.h"
#include "algorithms/entry.h"

namespace hocket::algorithms {
namespace {

Program trace(const Arguments& args) {
  const int n = args.ranks();
  const int c = args.integer("chunk_factor");
  const int root = args.root(n);
  const bool in_place = args.flag("in_place");
  args.limit_size(4.0 * n, 24.0 * n * c);
  Program p(args.algorithm(), fully_connected(n), gather(n, c, root, in_place), args.options());
  const BinomialTree tree(n, root);

  // Backwards, every subtree is complete before it is sent up.
  for (int place = n - 1; place >= 1; --place) {
    const int rank = tree.rank(place);
    const int size = tree.subtree(place);
    Ref blocks = p.chunk(rank, Buffer::input, 0, c);
    if (size > 1) {
      blocks.copy(rank, "subtree", 0);
      blocks = p.chunk(rank, "subtree", 0, size * c);
    }
    const int above = tree.parent(place);
    if (above != 0) {
      blocks.copy(tree.rank(above), "subtree", (place - above) * c);
      continue;
    }
    // The root sorts by rank; a run of places may pass the last rank and go on at rank 0.
    const int before_end = std::min(size, n - rank);
    if (before_end == size) {
      blocks.copy(root, Buffer::output, rank * c);
    } else {
      p.chunk(rank, "subtree", 0, before_end * c).copy(root, Buffer::output, rank * c);
      p.chunk(rank, "subtree", before_end * c, (size - before_end) * c)
          .copy(root, Buffer::output, 0);
    }
  }
  if (!in_place) p.chunk(root, Buffer::input, 0, c).copy(root, Buffer::output, root * c);
  return p;
}

}  // namespace

Entry gather_binomial() {
  return {"gather",
          "subtrees up a binomial tree, each in one message: ceil(log2 n) rounds",
          "any",
          {ranks_parameter(), root_parameter(), chunk_factor_parameter(), in_place_parameter()},
          trace};
}

}  // namespace hocket::algorithms
