// All-to-next, naive: every rank sends its buffer to its neighbour. Inside a node that is all there
// is to it; between two nodes the whole buffer squeezes through one network card while the others
// idle.
//
// Cost: alpha + S beta.
#include "algorithms/entry.h"

namespace hocket::algorithms {
namespace {

Program trace(const Arguments& args, CollectiveKind kind) {
  const int n = args.ranks();
  const int c = args.integer("chunk_factor");
  args.limit_size(2.0 * n, 3.0 * n * c);
  Program p(args.algorithm(), line(n), Collective::make(kind, n, c, args.flag("in_place")),
            args.options());

  const int step = kind == CollectiveKind::all_to_next_forward ? 1 : -1;
  const int last = step == 1 ? n - 1 : 0;
  // From the end backwards: in place, a buffer must have been sent before its new content comes.
  for (int i = 1; i < n; ++i) {
    const int r = last - step * i;
    p.chunk(r, Buffer::input, 0, c).copy(r + step, Buffer::output, 0);
  }
  return p;
}

Entry entry(std::string collective, Program (*trace_it)(const Arguments&)) {
  return {std::move(collective),
          "every rank sends its buffer to its neighbour",
          "any",
          {ranks_parameter(), chunk_factor_parameter(), in_place_parameter()},
          trace_it};
}

}  // namespace

Entry all_to_next_forward_naive() {
  return entry("all_to_next_forward", [](const Arguments& args) {
    return trace(args, CollectiveKind::all_to_next_forward);
  });
}

Entry all_to_next_backward_naive() {
  return entry("all_to_next_backward", [](const Arguments& args) {
    return trace(args, CollectiveKind::all_to_next_backward);
  });
}

}  // namespace hocket::algorithms
