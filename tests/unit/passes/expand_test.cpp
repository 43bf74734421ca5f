// What the trace becomes: instances, sends and receives, dependences.
#include "passes/expand.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "unit/passes/graphs.h"

namespace hocket::passes {
namespace {

using Strings = std::vector<std::string>;

TEST(Expand, a_copy_between_ranks_is_a_send_and_a_receive) {
  Program p = program(2, 1);
  p.chunk(0, Buffer::input, 0).copy(1, Buffer::output, 0);
  const Graph graph = expand(p.trace(), {});
  EXPECT_EQ(names(graph, 0), Strings{"s"});
  EXPECT_EQ(names(graph, 1), Strings{"r"});
  ASSERT_EQ(graph.messages.size(), 1u);
  EXPECT_EQ(graph.messages[0].send, 0u);
  EXPECT_EQ(graph.messages[0].recv, 1u);
}

TEST(Expand, local_operations_stay_local_even_of_two_inputs) {
  Program p = program(1, 2);
  p.chunk(0, Buffer::input, 0).reduce(p.chunk(0, Buffer::input, 1));
  p.chunk(0, Buffer::input, 0).copy(0, Buffer::output, 0);
  const Graph graph = expand(p.trace(), {});
  EXPECT_EQ(names(graph, 0), (Strings{"re", "cpy"}));
  ASSERT_EQ(graph.preds_of(1).size(), 1u);
  EXPECT_EQ(graph.preds_of(1)[0], 0u);
}

TEST(Expand, a_write_follows_the_reads_since_the_last_write_and_a_read_the_last_write) {
  Program p = program(2, 3);
  p.chunk(0, Buffer::input, 0).copy(1, Buffer::output, 0);  // s 0, r 1
  p.chunk(0, Buffer::input, 0).copy(1, Buffer::output, 1);  // s 2, r 3
  p.chunk(1, Buffer::input, 0).copy(0, Buffer::input, 0);   // s 4, r 5: over both reads
  p.chunk(0, Buffer::input, 0).copy(0, Buffer::output, 0);  // cpy 6: reads what r 5 wrote
  const Graph graph = expand(p.trace(), {});
  const auto preds = [&](NodeId n) {
    return std::vector<NodeId>(graph.preds_of(n).begin(), graph.preds_of(n).end());
  };
  EXPECT_EQ(preds(5), (std::vector<NodeId>{0, 2}));
  EXPECT_EQ(preds(6), (std::vector<NodeId>{5}));
}

TEST(Expand, interleaved_instances_share_every_operation) {
  Program p = program(2, 4, {.instances = 2});
  p.chunk(0, Buffer::input, 1, 2).copy(1, Buffer::output, 0);
  const Graph graph = expand(p.trace(), {});
  EXPECT_EQ(graph.parts, 2);
  ASSERT_EQ(graph.nodes.size(), 4u);  // s r of instance 0, s r of instance 1
  EXPECT_EQ(graph.nodes[0].src_index, 2);
  EXPECT_EQ(graph.nodes[0].count, 2);
  EXPECT_EQ(graph.nodes[2].src_index, 4);
  EXPECT_EQ(graph.nodes[2].instance, 1u);
  EXPECT_EQ(graph.nodes[3].dst_index, 2);
}

TEST(Expand, operations_of_different_sizes_depend_across_instances) {
  Program p = program(2, 2, {.instances = 2});
  p.chunk(0, Buffer::input, 0, 2).copy(1, Buffer::output, 0);  // parts 0 1 | 2 3
  p.chunk(1, Buffer::output, 0).copy(0, Buffer::output, 0);    // part 0 | 1: both of instance 0's
  const Graph graph = expand(p.trace(), {});
  ASSERT_EQ(graph.nodes.size(), 8u);
  EXPECT_EQ(graph.nodes[6].instance, 1u);
  ASSERT_EQ(graph.preds_of(6).size(), 1u);
  EXPECT_EQ(graph.preds_of(6)[0], 1u);  // the receive of instance 0
}

TEST(Expand, a_fragment_runs_on_parts_and_the_rest_on_whole_chunks) {
  Program p = program(2, 1);
  {
    const auto fast = p.parallelize(3);
    p.chunk(0, Buffer::input, 0).copy(1, "s", 0);
  }
  p.chunk(1, "s", 0).copy(1, Buffer::output, 0);
  const Graph graph = expand(p.trace(), {});
  EXPECT_EQ(graph.parts, 3);
  EXPECT_EQ(names(graph, 0), (Strings{"s", "s", "s"}));
  EXPECT_EQ(names(graph, 1), (Strings{"r", "r", "r", "cpy"}));
  EXPECT_EQ(graph.nodes.back().count, 3);
  EXPECT_EQ(graph.preds_of(6).size(), 3u);
}

TEST(Expand, without_receive_reduce_a_reduce_goes_through_staging) {
  Program p = program(2, 1);
  p.chunk(1, Buffer::input, 0).reduce(p.chunk(0, Buffer::input, 0));
  Lowering lowering;
  lowering.receive_reduce = false;
  const Graph graph = expand(p.trace(), lowering);
  EXPECT_EQ(names(graph, 1), (Strings{"r", "re"}));
  EXPECT_EQ(graph.nodes[1].dst_buffer, graph.nodes[2].src_buffer);
  EXPECT_GE(graph.nodes[1].dst_buffer, kFirstScratch);
}

TEST(Expand, runs_longer_than_a_target_takes_are_cut) {
  Program p = program(2, 5);
  p.chunk(0, Buffer::input, 0, 5).copy(1, Buffer::output, 0);
  Lowering lowering;
  lowering.max_count = 2;
  const Graph graph = expand(p.trace(), lowering);
  std::vector<std::int32_t> counts;
  for (const Node& node : graph.nodes) {
    if (node.op == OpCode::send) counts.push_back(node.count);
  }
  EXPECT_EQ(counts, (std::vector<std::int32_t>{2, 2, 1}));
}

TEST(Expand, batched_replication_is_refused_where_it_would_misplace) {
  ProgramOptions batched;
  batched.instances = 2;
  batched.replication = Replication::batched;
  Program good("p", fully_connected(2), allreduce(2, 2), batched);
  EXPECT_NO_THROW(expand(good.trace(), {}));
  Program bad("p", fully_connected(2), allgather(2, 1), batched);
  try {
    expand(bad.trace(), {});
    FAIL() << "batched allgather was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::BatchedWrong);
    EXPECT_NE(error.diagnostic().message.find("batched replication of allgather"),
              std::string::npos)
        << error.diagnostic().message;
    EXPECT_EQ(error.diagnostic().hint, "use interleaved replication");
  }
}

}  // namespace
}  // namespace hocket::passes
