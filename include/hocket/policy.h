// The few words by which a program tells the compiler how it wants to be placed.
#pragma once

#include <cstdint>

namespace hocket {

// How `instances` copies of a program share a chunk. Interleaved: copy i works on part i of every
// chunk (for an operation of several chunks, on the i-th share of the whole run). Batched: copy i
// works on the i-th share of the whole buffer; only right where every copy computes the same
// collective on its share (allreduce, broadcast, ...), refused otherwise (HK0303).
enum class Replication : std::uint8_t { interleaved, batched };

// Who chooses threadblocks: the compiler, or the program (send_tb and recv_tb of every operation).
enum class Placement : std::uint8_t { automatic, manual };

}  // namespace hocket
