// Scratch: what is used has room, what is over makes room.
#include "passes/layout_scratch.h"

#include <gtest/gtest.h>

#include "unit/passes/graphs.h"

namespace hocket::passes {
namespace {

std::vector<std::int32_t> scratch(const Program& p) {
  Graph graph = placed(p, {8, 1});
  layout_scratch(graph);
  return graph.scratch_parts;
}

TEST(LayoutScratch, only_parts_that_are_touched_have_room) {
  Program p = program(2, 2);
  p.chunk(0, Buffer::input, 0).copy(1, "s", 40);
  p.chunk(1, "s", 40).copy(1, Buffer::output, 0);
  EXPECT_EQ(scratch(p), (std::vector<std::int32_t>{0, 1}));
}

TEST(LayoutScratch, one_after_the_other_shares_a_place) {
  Program p = program(2, 3);
  Ref c = p.chunk(0, Buffer::input, 0);
  for (int k = 0; k < 3; ++k) {
    c = c.copy(0, "s" + std::to_string(k), 0).copy(0, Buffer::output, k);
  }
  EXPECT_EQ(scratch(p), (std::vector<std::int32_t>{1, 0}));
}

TEST(LayoutScratch, alive_at_once_does_not) {
  Program p = program(3, 2);
  const Ref a = p.chunk(1, Buffer::input, 0).copy(0, "a", 0);
  const Ref b = p.chunk(2, Buffer::input, 0).copy(0, "b", 0);
  a.copy(0, Buffer::output, 0);
  b.copy(0, Buffer::output, 1);
  EXPECT_EQ(scratch(p)[0], 2);
}

TEST(LayoutScratch, parts_used_together_stay_together) {
  Program p = program(2, 4);
  for (int k = 0; k < 4; ++k) p.chunk(0, Buffer::input, 3 - k).copy(1, "s", 3 - k);
  p.chunk(1, "s", 0, 4).copy(1, Buffer::output, 0);
  Graph graph = placed(p, {8, 1});
  layout_scratch(graph);
  EXPECT_EQ(graph.scratch_parts[1], 4);
  const Node& copy = graph.nodes.back();
  ASSERT_EQ(copy.op, OpCode::copy);
  EXPECT_EQ(copy.src_index, 0);
  for (const Node& node : graph.nodes) {
    if (node.op == OpCode::recv) {
      EXPECT_LT(node.dst_index, 4);
    }
  }
}

}  // namespace
}  // namespace hocket::passes
