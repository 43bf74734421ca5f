// Which waits remain.
#include "passes/synchronize.h"

#include <gtest/gtest.h>

#include "passes/gather_waits.h"
#include "unit/passes/graphs.h"

namespace hocket::passes {
namespace {

std::size_t all_waits(const Graph& graph, int rank) {
  std::size_t count = 0;
  for (NodeId n = 0; n < graph.size(); ++n) {
    if (graph.nodes[n].rank == rank) count += graph.waits_of(n).size();
  }
  return count;
}

TEST(Synchronize, program_order_needs_no_wait) {
  Program p = program(2, 2);
  p.chunk(0, Buffer::input, 0).copy(1, "s", 0);
  p.chunk(1, "s", 0).copy(0, Buffer::output, 0);
  p.chunk(1, Buffer::input, 0).copy(1, "s", 0);
  // Receive, send back and overwrite: the first two are one threadblock; the copy joins it.
  EXPECT_EQ(all_waits(placed(p), 1), 0u);
}

// Rank 2 sends on what it received from 0 and 1 and adds locally: a send to 3 waits for the reduce
// only, which waited for both receives.
TEST(Synchronize, a_wait_for_the_last_implies_those_for_the_first) {
  Program p = program(4, 1);
  const Ref a = p.chunk(0, Buffer::input, 0).copy(2, "a", 0);
  const Ref b = p.chunk(1, Buffer::input, 0).copy(2, "b", 0);
  Ref sum = p.chunk(2, Buffer::input, 0).reduce(a);
  sum.reduce(b);
  sum.copy(3, Buffer::output, 0);
  const Graph graph = placed(p);
  // One of the reduces runs beside one receive; each hand-over between threadblocks is one wait.
  EXPECT_EQ(all_waits(graph, 2), 2u);
}

TEST(Synchronize, waits_are_only_for_other_threadblocks_of_the_rank_and_for_each_once) {
  Program p("p", fully_connected(6), allreduce(6, 6, true));
  for (int from = 0; from < 6; ++from) {
    for (int to = 0; to < 6; ++to) {
      if (from != to) p.chunk(from, Buffer::input, 0, 6).copy(to, "s", 6 * from);
    }
  }
  for (int r = 0; r < 6; ++r) {
    for (int from = 0; from < 6; ++from) {
      if (from != r) p.chunk(r, Buffer::input, 0, 6).reduce(p.chunk(r, "s", 6 * from, 6));
    }
  }
  ASSERT_TRUE(p.check());
  const Graph graph = placed(p, {2, 6});
  for (NodeId n = 0; n < graph.size(); ++n) {
    std::vector<BlockId> seen;
    for (const NodeId w : graph.waits_of(n)) {
      EXPECT_EQ(graph.nodes[w].rank, graph.nodes[n].rank);
      EXPECT_NE(graph.block_of[w], graph.block_of[n]);
      EXPECT_EQ(std::count(seen.begin(), seen.end(), graph.block_of[w]), 0);
      seen.push_back(graph.block_of[w]);
    }
  }
}

Program two_reduces(bool answer_needs_first) {
  Program p = program(2, 2, {.placement = Placement::manual, .dependence_nop = true});
  const Via link{.channel = 0, .send_tb = 0, .recv_tb = 0};
  p.chunk(1, Buffer::input, 0).copy(0, "a", 0, link);
  p.chunk(0, Buffer::input, 0).reduce(p.chunk(0, "a", 0), {.send_tb = 1});
  if (answer_needs_first) {
    p.chunk(0, Buffer::input, 0).copy(1, "q", 0, link);
    p.chunk(1, "q", 0).copy(0, "b", 0, link);
  } else {
    p.chunk(1, Buffer::input, 1).copy(0, "b", 0, link);
  }
  p.chunk(0, Buffer::input, 1).reduce(p.chunk(0, "b", 0), {.send_tb = 1});
  return p;
}

std::vector<std::size_t> waits_of_reduces(const Program& p) {
  Graph graph = placed(p);
  gather_waits(graph, {});
  std::vector<std::size_t> counts;
  for (NodeId n = 0; n < graph.size(); ++n) {
    if (graph.nodes[n].active && graph.nodes[n].op == OpCode::reduce) {
      counts.push_back(graph.waits_of(n).size());
    }
  }
  return counts;
}

TEST(GatherWaits, moves_the_waits_of_a_run_to_its_first) {
  EXPECT_EQ(waits_of_reduces(two_reduces(false)), (std::vector<std::size_t>{1, 0}));
}

// B11 of the original: the second reduce waits for an answer that the first makes possible.
TEST(GatherWaits, leaves_them_where_moving_would_deadlock) {
  EXPECT_EQ(waits_of_reduces(two_reduces(true)), (std::vector<std::size_t>{1, 1}));
}

}  // namespace
}  // namespace hocket::passes
