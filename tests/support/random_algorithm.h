// Arbitrary algorithms for the tests of readers and writers: well-formed, and as nonsensical as
// that allows.
#pragma once

#include <cstdint>

#include "hocket/algorithm.h"

namespace hocket::test {

struct RandomAlgorithmOptions {
  // Numbers that no reader of XML would take (any 32-bit offset, count, peer, dependence, size).
  // The text form keeps them.
  bool wild = false;
  // Source locations on some steps.
  bool locations = true;
};

// The same algorithm for the same seed, on every machine.
Algorithm random_algorithm(std::uint64_t seed, const RandomAlgorithmOptions& options = {});

// A custom collective with random slots before and after, sometimes split.
Collective random_custom_collective(std::uint64_t seed, int ranks, bool in_place);

}  // namespace hocket::test
