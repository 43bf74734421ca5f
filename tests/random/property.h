// The property that every program must have: compiled in any way, it is accepted by the judge, and
// at the end every slot that must hold something holds what direct interpretation says.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hocket/target.h"
#include "random/program_spec.h"

namespace hocket::random_test {

// One way of compiling.
struct Way {
  Target target = Target::hocket;
  std::optional<std::int64_t> max_bytes;
};

struct Outcome {
  bool right = true;
  // What went wrong in a few words, equal for equal faults; the shrinker keeps it.
  std::string fault;
  std::string text;
};

struct Checks {
  std::vector<Way> ways = {Way{}};
  // Also compile it twice, print it and read it back.
  bool forms = false;
  // Also run it on real data; element counts are chosen by this number. None: do not.
  std::optional<std::uint64_t> execute;
};

// The program; of a custom collective, as one that asks for what the program computes.
Program program_of(const ProgramSpec& spec);

Outcome check_program(const ProgramSpec& spec, const Checks& checks);

// The smallest program found that has the same fault: calls dropped, sizes, instances, fragments
// and options reduced while it still fails.
ProgramSpec shrink(const ProgramSpec& spec, const Checks& checks, const Outcome& outcome);

// Everything a person needs to see and repeat a fault.
std::string report(const ProgramSpec& spec, const Outcome& outcome);

}  // namespace hocket::random_test
