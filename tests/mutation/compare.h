// The verifier against the truth, and a smaller algorithm on which they still differ.
#pragma once

#include <string>

#include "hocket/verify.h"
#include "mutation/truth.h"

namespace hocket::mutation {

struct Comparison {
  Truth truth;
  PlacementReport verdict;
  // Empty where they agree; else which property, and how: "races: proved, but fails".
  std::string differs;
};
Comparison compare(const Algorithm& algorithm, std::optional<Target> target = std::nullopt);

// Steps, messages, dependences and threadblocks dropped while `differs` stays the same.
Algorithm shrink(const Algorithm& algorithm, std::optional<Target> target,
                 const std::string& differs);

// All that a person needs: both sides, and the algorithm in the text form.
std::string report(const Algorithm& algorithm, const Comparison& comparison);

}  // namespace hocket::mutation
