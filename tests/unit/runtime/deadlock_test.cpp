// Deadlocks are reported with who waits for whom, and never hang.
#include <gtest/gtest.h>

#include "hocket/runtime.h"
#include "unit/runtime/build_algorithm.h"
#include "unit/runtime/run_algorithm.h"

namespace hocket::test {
namespace {

// The diagnostic of a self test that must deadlock; checks that any number of threads says the
// same.
Diagnostic deadlock_of(const Algorithm& algorithm, RunOptions options = {.count = 60}) {
  std::optional<Diagnostic> first;
  options.in_place = algorithm.in_place;
  for (const int threads : {1, 2, 4}) {
    LocalExecutor executor(algorithm);
    options.threads = threads;
    try {
      self_test(executor, {.run = options});
      ADD_FAILURE() << "ran to its end on " << threads << " threads";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::Deadlock);
      if (first) {
        EXPECT_EQ(render(*first), error.what()) << "on " << threads << " threads";
      }
      first = error.diagnostic();
    }
  }
  return first.value_or(Diagnostic{});
}

bool runs(const Algorithm& algorithm, RunOptions options) {
  LocalExecutor executor(algorithm);
  options.in_place = algorithm.in_place;
  try {
    const SelfTestResult result = self_test(executor, {.run = options});
    EXPECT_FALSE(result.mismatch);
    return true;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::Deadlock) << error.what();
    return false;
  }
}

// Both ranks send everything before they receive anything.
Algorithm both_send_first(int chunks, Protocol protocol) {
  AlgorithmBuilder b(alltoall(2, chunks), protocol);
  for (int rank : {0, 1}) {
    const int other = 1 - rank;
    b.tb(rank).cpy(I(rank * chunks), O(rank * chunks), {.count = chunks});
    TbBuilder& tb = b.tb(rank, {.send = other, .recv = other});
    for (int k = 0; k < chunks; ++k) tb.s(I(other * chunks + k));
    for (int k = 0; k < chunks; ++k) tb.r(O(other * chunks + k));
  }
  return b.build();
}

TEST(Deadlock, BothSidesSendMoreThanTheSlotsHold) {
  EXPECT_TRUE(runs(both_send_first(2, Protocol::simple), {.count = 60}));
  EXPECT_TRUE(runs(both_send_first(8, Protocol::ll), {.count = 60}));
  EXPECT_TRUE(runs(both_send_first(8, Protocol::ll128), {.count = 60}));
  EXPECT_FALSE(runs(both_send_first(9, Protocol::ll), {.count = 60}));

  const Diagnostic d = deadlock_of(both_send_first(3, Protocol::simple));
  EXPECT_EQ(d.message,
            "deadlock: 2 of 4 threadblocks cannot go on, in a cycle: rank 0 threadblock 1 -> "
            "rank 1 threadblock 1 -> rank 0 threadblock 1");
  ASSERT_EQ(d.notes.size(), 2u);
  EXPECT_EQ(d.notes[0].message,
            "rank 0 threadblock 1 step 2 (s) waits for a free slot on connection 0 -> 1 on channel "
            "0, whose 2 are full; rank 1 threadblock 1 is at step 2 (s)");
  EXPECT_EQ(d.notes[1].message,
            "rank 1 threadblock 1 step 2 (s) waits for a free slot on connection 1 -> 0 on channel "
            "0, whose 2 are full; rank 0 threadblock 1 is at step 2 (s)");
  EXPECT_EQ(d.hint, "a connection holds 2 transfers of at most 71 chunks here (Simple protocol)");
}

TEST(Deadlock, MoreSlotsHelp) {
  RunOptions options{.count = 60};
  options.slots = 3;
  EXPECT_TRUE(runs(both_send_first(3, Protocol::simple), options));
  options.slots = 2;
  EXPECT_FALSE(runs(both_send_first(3, Protocol::simple), options));
}

