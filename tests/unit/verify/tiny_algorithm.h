// Small algorithms with a right structure and anything else: races, uninitialised reads, wrong
// results and, now and then, a cycle of waits.
#pragma once

#include <cstdint>

#include "hocket/algorithm.h"

namespace hocket::verifying {

struct TinyOptions {
  int max_ops = 10;
  bool chains = true;  // consecutive reduces that the loaders merge
};

// The same for the same seed, on every machine.
Algorithm tiny_algorithm(std::uint64_t seed, const TinyOptions& options = {});

}  // namespace hocket::verifying
