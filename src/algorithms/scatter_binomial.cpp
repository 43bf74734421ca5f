// Binomial scatter: the gather turned round. A rank gets the blocks of its whole subtree in one
// message and sends each child those of the child's subtree.
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
  Program p(args.algorithm(), fully_connected(n), scatter(n, c, root, in_place), args.options());
  const BinomialTree tree(n, root);

  for (int place = 1; place < n; ++place) {
    const int rank = tree.rank(place);
    const int size = tree.subtree(place);
    const int above = tree.parent(place);
    const bool leaf = size == 1;
    const Buffer& to = leaf ? Buffer::output : Buffer("subtree");
    if (above != 0) {
      p.chunk(tree.rank(above), "subtree", (place - above) * c, size * c).copy(rank, to, 0);
    } else {
      // The root's blocks are by rank; a run of places may pass the last rank and go on at rank 0.
      const int before_end = std::min(size, n - rank);
      p.chunk(root, Buffer::input, rank * c, before_end * c).copy(rank, to, 0);
      if (before_end < size) {
        p.chunk(root, Buffer::input, 0, (size - before_end) * c).copy(rank, to, before_end * c);
      }
    }
    if (!leaf) p.chunk(rank, "subtree", 0, c).copy(rank, Buffer::output, 0);
  }
  if (!in_place) p.chunk(root, Buffer::input, root * c, c).copy(root, Buffer::output, 0);
  return p;
}

}  // namespace

Entry scatter_binomial() {
  return {"scatter",
          "subtrees down a binomial tree, each in one message: ceil(log2 n) rounds",
          "any",
          {ranks_parameter(), root_parameter(), chunk_factor_parameter(), in_place_parameter()},
          trace};
}

}  // namespace hocket::algorithms