// A step of 8 chunks is one transfer while the chunks are small, and 8 transfers when they are
// large: both sides sending it first is right below a message size only.
TEST(Deadlock, PiecesFollowTheMessageSize) {
  AlgorithmBuilder b(alltoall(2, 8), Protocol::simple);
  for (int rank : {0, 1}) {
    const int other = 1 - rank;
    b.tb(rank).cpy(I(rank * 8), O(rank * 8), {.count = 8});
    b.tb(rank, {.send = other, .recv = other})
        .s(I(other * 8), {.count = 8})
        .r(O(other * 8), {.count = 8});
  }
  const Algorithm a = b.build();
  // 2 MiB a transfer: 4 chunks of 512 KiB fit, so 8 chunks are 2 transfers.
  RunOptions options{.type = DataType::uint8, .count = 8 << 19};
  EXPECT_TRUE(runs(a, options));
  options.count += 8;  // now 3 fit: 3 transfers, and 2 slots
  EXPECT_FALSE(runs(a, options));
  // The hardest cut, whatever the size.
  options.count = 8;
  options.chunks_per_transfer = 1;
  EXPECT_FALSE(runs(a, options));
  options.chunks_per_transfer = 4;
  EXPECT_TRUE(runs(a, options));
  // Tiles change nothing of that.
  options.tile_bytes = 1;
  options.count = 8 << 10;
  EXPECT_TRUE(runs(a, options));
  options.chunks_per_transfer = 3;
  EXPECT_FALSE(runs(a, options));
  const Diagnostic d = deadlock_of(a, options);
  ASSERT_FALSE(d.notes.empty());
  EXPECT_EQ(d.notes[0].message,
            "rank 0 threadblock 1 step 0 (s), 6 of 8 chunks done, waits for a free slot on "
            "connection 0 -> 1 on channel 0, whose 2 are full; rank 1 threadblock 1 is at step 0 "
            "(s)");
}

TEST(Deadlock, ARingThatNobodyStarts) {
  AlgorithmBuilder b(allreduce(3, 1, true));
  for (int rank : {0, 1, 2}) {
    b.tb(rank, {.send = (rank + 1) % 3, .recv = (rank + 2) % 3}).rrcs(I(0), I(0));
  }
  const Diagnostic d = deadlock_of(b.build());
  EXPECT_EQ(d.message,
            "deadlock: 3 of 3 threadblocks cannot go on, in a cycle: rank 0 threadblock 0 -> rank "
            "2 threadblock 0 -> rank 1 threadblock 0 -> rank 0 threadblock 0");
  EXPECT_EQ(d.notes.at(0).message,
            "rank 0 threadblock 0 step 0 (rrcs) waits for data on connection 2 -> 0 on channel 0; "
            "rank 2 threadblock 0 is at step 0 (rrcs)");
}

TEST(Deadlock, DependencesInACycle) {
  AlgorithmBuilder b(allreduce(1, 2));
  b.tb(0).cpy(I(0), O(0), {.wait_tb = 1, .wait_step = 0, .flag = true});
  b.tb(0).cpy(I(1), O(1), {.wait_tb = 0, .wait_step = 0, .flag = true});
  const Diagnostic d = deadlock_of(b.build());
  EXPECT_EQ(
      d.message,
      "deadlock: 2 of 2 threadblocks cannot go on, in a cycle: rank 0 threadblock 0 -> rank 0 "
      "threadblock 1 -> rank 0 threadblock 0");
  EXPECT_EQ(d.notes.at(0).message,
            "rank 0 threadblock 0 step 0 (cpy) waits for step 0 (cpy) of threadblock 1; rank 0 "
            "threadblock 1 is at step 0 (cpy)");
}

TEST(Deadlock, AStepThatNeverPublishes) {
  AlgorithmBuilder b(allreduce(1, 2));
  b.tb(0).cpy(I(0), O(0));  // without .flag
  b.tb(0).cpy(I(1), O(1), {.wait_tb = 0, .wait_step = 0});
  const Diagnostic d = deadlock_of(b.build());
  EXPECT_EQ(d.message, "deadlock: 1 of 2 threadblocks cannot go on");
  ASSERT_EQ(d.notes.size(), 1u);
  EXPECT_EQ(
      d.notes[0].message,
      "rank 0 threadblock 1 step 0 (cpy) waits for step 0 (cpy) of threadblock 0, which never "
      "says that it is done (has no dependent); rank 0 threadblock 0 has finished");
}

// A wait for a silent step ends with the next later step that publishes.
TEST(Deadlock, ALaterPublishingStepReleasesTheWaiter) {
  AlgorithmBuilder b(allreduce(1, 3));
  b.tb(0).cpy(I(0), O(0)).cpy(I(1), O(1), {.flag = true});
  b.tb(0).cpy(I(2), O(2), {.wait_tb = 0, .wait_step = 0});
  EXPECT_TRUE(runs(b.build(), {.count = 60}));
}

