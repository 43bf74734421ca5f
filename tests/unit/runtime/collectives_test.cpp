// Every collective at every size and rank count against its definition, element by element.
#include <gtest/gtest.h>

#include <numeric>

#include "hocket/runtime.h"
#include "unit/runtime/build_algorithm.h"
#include "unit/runtime/run_algorithm.h"

namespace hocket::test {
namespace {

constexpr std::int64_t kUntouched = -7;

struct Case {
  const char* name;
  std::function<Algorithm(int ranks)> make;
  bool in_place = false;
};

std::vector<Case> cases() {
  return {
      {"ring allreduce", [](int n) { return ring_allreduce(n, false, Protocol::simple); }},
      {"ring allreduce in place", [](int n) { return ring_allreduce(n, true, Protocol::ll); },
       true},
      {"three rings allreduce", [](int n) { return ring_allreduce(n, 3, false, Protocol::ll128); }},
      {"unfused ring allreduce in place", [](int n) { return unfused_ring_allreduce(n); }, true},
      {"ring allgather", [](int n) { return ring_allgather(n, false); }},
      {"ring allgather in place", [](int n) { return ring_allgather(n, true); }, true},
      {"ring reduce_scatter", [](int n) { return ring_reduce_scatter(n, false); }},
      {"ring reduce_scatter in place", [](int n) { return ring_reduce_scatter(n, true); }, true},
      {"alltoall", [](int n) { return direct_alltoall(n, 1); }},
      {"alltoall of 2", [](int n) { return direct_alltoall(n, 2); }},
      {"alltoall in place", [](int n) { return direct_alltoall(n, 2, true); }, true},
      {"broadcast", [](int n) { return chain_broadcast(n, 3, n / 2); }},
      {"broadcast in place", [](int n) { return chain_broadcast(n, 3, n - 1, true); }, true},
      {"reduce", [](int n) { return chain_reduce(n, 3, n / 2); }},
      {"gather", [](int n) { return direct_gather(n, n / 2, false); }},
      {"gather in place", [](int n) { return direct_gather(n, n - 1, true); }, true},
      {"scatter", [](int n) { return direct_scatter(n, n / 2, false); }},
      {"scatter in place", [](int n) { return direct_scatter(n, n - 1, true); }, true},
      {"all_to_next_forward", [](int n) { return all_to_next(n, 3, true); }},
      {"all_to_next_backward", [](int n) { return all_to_next(n, 3, false); }},
  };
}

std::int64_t wrapping_sum(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

void expect_right(LocalExecutor& executor, const RunOptions& options, std::uint64_t seed) {
  const Collective& c = executor.algorithm().collective;
  auto inputs = random_inputs<std::int64_t>(
      c, options.count, seed, [](auto& random) { return static_cast<std::int64_t>(random()); });
  const auto before = inputs;
  const auto expected =
      defined_result<std::int64_t>(c, options.count, inputs, wrapping_sum, kUntouched);
  const auto found = run<std::int64_t>(executor, inputs, options, kUntouched);
  for (std::size_t r = 0; r < found.size(); ++r) {
    if (options.in_place && c.kind() == CollectiveKind::reduce && static_cast<int>(r) != c.root()) {
      continue;
    }
    ASSERT_EQ(found[r], expected[r])
        << "rank " << r << ", count " << options.count << ", seed " << seed;
  }
  EXPECT_EQ(inputs, before) << "an out-of-place call wrote its input";
}

TEST(Collectives, AreTheirDefinitionAtEveryRankCountAndSize) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    for (int ranks = 1; ranks <= 5; ++ranks) {
      SCOPED_TRACE(ranks);
      LocalExecutor executor(c.make(ranks));
      for (const std::int64_t count : {0, 1, 2, 3, 4, 5, 7, 12, 60, 61, 64, 1000, 4099}) {
        RunOptions options{.type = DataType::int64, .count = count, .in_place = c.in_place};
        options.threads = 1 + static_cast<int>(count % 3);
        expect_right(executor, options, static_cast<std::uint64_t>(ranks) * 100 + 1);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(Collectives, DoNotDependOnTilesSlotsOrPieces) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    LocalExecutor executor(c.make(4));
    for (const std::int64_t count : {61, 240}) {
      for (const std::int64_t tile_bytes : {1, 8, 24, 80, 4096}) {
        for (const int chunks : {1, 2, 71}) {
          RunOptions options{.type = DataType::int64, .count = count, .in_place = c.in_place};
          options.tile_bytes = tile_bytes;
          options.chunks_per_transfer = chunks;
          options.slots = 2 + chunks % 3;
          options.threads = 2;
          expect_right(executor, options, 5);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST(Collectives, ThreeRunsFromOnePlanWithNewInputsAreAllRight) {
  LocalExecutor executor(ring_allreduce(4, 2, false, Protocol::simple));
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    expect_right(executor, {.type = DataType::int64, .count = 1000}, seed);
  }
}

TEST(Collectives, ASmallCallAfterALargeOneIsRight) {
  LocalExecutor executor(unfused_ring_allreduce(3));
  for (const std::int64_t count : {100000, 7, 0, 100001}) {
    expect_right(executor, {.type = DataType::int64, .count = count, .in_place = true}, 9);
  }
}

TEST(Collectives, AreRightOnAnyNumberOfThreads) {
  for (const int threads : {0, 1, 2, 4, 8}) {
    SCOPED_TRACE(threads);
    LocalExecutor executor(ring_allreduce(8, 4, false, Protocol::ll));
    RunOptions options{.type = DataType::int64, .count = 10007, .threads = threads};
    options.tile_bytes = 512;
    expect_right(executor, options, 3);
  }
}

TEST(Collectives, SixtyFourRanksRunOnTwoThreads) {
  LocalExecutor rings(ring_allreduce(64, 4, false, Protocol::simple));
  expect_right(rings, {.type = DataType::int64, .count = 64 * 4 * 9 + 5, .threads = 2}, 1);
}

TEST(Collectives, ThousandsOfThreadblocksRunOnTwoThreads) {
  LocalExecutor executor(direct_alltoall(64, 1));
  ASSERT_EQ(executor.algorithm().ranks[0].threadblocks.size(), 64u);
  expect_right(executor, {.type = DataType::int64, .count = 33, .threads = 2}, 1);
}

// The spec's first worked example, with its own letters: a = (1, 2) and b = (10, 20).
TEST(WorkedExamples, PairInPlace) {
  LocalExecutor executor(pair_allreduce_in_place());
  PerRank<float> in = {{1, 2}, {10, 20}};
  const auto out = run<float>(executor, in, {.count = 2, .in_place = true}, 0.0f);
  EXPECT_EQ(out, (PerRank<float>{{11, 22}, {11, 22}}));
}

TEST(WorkedExamples, PairOutOfPlaceWithDependencesAndANop) {
  LocalExecutor executor(pair_allreduce_out_of_place());
  PerRank<float> in = {{1, 2}, {10, 20}};
  const auto out = run<float>(executor, in, {.count = 2}, 0.0f);
  EXPECT_EQ(out, (PerRank<float>{{11, 22}, {11, 22}}));
}

TEST(WorkedExamples, DependencesHoldInEveryIteration) {
  LocalExecutor executor(pair_allreduce_out_of_place());
  for (const int threads : {1, 2, 4}) {
    RunOptions options{.type = DataType::int64, .count = 5001, .threads = threads};
    options.tile_bytes = 16;  // about 1250 iterations
    expect_right(executor, options, 4);
  }
}

TEST(Sizes, AnyAlignmentOfTheBuffersWorks) {
  LocalExecutor executor(pair_allreduce_out_of_place());
  for (std::size_t shift = 0; shift < sizeof(float); ++shift) {
    const int count = 101;
    std::vector<std::vector<std::byte>> memory(4, std::vector<std::byte>(count * 4 + shift));
    std::vector<float> in(count);
    std::iota(in.begin(), in.end(), 1.0f);
    std::vector<RankBuffers> buffers(2);
    for (std::size_t r = 0; r < 2; ++r) {
      buffers[r] = {memory[r].data() + shift, memory[2 + r].data() + shift};
      std::memcpy(buffers[r].input, in.data(), in.size() * sizeof(float));
    }
    executor.run(buffers, {.count = count});
    for (std::size_t r = 0; r < 2; ++r) {
      std::vector<float> out(count);
      std::memcpy(out.data(), buffers[r].output, out.size() * sizeof(float));
      for (std::size_t x = 0; x < out.size(); ++x) ASSERT_EQ(out[x], 2 * in[x]);
    }
  }
}

// Chunk 1 of 5 elements has 3, chunk 0 has 2: chunk 1 passes through the place of chunk 0.
TEST(Sizes, DataLosesNothingOnItsWayThroughAShorterPlace) {
  AlgorithmBuilder b(all_to_next_forward(3, 2));
  b.tb(0, {.send = 1}).s(I(0)).s(I(1));
  // Rank 1 gets chunk 1 into output 0, from there into its place, and only then chunk 0.
  b.scratch(1, 1);
  b.tb(1, {.send = 2, .recv = 0}).r(S(0)).r(O(0)).cpy(O(0), O(1)).cpy(S(0), O(0)).s(I(0)).s(I(1));
  b.tb(2, {.recv = 1}).r(O(0), {.count = 1}).r(O(1));
  LocalExecutor executor(b.build());
  PerRank<float> in = {{1, 2, 3, 4, 5}, {6, 7, 8, 9, 10}, {0, 0, 0, 0, 0}};
  for (const std::int64_t tile_bytes : {0, 4, 8}) {
    RunOptions options{.count = 5};
    options.tile_bytes = tile_bytes;
    const auto out = run<float>(executor, in, options, -1.0f);
    EXPECT_EQ(out[1], in[0]);
    EXPECT_EQ(out[2], in[1]);
    EXPECT_EQ(out[0], std::vector<float>(5, -1.0f));
  }
}

// In place, the element that a shorter place lacks has two names too.
TEST(Sizes, DataLosesNothingOnItsWayThroughAShorterPlaceInPlace) {
  const RunOptions options{.count = 5, .in_place = true};
  AlgorithmBuilder next(all_to_next_forward(2, 2, true));
  next.tb(0, {.send = 1}).s(I(0)).s(I(1));
  next.scratch(1, 1);
  next.tb(1, {.recv = 0}).r(S(0)).r(O(0)).cpy(I(0), I(1)).cpy(S(0), O(0));
  LocalExecutor same(next.build());
  PerRank<float> in = {{1, 2, 3, 4, 5}, {6, 7, 8, 9, 10}};
  EXPECT_EQ(run<float>(same, in, options, -1.0f)[1], in[0]);

  // Rank 1's input is the second half of its output. Its chunk 0 makes room for the other's
  // chunk 1.
  AlgorithmBuilder gather(allgather(2, 2, true));
  gather.tb(0, {.send = 1, .recv = 1}).s(I(0)).s(I(1)).r(O(2)).r(O(3));
  gather.scratch(1, 2);
  gather.tb(1, {.send = 0, .recv = 0})
      .cpy(I(0), S(0))
      .r(S(1))
      .r(I(0))
      .cpy(O(2), O(1))
      .cpy(S(1), O(0))
      .cpy(S(0), O(2))
      .s(I(0))
      .s(I(1));
  LocalExecutor inside(gather.build());
  const auto gathered = run<float>(inside, in, options, -1.0f);
  EXPECT_EQ(gathered[1], (std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
  EXPECT_EQ(gathered[0], gathered[1]);

  // The mirror image: rank 1's output is the second half of its input.
  AlgorithmBuilder reduced(reduce_scatter(2, 2, true));
  reduced.tb(0, {.send = 1, .recv = 1}).s(I(2)).s(I(3)).rrc(I(0), O(0)).rrc(I(1), O(1));
  reduced.scratch(1, 1);
  reduced.tb(1, {.send = 0, .recv = 0})
      .s(I(0))
      .s(I(1))
      .rrc(I(2), S(0))
      .rrc(I(3), O(0))
      .cpy(I(2), O(1))
      .cpy(S(0), O(0));
  LocalExecutor output_inside(reduced.build());
  PerRank<float> both = {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, {10, 20, 30, 40, 50, 60, 70, 80, 90, 99}};
  const auto sums = run<float>(output_inside, both, options, -1.0f);
  EXPECT_EQ(sums[0], (std::vector<float>{11, 22, 33, 44, 55}));
  EXPECT_EQ(sums[1], (std::vector<float>{66, 77, 88, 99, 109}));
}

// Swapped chunks of unequal length: the missing element reads as zero, the surplus one is dropped.
TEST(Sizes, AChunkInALongerPlaceEndsInZero) {
  CustomCollective swap("swap", 1, 2);
  swap.buffers(0, 2, 2)
      .holds(0, {BufferKind::input, 0}, {0, 0})
      .holds(0, {BufferKind::input, 1}, {0, 1})
      .requires_(0, {BufferKind::output, 0}, {{0, 1}})
      .requires_(0, {BufferKind::output, 1}, {{0, 0}});
  AlgorithmBuilder b(swap.build());
  b.tb(0).cpy(I(0), O(1)).cpy(I(1), O(0));
  LocalExecutor executor(b.build());
  PerRank<float> in = {{1, 2, 3, 4, 5}};  // (1 2) (3 4 5)
  EXPECT_EQ(run<float>(executor, in, {.count = 5}, -1.0f), (PerRank<float>{{3, 4, 1, 2, 0}}));
  SelfTestOptions options;
  options.run.count = 5;
  EXPECT_FALSE(self_test(executor, options).mismatch);
}

}  // namespace
}  // namespace hocket::test
