// The traced program: what the language writes and the compiler reads. Plain data, so that neither
// knows the other.
//
// A trace is a straight-line program over slots. A slot is a chunk of a buffer of a rank: buffer 0
// is the rank's input, 1 its output, 2.. the named scratch buffers of the whole program (a name has
// one number on every rank). Names are canonical: in-place aliasing has been applied, so two slots
// are the same memory exactly when (rank, buffer, index) are equal. Run in order, each operation at
// once, the trace defines the meaning that the compiled algorithm must have.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hocket/algorithm.h"
#include "hocket/collective.h"
#include "hocket/location.h"
#include "hocket/policy.h"
#include "support/big_vector.h"

namespace hocket {

inline constexpr std::uint32_t kInputBuffer = 0;
inline constexpr std::uint32_t kOutputBuffer = 1;
inline constexpr std::uint32_t kFirstScratch = 2;

struct TraceOp {
  enum class Kind : std::uint8_t { copy, reduce };  // dst = src; dst = dst (+) src
  Kind kind = Kind::copy;
  std::uint16_t fragment = 0;  // into Trace::fragments
  std::int32_t src_rank = 0;
  std::uint32_t src_buffer = 0;
  std::int32_t src_index = 0;
  std::int32_t dst_rank = 0;
  std::uint32_t dst_buffer = 0;
  std::int32_t dst_index = 0;
  std::int32_t count = 1;  // chunks, > 0, inside both buffers, not overlapping
  std::int32_t send_tb =
      -1;  // the sender's threadblock, or that of a local operation; -1: not said
  std::int32_t recv_tb = -1;
  std::int32_t channel = -1;
  std::uint32_t site = 0;  // into Trace::sites
};

struct Trace {
  std::string name;
  Collective collective;
  Protocol protocol = Protocol::simple;
  std::int32_t instances = 1;
  Replication replication = Replication::interleaved;
  Placement placement = Placement::automatic;
  bool fuse = true;
  bool hoist_dependences = false;  // the language's dependence_nop
  // When placement is manual: threadblock -1 is one more threadblock rather than a mistake; when it
  // is automatic: threadblock numbers only say what must not be fused. The original's rules.
  bool lenient_placement = false;

  std::vector<std::string> scratch_names;     // of buffer kFirstScratch + i
  std::vector<std::int32_t> fragments = {1};  // instances of fragments, distinct; entry 0 is "none"
  std::vector<CallSite> sites = {CallSite{}};  // entry 0 is unknown
  BigVector<TraceOp> ops;
  Location where;  // where the program was made

  int num_ranks() const { return collective.num_ranks(); }
};

}  // namespace hocket