// In all iterations but the last the next iteration's publishing step does that; the last
// deadlocks.
TEST(Deadlock, AWaitForAStepAfterTheLastPublishingOneDeadlocksInTheLastIteration) {
  AlgorithmBuilder b(allreduce(1, 3));
  b.tb(0).cpy(I(0), O(0), {.flag = true}).cpy(I(1), O(1));
  b.tb(0).cpy(I(2), O(2), {.wait_tb = 0, .wait_step = 1});
  RunOptions options{.type = DataType::uint8, .count = 30};
  options.tile_bytes = 1;  // 10 iterations
  LocalExecutor executor(b.build());
  PerRank<std::uint8_t> in = {std::vector<std::uint8_t>(30, 5)};
  std::vector<std::uint8_t> out(30, 0);
  const std::vector<RankBuffers> buffers = {{bytes_of(in[0]), bytes_of(out)}};
  EXPECT_THROW(executor.run(buffers, options), Error);
  // Nine of ten elements of chunk 2 were copied.
  std::vector<std::uint8_t> expected(30, 5);
  expected[29] = 0;
  EXPECT_EQ(out, expected);
}

TEST(Deadlock, AThreadblockThatWaitsForItself) {
  AlgorithmBuilder earlier(allreduce(1, 2));
  earlier.tb(0).cpy(I(0), O(0), {.flag = true}).cpy(I(1), O(1), {.wait_tb = 0, .wait_step = 0});
  EXPECT_TRUE(runs(earlier.build(), {.count = 60}));

  AlgorithmBuilder later(allreduce(1, 2));
  later.tb(0).cpy(I(0), O(0), {.wait_tb = 0, .wait_step = 1}).cpy(I(1), O(1), {.flag = true});
  EXPECT_EQ(
      deadlock_of(later.build()).message,
      "deadlock: 1 of 1 threadblocks cannot go on, in a cycle: rank 0 threadblock 0 -> rank 0 "
      "threadblock 0");
}

// A nop waits like any step, and is not a step that others can wait for.
TEST(Deadlock, ANopPublishesNothing) {
  AlgorithmBuilder b(allreduce(1, 2));
  b.tb(0).cpy(I(0), O(0), {.flag = true});
  b.tb(0).nop(0, 0);
  b.tb(0).cpy(I(1), O(1), {.wait_tb = 1, .wait_step = 0});
  Algorithm a = b.build();
  for (Step& step : a.steps) step.has_dependent = true;
  const Diagnostic d = deadlock_of(a);
  ASSERT_EQ(d.notes.size(), 1u);
  EXPECT_NE(d.notes[0].message.find("never says that it is done"), std::string::npos);
}

TEST(Deadlock, ManyWaitersAreCapped) {
  const int ranks = 40;
  AlgorithmBuilder b(allreduce(ranks, 1, true));
  for (int rank = 0; rank < ranks; ++rank) {
    b.tb(rank, {.send = (rank + 1) % ranks, .recv = (rank + ranks - 1) % ranks}).rrcs(I(0), I(0));
  }
  const Diagnostic d = deadlock_of(b.build());
  EXPECT_EQ(d.notes.size(), 21u);
  EXPECT_EQ(d.notes.back().message, "20 more wait");
  EXPECT_NE(d.message.find("-> 20 more ->"), std::string::npos) << d.message;
}

TEST(Deadlock, NamesTheSourceLine) {
  AlgorithmBuilder b(allreduce(1, 2));
  b.tb(0).cpy(I(0), O(0));
  b.tb(0).cpy(I(1), O(1), {.wait_tb = 0, .wait_step = 0});
  Algorithm a = b.build();
  a.locations = {{}, {"mine.cpp", 12}, {"mine.cpp", 13}};
  a.step_locations = {1, 2};
  const Diagnostic d = deadlock_of(a);
  EXPECT_EQ(d.where.str(), "mine.cpp:13");
  EXPECT_EQ(d.notes.at(0).where.str(), "mine.cpp:13");
}

TEST(Deadlock, TheExecutorRunsAgainAfterOne) {
  LocalExecutor executor(both_send_first(3, Protocol::simple));
  SelfTestOptions options;
  options.run.count = 60;
  EXPECT_THROW(self_test(executor, options), Error);
  options.run.slots = 3;
  EXPECT_FALSE(self_test(executor, options).mismatch);
  options.run.slots.reset();
  EXPECT_THROW(self_test(executor, options), Error);
}

}  // namespace
}  // namespace hocket::test
