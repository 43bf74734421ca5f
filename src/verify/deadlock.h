// Does every schedule end (HK1004)? Exact (spec 4.4).
//
// Execution is confluent: a connection has one writer and one reader, flags only rise, and a step
// that can go on can still do so later. So ONE greedy run decides for all: if it gets stuck every
// schedule does, at the same place. The run counts transfers: a step of c chunks makes ceil(c/m) of
// them, m being the chunks that one transfer holds (spec 6.3). A larger message makes m smaller,
// and a smaller m only asks for more slots, so the largest message admitted decides.
//
// Least slots. More slots only enable more, so there is a least number. Zero slots mean that a
// sender hands its transfer over while its receiver is at the matching receive; a receiver that
// sends on at the same time needs its own receiver to be there too, and so on to the end of the
// chain; then all of them do the whole step at once.
//
// One run is O(steps + transfers); the least number is found by bisection between 0 and the most
// that a run without a limit holds.
#pragma once

#include <cstdint>
#include <optional>

#include "verify/loaded.h"

namespace hocket::verifying {

// Chunks that a transfer may carry on a target for messages of up to `max_bytes`; none: any size.
int worst_cut(const Loaded& loaded, Target target, std::optional<std::int64_t> max_bytes);

// Fills the ruling, least_slots and largest_safe_bytes.
void check_deadlock(const Loaded& loaded, const VerifyOptions& options, PlacementReport& report);

// Whether it ends with `slots` transfers a connection (none: without limit), `cut` chunks a
// transfer.
bool ends(const Loaded& loaded, std::optional<int> slots, int cut);

}  // namespace hocket::verifying
