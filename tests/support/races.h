// Which accesses of two threadblocks of one rank nothing orders.
//
// The order, by chunk ("lane") of a step, from the moments start(X), mid(X, lane), end(X):
// * start(X) < mid(X, lane) < end(X); end(X) < start(next step of the threadblock);
// * end(X) < start(Y) where Y waits for X's flag (or for an earlier step's that X is the first to
// publish);
// * mid(A, lane) < mid(B, lane) where B receives what A sends.
// A step reads a lane between start and mid, and writes it between mid and end: a received lane
// cannot be written before it arrived, and it cannot arrive before the sender has read (or
// received) it. Free slots of a connection order nothing: how many there are depends on the message
// and the runtime.
//
// A write and a later access of the same slot need a path of program order and flags on their own
// rank: the runtimes promise no visibility along a path through other ranks. Those are reported as
// `through_ranks`. A read and a later write may be ordered through other ranks: the data that came
// back was read before it left.
#pragma once

#include "support/finding.h"
#include "support/view.h"

namespace hocket::oracle {

// The structure and the connections must be right. Findings of kind race, through_ranks, and
// deadlock where the order has a cycle (then no races are looked for).
Findings find_races(const View& view);

}  // namespace hocket::oracle
