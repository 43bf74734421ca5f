// How an alltoall delivers. Out of place a block goes straight to the output. In place, the output
// is memory that the receiver may not have sent yet: blocks land in scratch and move at the end.
#pragma once

#include <vector>

#include "algorithms/entry.h"

namespace hocket::algorithms {

class Delivery {
 public:
  Delivery(Program& p, int chunk_factor) : p_(p), c_(chunk_factor) {}

  // Where `dst` takes the block of rank `src`, and blocks of the ranks after it.
  Ref send(const Ref& blocks, int src, int dst, Via via = {}) {
    const bool in_place = p_.collective().in_place();
    Ref there = blocks.copy(dst, in_place ? Buffer("arrived") : Buffer::output, src * c_, via);
    if (in_place) moves_.push_back({there, src});
    return there;
  }
  // To be called once, when everything has been sent.
  void finish() {
    for (const Move& move : moves_) {
      move.block.copy(move.block.rank(), Buffer::output, move.src * c_);
    }
  }

 private:
  struct Move {
    Ref block;
    int src;
  };
  Program& p_;
  int c_;
  std::vector<Move> moves_;
};

}  // namespace hocket::algorithms
