// How steps, contents and ranks are written in what the verifier reports.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hocket/diagnostic.h"
#include "hocket/verify.h"
#include "ir/chunk_values.h"
#include "verify/loaded.h"

namespace hocket::verifying {

// The user's line that an instruction comes from, where it is known.
Location location_of(const Loaded& loaded, InstrId i);
void locate(const Loaded& loaded, InstrId i, Diagnostic& diagnostic);
// "rank 0 tb 1 step 2 (rrc): " and `text`, with the user's line.
void note_step(const Loaded& loaded, InstrId i, std::string_view text, Diagnostic& diagnostic);

// "0-3, 5"; sorted. At most `most` runs of ranks, then "...".
std::string ranks_text(const std::vector<std::int32_t>& ranks, std::size_t most = 6);

// "rank 0 output[3]", "ranks 1-7 output[3]"; at most three slots.
std::string places_text(const std::vector<SumOrder::Place>& places);

// "in[3] of rank 2", "sum of in[3] of ranks 0-7", "nothing"; sorted by origin.
std::string content_text(const std::vector<Contribution>& content);

// a without b; both sorted.
std::vector<Contribution> difference(const std::vector<Contribution>& a,
                                     const std::vector<Contribution>& b);

}  // namespace hocket::verifying
