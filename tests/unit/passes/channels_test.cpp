// Channels: chains on one, ties one to one, and what manual placement may not ask for.
#include <gtest/gtest.h>

#include <algorithm>

#include "passes/assign_channels.h"
#include "unit/passes/graphs.h"

namespace hocket::passes {
namespace {

TEST(Channels, unfused_messages_go_by_channel_0) {
  Program p = program(3, 1);
  for (const int to : {1, 2}) p.chunk(0, Buffer::input, 0).copy(to, Buffer::output, 0);
  Graph graph = fused(p);
  assign_channels(graph, 32, ChainPolicy::shared);
  EXPECT_EQ(graph.num_channels, 1);
  EXPECT_EQ(graph.connections.size(), 2u);
}

TEST(Channels, two_chains_that_part_at_a_rank_need_two_channels) {
  Program p = program(4, 2);
  p.chunk(0, Buffer::input, 0).copy(1, "a", 0).copy(2, Buffer::output, 0);
  p.chunk(0, Buffer::input, 1).copy(1, "b", 0).copy(3, Buffer::output, 0);
  Graph graph = fused(p);
  assign_channels(graph, 32, ChainPolicy::shared);
  EXPECT_EQ(graph.num_channels, 2);
  EXPECT_EQ(names(graph, 1), (std::vector<std::string>{"rcs", "rcs"}));
}

TEST(Channels, beyond_the_budget_a_chain_is_taken_apart) {
  Program p = program(4, 2);
  p.chunk(0, Buffer::input, 0).copy(1, "a", 0).copy(2, Buffer::output, 0);
  p.chunk(0, Buffer::input, 1).copy(1, "b", 0).copy(3, Buffer::output, 0);
  Graph graph = fused(p);
  assign_channels(graph, 1, ChainPolicy::shared);
  EXPECT_EQ(graph.num_channels, 1);
  EXPECT_EQ(names(graph, 1), (std::vector<std::string>{"rcs", "r", "s"}));
}

// A chain that passes a rank twice, from and to different ranks, cannot use one channel there.
TEST(Channels, a_chain_can_conflict_with_itself) {
  Program p = program(3, 1);
  p.chunk(0, Buffer::input, 0).copy(1, "a", 0).copy(2, "b", 0).copy(1, "c", 0).copy(0, "d", 0);
  p.chunk(0, "d", 0).copy(1, "e", 0).copy(0, "f", 0);
  Graph graph = fused(p);
  assign_channels(graph, 32, ChainPolicy::shared);
  // Whatever was taken apart, every tie is one to one.
  for (const Node& a : graph.nodes) {
    for (const Node& b : graph.nodes) {
      if (!a.active || !b.active || a.rank != b.rank) continue;
      if (a.in == kNone || a.out == kNone || b.in == kNone || b.out == kNone) continue;
      const bool same_in = graph.messages[a.in].connection == graph.messages[b.in].connection;
      const bool same_out = graph.messages[a.out].connection == graph.messages[b.out].connection;
      EXPECT_EQ(same_in, same_out);
    }
  }
}

TEST(Channels, instances_have_channels_of_their_own) {
  Program p = program(2, 2, {.instances = 3});
  p.chunk(0, Buffer::input, 0).copy(1, Buffer::output, 0, {.channel = 1});
  Graph graph = fused(p);
  assign_channels(graph, 32, ChainPolicy::shared);
  EXPECT_EQ(graph.num_channels, 6);
  EXPECT_EQ(graph.connections[2].channel, 5);
}

TEST(Channels, chains_apart_do_not_share_connections) {
  Program p = program(3, 2);
  for (const int k : {0, 1}) {
    p.chunk(0, Buffer::input, k).copy(1, "s", k).copy(2, Buffer::output, k);
  }
  Graph graph = fused(p);
  assign_channels(graph, 32, ChainPolicy::shared);
  EXPECT_EQ(graph.num_channels, 1);
  assign_channels(graph, 32, ChainPolicy::apart);
  EXPECT_EQ(graph.num_channels, 2);
}

// B12 of the original: an operation without a channel in a threadblock that has one.
TEST(Channels, manual_operations_without_a_channel_join_their_threadblocks) {
  Program p = program(2, 2, {.placement = Placement::manual});
  p.chunk(0, Buffer::input, 0)
      .copy(1, Buffer::output, 0, {.channel = 3, .send_tb = 0, .recv_tb = 0});
  p.chunk(0, Buffer::input, 1).copy(1, Buffer::output, 1, {.send_tb = 0, .recv_tb = 0});
  Graph graph = fused(p);
  assign_channels(graph, 32, ChainPolicy::shared);
  ASSERT_EQ(graph.connections.size(), 1u);
  EXPECT_EQ(graph.connections[0].channel, 3);
}

void expect_refused(Program& p, Code code, std::uint32_t line, const std::string& text) {
  Graph graph = fused(p);
  try {
    assign_channels(graph, 32, ChainPolicy::shared);
    FAIL() << "accepted, but expected: " << text;
  } catch (const Error& error) {
    EXPECT_EQ(code_text(error.code()), code_text(code));
    EXPECT_EQ(error.diagnostic().where.line, line);
    EXPECT_EQ(error.diagnostic().message, text);
    EXPECT_FALSE(error.diagnostic().notes.empty());
  }
}

TEST(Channels, a_manual_threadblock_has_one_peer_each_way) {
  Program p = program(3, 1, {.placement = Placement::manual});
  p.chunk(0, Buffer::input, 0).copy(1, Buffer::output, 0, {.send_tb = 0, .recv_tb = 0});
  const std::uint32_t line = __LINE__ + 1;
  p.chunk(0, Buffer::input, 0).copy(2, Buffer::output, 0, {.send_tb = 0, .recv_tb = 0});
  expect_refused(p, Code::ThreadblockClash, line,
                 "threadblock 0 of rank 0 sends to rank 1 already, and cannot also serve rank 2");
}

TEST(Channels, a_manual_threadblock_has_one_channel) {
  Program p = program(2, 2, {.placement = Placement::manual});
  const Via first{.channel = 1, .send_tb = 0, .recv_tb = 0};
  const Via second{.channel = 2, .send_tb = 0, .recv_tb = 0};
  p.chunk(0, Buffer::input, 0).copy(1, Buffer::output, 0, first);
  const std::uint32_t line = __LINE__ + 1;
  p.chunk(0, Buffer::input, 1).copy(1, Buffer::output, 1, second);
  expect_refused(
      p, Code::ThreadblockClash, line,
      "threadblock 0 of rank 0 cannot be on channel 2: it is joined by messages to operations on "
      "channel 1, and a threadblock has one channel");
}

TEST(Channels, a_connection_has_one_manual_threadblock_at_each_end) {
  Program p = program(2, 2, {.placement = Placement::manual});
  const Via first{.channel = 0, .send_tb = 0, .recv_tb = 0};
  const Via second{.channel = 0, .send_tb = 1, .recv_tb = 1};
  p.chunk(0, Buffer::input, 0).copy(1, Buffer::output, 0, first);
  const std::uint32_t line = __LINE__ + 1;
  p.chunk(0, Buffer::input, 1).copy(1, Buffer::output, 1, second);
  expect_refused(
      p, Code::ConnectionClash, line,
      "threadblocks 0 and 1 of rank 0 both send to rank 1 on channel 0; a connection has one "
      "threadblock at each end");
}

TEST(Channels, without_channels_two_manual_threadblocks_of_one_pair_get_two) {
  Program p = program(2, 2, {.placement = Placement::manual});
  for (const int k : {0, 1}) {
    p.chunk(0, Buffer::input, k).copy(1, Buffer::output, k, {.send_tb = k, .recv_tb = k});
  }
  Graph graph = fused(p);
  assign_channels(graph, 32, ChainPolicy::shared);
  EXPECT_EQ(graph.num_channels, 2);
}

}  // namespace
}  // namespace hocket::passes
