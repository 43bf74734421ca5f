// The self test itself: it must find what is wrong, and say where.
#include <gtest/gtest.h>

#include "hocket/runtime.h"
#include "runtime/test_values.h"
#include "unit/runtime/build_algorithm.h"

namespace hocket::test {
namespace {

SelfTestResult check(Algorithm a, std::int64_t count = 64, DataType type = DataType::float32,
                     ReduceOp op = ReduceOp::sum) {
  LocalExecutor executor(std::move(a));
  return self_test(
      executor,
      {.run = {.type = type, .op = op, .count = count, .in_place = executor.algorithm().in_place}});
}

// Every type must show each mistake; min and max cannot show that a contribution counts twice.
void expect_found(const Algorithm& wrong, bool doubled = false) {
  for (const DataType type : all_data_types()) {
    for (const ReduceOp op : all_reduce_ops()) {
      if (doubled && (op == ReduceOp::min || op == ReduceOp::max)) continue;
      const SelfTestResult result = check(wrong, 64, type, op);
      EXPECT_TRUE(result.checked);
      EXPECT_TRUE(result.mismatch) << data_type_name(type) << " " << reduce_op_name(op);
    }
  }
}

TEST(SelfTest, FindsAMisplacedChunk) {
  AlgorithmBuilder b(allgather(2, 2));
  for (int rank : {0, 1}) {
    b.tb(rank).cpy(I(0), O(2 * rank), {.count = 2});
    b.tb(rank, {.send = 1 - rank, .recv = 1 - rank})
        .s(I(0))
        .s(I(1))
        .r(O(2 * (1 - rank) + 1))  // swapped
        .r(O(2 * (1 - rank)));
  }
  expect_found(b.build());
}

TEST(SelfTest, FindsAMissingContribution) {
  AlgorithmBuilder b(allreduce(3, 1));
  for (int rank : {0, 1, 2}) {
    // Rank 0 and the neighbour only.
    b.tb(rank, {.send = (rank + 1) % 3, .recv = (rank + 2) % 3}).s(I(0)).rrc(I(0), O(0));
  }
  expect_found(b.build());
}

TEST(SelfTest, FindsADoubledContribution) {
  AlgorithmBuilder b(allreduce(2, 1));
  for (int rank : {0, 1}) {
    b.tb(rank, {.send = 1 - rank, .recv = 1 - rank}).s(I(0)).rrc(I(0), O(0)).re(I(0), O(0));
  }
  expect_found(b.build(), /*doubled=*/true);
}

TEST(SelfTest, FindsAnOutputThatNobodyWrote) {
  AlgorithmBuilder b(allreduce(1, 2));
  b.tb(0).cpy(I(0), O(0));
  expect_found(b.build());
}

TEST(SelfTest, FindsAReadOfUnwrittenScratch) {
  AlgorithmBuilder b(allreduce(1, 1));
  b.scratch(0, 1);
  b.tb(0).re(I(0), S(0)).cpy(S(0), O(0));
  for (const DataType type : all_data_types()) {
    EXPECT_TRUE(check(b.build(), 64, type).mismatch) << data_type_name(type);
  }
}

TEST(SelfTest, FindsAResultOfTheRunBefore) {
  // Right only as long as the scratch of the last run holds this run's input.
  AlgorithmBuilder b(allreduce(1, 1));
  b.scratch(0, 1);
  b.tb(0).cpy(S(0), O(0)).cpy(I(0), S(0));
  LocalExecutor executor(b.build());
  EXPECT_TRUE(self_test(executor, {.run = {.count = 64}}).mismatch);
  EXPECT_FALSE(self_test(executor, {.run = {.count = 64}}).mismatch);  // same seed, same input
  EXPECT_TRUE(self_test(executor, {.run = {.count = 64}, .repeats = 2}).mismatch);
  EXPECT_TRUE(self_test(executor, {.run = {.count = 64}, .seed = 2}).mismatch);
}

TEST(SelfTest, NamesTheFirstWrongElement) {
  AlgorithmBuilder b(allreduce(2, 3));
  for (int rank : {0, 1}) {
    TbBuilder& tb = b.tb(rank, {.send = 1 - rank, .recv = 1 - rank});
    tb.s(I(0), {.count = 3});
    // Rank 1 loses its own part of chunk 2.
    tb.rrc(I(0), O(0), {.count = rank == 0 ? 3 : 2});
    if (rank == 1) tb.r(O(2));
  }
  Algorithm a = b.build();
  // Match the counts: rank 0 sends 2 and 1 chunks.
  a.steps[0].count = 2;
  a.steps.insert(a.steps.begin() + 1, a.steps[0]);
  a.steps[1].src_offset = 2;
  a.steps[1].count = 1;
  a.ranks[0].threadblocks[0].num_steps = 3;
  a.ranks[1].threadblocks[0].first_step = 3;
  const SelfTestResult result = check(a, 10, DataType::int32);
  ASSERT_TRUE(result.mismatch);
  EXPECT_EQ(result.mismatch->rank, 1);
  EXPECT_EQ(result.mismatch->buffer, BufferKind::output);
  EXPECT_EQ(result.mismatch->offset, 6);  // chunks of 3, 3, 4
  EXPECT_EQ(result.mismatch->wrong, 4);
  EXPECT_NE(result.mismatch->expected, result.mismatch->found);
  EXPECT_EQ(describe({1, BufferKind::output, 17, "12", "5", 3}),
            "rank 1 output element 17 is 5, expected 12; 3 elements wrong in all");
}

TEST(SelfTest, ReportsTimeAndBandwidth) {
  LocalExecutor executor(ring_allreduce(4, false, Protocol::simple));
  const SelfTestResult result = self_test(executor, {.run = {.count = 1 << 16}, .repeats = 4});
  EXPECT_EQ(result.bytes, 4 << 16);
  EXPECT_GT(result.seconds, 0);
  EXPECT_DOUBLE_EQ(result.algorithm_bandwidth, (4 << 16) / result.seconds / 1e9);
  EXPECT_DOUBLE_EQ(result.bus_bandwidth, result.algorithm_bandwidth * 1.5);
  LocalExecutor gathering(ring_allgather(4, false));
  EXPECT_EQ(self_test(gathering, {.run = {.count = 10}}).bytes, 4 * 4 * 10);
}

TEST(SelfTest, BusFactorsAreThoseOfNcclTests) {
  EXPECT_DOUBLE_EQ(bus_factor(CollectiveKind::allreduce, 8), 14.0 / 8);
  EXPECT_DOUBLE_EQ(bus_factor(CollectiveKind::allgather, 8), 7.0 / 8);
  EXPECT_DOUBLE_EQ(bus_factor(CollectiveKind::reduce_scatter, 8), 7.0 / 8);
  EXPECT_DOUBLE_EQ(bus_factor(CollectiveKind::alltoall, 8), 7.0 / 8);
  EXPECT_DOUBLE_EQ(bus_factor(CollectiveKind::broadcast, 8), 1);
  EXPECT_DOUBLE_EQ(bus_factor(CollectiveKind::custom, 8), 1);
  EXPECT_DOUBLE_EQ(bus_factor(CollectiveKind::allreduce, 1), 0);
}

TEST(SelfTest, WithoutAPostconditionNothingIsClaimed) {
  CustomCollective custom("mystery", 1, 1);
  custom.buffers(0, 1, 1).without_postcondition();
  const SelfTestResult result = check(AlgorithmBuilder(custom.build()).build());
  EXPECT_FALSE(result.checked);
  EXPECT_FALSE(result.mismatch);

  LocalExecutor executor(AlgorithmBuilder(allreduce(1, 1)).build());  // wrong, but not looked at
  const SelfTestResult unchecked = self_test(executor, {.run = {.count = 5}, .check = false});
  EXPECT_FALSE(unchecked.checked);
  EXPECT_FALSE(unchecked.mismatch);
}

// A rotation with a sum in it, on ranks with different buffers.
TEST(SelfTest, CustomCollectives) {
  CustomCollective custom("mixed", 2, 2);
  custom.buffers(0, 2, 3).buffers(1, 3, 0);
  for (int k : {0, 1}) custom.holds(0, {BufferKind::input, k}, {0, k});
  for (int k : {0, 1, 2}) custom.holds(1, {BufferKind::input, k}, {1, k});
  custom.requires_(0, {BufferKind::output, 0}, {{0, 0}, {1, 2}});
  custom.requires_(0, {BufferKind::output, 2}, {{1, 0}});
  const auto algorithm = [&](int received) {
    AlgorithmBuilder b(custom.build());
    b.tb(1, {.send = 0}).s(I(2)).s(I(received));
    b.tb(0, {.recv = 1}).rrc(I(0), O(0)).r(O(2));
    return b.build();
  };
  for (const std::int64_t count : {1, 2, 9, 10, 101}) {
    const SelfTestResult right = check(algorithm(0), count);
    EXPECT_TRUE(right.checked);
    EXPECT_FALSE(right.mismatch) << describe(*right.mismatch);
  }
  const SelfTestResult wrong = check(algorithm(1), 10);
  ASSERT_TRUE(wrong.mismatch);
  EXPECT_EQ(wrong.mismatch->offset, 10);  // chunks of 5; chunk 2 starts the second part
  EXPECT_EQ(wrong.mismatch->wrong, 5);
}

// With more ranks than a type counts to, sums stay exact.
TEST(SelfTest, ManyContributionsToNarrowTypes) {
  for (const int ranks : {100, 300, 600}) {
    AlgorithmBuilder b(reduce(ranks, 1, 0));
    for (int rank = ranks - 1; rank >= 0; --rank) {
      TbBuilder& tb = b.tb(rank, {.send = rank - 1, .recv = rank + 1 < ranks ? rank + 1 : -1});
      if (rank == ranks - 1) {
        tb.s(I(0));
      } else if (rank > 0) {
        tb.rrs(I(0));
      } else {
        tb.rrc(I(0), O(0));
      }
    }
    const Algorithm a = b.build();
    for (const DataType type : all_data_types()) {
      for (const ReduceOp op : all_reduce_ops()) {
        const SelfTestResult result = check(a, 40, type, op);
        EXPECT_FALSE(result.mismatch) << ranks << " " << data_type_name(type) << " "
                                      << reduce_op_name(op) << ": " << describe(*result.mismatch);
      }
    }
  }
}

TEST(SelfTest, RefusesNoRepeats) {
  LocalExecutor executor(pair_allreduce_in_place());
  EXPECT_THROW(self_test(executor, {.run = {.count = 2, .in_place = true}, .repeats = 0}), Error);
  // An algorithm in the wrong placement is refused as by run().
  EXPECT_THROW(self_test(executor, {.run = {.count = 2}}), Error);
}

}  // namespace
}  // namespace hocket::test
