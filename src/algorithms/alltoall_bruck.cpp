// Bruck's alltoall: a block that must go i ranks on goes there by the binary digits of i: in round
// 1, 2, 4, ... a rank packs all its blocks with that digit and sends them in one message. Each
// block travels up to log2(n) times, in exchange for ceil(log2 n) messages instead of n-1: for
// small blocks.
//
// Cost: ceil(log2 n) alpha + about S/2 log2(n) beta.
// Idea: J. Bruck et al., "Efficient algorithms for all-to-all communications in multiport
// message-passing systems", IEEE TPDS 8 (1997).
#include <string>

#include "algorithms/entry.h"

namespace hocket::algorithms {
namespace {

Program trace(const Arguments& args) {
  const int n = args.ranks();
  const int c = args.integer("chunk_factor");
  const bool in_place = args.flag("in_place");
  double rounds = 0;
  for (int digit = 1; digit < n; digit *= 2) ++rounds;
  args.limit_size((rounds + 1) * n * n, (rounds + 2) * n * n * c);
  Program p(args.algorithm(), fully_connected(n), alltoall(n, c, in_place), args.options());

  // blocks(r, i) is where rank r keeps the block that still has to go by the digits of i, or, when
  // they are done, the block that came from i ranks before it.
  std::vector<std::vector<Ref>> kept(static_cast<std::size_t>(n));
  const auto block = [&](int r, int i) -> Ref& {
    return kept[static_cast<std::size_t>(r)][static_cast<std::size_t>(i)];
  };
  for (int r = 0; r < n; ++r) {
    for (int i = 0; i < n; ++i) {
      Ref mine = p.chunk(r, Buffer::input, (r + i) % n * c, c);
      kept[static_cast<std::size_t>(r)].push_back(mine);
    }
  }

  for (int digit = 1; digit < n; digit *= 2) {
    std::vector<int> moving;
    for (int i = digit; i < n; ++i) {
      if (i & digit) moving.push_back(i);
    }
    const std::string round = std::to_string(digit);
    for (int r = 0; r < n; ++r) {
      for (std::size_t j = 0; moving.size() > 1 && j < moving.size(); ++j) {
        block(r, moving[j]).copy(r, "pack" + round, static_cast<int>(j) * c);
      }
      Ref message = moving.size() == 1
                        ? block(r, moving[0])
                        : p.chunk(r, "pack" + round, 0, static_cast<int>(moving.size()) * c);
      message.copy((r + digit) % n, "round" + round, 0);
    }
    for (int r = 0; r < n; ++r) {
      for (std::size_t j = 0; j < moving.size(); ++j) {
        block(r, moving[j]) = p.chunk(r, "round" + round, static_cast<int>(j) * c, c);
      }
    }
  }

  // In place, nothing may land before everything is packed; out of place the order is free.
  for (int r = 0; r < n; ++r) {
    for (int i = in_place ? 1 : 0; i < n; ++i) {
      block(r, i).copy(r, Buffer::output, (r - i + n) % n * c);
    }
  }
  return p;
}

}  // namespace

Entry alltoall_bruck() {
  return {"alltoall",
          "blocks travel by the binary digits of their distance: few, packed messages",
          "any",
          {ranks_parameter(), chunk_factor_parameter(), in_place_parameter()},
          trace};
}

}  // namespace hocket::algorithms
