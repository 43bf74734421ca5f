// stats(): counts, and the critical path against a slow obvious evaluation.
#include <gtest/gtest.h>

#include <map>
#include <tuple>

#include "hocket/format.h"
#include "support/corpus.h"
#include "support/random_algorithm.h"

namespace hocket {
namespace {

std::int64_t path(const std::string& ranks, int n = 2) {
  const Algorithm a = from_text("algorithm \"a\"\ncollective allreduce ranks=" + std::to_string(n) +
                                " factor=4\n" + ranks);
  return stats(a).critical_path;
}

TEST(Stats, Counts) {
  const Algorithm a = from_text(R"(algorithm "a"
collective allreduce ranks=2 factor=2
rank 0 in=2 out=2 scratch=1
  tb 0 send=1 recv=1 chan=2
    s    i[1] -> s[0]
    r    i[0] -> s[0] signals
    s    o[0] after=1:1
  tb 1
    nop  after=2:0
    re   s[0] -> o[0] after=0:1 signals
  tb 2
    cpy  i[0] -> o[0] signals
rank 1 in=2 out=2 scratch=3
  tb 0 send=0 recv=0 chan=2
    s    i[0] -> s[0]
    r    i[1] -> s[0]
    r    o[0]
)");
  const AlgorithmStats s = stats(a);
  EXPECT_EQ(s.ranks, 2);
  EXPECT_EQ(s.threadblocks, 4);
  EXPECT_EQ(s.max_threadblocks_of_rank, 3);
  EXPECT_EQ(s.channels, 3);
  EXPECT_EQ(s.steps, 9);
  EXPECT_EQ(s.max_steps_of_threadblock, 3);
  EXPECT_EQ(s.nops, 1);
  EXPECT_EQ(s.dependences, 3);
  EXPECT_EQ(s.max_scratch_chunks, 3);
  EXPECT_EQ(s.steps_by_op[static_cast<std::size_t>(OpCode::send)], 3);
  EXPECT_EQ(s.steps_by_op[static_cast<std::size_t>(OpCode::recv)], 3);
  EXPECT_EQ(s.steps_by_op[static_cast<std::size_t>(OpCode::reduce)], 1);
  EXPECT_EQ(s.steps_by_op[static_cast<std::size_t>(OpCode::copy)], 1);
  // s (rank 1), r (rank 0), re, s, r (rank 1)
  EXPECT_EQ(s.critical_path, 5);
}

TEST(Stats, PathThroughOrderDependencesAndMessages) {
  EXPECT_EQ(path("rank 0\nrank 1\n"), 0);
  EXPECT_EQ(path("rank 0\ntb 0\ncpy i[0] -> o[0]\ncpy i[1] -> o[1]\nrank 1\n"), 2);
  // Side by side, then one after the other.
  EXPECT_EQ(path("rank 0\ntb 0\ncpy i[0] -> o[0]\ntb 1\ncpy i[1] -> o[1]\nrank 1\n"), 1);
  EXPECT_EQ(path("rank 0\ntb 0\ncpy i[0] -> o[0] after=1:0\ntb 1\ncpy i[1] -> o[1]\nrank 1\n"), 2);
  EXPECT_EQ(path("rank 0\ntb 0 send=1\ns i[0]\nrank 1\ntb 0 recv=0\nr i[0]\n"), 2);
  // A nop is a wait and no work.
  EXPECT_EQ(path("rank 0\ntb 0\nnop after=1:0\ncpy i[0] -> o[0] after=1:0\ntb 1\ncpy i[1] -> "
                 "o[1]\nrank 1\n"),
            2);
}

TEST(Stats, SlotsAreUnbounded) {
  std::string sends;
  std::string receives;
  for (int i = 0; i < 100; ++i) {
    sends += "s i[0]\n";
    receives += "r o[0]\n";
  }
  EXPECT_EQ(path("rank 0\ntb 0 send=1 recv=1\n" + sends + receives +
                 "rank 1\ntb 0 send=0 recv=0\n" + sends + receives),
            200);
}

TEST(Stats, ADeadlockHasNoPath) {
  // Both receive first.
  EXPECT_EQ(
      path("rank 0\ntb 0 send=1 recv=1\nr i[0]\ns i[0]\nrank 1\ntb 0 send=0 recv=0\nr i[0]\ns "
           "i[0]\n"),
      -1);
  // Two threadblocks that wait for each other.
  EXPECT_EQ(
      path("rank 0\ntb 0\ncpy i[0] -> o[0] after=1:0\ntb 1\ncpy i[0] -> o[0] after=0:0\nrank 1\n"),
      -1);
  // A message that nobody sends, steps that do not exist, a peer that does not exist.
  EXPECT_EQ(path("rank 0\ntb 0 recv=1\nr i[0]\nrank 1\n"), -1);
  EXPECT_EQ(path("rank 0\ntb 0\ncpy i[0] -> o[0] after=7:0\nrank 1\n"), -1);
  EXPECT_EQ(path("rank 0\ntb 0\ncpy i[0] -> o[0] after=0:9\nrank 1\n"), -1);
  EXPECT_EQ(path("rank 0\ntb 0\nr i[0]\nrank 1\n"), -1);
  EXPECT_EQ(path("rank 0\ntb 0\ns i[0]\nrank 1\n"), -1);
}

// The same by sweeping over all threadblocks until nothing moves.
std::int64_t slow_path(const Algorithm& a) {
  using Key = std::tuple<int, int, int>;
  std::map<Key, std::vector<std::int64_t>> sent;
  std::map<Key, std::size_t> taken;
  std::vector<std::int64_t> depth(a.steps.size(), -1);
  std::map<std::pair<std::size_t, std::size_t>, std::pair<std::uint32_t, std::int64_t>> at;
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t r = 0; r < a.ranks.size(); ++r) {
      const auto& blocks = a.ranks[r].threadblocks;
      for (std::size_t t = 0; t < blocks.size(); ++t) {
        auto& [next, last] = at[{r, t}];
        if (next == blocks[t].num_steps) continue;
        const std::uint32_t number = blocks[t].first_step + next;
        const Step& step = a.steps[number];
        const OpInfo& info = op_info(step.op);
        std::int64_t d = last;
        if (step.depend_tb >= 0) {
          const auto& other = blocks[static_cast<std::size_t>(step.depend_tb)];
          const std::int64_t w =
              depth[other.first_step + static_cast<std::uint32_t>(step.depend_step)];
          if (w < 0) continue;
          d = std::max(d, w);
        }
        const Key in{blocks[t].recv, static_cast<int>(r), blocks[t].channel};
        if (info.receives) {
          if (taken[in] == sent[in].size()) continue;
          d = std::max(d, sent[in][taken[in]++]);
        }
        d += step.op == OpCode::nop ? 0 : 1;
        depth[number] = last = d;
        if (info.sends) sent[{static_cast<int>(r), blocks[t].send, blocks[t].channel}].push_back(d);
        ++next;
        moved = true;
      }
    }
  }
  std::int64_t longest = 0;
  for (std::size_t r = 0; r < a.ranks.size(); ++r) {
    for (std::size_t t = 0; t < a.ranks[r].threadblocks.size(); ++t) {
      const auto& [next, last] = at[{r, t}];
      if (next != a.ranks[r].threadblocks[t].num_steps) return -1;
      longest = std::max(longest, last);
    }
  }
  return longest;
}

