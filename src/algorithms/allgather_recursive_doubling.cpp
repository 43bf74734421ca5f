// Recursive doubling allgather: in round d = 1, 2, 4, ... a rank and the one whose number differs
// in that bit swap all that they have. Every round doubles it.
//
// Cost: log2(n) alpha + (n-1)/n S beta; where n is not a power of two, 2 alpha + S beta more.
// Idea: R. Thakur, R. Rabenseifner, W. Gropp, IJHPCA 19 (2005).
#include <algorithm>

#include "algorithms/entry.h"
#include "algorithms/power_of_two.h"

namespace hocket::algorithms {
namespace {

Program trace(const Arguments& args) {
  const int n = args.ranks();
  const int c = args.integer("chunk_factor");
  const bool in_place = args.flag("in_place");
  args.limit_size(90.0 * n, 1.0 * n * (n + 1.0) * c);
  Program p(args.algorithm(), fully_connected(n), allgather(n, c, in_place), args.options());
  const Fold fold(n);

  for (int r = 0; r < n; ++r) {
    Ref mine = p.chunk(r, Buffer::input, 0, c);
    if (!in_place) mine.copy(r, Buffer::output, r * c);
    if (r >= fold.core) mine.copy(fold.host(r), Buffer::output, r * c);
  }
  for (int d = 1; d < fold.core; d *= 2) {
    for (int r = 0; r < fold.core; ++r) {
      const int first = r & ~(d - 1);  // it has the parts of ranks first .. first+d-1
      p.chunk(r, Buffer::output, first * c, d * c).copy(r ^ d);
      // and of the guests that these are hosts to
      const int guest = fold.core + first;
      const int guests = std::min(n - guest, d);
      if (guests > 0) p.chunk(r, Buffer::output, guest * c, guests * c).copy(r ^ d);
    }
  }
  for (int guest = fold.core; guest < n; ++guest) {
    const int host = fold.host(guest);
    p.chunk(host, Buffer::output, 0, guest * c).copy(guest);
    if (guest + 1 < n) {
      p.chunk(host, Buffer::output, (guest + 1) * c, (n - guest - 1) * c).copy(guest);
    }
  }
  return p;
}

}  // namespace

Entry allgather_recursive_doubling() {
  return {"allgather",
          "swap all there is over distance 1, 2, 4, ...: few rounds, fewest bytes",
          "any; two extra hops unless a power of two",
          {ranks_parameter(), chunk_factor_parameter(), in_place_parameter()},
          trace};
}

}  // namespace hocket::algorithms
