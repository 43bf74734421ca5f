// Double binary tree: a binary tree pipelines at full speed, but its leaves, half of the ranks,
// send nothing down. So half of the data goes over one tree and half over another in which the
// leaves of the first are inside: every rank sends and receives about S bytes each way, in
// logarithmic time.
//
// Cost, pipelined in many chunks: about 4 log2(n) alpha + 2 S beta.
// Idea: P. Sanders, J. Speck, J. L. Traff, "Two-tree algorithms for full bandwidth broadcast,
// reduction and scan", Parallel Computing 35 (2009).
#include "algorithms/entry.h"

namespace hocket::algorithms {
namespace {

// The tree over places 0 .. n-1: place 0 above the rest, odd places the leaves. A place with lowest
// bit b hangs below the neighbour whose lowest bit is 2b, or, where that is past the end, below the
// place with b cleared.
int parent(int place, int n) {
  const int bit = place & -place;
  const int up = (place ^ bit) | (2 * bit);
  return up < n ? up : place ^ bit;
}

Program trace(const Arguments& args) {
  const int n = args.ranks();
  const int c = args.integer("chunk_factor");
  args.limit_size(6.0 * n * c, 4.0 * n * c);
  Program p(args.algorithm(), fully_connected(n), allreduce(n, 2 * c, args.flag("in_place")),
            args.options());

  for (int k = 0; k < 2 * c; ++k) {
    const bool second = k % 2 == 1;
    // The second tree swaps odd and even ranks: mirrored, or shifted where a mirror would not.
    const auto rank = [&](int place) {
      return !second ? place : n % 2 == 0 ? n - 1 - place : (place + 1) % n;
    };
    for (int place = 0; place < n; place += 2) {
      summand(p, rank(place), k, 1, Buffer::output, k);
    }
    // Whoever hangs below a place has a lower lowest bit: by bits, children come first.
    for (int bit = 1; bit < n; bit *= 2) {
      for (int place = bit; place < n; place += 2 * bit) {
        const Buffer& sum = bit == 1 ? Buffer::input : Buffer::output;  // a leaf's is its input
        p.chunk(rank(parent(place, n)), Buffer::output, k).reduce(p.chunk(rank(place), sum, k));
      }
    }
    int top = 1;
    while (top < n) top *= 2;
    for (int bit = top; bit >= 1; bit /= 2) {
      for (int place = bit; place < n; place += 2 * bit) {
        p.chunk(rank(parent(place, n)), Buffer::output, k).copy(rank(place));
      }
    }
  }
  return p;
}

}  // namespace

Entry allreduce_double_binary_tree() {
  return {"allreduce",
          "half the data over each of two trees whose leaves differ: few hops, full bandwidth",
          "any",
          {ranks_parameter(), chunk_factor_parameter(), in_place_parameter()},
          trace};
}

}  // namespace hocket::algorithms
