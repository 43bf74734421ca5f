// When a copy becomes the operand of the reduce after it, and when it must stay.
#include "passes/fold_copies.h"

#include <gtest/gtest.h>

#include "passes/meaning.h"
#include "unit/passes/graphs.h"

namespace hocket::passes {
namespace {

using Strings = std::vector<std::string>;

// After folding, which must leave the meaning alone.
Graph folded(const Program& p) {
  Graph graph = expand(p.trace(), {});
  fold_copies(graph);
  EXPECT_EQ(Meaning(p.trace(), graph.parts).check(graph), "");
  return graph;
}

TEST(FoldCopies, out_of_place_a_sum_takes_the_input_as_it_lies) {
  Program p = program(2, 1);
  p.chunk(1, Buffer::input, 0).copy(1, Buffer::output, 0).reduce(p.chunk(0, Buffer::input, 0));
  const Graph graph = folded(p);
  EXPECT_EQ(names(graph, 1), Strings{"rrc"});
  for (const Node& node : graph.nodes) {
    if (node.op != OpCode::recv_reduce_copy) continue;
    EXPECT_EQ(node.src_buffer, kInputBuffer);
    EXPECT_EQ(node.dst_buffer, kOutputBuffer);
  }
}

TEST(FoldCopies, then_the_reduce_is_fused_with_the_send_that_follows) {
  Program p = program(3, 1);
  p.chunk(1, Buffer::input, 0)
      .copy(1, "sum", 0)
      .reduce(p.chunk(0, Buffer::input, 0))
      .copy(2, Buffer::output, 0);
  Graph graph = folded(p);
  fuse(graph);
  EXPECT_EQ(names(graph, 1), Strings{"rrs"});
  EXPECT_EQ(Meaning(p.trace(), graph.parts).check(graph), "");
}

TEST(FoldCopies, later_writers_of_the_source_wait_for_the_reduce) {
  Program p = program(3, 1);
  p.chunk(1, Buffer::input, 0).copy(1, Buffer::output, 0).reduce(p.chunk(0, Buffer::input, 0));
  p.chunk(2, Buffer::input, 0).copy(1, Buffer::input, 0);
  const Graph graph = folded(p);
  EXPECT_EQ(names(graph, 1), (Strings{"rrc", "r"}));
}

TEST(FoldCopies, not_where_the_source_is_overwritten_first) {
  Program p = program(3, 1);
  Ref copy = p.chunk(1, Buffer::input, 0).copy(1, Buffer::output, 0);
  p.chunk(2, Buffer::input, 0).copy(1, Buffer::input, 0);
  copy.reduce(p.chunk(0, Buffer::input, 0));
  EXPECT_EQ(names(folded(p), 1), (Strings{"cpy", "r", "rrc"}));
}

TEST(FoldCopies, not_where_somebody_reads_the_copy) {
  Program p = program(3, 1);
  Ref copy = p.chunk(1, Buffer::input, 0).copy(1, Buffer::output, 0);
  copy.copy(2, Buffer::output, 0);
  copy.reduce(p.chunk(0, Buffer::input, 0));
  EXPECT_EQ(names(folded(p), 1), (Strings{"cpy", "s", "rrc"}));
}

TEST(FoldCopies, not_where_only_a_part_is_reduced) {
  Program p = program(2, 2);
  p.chunk(1, Buffer::input, 0, 2).copy(1, Buffer::output, 0);
  p.chunk(1, Buffer::output, 0).reduce(p.chunk(0, Buffer::input, 0));
  EXPECT_EQ(names(folded(p), 1), (Strings{"cpy", "rrc"}));
}

TEST(FoldCopies, not_into_a_local_reduce_which_has_no_third_operand) {
  Program p = program(1, 3);
  p.chunk(0, Buffer::input, 0).copy(0, Buffer::output, 0).reduce(p.chunk(0, Buffer::input, 1));
  EXPECT_EQ(names(folded(p), 0), (Strings{"cpy", "re"}));
}

TEST(FoldCopies, not_from_another_threadblock_of_the_user) {
  Program p = program(2, 1, {.placement = Placement::manual});
  p.chunk(1, Buffer::input, 0)
      .copy(1, Buffer::output, 0, {.send_tb = 3, .recv_tb = 3})
      .reduce(p.chunk(0, Buffer::input, 0), {.send_tb = 0, .recv_tb = 0});
  EXPECT_EQ(names(folded(p), 1), (Strings{"cpy", "rrc"}));
}

TEST(FoldCopies, what_the_copy_waited_for_the_reduce_waits_for) {
  Program p = program(3, 1);
  p.chunk(2, Buffer::input, 0)
      .copy(1, "here", 0)
      .copy(1, "sum", 0)
      .reduce(p.chunk(0, Buffer::input, 0));
  const Graph graph = folded(p);
  EXPECT_EQ(names(graph, 1), (Strings{"r", "rrc"}));
}

}  // namespace
}  // namespace hocket::passes
