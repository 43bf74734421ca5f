// The independent judge of an algorithm. Trusts nothing, shares no code with the compiler or the
// runtime, is slow and obvious: structure, matching of connections, merging by the loaders,
// deadlock at the given slots and cut, races in any schedule, reads of nothing, and the final
// content of every slot against the postcondition.
#pragma once

#include <optional>
#include <vector>

#include "hocket/algorithm.h"
#include "hocket/target.h"
#include "support/finding.h"
#include "support/machine.h"
#include "support/structure.h"

namespace hocket::oracle {

struct JudgeOptions {
  std::optional<int> slots;  // none: the protocol's
  std::optional<int> cut;    // chunks a transfer; none: what `max_bytes` of the algorithm allows
  Target target = Target::msccl;
  StructureOptions structure;
  // Off where the postcondition is not what the program claims to compute.
  bool postcondition = true;
};

struct Verdict {
  Findings findings;
  // False where nothing could be compared: the structure was wrong, or there is no postcondition.
  bool compared = false;
  // Of every rank at the end, by canonical slot; empty where the structure was wrong.
  std::vector<Memory> memory;
  bool clean() const { return findings.empty(); }
};

// Judges the call as the algorithm says it may be made: with aliased buffers where its collective
// is in place, else with separate ones.
Verdict judge(const Algorithm& algorithm, const JudgeOptions& options = {});

// The chunks that one transfer may carry when the message has `max_bytes` (none: any size, so 1).
// A larger message only means more transfers a step.
int allowed_cut(const Algorithm& algorithm, Target target);

}  // namespace hocket::oracle
