// Tree allreduce: sums go up a binomial tree to the root, the total comes down it. Twice the rounds
// of recursive doubling, but only n-1 messages each way: kind to a network that all share.
//
// Cost: 2 ceil(log2 n) (alpha + S beta).
#include "algorithms/binomial.h"
#include "algorithms/entry.h"

namespace hocket::algorithms {
namespace {

Program trace(const Arguments& args) {
  const int n = args.ranks();
  const int c = args.integer("chunk_factor");
  const BinomialTree tree(n, args.root(n));
  args.limit_size(3.0 * n * c, 2.0 * n * c);
  Program p(args.algorithm(), fully_connected(n), allreduce(n, c, args.flag("in_place")),
            args.options());

  // One chunk at a time, so that the tree works on several at once.
  for (int k = 0; k < c; ++k) {
    // A subtree is a run of places, so going backwards meets every child before its parent.
    for (int place = n - 1; place >= 0; --place) {
      const int rank = tree.rank(place);
      const std::vector<int> children = tree.children(place);
      if (place != 0 && children.empty()) continue;  // a leaf's sum is its input
      Ref sum = summand(p, rank, k, 1, Buffer::output, k);
      for (const int child : children) {
        const bool leaf = tree.subtree(child) == 1;
        sum = sum.reduce(p.chunk(tree.rank(child), leaf ? Buffer::input : Buffer::output, k));
      }
    }
    for (int place = 1; place < n; ++place) {
      p.chunk(tree.rank(tree.parent(place)), Buffer::output, k).copy(tree.rank(place));
    }
  }
  return p;
}

}  // namespace

Entry allreduce_binomial_tree() {
  return {"allreduce",
          "sum up a binomial tree, broadcast down it: few messages",
          "any",
          {ranks_parameter(), chunk_factor_parameter(), in_place_parameter(), root_parameter()},
          trace};
}

}  // namespace hocket::algorithms
