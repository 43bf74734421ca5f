// Every schedule of a tiny algorithm, to check the judge itself.
//
// Finer than the machine: a chunk of a step is two moves, one that reads the local operand and one
// that takes what was received, writes and passes on. So an access of another threadblock can fall
// between.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "support/machine.h"
#include "support/view.h"

namespace hocket::oracle {

struct Exploration {
  bool complete = true;  // false: more states than allowed
  std::size_t states = 0;
  bool some_stuck = false;         // a schedule deadlocks
  bool some_finished = false;      // a schedule finishes
  std::set<std::string> outcomes;  // the final memories, printed
};

// `slots` none: any number. One chunk a transfer.
Exploration explore(const View& view, std::optional<int> slots, std::size_t max_states = 200'000);

// A memory as `outcomes` has it.
std::string memory_text(const std::vector<Memory>& memory);

// One half of one chunk of a step.
struct Move {
  TbRef at;
  int instruction = 0;
  int lane = 0;
  int half = 0;  // 0 reads the local operand, 1 writes
  friend auto operator<=>(const Move&, const Move&) = default;
};

// Can `b` happen in a schedule in which `a` has not happened yet? With any number of slots.
bool can_precede(const View& view, const Move& b, const Move& a);

}  // namespace hocket::oracle
