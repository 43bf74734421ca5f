// What can be seen of an algorithm without following a message: every rule that makes a step mean
// what it says (spec 2.2, 3.2, 3.3, 5.2 and 9: codes HK1001).
//
// Sizes of the buffers as the collective has them (0 stands for "not named", the runtimes' habit
// for a buffer that another aliases); peers that exist; channels that are connected; operands that
// a step really uses inside their buffers, with their count; no overlap inside a step; dependences
// on real steps that publish; nops that carry a dependence to a later step with one of its own.
// Linear.
#pragma once

#include "hocket/algorithm.h"
#include "hocket/verify.h"

namespace hocket::verifying {

void check_structure(const Algorithm& algorithm, const Collective& collective, bool in_place,
                     int max_findings, PropertyRuling& structure);

}  // namespace hocket::verifying
