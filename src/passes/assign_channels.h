// assign-channels: a channel for every message, and the connections that follow.
//
// A fused node receives and sends in one threadblock, on one channel; a connection has one
// threadblock at each end. So, per rank, instance and channel, fused nodes tie receive peers to
// send peers one to one. With automatic placement a chain of fused nodes takes the lowest channel
// on which every tie on its way is free or already the same; one that the program put on a channel
// where a tie conflicts is taken apart at that node, as is one that finds no channel within the
// budget. A message outside any chain ties nothing and goes by channel 0.
//
// With manual placement channels belong to threadblocks: the two ends of a message are on one
// channel, so threadblocks joined by messages form groups; a group has the channel that the program
// gave any of its members, or the lowest on which no connection gets a second threadblock. Errors:
// HK0301 (a threadblock that would need two peers or two channels), HK0302 (two threadblocks on one
// connection).
//
// Instance i then moves up by i times the number of channels of one instance.
//
// Linear in nodes, times the channels tried.
#pragma once

#include "passes/instruction_graph.h"

namespace hocket::passes {

// Whether chains may use a connection together. Shared needs fewer channels and threadblocks;
// chains that go round in rings may then hold up one another for want of slots.
enum class ChainPolicy : std::uint8_t { shared, apart };

// `budget`: channels that one instance may use before chains are taken apart.
void assign_channels(Graph& graph, std::int32_t budget, ChainPolicy policy);

}  // namespace hocket::passes
