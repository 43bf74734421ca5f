// The library as a table: what it lists, what it refuses, and in what words.
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "ir/trace.h"
#include "unit/algorithms/cases.h"

namespace hocket {
namespace {

// The complaint of make_algorithm(name, parameters), whose code must be `code`.
std::string complaint(Code code, const std::string& name, const Parameters& parameters) {
  try {
    (void)make_algorithm(name, parameters);
  } catch (const Error& error) {
    EXPECT_EQ(code_text(error.code()), code_text(code)) << error.what();
    EXPECT_NE(error.diagnostic().where.file.find("registry_test.cpp"), std::string::npos)
        << "the caller's line: " << error.what();
    const Diagnostic& d = error.diagnostic();
    return d.hint.empty() ? d.message : d.message + " | " + d.hint;
  }
  return "no error";
}

TEST(Library, HasTheAlgorithmsThatItPromises) {
  std::set<std::string> names;
  for (const AlgorithmInfo& info : algorithm_library()) names.insert(info.name);
  for (const char* name : {"allreduce_ring",
                           "allreduce_allpairs",
                           "allreduce_one_shot",
                           "allreduce_recursive_doubling",
                           "allreduce_recursive_halving_doubling",
                           "allreduce_binomial_tree",
                           "allreduce_double_binary_tree",
                           "allreduce_hierarchical",
                           "allgather_ring",
                           "allgather_allpairs",
                           "allgather_recursive_doubling",
                           "reduce_scatter_ring",
                           "reduce_scatter_direct",
                           "alltoall_allpairs",
                           "alltoall_bruck",
                           "alltoall_two_step",
                           "alltoall_three_step",
                           "broadcast_binomial",
                           "reduce_binomial",
                           "gather_binomial",
                           "scatter_binomial",
                           "all_to_next_forward_naive",
                           "all_to_next_backward_naive",
                           "all_to_next_forward_node_aware",
                           "all_to_next_backward_node_aware"}) {
    EXPECT_EQ(names.count(name), 1U) << name;
  }
}

TEST(Library, IsSortedAndDescribesEverything) {
  const std::vector<AlgorithmInfo>& library = algorithm_library();
  for (std::size_t i = 0; i < library.size(); ++i) {
    const AlgorithmInfo& info = library[i];
    if (i > 0) {
      EXPECT_LT(library[i - 1].name, info.name);
    }
    EXPECT_FALSE(info.about.empty()) << info.name;
    EXPECT_FALSE(info.ranks_rule.empty()) << info.name;
    EXPECT_TRUE(collective_kind_from_name(info.collective)) << info.collective;
    std::set<std::string> parameters;
    for (const ParameterInfo& p : info.parameters) {
      EXPECT_FALSE(p.about.empty()) << info.name << " " << p.name;
      EXPECT_FALSE(p.default_value.empty()) << info.name << " " << p.name;
      EXPECT_TRUE(parameters.insert(p.name).second) << info.name << " has " << p.name << " twice";
    }
    EXPECT_TRUE(parameters.count("instances") && parameters.count("protocol")) << info.name;
  }
}

TEST(Library, HasARowInTheDocumentForEachAlgorithm) {
  std::ifstream document(HOCKET_SOURCE_DIR "/docs/algorithms.md");
  ASSERT_TRUE(document) << "docs/algorithms.md cannot be read";
  std::set<std::string> rows;
  std::set<std::string> collectives;
  for (const AlgorithmInfo& info : algorithm_library()) collectives.insert(info.collective);
  for (std::string line; std::getline(document, line);) {
    if (line.rfind("| `", 0) != 0) continue;
    const std::string name = line.substr(3, line.find('`', 3) - 3);
    // Rows of parameters have other names.
    const bool algorithm = std::any_of(
        collectives.begin(), collectives.end(),
        [&](const std::string& collective) { return name.rfind(collective + "_", 0) == 0; });
    if (algorithm) {
      EXPECT_TRUE(rows.insert(name).second) << name << " twice";
    }
  }
  std::set<std::string> names;
  for (const AlgorithmInfo& info : algorithm_library()) names.insert(info.name);
  EXPECT_EQ(rows, names);
}

TEST(Library, PassesTheOptionsOn) {
  const Program p = make_algorithm("allreduce_ring", {{"ranks", "4"},
                                                      {"instances", "3"},
                                                      {"protocol", "LL128"},
                                                      {"replication", "batched"},
                                                      {"fuse", "false"},
                                                      {"in_place", "true"}});
  EXPECT_EQ(p.num_ranks(), 4);
  EXPECT_TRUE(p.collective().in_place());
  const Trace& trace = p.trace();
  EXPECT_EQ(trace.instances, 3);
  EXPECT_EQ(trace.protocol, Protocol::ll128);
  EXPECT_EQ(trace.replication, Replication::batched);
  EXPECT_FALSE(trace.fuse);
}

TEST(Library, SpreadsChunksOverChannels) {
  const auto channels = [](const char* number) {
    std::set<int> used;
    const Program p = make_algorithm("allreduce_ring", {{"ranks", "4"}, {"channels", number}});
    for (const TraceOp& op : p.trace().ops) {
      if (op.src_rank != op.dst_rank) used.insert(op.channel);
    }
    return used;
  };
  EXPECT_EQ(channels("1"), std::set<int>({0}));
  EXPECT_EQ(channels("3"), std::set<int>({0, 1, 2}));
  EXPECT_EQ(channels("0"), std::set<int>({-1})) << "the compiler's choice";
}

TEST(Library, SuggestsTheNearestName) {
  EXPECT_EQ(complaint(Code::UnknownAlgorithm, "allreduce_rign", {}),
            "no algorithm named \"allreduce_rign\" in the library | did you mean allreduce_ring?");
  EXPECT_EQ(complaint(Code::UnknownAlgorithm, "xyzzy", {}),
            "no algorithm named \"xyzzy\" in the library | `hocket list` names them all");
  EXPECT_EQ(complaint(Code::UnknownAlgorithm, "", {}),
            "no algorithm named \"\" in the library | `hocket list` names them all");
}

TEST(Library, RefusesParametersThatItDoesNotTake) {
  EXPECT_EQ(complaint(Code::BadParameter, "allreduce_one_shot", {{"rank", "8"}}),
            "allreduce_one_shot: no parameter \"rank\"; it takes ranks, chunk_factor, in_place, "
            "instances, protocol, replication, fuse | did you mean ranks?");
  EXPECT_EQ(complaint(Code::BadParameter, "allreduce_one_shot", {{"root", "0"}}),
            "allreduce_one_shot: no parameter \"root\"; it takes ranks, chunk_factor, in_place, "
            "instances, protocol, replication, fuse");
}

struct Refusal {
  const char* algorithm;
  const char* parameter;
  const char* value;
  const char* message;
};

class Refused : public testing::TestWithParam<Refusal> {};

TEST_P(Refused, SaysWhatIsWrong) {
  const Refusal& r = GetParam();
  const std::string text = complaint(Code::BadParameter, r.algorithm, {{r.parameter, r.value}});
  EXPECT_EQ(text.substr(0, text.find(" | ")), r.message);
}

INSTANTIATE_TEST_SUITE_P(
    Values, Refused,
    testing::Values(
        Refusal{"allreduce_ring", "ranks", "0",
                "allreduce_ring: ranks=0 is too small, at least 1 is needed"},
        Refusal{"allreduce_ring", "ranks", "-3",
                "allreduce_ring: ranks=-3 is too small, at least 1 is needed"},
        Refusal{"allreduce_ring", "ranks", "eight",
                "allreduce_ring: ranks=eight is not a whole number"},
        Refusal{"allreduce_ring", "ranks", "", "allreduce_ring: ranks= is not a whole number"},
        Refusal{"allreduce_ring", "ranks", "8.0",
                "allreduce_ring: ranks=8.0 is not a whole number"},
        Refusal{"allreduce_ring", "ranks", " 8", "allreduce_ring: ranks= 8 is not a whole number"},
        Refusal{"allreduce_ring", "ranks", "99999999999999999999",
                "allreduce_ring: ranks=99999999999999999999 is too large, at most 1048576 is "
                "possible"},
        Refusal{"allreduce_ring", "channels", "33",
                "allreduce_ring: channels=33 is too large, at most 32 is possible"},
        Refusal{"allreduce_ring", "in_place", "maybe",
                "allreduce_ring: in_place=maybe is neither true nor false"},
        Refusal{"allreduce_ring", "protocol", "LL129",
                "allreduce_ring: protocol=LL129 is unknown; it is Simple, LL or LL128"},
        Refusal{"allreduce_ring", "replication", "both",
                "allreduce_ring: replication=both is unknown; it is interleaved or batched"},
        Refusal{"allreduce_ring", "instances", "0",
                "allreduce_ring: instances=0 is too small, at least 1 is needed"},
        Refusal{"broadcast_binomial", "root", "8",
                "broadcast_binomial: root=8 is not one of the 8 ranks, 0 to 7"},
        Refusal{"broadcast_binomial", "root", "-1",
                "broadcast_binomial: root=-1 is too small, at least 0 is needed"},
        Refusal{"alltoall_two_step", "nodes", "0",
                "alltoall_two_step: nodes=0 is too small, at least 1 is needed"},
        // Sizes that would fill the memory are refused before anything is traced.
        Refusal{"allreduce_ring", "ranks", "1048576",
                "allreduce_ring: that would be 3.3e+12 copies and reductions, more than the 5e+07 "
                "that are traced"},
        Refusal{"allgather_recursive_doubling", "chunk_factor", "2147483647",
                "allgather_recursive_doubling: that would be 1.55e+11 chunks in all buffers, more "
                "than the 5e+08 that are kept"}));

// Nothing that is asked for may take the machine down: the largest of everything is refused at
// once.
TEST(Library, RefusesTheLargestOfEverything) {
  for (const AlgorithmInfo& info : algorithm_library()) {
    for (const char* parameter : {"ranks", "nodes", "gpus", "chunk_factor"}) {
      if (!takes(info, parameter)) continue;
      const std::string text =
          complaint(Code::BadParameter, info.name, {{parameter, "2147483647"}});
      EXPECT_NE(text, "no error") << info.name << " " << parameter;
    }
  }
}

}  // namespace
}  // namespace hocket
