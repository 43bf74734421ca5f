// When a receive absorbs a send, and into what.
#include "passes/fuse.h"

#include <gtest/gtest.h>

#include "unit/passes/graphs.h"

namespace hocket::passes {
namespace {

using Strings = std::vector<std::string>;

TEST(Fuse, receive_and_send_on) {
  Program p = program(3, 1);
  p.chunk(0, Buffer::input, 0).copy(1, "s", 0).copy(2, Buffer::output, 0);
  EXPECT_EQ(names(fused(p), 1), Strings{"rcs"});
}

TEST(Fuse, the_place_need_not_be_the_same_at_both_ends) {
  Program p = program(3, 4);
  p.chunk(0, Buffer::input, 3).copy(1, "here", 0).copy(2, Buffer::output, 2);
  EXPECT_EQ(names(fused(p), 1), Strings{"rcs"});
}

TEST(Fuse, a_sum_that_is_kept_is_copied_too) {
  Program p = program(3, 1);
  Ref sum = p.chunk(1, Buffer::input, 0).reduce(p.chunk(0, Buffer::input, 0));
  sum.copy(2, Buffer::output, 0);
  EXPECT_EQ(names(fused(p), 1), Strings{"rrcs"});
}

TEST(Fuse, a_sum_that_is_overwritten_is_not) {
  Program p = program(3, 1);
  Ref sum = p.chunk(1, Buffer::input, 0).reduce(p.chunk(0, Buffer::input, 0));
  sum.copy(2, Buffer::output, 0);
  p.chunk(2, Buffer::input, 0).copy(1, Buffer::input, 0);
  EXPECT_EQ(names(fused(p), 1), (Strings{"rrs", "r"}));
}

TEST(Fuse, a_sum_in_scratch_is_dead_after_its_only_reader) {
  Program p = program(3, 1);
  p.chunk(1, Buffer::input, 0)
      .copy(1, "sum", 0)
      .reduce(p.chunk(0, Buffer::input, 0))
      .copy(2, Buffer::output, 0);
  EXPECT_EQ(names(fused(p), 1), (Strings{"cpy", "rrs"}));
}

TEST(Fuse, a_sum_in_a_slot_that_nobody_wants_is_dead) {
  CustomCollective c("sum", 3);
  for (int r = 0; r < 3; ++r) c.buffers(r, 1, 1).holds(r, {BufferKind::input, 0}, {r, 0});
  c.requires_(2, {BufferKind::output, 0}, {{0, 0}, {1, 0}});
  Program p("sum", fully_connected(3), c.build());
  p.chunk(1, Buffer::input, 0).reduce(p.chunk(0, Buffer::input, 0)).copy(2, Buffer::output, 0);
  EXPECT_EQ(names(fused(p), 1), Strings{"rrs"});
}

// B4 of the original: half of the sum is overwritten, the other half is not.
TEST(Fuse, a_sum_of_which_a_part_is_kept_is_copied) {
  Program p = program(3, 2);
  p.chunk(1, Buffer::input, 0, 2)
      .reduce(p.chunk(0, Buffer::input, 0, 2))
      .copy(2, Buffer::output, 0);
  p.chunk(2, Buffer::input, 0).copy(1, Buffer::input, 0);
  EXPECT_EQ(names(fused(p), 1), (Strings{"rrcs", "r"}));
}

// B2: the send reads other chunks than the receive wrote.
TEST(Fuse, not_where_the_send_reads_something_else) {
  Program p = program(3, 3);
  p.chunk(0, Buffer::input, 0, 2).copy(1, "s", 0);
  p.chunk(1, Buffer::input, 0).copy(1, "s", 2);
  p.chunk(1, "s", 1, 2).copy(2, Buffer::output, 0);
  EXPECT_EQ(names(fused(p), 1), (Strings{"r", "cpy", "s"}));
}

// B3: one of the received chunks is overwritten before both are sent.
TEST(Fuse, not_where_a_part_was_overwritten_in_between) {
  Program p = program(3, 2);
  p.chunk(0, Buffer::input, 0, 2).copy(1, "s", 0);
  p.chunk(1, Buffer::input, 0).copy(1, "s", 1);
  p.chunk(1, "s", 0, 2).copy(2, Buffer::output, 0);
  EXPECT_EQ(names(fused(p), 1), (Strings{"r", "cpy", "s"}));
}

TEST(Fuse, of_two_sends_the_one_with_the_longer_way_to_go) {
  Program p = program(4, 1);
  const Ref c = p.chunk(0, Buffer::input, 0).copy(1, "s", 0);
  c.copy(2, Buffer::output, 0);
  c.copy(3, "s", 0).copy(2, "s", 0);
  const Graph graph = fused(p);
  EXPECT_EQ(names(graph, 1), (Strings{"rcs", "s"}));
  EXPECT_EQ(names(graph, 3), Strings{"rcs"});
}

TEST(Fuse, not_across_channels_or_threadblocks_that_the_program_chose) {
  Program channels = program(3, 1);
  channels.chunk(0, Buffer::input, 0)
      .copy(1, "s", 0, {.channel = 0})
      .copy(2, Buffer::output, 0, {.channel = 1});
  EXPECT_EQ(names(fused(channels), 1), (Strings{"r", "s"}));

  Program blocks = program(3, 1, {.placement = Placement::manual});
  blocks.chunk(0, Buffer::input, 0)
      .copy(1, "s", 0, {.channel = 0, .send_tb = 0, .recv_tb = 0})
      .copy(2, Buffer::output, 0, {.channel = 0, .send_tb = 1, .recv_tb = 0});
  EXPECT_EQ(names(fused(blocks), 1), (Strings{"r", "s"}));
}

TEST(Fuse, unfusing_is_exact) {
  Program p = program(3, 1);
  p.chunk(1, Buffer::input, 0).reduce(p.chunk(0, Buffer::input, 0)).copy(2, Buffer::output, 0);
  Graph graph = fused(p);
  ASSERT_EQ(names(graph, 1), Strings{"rrcs"});
  graph.unfuse(1);
  EXPECT_EQ(names(graph, 1), (Strings{"rrc", "s"}));
  EXPECT_EQ(graph.messages[1].send, 2u);
}

}  // namespace
}  // namespace hocket::passes
