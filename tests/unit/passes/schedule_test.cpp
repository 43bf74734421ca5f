// The global order runs within the slots, whatever the program does.
#include "passes/schedule.h"

#include <gtest/gtest.h>

#include "passes/execution_check.h"
#include "unit/passes/graphs.h"

namespace hocket::passes {
namespace {

int fused_nodes(const Graph& graph) {
  int count = 0;
  for (const Node& n : graph.nodes) count += n.in != kNone && n.out != kNone ? 1 : 0;
  return count;
}

// Two ranks that each send eight chunks before they would receive: more than any connection holds.
TEST(Schedule, sends_and_receives_alternate_where_slots_run_out) {
  Program p = program(2, 8);
  for (const int from : {0, 1}) {
    for (int k = 0; k < 8; ++k) p.chunk(from, Buffer::input, k).copy(1 - from, Buffer::output, k);
  }
  for (const int slots : {1, 2, 8}) {
    const Capacity capacity{slots, 1};
    EXPECT_TRUE(runs_to_end(placed(p, capacity), capacity)) << slots << " slots";
  }
}

// One step of eight chunks each way: with a chunk a transfer it never fits, so the two directions
// need threadblocks of their own.
TEST(Schedule, a_step_wider_than_the_slots_is_taken_in_lock_step) {
  Program p = program(2, 8);
  for (const int from : {0, 1})
    p.chunk(from, Buffer::input, 0, 8).copy(1 - from, Buffer::output, 0);
  const Capacity tight{2, 1};
  const Graph apart = placed(p, tight);
  EXPECT_TRUE(runs_to_end(apart, tight));
  EXPECT_EQ(apart.blocks.size(), 4u);
  const Capacity wide{2, 4};
  const Graph together = placed(p, wide);
  EXPECT_TRUE(runs_to_end(together, wide));
  EXPECT_EQ(together.blocks.size(), 2u);
}

Program ring(int n, int chunks_a_rank) {
  Program p("ring", fully_connected(n), allreduce(n, n * chunks_a_rank, true));
  for (int k = 0; k < n * chunks_a_rank; ++k) {
    Ref c = p.chunk(k % n, Buffer::input, k);
    for (int hop = 1; hop < n; ++hop) c = p.chunk((k + hop) % n, Buffer::input, k).reduce(c);
    for (int hop = n; hop < 2 * n - 1; ++hop) c = c.copy((k + hop) % n, Buffer::input, k);
  }
  return p;
}

// Every rank could fill both slots of its connection before the ring turns; a slot kept free lets
// it turn without taking a single fused step apart.
TEST(Schedule, a_fused_ring_turns_with_two_slots) {
  const Program p = ring(4, 3);
  const Capacity capacity{2, 1};
  const Graph graph = placed(p, capacity);
  EXPECT_TRUE(runs_to_end(graph, capacity));
  EXPECT_EQ(fused_nodes(graph), fused_nodes(fused(p)));
}

// With one slot a shared ring cannot turn at all: its chains get channels of their own.
TEST(Schedule, a_fused_ring_with_one_slot_is_spread_over_channels) {
  const Program p = ring(4, 1);
  const Capacity capacity{1, 1};
  const Graph graph = placed(p, capacity);
  EXPECT_TRUE(runs_to_end(graph, capacity));
  EXPECT_EQ(graph.num_channels, 4);
  EXPECT_EQ(fused_nodes(graph), fused_nodes(fused(p)));
}

// Where the channels do not suffice for that, fused steps are taken apart.
TEST(Schedule, without_channels_to_spread_over_fused_steps_are_taken_apart) {
  const Program p = ring(4, 1);
  const Capacity capacity{1, 1};
  Graph graph = fused(p);
  schedule(graph, capacity, 1);
  assign_threadblocks(graph, capacity);
  synchronize(graph);
  EXPECT_TRUE(runs_to_end(graph, capacity));
  EXPECT_EQ(graph.num_channels, 1);
  EXPECT_LT(fused_nodes(graph), fused_nodes(fused(p)));
}

TEST(Schedule, numbers_the_nodes_of_a_rank_together_and_in_order) {
  const Program p = ring(5, 2);
  const Graph graph = placed(p);
  ASSERT_EQ(graph.order.size(), graph.size());
  std::vector<NodeId> next(graph.first_of_rank.begin(), graph.first_of_rank.end() - 1);
  for (const NodeId n : graph.order) {
    EXPECT_EQ(n, next[static_cast<std::size_t>(graph.nodes[n].rank)]++);
  }
  for (std::size_t r = 0; r < next.size(); ++r) EXPECT_EQ(next[r], graph.first_of_rank[r + 1]);

  MessageId sent = 0;
  for (NodeId n = 0; n < graph.size(); ++n) {
    const Node& node = graph.nodes[n];
    EXPECT_TRUE(node.active);
    if (node.out != kNone) {
      EXPECT_EQ(node.out, sent++) << "messages are numbered by their senders";
      EXPECT_EQ(graph.messages[node.out].send, n);
    }
    if (node.in != kNone) {
      EXPECT_EQ(graph.messages[node.in].recv, n);
    }
    for (const NodeId pred : graph.preds_of(n)) {
      EXPECT_EQ(graph.nodes[pred].rank, node.rank);
      EXPECT_LT(pred, n);
    }
  }
  EXPECT_EQ(sent, graph.messages.size());
}

TEST(Schedule, the_order_has_every_active_node_once_and_after_what_it_needs) {
  const Program p = ring(5, 2);
  const Graph graph = placed(p);
  std::vector<int> when(graph.size(), -1);
  for (std::size_t i = 0; i < graph.order.size(); ++i) {
    EXPECT_EQ(when[graph.order[i]], -1);
    when[graph.order[i]] = static_cast<int>(i);
  }
  for (NodeId n = 0; n < graph.size(); ++n) {
    if (!graph.nodes[n].active) continue;
    ASSERT_GE(when[n], 0);
    for (const NodeId p2 : graph.preds_of(n)) {
      if (graph.resolve(p2) != n) {
        EXPECT_LT(when[graph.resolve(p2)], when[n]);
      }
    }
    if (graph.nodes[n].in != kNone) {
      EXPECT_LT(when[graph.messages[graph.nodes[n].in].send], when[n]);
    }
  }
}

TEST(RunsToEnd, says_no_to_a_cycle_of_waits) {
  Program p = program(2, 2);
  p.chunk(0, Buffer::input, 0).copy(1, Buffer::output, 0);
  p.chunk(1, Buffer::input, 0).copy(0, Buffer::output, 0);
  Graph graph = placed(p);
  ASSERT_TRUE(runs_to_end(graph, {}));
  // Each rank receives before it sends.
  ASSERT_EQ(graph.blocks.size(), 2u);
  std::swap(graph.block_nodes[0], graph.block_nodes[1]);
  std::swap(graph.block_nodes[2], graph.block_nodes[3]);
  EXPECT_FALSE(runs_to_end(graph, {}));
}

}  // namespace
}  // namespace hocket::passes
