// Sends whose source may be overwritten while the target still reads it.
//
// RCCL runs `s` in LL without the block barrier that ends every other instruction. Its flag may be
// published, and the next step of its threadblock may start, while some threads still read the
// source. The read is over for certain only when all threads have met again, which they do
//   * at the end of a later step of the threadblock that is not a send,
//   * before a later step of the threadblock that waits, and
// or when the receiver has the data. A write that follows only by program order, or by the send's
// own flag, comes too early. Microsoft's runtimes add the barrier.
#pragma once

#include <cstdint>
#include <vector>

#include "hocket/algorithm.h"

namespace hocket {

struct UnfencedSend {
  int rank = 0;
  int send_tb = 0;
  int send_step = 0;  // positions in their threadblocks
  int write_tb = 0;
  int write_step = 0;
};

// At most `most` of them, in order of rank, threadblock and step, one a send. Every send is
// compared with the writes to its source and followed, along program order and flags, only as far
// as one of them needs; along messages only where that does not settle it.
std::vector<UnfencedSend> unfenced_sends(const Algorithm& algorithm, std::size_t most);

}  // namespace hocket
