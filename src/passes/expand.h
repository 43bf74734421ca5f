// expand: trace -> instruction graph.
//
// Replicates first. With G parts to a chunk (instances times the least common multiple of the
// fragments' n), an operation on s chunks becomes m = instances * n operations, the k-th on the
// k-th m-th of the run of s*G parts. The m operations of one call touch disjoint parts, so running
// them one after another means what the call means; everything later treats the result as an
// ordinary program, and dependences between instances, where operations of different sizes meet,
// come out of the same analysis as all others. Batched replication gives instance i the i-th share
// of every buffer instead.
//
// Then lowers: a copy or reduce between ranks is a send and a receive (receive-reduce-copy), a
// local one cpy or re; runs longer than the target's count are cut. Then dependences, part by part:
// a read follows the last write; a write follows the reads since the last write, or, where there
// are none, that write.
//
// On exit: nodes, messages (no channels yet), preds, readers and dead_parts are set; node order is
// trace order. Throws HK0303 where batched replication would not compute the collective. Linear in
// parts touched.
#pragma once

#include "passes/instruction_graph.h"

namespace hocket::passes {

Graph expand(const Trace& trace, const Lowering& lowering);

}  // namespace hocket::passes