// One owner at each end of a connection; with several, who takes which message is a matter of
// timing.
bool has_single_owners(const Algorithm& a) {
  std::map<std::tuple<int, int, int, bool>, int> owners;
  for (std::size_t r = 0; r < a.ranks.size(); ++r) {
    const int rank = static_cast<int>(r);
    for (const ThreadBlock& tb : a.ranks[r].threadblocks) {
      if (tb.send >= 0 && ++owners[{rank, tb.send, tb.channel, true}] > 1) return false;
      if (tb.recv >= 0 && ++owners[{tb.recv, rank, tb.channel, false}] > 1) return false;
    }
  }
  return true;
}

TEST(Stats, PathEqualsTheSlowOne) {
  int complete = 0;
  int stuck = 0;
  for (std::uint64_t seed = 0; seed < 20000; ++seed) {
    const Algorithm a = test::random_algorithm(seed);
    if (!has_single_owners(a)) continue;
    const std::int64_t expected = slow_path(a);
    ASSERT_EQ(stats(a).critical_path, expected) << "seed " << seed << "\n" << to_text(a);
    (expected < 0 ? stuck : complete) += 1;
  }
  EXPECT_GT(complete, 500);
  EXPECT_GT(stuck, 500);
}

TEST(Stats, NonsenseIsSurvived) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    const Algorithm a = test::random_algorithm(seed, {.wild = true});
    stats(a);
    for (const Target target : all_targets()) check_limits(a, target);
  }
}

TEST(Stats, OfTheCorpus) {
  const auto files = test::corpus_files("algorithms");
  if (files.empty()) GTEST_SKIP() << "../shared/corpus is absent";
  std::map<std::string, std::tuple<std::int64_t, std::int64_t, std::int64_t>> found;
  for (const auto& file : files) {
    const Algorithm a = from_any(test::read_file(file), file.string());
    const AlgorithmStats s = stats(a);
    found[file.stem().string()] = {s.threadblocks, s.steps, s.critical_path};
    EXPECT_EQ(s.critical_path, slow_path(a)) << file;
  }
  EXPECT_EQ(found.at("alltoall-8n-0-9kb"), std::make_tuple(120, 120, 2));
  // A ring of 8: 14 hops of a send and a receive each.
  EXPECT_EQ(found.at("ring-allreduce-8n-astrasim"), std::make_tuple(8, 224, 28));
}

// 200,000 threadblocks in a chain of dependences, each named before the one it waits for.
TEST(Stats, ALongChainNeedsNoStack) {
  std::string text = "algorithm \"a\"\ncollective allreduce ranks=1 factor=1\nrank 0\n";
  constexpr int kLong = 200000;
  for (int t = 0; t < kLong; ++t) {
    text += "tb " + std::to_string(t) + "\ncpy i[0] -> o[0]";
    if (t + 1 < kLong) text += " after=" + std::to_string(t + 1) + ":0";
    text += "\n";
  }
  EXPECT_EQ(stats(from_text(text)).critical_path, kLong);
}

}  // namespace
}  // namespace hocket
