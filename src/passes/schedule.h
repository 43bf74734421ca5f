// schedule: the one global order of which every threadblock's order is a part.
//
// The argument. An execution with bounded connections is confluent: each connection has one writer
// and one reader, flags only rise, an enabled step stays enabled until it runs; so whether an
// algorithm completes does not depend on timing, and ONE completing execution proves that all
// complete. The global order IS a completing execution: it is built by executing the program
// greedily, one node at a time, on connections with exactly the slots of the protocol, every step
// cut into the transfers of the worst message size, and a node is taken only when
//   - the nodes it depends on have been taken,
//   - its message, if it receives, is the oldest in its connection, and
//   - its own transfers, if it sends, fit into the free slots of the outgoing connection.
// A send that can never fit (more transfers than slots) is taken together with the nodes
// downstream, in lock step: its receiver must be ready and its connection empty; if the receiver
// sends on, the same is asked of its receiver, until one only receives or has room for all of it.
// Nodes of one such group are of different ranks, so no two of them need the same threadblock at
// the same time. Threadblocks then run their nodes in this order: executing the whole order
// sequentially is possible, hence no schedule deadlocks. More slots or fewer transfers only enable
// more.
//
// Among ready nodes the least deep goes first, then the one with the longest way to go, then trace
// order.
//
// The greedy order may run into a wall: a fused ring into which every rank has sent until no slot
// is free, or a connection's messages taken in an order that some receiver cannot follow. Then it
// starts again, each time giving up a little more:
//   - a plain send enters a connection that fused nodes send on too only if a slot stays free
//   behind
//     it, so that what is already going round can go on (bubble flow control: Puente et al.,
//     "Adaptive bubble router", ICPP 1999);
//   - fused chains get channels of their own instead of sharing connections;
//   - the fused nodes that wait are taken apart, some at a time;
//   - everything is unfused;
//   - everything is unfused and taken in trace order, each send with its receive: a sequential run
//   of the
//     trace, which needs no slot at all and always completes.
//
// Near-linear: every node is tried when something it waits for changes.
#pragma once

#include <cstdint>

#include "passes/instruction_graph.h"

namespace hocket::passes {

struct Capacity {
  int slots = 2;  // transfers that a connection holds
  int cut = 1;    // chunks of a step that go into one transfer
  int transfers(std::int32_t count) const { return (count + cut - 1) / cut; }
};

// Assigns channels, sets graph.order and numbers the nodes by it (number_by_rank.h); may unfuse
// nodes. Returns the number of walls met.
int schedule(Graph& graph, const Capacity& capacity, std::int32_t channel_budget);

}  // namespace hocket::passes
