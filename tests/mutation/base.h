// Right algorithms to break: random programs and small ones of the library, compiled.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "hocket/algorithm.h"
#include "hocket/target.h"

namespace hocket::mutation {

struct Base {
  Algorithm algorithm;
  Target target = Target::hocket;
};

// The same seed, the same base. None where the seed gives one that is too large to try every
// schedule of its mutants.
std::optional<Base> base_of(std::uint64_t seed);

}  // namespace hocket::mutation
