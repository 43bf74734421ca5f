// Dependences that are implied, and the nops that carry them (codes HK1010 and HK1011).
//
// A wait of Y for X is implied where X has ended before Y starts by program order of X's
// threadblock and Y's and the other waits of the rank alone. Messages do not count: a write that is
// only ordered by them is not visible (races.h). The waits of a rank have no cycle, so all that are
// implied can go at once.
#pragma once

#include "verify/execution_order.h"
#include "verify/loaded.h"
#include "verify/waste_list.h"

namespace hocket::verifying {

void find_implied_waits(const Loaded& loaded, const ExecutionOrder& order, WasteList& list);

}  // namespace hocket::verifying
