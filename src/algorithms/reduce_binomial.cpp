// Binomial reduce: the broadcast turned round. Every rank adds what its subtrees send it and sends
// the sum up.
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
  args.limit_size(2.0 * n * c, 3.0 * n * c);
  Program p(args.algorithm(), fully_connected(n), reduce(n, c, root, args.flag("in_place")),
            args.options());
  const BinomialTree tree(n, root);

  // Chunk by chunk, so that the tree works on several at once.
  for (int k = 0; k < c; ++k) {
    std::vector<std::optional<Ref>> sums(static_cast<std::size_t>(n));
    // A subtree is a run of places, so going backwards meets every child before its parent.
    for (int place = n - 1; place >= 0; --place) {
      const std::vector<int> children = tree.children(place);
      const int rank = tree.rank(place);
      // Other ranks' outputs need not exist: their sums are in scratch. A leaf's is its input.
      Ref sum = place == 0         ? summand(p, rank, k, 1, Buffer::output, k)
                : children.empty() ? p.chunk(rank, Buffer::input, k)
                                   : summand(p, rank, k, 1, "sums", k);
      for (const int child : children) sum = sum.reduce(*sums[static_cast<std::size_t>(child)]);
      sums[static_cast<std::size_t>(place)] = sum;
    }
  }
  return p;
}

}  // namespace

Entry reduce_binomial() {
  return {"reduce",
          "sums up a binomial tree: ceil(log2 n) rounds",
          "any",
          {ranks_parameter(), root_parameter(), chunk_factor_parameter(), in_place_parameter()},
          trace};
}

}  // namespace hocket::algorithms
