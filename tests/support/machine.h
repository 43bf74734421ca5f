// The abstract machine that runs an algorithm: sequential threadblocks, bounded queues, monotone
// flags, one iteration, contents instead of data. Execution is confluent: every step once enabled
// stays enabled, so one greedy schedule decides whether any schedule gets stuck.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "support/content.h"
#include "support/finding.h"
#include "support/view.h"

namespace hocket::oracle {

struct MachineOptions {
  // Transfers a sender can finish while its receiver stands still; none: any number.
  std::optional<int> slots;
  // Chunks that one transfer may carry: a step of more is cut.
  int cut = 1;
};

// Memory of a rank at the end, by canonical slot.
using Memory = std::map<Slot, Content>;

struct MachineResult {
  bool finished = false;
  Findings deadlock;       // every threadblock that is stuck, with what it waits for
  Findings uninitialised;  // reads of nothing, each place once a step
  std::vector<Memory> memory;
};

// The structure and the connections must be right.
MachineResult run_machine(const View& view, const MachineOptions& options);

// What every rank's memory holds before the run.
std::vector<Memory> initial_memory(const View& view);

}  // namespace hocket::oracle
