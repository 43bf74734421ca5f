// How a value came where it is: the steps that carried it, from the first to the last write.
#pragma once

#include <optional>
#include <vector>

#include "ir/chunk_values.h"
#include "verify/execution_order.h"
#include "verify/loaded.h"
#include "verify/origins.h"

namespace hocket::verifying {

// A second run that remembers who wrote what was read. Made only where something has to be
// explained: some 12 bytes for every chunk of every operand.
class History {
 public:
  History(const Loaded& loaded, const ExecutionOrder& order, const Origins& origins);

  // The steps that brought `wanted` into the cell; without it, or where what the cell holds is
  // worth nothing, the largest part of what it holds or the part that is missing. The last one
  // wrote the cell; empty: nobody did. At most `most`: the first ones and the last ones.
  std::vector<InstrId> trail(CellId cell, std::optional<Origin> wanted, std::size_t most) const;

  // The step that wrote the cell last; kNone: none.
  InstrId last_write(CellId cell) const { return last_write_[cell].by; }

 private:
  // One lane of an instruction; kNone: the start.
  struct Made {
    InstrId by = kNone;
    std::int32_t lane = 0;
  };
  struct Part {
    Made by;
    ValueId value = kNothing;
  };
  struct Recorder;
  std::vector<Part> parts_of(Made made) const;
  std::size_t reads_of(InstrId i) const;  // of each lane

  const Loaded& loaded_;
  const Origins& origins_;
  ChunkValues values_;
  std::vector<std::uint64_t> first_read_;  // of each instruction, into reads_; lane after lane
  std::vector<std::uint64_t> first_made_;  // into made_
  std::vector<Part> reads_;
  std::vector<ValueId> made_;
  std::vector<Made> last_write_;  // of each cell
  mutable std::int64_t searched_in_all_ = 0;
};

}  // namespace hocket::verifying
