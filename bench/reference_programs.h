// The public example programs whose sizes under the original compiler are known (../shared/corpus/
// reference-stats.csv), written again in our language from what they do. `args` is the csv's
// column: "8 2 --protocol LL" and the like. Where an example places its threadblocks by hand, so
// does its twin here, with no more of them.
#pragma once

#include <optional>
#include <string>

#include "hocket/program.h"

namespace hocket::reference {

// None where the name is not one of them.
std::optional<Program> make(const std::string& name, const std::string& args);

}  // namespace hocket::reference
