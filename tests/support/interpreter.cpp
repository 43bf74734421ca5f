#include "support/interpreter.h"

#include <stdexcept>
#include <string>

namespace hocket::oracle {
namespace {

std::uint32_t number_of(BufferKind kind) {
  return kind == BufferKind::input ? kInputBuffer : kOutputBuffer;
}

// How the chunks that the program names become slots, for one copy of the program.
struct Layout {
  const Trace& trace;
  int parts;                                  // slots a chunk
  int copies;                                 // of the whole program, 1 unless batched
  int copy = 0;                               // which of them
  int cut() const { return parts / copies; }  // slots a chunk of one copy

  int chunks(int rank, std::uint32_t buffer) const {
    return buffer == kInputBuffer    ? trace.collective.input_chunks(rank)
           : buffer == kOutputBuffer ? trace.collective.output_chunks(rank)
                                     : 0;
  }
  int slot(int rank, std::uint32_t buffer, int chunk, int part) const {
    // A scratch buffer has no length of its own: the copies get far apart places.
    const int length = buffer >= kFirstScratch ? 1 << 20 : chunks(rank, buffer);
    return (copy * length + chunk) * cut() + part;
  }
};

}  // namespace

Interpretation interpret(const Trace& trace, int parts) {
  const bool batched = trace.replication == Replication::batched && trace.instances > 1;
  Interpretation meaning;
  meaning.parts = parts;

  const Collective fine = trace.collective.refined(parts);
  for (int rank = 0; rank < fine.num_ranks(); ++rank) {
    for (const BufferKind kind : {BufferKind::input, BufferKind::output}) {
      for (int i = 0; i < fine.chunks(rank, kind); ++i) {
        const Slot slot = fine.alias(rank, {kind, i});
        if (const auto origin = fine.initial(rank, {kind, i})) {
          meaning.slots[{rank, number_of(slot.buffer), slot.index}] = {*origin};
        }
      }
    }
  }

  Layout layout{trace, parts, batched ? trace.instances : 1};
  if (parts % layout.copies != 0) throw std::logic_error("parts that instances do not divide");
  for (layout.copy = 0; layout.copy < layout.copies; ++layout.copy) {
    for (std::uint32_t n = 0; n < trace.ops.size(); ++n) {
      const TraceOp& op = trace.ops[n];
      for (int k = 0; k < op.count; ++k) {
        for (int part = 0; part < layout.cut(); ++part) {
          const Place src{op.src_rank, op.src_buffer,
                          layout.slot(op.src_rank, op.src_buffer, op.src_index + k, part)};
          const Place dst{op.dst_rank, op.dst_buffer,
                          layout.slot(op.dst_rank, op.dst_buffer, op.dst_index + k, part)};
          const auto from = meaning.slots.find(src);
          if (from == meaning.slots.end()) {
            throw std::logic_error("operation " + std::to_string(n) + " reads nothing");
          }
          const Content value = from->second;
          if (op.kind == TraceOp::Kind::copy) {
            meaning.slots[dst] = value;
          } else {
            const auto into = meaning.slots.find(dst);
            if (into == meaning.slots.end()) {
              throw std::logic_error("operation " + std::to_string(n) + " reduces into nothing");
            }
            into->second = sum(into->second, value);
          }
          meaning.last_write[dst] = n;
        }
      }
    }
  }
  return meaning;
}

MaybeContent content_of(const Interpretation& meaning, int rank, Slot slot) {
  const auto found = meaning.slots.find({rank, number_of(slot.buffer), slot.index});
  if (found == meaning.slots.end()) return std::nullopt;
  return found->second;
}

}  // namespace hocket::oracle
