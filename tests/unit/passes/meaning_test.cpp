// The check that a pass has left the program alone: silent on what the passes make, and not on
// graphs that have been broken in one place.
#include "passes/meaning.h"

#include <gtest/gtest.h>

#include <functional>

#include "unit/passes/graphs.h"

namespace hocket::passes {
namespace {

Program ring_allreduce(int n, ProgramOptions options = {}) {
  Program p("ring", ring(n), allreduce(n, n, true), options);
  for (int k = 0; k < n; ++k) {
    Ref c = p.chunk(k, Buffer::input, k);
    for (int hop = 1; hop < n; ++hop) c = p.chunk((k + hop) % n, Buffer::input, k).reduce(c);
    for (int hop = n; hop < 2 * n - 1; ++hop) c = c.copy((k + hop) % n, Buffer::input, k);
  }
  return p;
}

TEST(Meaning, of_a_ring_survives_every_pass) {
  for (const int instances : {1, 3}) {
    const Program p = ring_allreduce(4, {.instances = instances});
    Graph graph = expand(p.trace(), {});
    const Meaning meaning(p.trace(), graph.parts);
    EXPECT_TRUE(meaning.implements_collective());
    EXPECT_EQ(meaning.check(graph), "");
    fuse(graph);
    EXPECT_EQ(meaning.check(graph), "");
    schedule(graph, {}, 32);
    EXPECT_EQ(meaning.check(graph), "");
    assign_threadblocks(graph, {});
    EXPECT_EQ(meaning.check(graph), "");
  }
}

TEST(Meaning, knows_a_program_that_does_not_implement_its_collective) {
  Program p("p", fully_connected(2), allgather(2, 1));
  p.chunk(0, Buffer::input, 0).copy(1, Buffer::output, 0);
  EXPECT_FALSE(Meaning(p.trace(), 1).implements_collective());
}

TEST(Meaning, of_batched_instances_lies_in_their_shares) {
  Program p("p", fully_connected(2), allreduce(2, 2, true),
            {.instances = 2, .replication = Replication::batched});
  for (int k = 0; k < 2; ++k) {
    p.chunk(1, Buffer::input, k).reduce(p.chunk(0, Buffer::input, k)).copy(0, Buffer::input, k);
  }
  Graph graph = expand(p.trace(), {});
  const Meaning meaning(p.trace(), graph.parts);
  EXPECT_TRUE(meaning.implements_collective());
  EXPECT_EQ(meaning.check(graph), "");
}

// Breaks a scheduled ring in one place and gives what the check says of it.
std::string broken(const std::function<void(Graph&)>& breaks) {
  const Program p = ring_allreduce(4);
  Graph graph = fused(p);
  schedule(graph, {}, 32);
  const Meaning meaning(p.trace(), graph.parts);
  EXPECT_EQ(meaning.check(graph), "");
  breaks(graph);
  return meaning.check(graph);
}

NodeId first_of(const Graph& graph, OpCode op) {
  for (NodeId n = 0; n < graph.size(); ++n) {
    if (graph.nodes[n].op == op) return n;
  }
  ADD_FAILURE() << "no " << op_info(op).name;
  return 0;
}

TEST(Meaning, knows_that_a_sum_which_is_only_sent_on_still_stands_before_the_next_write) {
  Program p = program(3, 1);
  p.chunk(1, Buffer::input, 0).copy(2, Buffer::output, 0);
  Ref sum = p.chunk(1, Buffer::input, 0).reduce(p.chunk(0, Buffer::input, 0));
  sum.copy(2, Buffer::input, 0);
  p.chunk(0, Buffer::input, 0).copy(1, Buffer::input, 0);
  Graph graph = fused(p);
  EXPECT_EQ(names(graph, 1), (std::vector<std::string>{"s", "rrs", "r"}));
  EXPECT_EQ(Meaning(p.trace(), graph.parts).check(graph), "");
}

TEST(Meaning, sees_a_value_put_in_the_wrong_place) {
  const std::string fault =
      broken([](Graph& g) { g.nodes[first_of(g, OpCode::recv)].dst_index ^= 1; });
  EXPECT_NE(fault, "");
}

TEST(Meaning, sees_a_reduce_that_became_a_copy) {
  const std::string fault = broken([](Graph& g) {
    g.nodes[first_of(g, OpCode::recv_reduce_copy_send)].op = OpCode::recv_copy_send;
  });
  EXPECT_NE(fault.find("does not end with what the program leaves there"), std::string::npos)
      << fault;
}

TEST(Meaning, sees_a_result_that_is_not_kept) {
  const std::string fault = broken([](Graph& g) {
    g.nodes[first_of(g, OpCode::recv_reduce_copy_send)].op = OpCode::recv_reduce_send;
  });
  EXPECT_NE(fault.find("does not end with what the program leaves there"), std::string::npos)
      << fault;
}

TEST(Meaning, sees_a_lost_dependence) {
  Program p = program(3, 1);
  p.chunk(0, Buffer::input, 0).copy(1, Buffer::output, 0).copy(2, Buffer::output, 0);
  Graph graph = expand(p.trace(), {});
  const Meaning meaning(p.trace(), graph.parts);
  ASSERT_EQ(graph.preds.size(), 1u) << "the second send depends on the first receive";
  graph.preds.clear();
  for (std::uint32_t& first : graph.first_pred) first = 0;
  EXPECT_EQ(meaning.check(graph),
            "instruction 2 reads rank 1 output[0] and does not depend on its writer, 1");
}

TEST(Meaning, sees_messages_that_overtake_each_other) {
  Program p = program(2, 2);
  p.chunk(0, Buffer::input, 0).copy(1, Buffer::output, 0);
  p.chunk(0, Buffer::input, 1).copy(1, Buffer::output, 1);
  Graph graph = placed(p);
  const Meaning meaning(p.trace(), graph.parts);
  EXPECT_EQ(meaning.check(graph), "");
  std::vector<NodeId> receives;
  for (NodeId n = 0; n < graph.size(); ++n) {
    if (graph.nodes[n].in != kNone) receives.push_back(n);
  }
  ASSERT_EQ(receives.size(), 2u);
  for (NodeId& n : graph.order) {
    n = n == receives[0] ? receives[1] : n == receives[1] ? receives[0] : n;
  }
  // Both sends first, so that each is there to be received.
  std::stable_sort(graph.order.begin(), graph.order.end(), [&](NodeId a, NodeId b) {
    return (graph.nodes[a].in == kNone) > (graph.nodes[b].in == kNone);
  });
  EXPECT_NE(meaning.check(graph).find("not the oldest of its connection"), std::string::npos);
}

TEST(Meaning, sees_a_receive_before_its_send) {
  Program p = program(2, 1);
  p.chunk(0, Buffer::input, 0).copy(1, Buffer::output, 0);
  Graph graph = placed(p);
  const Meaning meaning(p.trace(), graph.parts);
  std::swap(graph.order[0], graph.order[1]);
  EXPECT_NE(meaning.check(graph).find("before they are sent"), std::string::npos);
}

}  // namespace
}  // namespace hocket::passes
