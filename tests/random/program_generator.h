// Random valid programs: every one must be accepted by the language, at whatever the seed.
#pragma once

#include <cstdint>
#include <random>

#include "random/program_spec.h"

namespace hocket::random_test {

struct GeneratorLimits {
  int max_ranks = 6;
  int max_calls = 24;
  int max_chunks = 4;  // of the smaller buffer
  int max_instances = 4;
};

// The same seed gives the same program on every machine.
ProgramSpec generate(std::uint64_t seed, const GeneratorLimits& limits = {});

}  // namespace hocket::random_test
