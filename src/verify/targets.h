// Would an algorithm load on every rank of a runtime, and run there as the model says?
//
// Four things can keep it from that: a wrong structure, which no loader is sure to refuse; a limit
// of the target (hocket/target.h: sizes, numbers, step types, what its loader loses); a smaller
// transfer, which cuts steps into more than the connection holds; more passes of the tile loop than
// its flags can count.
#pragma once

#include "verify/loaded.h"

namespace hocket::verifying {

// Passes of the tile loop that a flag can tell apart (spec 5.3: 16 bits).
inline constexpr std::int64_t kMostIterations = 65536;

// `loaded` null: the structure is not right, and `base` says why. Otherwise `base` has what was
// ruled without asking about this target.
TargetRuling rule_on_target(const Algorithm& algorithm, const Loaded* loaded,
                            const PlacementReport& base, Target target,
                            const VerifyOptions& options);

}  // namespace hocket::verifying
