// How a value came where it is: the steps that carried it, from the first to the last write.
#pragma once

#include <optional>
#include <vector>

#include "verify/execution_order.h"
#include "verify/loaded.h"

namespace hocket::verifying {

struct Trail {
  std::vector<InstrId> steps;  // the first one first; empty: the cell was never written
  // The cell the first step reads: where the value lay at the start.
};

// A second run that remembers who wrote what was read. Made only where something has to be
// explained: 4 bytes for every chunk of every operand.
class History {
 public:
  History(const Loaded& loaded, const ExecutionOrder& order);

  // The steps that brought `wanted` into the cell, or, without it, the largest part of what the
  // cell holds at the end. At most `most` of them, the last ones.
  std::vector<InstrId> trail(CellId cell, std::optional<Origin> wanted, std::size_t most) const;

 private:
  const Loaded& loaded_;
};

}  // namespace hocket::verifying
