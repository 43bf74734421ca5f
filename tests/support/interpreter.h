// The meaning of a traced program, obtained by doing what it says: one operation after another, one
// chunk after another, on contents that are plain lists of origins.
//
// Granularity. Instances and fragments cut chunks; the compiler may cut each chunk into `parts`
// equal parts. The interpreter works at that granularity, so that its slots are the algorithm's
// slots:
// * interleaved: every operation moves all parts of its chunks, so part p of chunk k is slot
//   k*parts+p and follows chunk k;
// * batched: the program runs `instances` times, copy i on the i-th share of every buffer: its
// chunk k
//   of a buffer of n chunks is slot i*n+k (and, with fragments, each slot is cut further as above).
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <vector>

#include "hocket/collective.h"
#include "ir/trace.h"
#include "support/content.h"

namespace hocket::oracle {

// A slot of the trace: `buffer` numbered as in Trace.
struct Place {
  int rank = 0;
  std::uint32_t buffer = 0;
  int index = 0;
  friend auto operator<=>(const Place&, const Place&) = default;
};

struct Interpretation {
  int parts = 1;
  std::map<Place, Content> slots;  // those that hold something
  // Places some operation wrote; the others hold what they held at the start.
  std::map<Place, std::uint32_t> last_write;  // index of the operation
};

// `parts` must be a multiple of trace.instances when replication is batched. Throws
// std::logic_error where the trace reads what nobody wrote.
Interpretation interpret(const Trace& trace, int parts);

// The content of a slot of a user buffer; none: nothing there.
MaybeContent content_of(const Interpretation& meaning, int rank, Slot slot);

}  // namespace hocket::oracle
