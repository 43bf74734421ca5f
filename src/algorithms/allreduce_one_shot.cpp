// One-shot allreduce: everyone sends everything to everyone, and all add up the same. One hop: the
// fastest there is for messages so small that only latency counts.
//
// Cost: alpha + (n-1) S beta.
#include "algorithms/entry.h"

namespace hocket::algorithms {
namespace {

Program trace(const Arguments& args) {
  const int n = args.ranks();
  const int c = args.integer("chunk_factor");
  const bool in_place = args.flag("in_place");
  args.limit_size(2.0 * n * n, (n + 2.0) * n * c);
  Program p(args.algorithm(), fully_connected(n), allreduce(n, c, in_place), args.options());

  // Everything is on its way before anyone adds, since in place the sums replace the inputs.
  std::vector<std::vector<Ref>> parts(static_cast<std::size_t>(n));
  for (int r = 0; r < n; ++r) {
    for (int hop = 1; hop < n; ++hop) {
      Ref theirs = p.chunk((r + hop) % n, Buffer::input, 0, c);
      parts[static_cast<std::size_t>(r)].push_back(theirs.copy(r, "parts"));
    }
  }
  for (int r = 0; r < n; ++r) {
    Ref sum = summand(p, r, 0, c, Buffer::output, 0);
    for (const Ref& part : parts[static_cast<std::size_t>(r)]) sum = sum.reduce(part);
  }
  return p;
}

}  // namespace

Entry allreduce_one_shot() {
  return {"allreduce",
          "everyone sends all to everyone and adds: one hop, for tiny messages",
          "any",
          {ranks_parameter(), chunk_factor_parameter(), in_place_parameter()},
          trace};
}

}  // namespace hocket::algorithms
