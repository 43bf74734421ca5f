// What can be seen of an algorithm without running it: every rule that makes a step mean what it
// says.
#pragma once

#include "hocket/algorithm.h"
#include "support/finding.h"
#include "support/view.h"

namespace hocket::oracle {

struct StructureOptions {
  // The loaders of the public runtimes merge consecutive `re` steps into one instruction.
  bool loader_rules = true;
  int max_merged = 15;  // reductions that one instruction may hold
};

// Operands inside their buffers, dependences on real steps that publish, nops that lead to a step
// with a dependence of its own, no overlap inside a step, buffer sizes as the collective has them.
Findings check_steps(const View& view);

// Each connection owned by one threadblock at each end, both ends there, equal transfers.
Findings check_connections(const View& view);

// Merging consecutive `re` steps as the loaders do changes nothing.
Findings check_merges(const View& view, const StructureOptions& options);

}  // namespace hocket::oracle
