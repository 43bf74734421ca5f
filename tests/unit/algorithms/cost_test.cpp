// The costs that the algorithms' comments and docs/algorithms.md claim, counted in the traces: the
// longest chain of messages (what multiplies alpha) and the most chunks that one rank sends (what
// multiplies beta).
#include <gtest/gtest.h>

#include <map>
#include <tuple>

#include "ir/trace.h"
#include "unit/algorithms/cases.h"

namespace hocket {
namespace {

struct Counted {
  int hops = 0;
  int most_sent = 0;      // chunks by the busiest rank
  int most_crossing = 0;  // chunks of those that leave its node
};

Counted count(const Trace& trace, int gpus) {
  std::map<std::tuple<int, std::uint32_t, int>, int> hops;  // messages behind a slot's content
  std::map<int, int> sent;
  std::map<int, int> crossing;
  Counted counted;
  for (const TraceOp& op : trace.ops) {
    const bool message = op.src_rank != op.dst_rank;
    std::vector<int> arriving;
    for (int i = 0; i < op.count; ++i) {
      int behind = hops[{op.src_rank, op.src_buffer, op.src_index + i}] + (message ? 1 : 0);
      if (op.kind == TraceOp::Kind::reduce) {
        behind = std::max(behind, hops[{op.dst_rank, op.dst_buffer, op.dst_index + i}]);
      }
      arriving.push_back(behind);
    }
    for (int i = 0; i < op.count; ++i) {
      const int behind = arriving[static_cast<std::size_t>(i)];
      hops[{op.dst_rank, op.dst_buffer, op.dst_index + i}] = behind;
      counted.hops = std::max(counted.hops, behind);
    }
    if (!message) continue;
    sent[op.src_rank] += op.count;
    counted.most_sent = std::max(counted.most_sent, sent[op.src_rank]);
    if (op.src_rank / gpus == op.dst_rank / gpus) continue;
    crossing[op.src_rank] += op.count;
    counted.most_crossing = std::max(counted.most_crossing, crossing[op.src_rank]);
  }
  return counted;
}

struct Claim {
  Case program;
  int hops;
  int most_sent;  // chunks
};

class Cost : public testing::TestWithParam<Claim> {};

TEST_P(Cost, IsAsClaimed) {
  const Claim& claim = GetParam();
  const Counted counted = count(claim.program.make().trace(), 1);
  EXPECT_EQ(counted.hops, claim.hops) << claim.program.str();
  EXPECT_EQ(counted.most_sent, claim.most_sent) << claim.program.str();
}

const Parameters k8 = {{"ranks", "8"}};
const Parameters k7 = {{"ranks", "7"}};
const Parameters k2x4 = {{"nodes", "2"}, {"gpus", "4"}};

INSTANTIATE_TEST_SUITE_P(
    Table, Cost,
    testing::Values(
        // S is 8 chunks: 2 (n-1)/n S = 14.
        Claim{{"allreduce_ring", k8}, 14, 14}, Claim{{"allreduce_allpairs", k8}, 2, 14},
        Claim{{"allreduce_recursive_halving_doubling", k8}, 6, 14},
        // S is 4 chunks: 2 * 3/4 S, and a whole S back to the guest.
        Claim{{"allreduce_recursive_halving_doubling", k7}, 6, 10},
        // S is 1 chunk.
        Claim{{"allreduce_one_shot", k8}, 1, 7}, Claim{{"allreduce_recursive_doubling", k8}, 3, 3},
        Claim{{"allreduce_recursive_doubling", k7}, 4, 3},
        Claim{{"allreduce_binomial_tree", k8}, 6, 3},
        // S is 2 chunks, 2 S for every rank.
        Claim{{"allreduce_double_binary_tree", k8}, 6, 4},
        // S is 8 chunks: 2 * 3/4 S inside, 2 * 1/(2*4) S outside.
        Claim{{"allreduce_hierarchical", k2x4}, 8, 14},
        // (n-1)/n S, S of 8 chunks.
        Claim{{"allgather_ring", k8}, 7, 7}, Claim{{"allgather_allpairs", k8}, 1, 7},
        Claim{{"allgather_recursive_doubling", k8}, 3, 7},
        // S is 7 chunks. Rank 0 sends 1 and 2 of the core, as many of guests, 6 to its own guest.
        Claim{{"allgather_recursive_doubling", k7}, 4, 12},
        Claim{{"reduce_scatter_ring", k8}, 7, 7}, Claim{{"reduce_scatter_direct", k8}, 1, 7},
        Claim{{"alltoall_allpairs", k8}, 1, 7},
        // log2(8) messages of half of S; of the distances below 6, none has more than two digits,
        // and three, two and two have each.
        Claim{{"alltoall_bruck", k8}, 3, 12}, Claim{{"alltoall_bruck", {{"ranks", "6"}}}, 2, 7},
        // Inside: 3 own, 3 for the other node; outside: 4.
        Claim{{"alltoall_two_step", k2x4}, 2, 10}, Claim{{"alltoall_three_step", k2x4}, 3, 31},
        Claim{{"broadcast_binomial", k8}, 3, 3}, Claim{{"reduce_binomial", k8}, 3, 1},
        Claim{{"gather_binomial", k8}, 3, 4}, Claim{{"scatter_binomial", k8}, 3, 7},
        Claim{{"all_to_next_forward_naive", k8}, 1, 1},
        Claim{{"all_to_next_backward_naive", k8}, 1, 1}));

// What node-aware means: the chunks that cross to another node, by the busiest network card.
TEST(Cost, NodeAwareSpreadsTheCrossing) {
  const auto crossing = [](const Case& program) {
    return count(program.make().trace(), 8).most_crossing;
  };
  const Parameters nodes = {{"nodes", "4"}, {"gpus", "8"}};
  const Parameters flat = {{"ranks", "32"}, {"chunk_factor", "8"}};  // the same 8 chunks a rank
  for (const std::string way : {"forward", "backward"}) {
    EXPECT_EQ(crossing({"all_to_next_" + way + "_naive", flat}), 8);
    EXPECT_EQ(crossing({"all_to_next_" + way + "_node_aware", nodes}), 1);
    EXPECT_EQ(count(Case{"all_to_next_" + way + "_node_aware", nodes}.make().trace(), 8).hops, 3);
  }
  // S of 32 chunks: a ring over all ranks sends 2 * 31 from each node's end, the rings between
  // nodes 2 * 3/(4*8) S each.
  EXPECT_EQ(crossing({"allreduce_ring", {{"ranks", "32"}}}), 62);
  EXPECT_EQ(crossing({"allreduce_hierarchical", nodes}), 6);
}

}  // namespace
}  // namespace hocket
