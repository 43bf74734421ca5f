// No two conflicting accesses of one chunk that nothing orders (codes HK1005 and HK1006).
//
// The order, from the moments start(X), mid(X, lane), end(X) of an instruction, a lane being one of
// its chunks:
// * start(X) < mid(X, lane) < end(X); end(X) < start(next instruction of the threadblock);
// * end(X) < start(Y) where Y waits for X;
// * mid(A, lane) < mid(B, lane) where B receives what A sends.
// A lane is read between start and mid and written between mid and end. Free slots order nothing.
//
// A write and a later access need a path over their own rank: no runtime promises that a write is
// visible along a path through other ranks. A read and a later write may be ordered through other
// ranks. A write that is before another access only through other ranks is HK1006, and refutes.
//
// Where RCCL runs LL (options.target), a plain send ends before it has read (its lanes are done
// only when its messages arrived or the next instruction that is no plain send has ended).
//
// Method: vector clocks over the threadblocks of a rank and the last accesses of every chunk, after
// FastTrack (Flanagan and Freund, PLDI 2009), along one order of everything; what is left, reads
// before writes that only messages may order, is searched for a path, then propagated in batches.
// O(steps * threadblocks of the rank / 8) and, for the rest, bounded work, beyond which the
// property is undecided.
#pragma once

#include "verify/execution_order.h"
#include "verify/loaded.h"

namespace hocket::verifying {

// Undecided where the order is not complete.
PropertyRuling find_races(const Loaded& loaded, const ExecutionOrder& order,
                          const VerifyOptions& options);

}  // namespace hocket::verifying
