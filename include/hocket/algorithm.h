// The algorithm: MSCCL-IR in memory, plain data. One way in and out of everything else: the
// compiler and the readers make it, the exporters, the runtime and the verifier read it, and none
// of them cares where it came from.
//
// Model (the format's public meaning, as MSCCL, RCCL and msccl-executor-nccl run it):
// * A rank runs its threadblocks concurrently. A threadblock runs its steps strictly in order.
// * A threadblock has at most one peer it sends to and one it receives from. The directed triple
//   (sender, receiver, channel) is a connection: a FIFO with few slots (protocol_slots), owned by
//   one threadblock at each end. The k-th sending step of one end meets the k-th receiving step of
//   the other, with equal `count`.
// * Offsets and counts are in chunks of the executing rank's buffers. A buffer of n elements with k
//   chunks is cut at floor(i*n/k).
// * A step with depend_tb >= 0 waits, before it starts, until that threadblock of its own rank has
//   completed step depend_step, which must have `has_dependent`. A nop carries one more such wait
//   for the next real step.
// * Nothing else orders two threadblocks. Two unordered accesses to a chunk, one a write, are a
// race.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hocket/collective.h"
#include "hocket/location.h"

namespace hocket {

enum class OpCode : std::uint8_t {
#define HOCKET_OP(name, xml, src, dst, accum, recv, send) name,
#include "hocket/ops.def"
#undef HOCKET_OP
};

struct OpInfo {
  std::string_view name;  // as in the XML: "s", "rrcs", ...
  bool reads_src;         // reads src_buffer[src_offset, +count)
  bool writes_dst;        // writes dst_buffer[dst_offset, +count)
  bool accumulates;       // also reads what it writes
  bool receives;
  bool sends;
};

inline constexpr int kNumOps = 9;
const OpInfo& op_info(OpCode op);
std::optional<OpCode> op_from_name(std::string_view name);

enum class Protocol : std::uint8_t { simple, ll, ll128 };
std::string_view protocol_name(Protocol protocol);  // "Simple", "LL", "LL128"
std::optional<Protocol> protocol_from_name(std::string_view name);

// Transfers that a sender can finish while its receiver stands still: 2 for Simple (8 buffer steps,
// 4 a transfer), 8 for LL and LL128 (1 a transfer).
int protocol_slots(Protocol protocol);
// Data bytes that one transfer carries with the default buffers of MSCCL and msccl-executor-nccl:
// 2 MiB, 32 KiB, 576,000 B.
std::int64_t protocol_transfer_bytes(Protocol protocol);

struct Step {
  OpCode op = OpCode::nop;
  BufferKind src_buffer = BufferKind::input;
  BufferKind dst_buffer = BufferKind::output;
  bool has_dependent = false;
  std::int32_t src_offset = -1;
  std::int32_t dst_offset = -1;
  std::int32_t count = 0;
  std::int32_t depend_tb = -1;
  std::int32_t depend_step = -1;

  friend bool operator==(const Step&, const Step&) = default;
};

struct ThreadBlock {
  std::int32_t send = -1;  // peer rank, -1 for none
  std::int32_t recv = -1;
  std::int32_t channel = 0;
  std::uint32_t first_step = 0;  // into Algorithm::steps
  std::uint32_t num_steps = 0;

  friend bool operator==(const ThreadBlock&, const ThreadBlock&) = default;
};

struct RankProgram {
  std::int32_t input_chunks = 0;
  std::int32_t output_chunks = 0;
  std::int32_t scratch_chunks = 0;
  std::vector<ThreadBlock> threadblocks;  // the position is the id

  std::int32_t chunks(BufferKind buffer) const {
    return buffer == BufferKind::input    ? input_chunks
           : buffer == BufferKind::output ? output_chunks
                                          : scratch_chunks;
  }
  friend bool operator==(const RankProgram&, const RankProgram&) = default;
};

struct Algorithm {
  std::string name = "unnamed";
  // What it computes. Its chunk counts are those of the algorithm (instances included), so
  // collective.input_chunks(r) says how a rank's input of `count` elements is cut.
  Collective collective;
  Protocol protocol = Protocol::simple;
  bool in_place = false;     // may be called with aliased buffers
  bool out_of_place = true;  // may be called with separate buffers
  std::int32_t num_channels = 0;
  std::int32_t chunks_per_loop = 0;         // chunks of the larger of input and output
  std::int64_t min_bytes = 0;               // message sizes it is meant for, both ends included
  std::optional<std::int64_t> max_bytes;    // none: no limit
  std::optional<std::int32_t> num_threads;  // MSCCL's `nthreads`, when a file names it
  bool root_guessed = false;                // the file that it was read from does not say the root
  std::vector<RankProgram> ranks;
  std::vector<Step> steps;  // of all threadblocks, each contiguous

  // Where each step comes from: empty, or one entry a step into `locations` (entry 0 is "unknown").
  std::vector<std::uint32_t> step_locations;
  std::vector<Location> locations;

  int num_ranks() const { return static_cast<int>(ranks.size()); }
  std::span<const Step> steps_of(const ThreadBlock& tb) const {
    return {steps.data() + tb.first_step, tb.num_steps};
  }
  std::span<Step> steps_of(const ThreadBlock& tb) {
    return {steps.data() + tb.first_step, tb.num_steps};
  }
  Location location_of(std::uint32_t step) const;

  // Everything but the source locations and where the root is from.
  friend bool operator==(const Algorithm& a, const Algorithm& b);
};

// Shape of an algorithm, for people and for the tests.
struct AlgorithmStats {
  int ranks = 0;
  std::int64_t threadblocks = 0;
  std::int64_t max_threadblocks_of_rank = 0;
  std::int64_t channels = 0;
  std::int64_t steps = 0;  // nops included, as the XML lists them
  std::int64_t max_steps_of_threadblock = 0;
  std::int64_t steps_by_op[kNumOps] = {};
  std::int64_t nops = 0;
  std::int64_t dependences = 0;  // steps and nops with a dependence
  std::int64_t max_scratch_chunks = 0;
  std::int64_t critical_path =
      0;  // longest chain of steps by order, dependence and message; nops are no work
};

// Linear in steps. A deadlocked algorithm has critical_path -1.
AlgorithmStats stats(const Algorithm& algorithm);

}  // namespace hocket
