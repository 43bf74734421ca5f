// One order in which everything can happen: every instruction after the one before it in its
// threadblock, after the ones it waits for, and a receive after its send. Slots do not count.
//
// An instruction is a moment only here; find_races() says which of its parts are really ordered.
// Where there is no such order, some threadblocks wait for each other in every schedule.
#pragma once

#include <vector>

#include "verify/loaded.h"

namespace hocket::verifying {

struct ExecutionOrder {
  std::vector<InstrId> order;           // all instructions; fewer where a cycle keeps some out
  std::vector<std::uint32_t> position;  // of each instruction in `order`; kNone: not in it
  bool complete() const { return order.size() == position.size(); }
};

// O(instructions + waits).
ExecutionOrder find_order(const Loaded& loaded);

}  // namespace hocket::verifying
