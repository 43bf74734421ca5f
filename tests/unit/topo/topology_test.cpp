// Topologies against tables written out by hand.
#include "hocket/topology.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "unit/lang/rejection.h"

namespace hocket {
namespace {

using Table = std::vector<std::vector<double>>;

// links[dst][src], as from_table() takes it.
Table table_of(const Topology& t) {
  const auto n = static_cast<std::size_t>(t.num_ranks());
  Table table(n, std::vector<double>(n));
  for (int dst = 0; dst < t.num_ranks(); ++dst) {
    for (int src = 0; src < t.num_ranks(); ++src) {
      const double bandwidth = t.link(src, dst).bandwidth;
      table[static_cast<std::size_t>(dst)][static_cast<std::size_t>(src)] = bandwidth;
      EXPECT_EQ(t.has_link(src, dst), bandwidth > 0);
    }
  }
  return table;
}

Table transposed(const Table& table) {
  Table result(table.size(), std::vector<double>(table.size()));
  for (std::size_t i = 0; i < table.size(); ++i) {
    for (std::size_t j = 0; j < table.size(); ++j) result[j][i] = table[i][j];
  }
  return result;
}

struct Row {
  Topology topology;
  std::string name;
  Table links;
};

TEST(Topology, builders_have_the_published_names_and_links) {
  const std::vector<Row> rows = {
      {fully_connected(3), "FullyConnected(n=3)", {{0, 1, 1}, {1, 0, 1}, {1, 1, 0}}},
      {fully_connected(1), "FullyConnected(n=1)", {{0}}},
      {hub_and_spoke(3), "HubAndSpoke(n=3)", {{0, 1, 1}, {1, 0, 1}, {1, 1, 0}}},
      {ring(4), "Ring(n=4)", {{0, 1, 0, 1}, {1, 0, 1, 0}, {0, 1, 0, 1}, {1, 0, 1, 0}}},
      {ring(2), "Ring(n=2)", {{0, 1}, {1, 0}}},
      {ring(1), "Ring(n=1)", {{1}}},
      {line(4), "Line(n=4)", {{0, 1, 0, 0}, {1, 0, 1, 0}, {0, 1, 0, 1}, {0, 0, 1, 0}}},
      {line(1), "Line(n=1)", {{0}}},
      {star(4), "Star(n=4)", {{0, 1, 1, 1}, {1, 0, 0, 0}, {1, 0, 0, 0}, {1, 0, 0, 0}}},
      {dgx1(),
       "DGX1",
       {{0, 2, 1, 1, 2, 0, 0, 0},
        {2, 0, 1, 2, 0, 1, 0, 0},
        {1, 1, 0, 2, 0, 0, 2, 0},
        {1, 2, 2, 0, 0, 0, 0, 1},
        {2, 0, 0, 0, 0, 2, 1, 1},
        {0, 1, 0, 0, 2, 0, 1, 2},
        {0, 0, 2, 0, 1, 1, 0, 2},
        {0, 0, 0, 1, 1, 2, 2, 0}}},
      {amd4(), "AMD4", {{0, 1, 1, 0}, {1, 0, 0, 1}, {1, 0, 0, 1}, {0, 1, 1, 0}}},
      {amd8(),
       "AMD8",
       {{0, 5, 6, 6, 5, 6, 5, 5},
        {5, 0, 5, 5, 6, 5, 6, 6},
        {6, 5, 0, 6, 5, 6, 5, 5},
        {6, 5, 6, 0, 5, 6, 5, 5},
        {5, 6, 5, 5, 0, 5, 6, 6},
        {6, 5, 6, 6, 5, 0, 5, 5},
        {5, 6, 5, 5, 6, 5, 0, 6},
        {5, 6, 5, 5, 6, 5, 6, 0}}},
      {distributed_fully_connected(line(3), 2, 0.5),
       "DistributedFullyConnected(local=Line(n=3),copies=2,bw=0.5)",
       {{0, 1, 0, .5, .5, .5},
        {1, 0, 1, .5, .5, .5},
        {0, 1, 0, .5, .5, .5},
        {.5, .5, .5, 0, 1, 0},
        {.5, .5, .5, 1, 0, 1},
        {.5, .5, .5, 0, 1, 0}}},
      {distributed_hub_and_spoke(ring(1), 2, 3),
       "DistributedHubAndSpoke(local=Ring(n=1),copies=2,bw=3)",
       {{1, 3}, {3, 1}}},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(row.topology.name(), row.name);
    EXPECT_EQ(table_of(row.topology), row.links) << row.name;
  }
  Table a100(8, std::vector<double>(8, 12));
  for (std::size_t i = 0; i < 8; ++i) a100[i][i] = 0;
  EXPECT_EQ(table_of(dgx_a100()), a100);
  EXPECT_EQ(dgx_a100().name(), "DGX_A100");
}

TEST(Topology, builders_have_the_published_switches) {
  EXPECT_EQ(hub_and_spoke(3).switches(), (std::vector<Switch>{
                                             {{0}, {1, 2}, 1, "node_0_out"},
                                             {{1, 2}, {0}, 1, "node_0_in"},
                                             {{1}, {0, 2}, 1, "node_1_out"},
                                             {{0, 2}, {1}, 1, "node_1_in"},
                                             {{2}, {0, 1}, 1, "node_2_out"},
                                             {{0, 1}, {2}, 1, "node_2_in"},
                                         }));
  EXPECT_TRUE(star(3).switches().empty());
  EXPECT_EQ(star(3, /*non_blocking=*/false).switches(),
            (std::vector<Switch>{{{0}, {1, 2}, 1, "to_points"}, {{1, 2}, {0}, 1, "from_points"}}));
  EXPECT_EQ(distributed_fully_connected(star(2, false), 2, 1).switches(),
            (std::vector<Switch>{{{0}, {1}, 1, "copy_0_to_points_local"},
                                 {{1}, {0}, 1, "copy_0_from_points_local"},
                                 {{2}, {3}, 1, "copy_1_to_points_local"},
                                 {{3}, {2}, 1, "copy_1_from_points_local"}}));
  EXPECT_EQ(distributed_hub_and_spoke(line(2), 2, 7).switches(),
            (std::vector<Switch>{{{0, 1}, {2, 3}, 7, "copy_0_out_remote"},
                                 {{2, 3}, {0, 1}, 7, "copy_0_in_remote"},
                                 {{2, 3}, {0, 1}, 7, "copy_1_out_remote"},
                                 {{0, 1}, {2, 3}, 7, "copy_1_in_remote"}}));
}

TEST(Topology, reversed_turns_links_and_switches_round) {
  // One-way: 0 -> 1 -> 2.
  const Topology chain =
      Topology::from_table("chain", {{0, 0, 0}, {4, 0, 0}, {0, 5, 0}}, {{{0}, {1, 2}, 9, "up"}});
  const Topology back = chain.reversed();
  EXPECT_EQ(back.name(), "Reversechain");
  EXPECT_EQ(table_of(back), transposed(table_of(chain)));
  EXPECT_EQ(back.switches(), (std::vector<Switch>{{{1, 2}, {0}, 9, "up_reversed"}}));
  EXPECT_EQ(table_of(back.reversed()), table_of(chain));
}

TEST(Topology, binarized_keeps_only_which_links_there_are) {
  const Topology b = amd8().binarized();
  EXPECT_EQ(b.name(), "BinarizedAMD8");
  EXPECT_EQ(table_of(b), table_of(fully_connected(8)));
  EXPECT_TRUE(hub_and_spoke(4).binarized().switches().empty());
}

TEST(Topology, neighbours_ascend) {
  EXPECT_EQ(dgx1().destinations(0), (std::vector<int>{1, 2, 3, 4}));
  const Topology chain = Topology::from_table("chain", {{0, 0, 0}, {4, 0, 0}, {0, 5, 0}});
  EXPECT_EQ(chain.sources(1), std::vector<int>{0});
  EXPECT_EQ(chain.destinations(1), std::vector<int>{2});
  EXPECT_TRUE(chain.destinations(2).empty());
}

TEST(Topology, bandwidth_constraints_are_links_then_switches) {
  EXPECT_EQ(star(3, false).bandwidth_constraints(),
            (std::vector<Switch>{{{1}, {0}, 1, "1->0"},
                                 {{2}, {0}, 1, "2->0"},
                                 {{0}, {1}, 1, "0->1"},
                                 {{0}, {2}, 1, "0->2"},
                                 {{0}, {1, 2}, 1, "to_points"},
                                 {{1, 2}, {0}, 1, "from_points"}}));
}

TEST(Topology, links_are_set_one_by_one_over_a_rule) {
  Topology t = ring(4);
  const Topology before = t;
  t.set_link(0, 2, {5, 1.5}).set_link(0, 1, {0, 0}).rename("mine");
  EXPECT_EQ(t.name(), "mine");
  EXPECT_EQ(t.link(0, 2), (Link{5, 1.5}));
  EXPECT_FALSE(t.has_link(2, 0));
  EXPECT_FALSE(t.has_link(0, 1));
  EXPECT_TRUE(t.has_link(1, 0));
  // A copy does not see it.
  EXPECT_EQ(table_of(before), table_of(ring(4)));
  EXPECT_EQ(before.name(), "Ring(n=4)");
  // What was made of it does.
  EXPECT_EQ(t.reversed().link(2, 0), (Link{5, 1.5}));
  EXPECT_EQ(t.binarized().link(0, 2), (Link{1, 1.5}));
}

TEST(Topology, switches_are_added_to_those_of_a_builder) {
  Topology t = star(3, false);
  t.add_switch({{0, 1}, {2}, 2, "mine"});
  ASSERT_EQ(t.switches().size(), 3u);
  EXPECT_EQ(t.switches()[2].name, "mine");
  EXPECT_EQ(star(3, false).switches().size(), 2u);
}

TEST(Topology, ranks_that_are_not_there_have_no_links) {
  for (const Topology& t : {fully_connected(4), ring(4), dgx1(), dgx1().reversed()}) {
    EXPECT_FALSE(t.has_link(-1, 0));
    EXPECT_FALSE(t.has_link(0, -1));
    EXPECT_FALSE(t.has_link(0, t.num_ranks()));
    EXPECT_FALSE(t.has_link(t.num_ranks(), 0));
  }
}

TEST(Topology, regular_ones_of_any_size_are_cheap) {
  // A table would take 2^62 entries.
  const int n = 2'000'000'000;
  for (const Topology& t : {fully_connected(n), ring(n), line(n), star(n), hub_and_spoke(n),
                            distributed_fully_connected(dgx1(), n / 8, 1)}) {
    EXPECT_EQ(t.num_ranks(), n);
    EXPECT_TRUE(t.has_link(0, 1));
    EXPECT_TRUE(t.reversed().has_link(1, 0));
    EXPECT_TRUE(t.binarized().has_link(0, 1));
  }
}

TEST(Topology, threads_may_look_at_once) {
  const Topology t = hub_and_spoke(64);
  std::vector<std::size_t> seen(4);
  std::vector<std::thread> threads;
  for (std::size_t& count : seen)
    threads.emplace_back([&t, &count] { count = t.switches().size(); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(seen, std::vector<std::size_t>(4, 128));
}

constexpr const char* kMatrix =
    "\t\033[4mGPU0\tGPU1\tGPU2\tmlx5_0\tCPU Affinity\033[0m\n"
    "GPU0\t X \tNV2\tSYS\tPIX\t0-19,40-59\n"
    "GPU1\tNV2\t X \tNV12\tPIX\t0-19,40-59\n"
    "GPU2\tSYS\tNV12\t X \tSYS\t20-39,60-79\n"
    "mlx5_0\tPIX\tPIX\tSYS\t X \t\n"
    "\nLegend:\n\n  X    = Self\n  NV#  = Connection traversing a bonded set of # NVLinks\n";

TEST(NvlinkOnly, reads_what_nvidia_smi_prints) {
  const Topology t = nvlink_only(kMatrix);
  EXPECT_EQ(t.name(), "NVLinkOnly");
  EXPECT_EQ(table_of(t), (Table{{0, 2, 0}, {2, 0, 12}, {0, 12, 0}}));
  EXPECT_TRUE(t.switches().empty());
  EXPECT_EQ(table_of(nvlink_only("GPU0 GPU1\r\nGPU0 X NV4\r\nGPU1 NV4 X\r\n")),
            (Table{{0, 4}, {4, 0}}));
}

TEST(NvlinkOnly, refuses_other_text) {
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"", "topology text without a row that starts with GPU0"},
      {"no devices were found\n", "topology text without a row that starts with GPU0"},
      {"GPU0\t X \tNV2\nGPU2\tNV2\t X \n",
       "topology text: row 1 is of GPU2, but it should be of GPU1"},
      {"GPU0\t X \tNV2\nGPU1\tNV2\n", "topology text: row GPU1 has 1 cells, but there are 2 GPUs"},
      {"GPU0\tNV1\n", "topology text: row GPU0 has NV1 under itself, but that is X"},
      {"GPU0\tX\tNV\nGPU1\tNV1\tX\n",
       "topology text: row GPU0 has NV under GPU1, but NV is followed by a number of links"},
      {"GPU0\tX\tNV99999999999\nGPU1\tNV1\tX\n",
       "topology text: row GPU0 has NV99999999999 under GPU1, but NV is followed by a number of "
       "links"},
  };
  for (const auto& row : rows) {
    const Diagnostic d = expect_rejected(Code::BadTopology, row.second, [&](Guilty& guilty) {
      guilty.next_line();
      nvlink_only(row.first);
    });
    EXPECT_EQ(d.hint, "give the whole output of `nvidia-smi topo -m`");
  }
}

TEST(Topology, refuses_what_cannot_be) {
  expect_rejected(Code::BadTopology, "topology Ring of 0 ranks, but it needs at least 1",
                  [](Guilty& guilty) {
                    guilty.next_line();
                    ring(0);
                  });
  expect_rejected(Code::BadTopology, "topology t of -3 ranks, but it needs at least 1",
                  [](Guilty& guilty) {
                    guilty.next_line();
                    Topology("t", -3);
                  });
  expect_rejected(Code::BadTopology, "topology t of 0 ranks, but it needs at least 1",
                  [](Guilty& guilty) {
                    guilty.next_line();
                    Topology::from_table("t", {});
                  });
  expect_rejected(Code::BadTopology,
                  "topology t: row 1 of its links has 1 entries, but there are 2 rows",
                  [](Guilty& guilty) {
                    guilty.next_line();
                    Topology::from_table("t", {{0, 1}, {1}});
                  });
  expect_rejected(
      Code::BadTopology,
      "topology t: the link from rank 1 to rank 0 has bandwidth -2, but it must be 0 or "
      "more",
      [](Guilty& guilty) {
        guilty.next_line();
        Topology::from_table("t", {{0, -2}, {1, 0}});
      });
  expect_rejected(
      Code::BadTopology,
      "topology Ring(n=4): the link from rank 0 to rank 1 has bandwidth 1 and latency -1 "
      "us, but both must be 0 or more",
      [](Guilty& guilty) {
        Topology t = ring(4);
        guilty.next_line();
        t.set_link(0, 1, {1, -1});
      });
  expect_rejected(Code::BadTopology,
                  "a link from rank 0 to rank 4, but topology Ring(n=4) has 4 ranks (0 to 3)",
                  [](Guilty& guilty) {
                    Topology t = ring(4);
                    guilty.next_line();
                    t.set_link(0, 4, {1, 0});
                  });
  expect_rejected(Code::BadTopology, "0 copies of topology DGX1, but there must be at least 1",
                  [](Guilty& guilty) {
                    guilty.next_line();
                    distributed_fully_connected(dgx1(), 0, 1);
                  });
  expect_rejected(
      Code::BadTopology,
      "copies of topology DGX1 joined by links of bandwidth -1, but it must be 0 or more",
      [](Guilty& guilty) {
        guilty.next_line();
        distributed_fully_connected(dgx1(), 2, -1);
      });
}

// The texts of the published language, which programs may look for.
TEST(Topology, refuses_switches_without_bandwidth) {
  const std::string zero =
      "Switch sw has zero bandwidth, but switch bandwidths must be strictly positive. Please "
      "encode "
      "connectedness in links.";
  expect_rejected(Code::BadTopology, zero, [](Guilty& guilty) {
    guilty.next_line();
    Topology::from_table("t", {{0, 1}, {1, 0}}, {{{0}, {1}, 0, "sw"}});
  });
  expect_rejected(Code::BadTopology,
                  "Switch sw has a negative bandwidth of -1. Bandwidth must be strictly positive.",
                  [](Guilty& guilty) {
                    Topology t = ring(2);
                    guilty.next_line();
                    t.add_switch({{0}, {1}, -1, "sw"});
                  });
  expect_rejected(Code::BadTopology,
                  "switch sw joins rank 2, but topology Ring(n=2) has 2 ranks (0 to 1)",
                  [](Guilty& guilty) {
                    Topology t = ring(2);
                    guilty.next_line();
                    t.add_switch({{0}, {2}, 1, "sw"});
                  });
}

}  // namespace
}  // namespace hocket
