// A compiled program on real data, compared with what its interpretation says element by element.
#pragma once

#include <cstdint>
#include <string>

#include "hocket/algorithm.h"
#include "support/interpreter.h"

namespace hocket::random_test {

// Empty when right; else the first wrong element. `choice` chooses type, count and threads.
std::string execute_and_compare(const Algorithm& algorithm, const oracle::Interpretation& meaning,
                                std::uint64_t choice);

}  // namespace hocket::random_test
