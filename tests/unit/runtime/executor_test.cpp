// Calls: types and operators against scalar arithmetic, buffers that fit and buffers that do not.
#include <gtest/gtest.h>

#include "hocket/runtime.h"
#include "runtime/half.h"
#include "unit/runtime/build_algorithm.h"
#include "unit/runtime/run_algorithm.h"

namespace hocket::test {
namespace {

template <typename T>
T integer_result(ReduceOp op, T a, T b) {
  const auto x = static_cast<std::uint64_t>(a);
  const auto y = static_cast<std::uint64_t>(b);
  switch (op) {
    case ReduceOp::sum:
      return static_cast<T>(x + y);
    case ReduceOp::prod:
      return static_cast<T>(x * y);
    case ReduceOp::min:
      return std::min(a, b);
    case ReduceOp::max:
      return std::max(a, b);
  }
  return a;
}

double real_result(ReduceOp op, double a, double b) {
  switch (op) {
    case ReduceOp::sum:
      return a + b;
    case ReduceOp::prod:
      return a * b;
    case ReduceOp::min:
      return std::min(a, b);
    case ReduceOp::max:
      return std::max(a, b);
  }
  return a;
}

// A ring allreduce over 3 ranks on `draw`n values equals combining them one by one.
template <typename T>
void check_type(DataType type, const std::function<T(std::mt19937_64&)>& draw,
                const std::function<T(ReduceOp, T, T)>& combine) {
  for (const bool in_place : {false, true}) {
    LocalExecutor executor(ring_allreduce(3, in_place, Protocol::simple));
    for (const ReduceOp op : all_reduce_ops()) {
      for (const std::int64_t count : {0, 1, 2, 3, 4, 100, 1001, 50000}) {
        RunOptions options{.type = type, .op = op, .count = count, .in_place = in_place};
        options.tile_bytes = count == 1001 ? 64 : 0;
        auto inputs = random_inputs<T>(executor.algorithm().collective, count, 11, draw);
        const auto expected = defined_result<T>(
            executor.algorithm().collective, count, inputs,
            [&](T a, T b) { return combine(op, a, b); }, T{});
        const auto found = run<T>(executor, inputs, options, T{});
        ASSERT_EQ(found, expected) << data_type_name(type) << " " << reduce_op_name(op) << " "
                                   << count << (in_place ? " in place" : "");
      }
    }
  }
}

TEST(Types, EveryTypeAndOperatorAtEverySize) {
  check_type<std::int32_t>(
      DataType::int32, [](auto& r) { return static_cast<std::int32_t>(r()); },
      integer_result<std::int32_t>);
  check_type<std::int64_t>(
      DataType::int64, [](auto& r) { return static_cast<std::int64_t>(r()); },
      integer_result<std::int64_t>);
  check_type<std::uint8_t>(
      DataType::uint8, [](auto& r) { return static_cast<std::uint8_t>(r()); },
      integer_result<std::uint8_t>);
  // Reals: small integers, for which every order of the three gives the same.
  const auto small = [](auto& r) { return static_cast<int>(r() % 9) - 4; };
  check_type<float>(
      DataType::float32, [&](auto& r) { return static_cast<float>(small(r)); },
      [](ReduceOp op, float a, float b) {
        return static_cast<float>(real_result(op, static_cast<double>(a), static_cast<double>(b)));
      });
  check_type<double>(
      DataType::float64, [&](auto& r) { return static_cast<double>(small(r)); }, real_result);
  check_type<std::uint16_t>(
      DataType::float16,
      [&](auto& r) { return runtime::float_to_half(static_cast<float>(small(r))); },
      [](ReduceOp op, std::uint16_t a, std::uint16_t b) {
        return runtime::float_to_half(
            static_cast<float>(real_result(op, static_cast<double>(runtime::half_to_float(a)),
                                           static_cast<double>(runtime::half_to_float(b)))));
      });
  check_type<std::uint16_t>(
      DataType::bfloat16,
      [&](auto& r) { return runtime::float_to_bfloat(static_cast<float>(small(r))); },
      [](ReduceOp op, std::uint16_t a, std::uint16_t b) {
        return runtime::float_to_bfloat(
            static_cast<float>(real_result(op, static_cast<double>(runtime::bfloat_to_float(a)),
                                           static_cast<double>(runtime::bfloat_to_float(b)))));
      });
}

TEST(Types, SelfTestOfEveryTypeAndOperator) {
  for (const int ranks : {1, 2, 5, 16}) {
    LocalExecutor executor(ring_allreduce(ranks, false, Protocol::ll));
    for (const DataType type : all_data_types()) {
      for (const ReduceOp op : all_reduce_ops()) {
        SelfTestOptions options{.run = {.type = type, .op = op, .count = 333}, .repeats = 3};
        const SelfTestResult result = self_test(executor, options);
        EXPECT_TRUE(result.checked);
        ASSERT_FALSE(result.mismatch) << ranks << " ranks " << data_type_name(type) << " "
                                      << reduce_op_name(op) << ": " << describe(*result.mismatch);
      }
    }
  }
}

std::string refusal(LocalExecutor& executor, const std::vector<RankBuffers>& buffers,
                    const RunOptions& options) {
  try {
    executor.run(buffers, options);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::BadBuffers);
    return error.diagnostic().message;
  }
  return "accepted";
}

TEST(Calls, BadOptionsAreRefused) {
  LocalExecutor executor(pair_allreduce_out_of_place());
  std::vector<float> memory(40);
  const auto at = [&](int i) { return bytes_of(memory) + i * 40; };
  const std::vector<RankBuffers> good = {{at(0), at(1)}, {at(2), at(3)}};
  EXPECT_EQ(refusal(executor, good, {.count = 10}), "accepted");
  EXPECT_EQ(refusal(executor, {good[0]}, {.count = 10}), "buffers of 1 ranks, expected 2");
  EXPECT_EQ(refusal(executor, good, {.count = -1}), "a count of -1 elements, expected 0 or more");
  EXPECT_EQ(
      refusal(executor, good, {.count = std::int64_t{1} << 62}),
      "4611686018427387904 times 4 elements or bytes, expected a size that fits into 63 bits");
  EXPECT_EQ(refusal(executor, good, {.count = 10, .in_place = true}),
            "an in-place call of algorithm handmade, which runs out of place only");
  EXPECT_EQ(refusal(executor, good, {.count = 10, .threads = -1}),
            "-1 threads, expected 0 or more");
  RunOptions options{.count = 10};
  options.slots = 0;
  EXPECT_EQ(refusal(executor, good, options), "0 slots, expected 1 or more");
  options = {.count = 10};
  options.chunks_per_transfer = 0;
  EXPECT_EQ(refusal(executor, good, options), "0 chunks per transfer, expected 1 or more");
  options = {.count = 10};
  options.tile_bytes = -1;
  EXPECT_EQ(refusal(executor, good, options), "tiles of -1 bytes, expected 0 or more");
}

TEST(Calls, BuffersMustBeThereAndApart) {
  LocalExecutor executor(pair_allreduce_out_of_place());
  std::vector<float> memory(40);
  const auto at = [&](int i) { return bytes_of(memory) + i * 40; };
  EXPECT_EQ(refusal(executor, {{at(0), at(1)}, {at(2), nullptr}}, {.count = 10}),
            "no output of rank 1, expected a buffer of 10 elements");
  EXPECT_EQ(refusal(executor, {{nullptr, at(1)}, {at(2), at(3)}}, {.count = 10}),
            "no input of rank 0, expected a buffer of 10 elements");
  EXPECT_EQ(refusal(executor, {{at(0), at(0) + 36}, {at(2), at(3)}}, {.count = 10}),
            "input and output of rank 0 overlap, but the call is not in place");
  EXPECT_EQ(refusal(executor, {{at(0), at(0)}, {at(2), at(3)}}, {.count = 10}),
            "input and output of rank 0 overlap, but the call is not in place");
  // What one rank writes is no other's; what all only read may be.
  EXPECT_EQ(refusal(executor, {{at(0), at(1)}, {at(2), at(1)}}, {.count = 10}),
            "the output of rank 0 and the output of rank 1 overlap");
  EXPECT_EQ(refusal(executor, {{at(0), at(1)}, {at(3), at(1) + 36}}, {.count = 10}),
            "the output of rank 0 and the output of rank 1 overlap");
  EXPECT_EQ(refusal(executor, {{at(0), at(1)}, {at(1) + 4, at(3)}}, {.count = 10}),
            "the output of rank 0 and the input of rank 1 overlap");
  executor.run(std::vector<RankBuffers>{{at(0), at(1)}, {at(0), at(3)}}, {.count = 10});
  EXPECT_EQ(refusal(executor, {{nullptr, nullptr}, {nullptr, nullptr}}, {.count = 0}), "accepted");
}

TEST(Calls, ABufferThatNoStepTouchesMayBeNull) {
  LocalExecutor executor(chain_broadcast(2, 1, 0));
  std::vector<float> memory = {1, 2, 0, 0, 0, 0};
  const auto at = [&](int i) { return bytes_of(memory) + i * 8; };
  executor.run(std::vector<RankBuffers>{{at(0), at(1)}, {nullptr, at(2)}}, {.count = 2});
  EXPECT_EQ(memory, (std::vector<float>{1, 2, 1, 2, 1, 2}));
}

TEST(Calls, InPlaceEitherNameWillDo) {
  LocalExecutor executor(pair_allreduce_in_place());
  std::vector<float> a = {1, 2};
  std::vector<float> b = {10, 20};
  const RunOptions options{.count = 2, .in_place = true};
  executor.run(std::vector<RankBuffers>{{bytes_of(a), nullptr}, {nullptr, bytes_of(b)}}, options);
  EXPECT_EQ(a, (std::vector<float>{11, 22}));
  EXPECT_EQ(b, a);
  EXPECT_EQ(refusal(executor, {{bytes_of(a), bytes_of(b)}, {nullptr, bytes_of(b)}}, options),
            "the output of rank 0 is not 0 bytes after its input, as in place it must be for "
            "allreduce");
  EXPECT_EQ(refusal(executor, {{bytes_of(a), nullptr}, {bytes_of(b), nullptr}}, {.count = 2}),
            "an out-of-place call of algorithm handmade, which runs in place only");
}

TEST(Calls, InPlaceAllgatherLiesInsideItsOutput) {
  LocalExecutor executor(ring_allgather(2, true));
  std::vector<float> a = {1, 0};
  std::vector<float> b = {0, 2};
  const RunOptions options{.count = 1, .in_place = true};
  executor.run(std::vector<RankBuffers>{{nullptr, bytes_of(a)}, {bytes_of(b) + 4, bytes_of(b)}},
               options);
  EXPECT_EQ(a, (std::vector<float>{1, 2}));
  EXPECT_EQ(b, (std::vector<float>{1, 2}));
  EXPECT_EQ(refusal(executor, {{nullptr, bytes_of(a)}, {bytes_of(b), bytes_of(b)}}, options),
            "the input of rank 1 is not 4 bytes after its output, as in place it must be for "
            "allgather");
  EXPECT_EQ(refusal(executor, {{bytes_of(a), nullptr}, {nullptr, bytes_of(b)}}, options),
            "no output of rank 0, expected the buffer that holds the input of an in-place "
            "allgather");
}

// Files may mark an algorithm for both placements; its collective is then one of the two.
TEST(Calls, BothPlacementsOfOneAlgorithm) {
  for (const bool made_in_place : {false, true}) {
    Algorithm a = direct_alltoall(3, 2);
    a.collective = alltoall(3, 2, made_in_place);
    a.in_place = true;
    a.out_of_place = true;
    LocalExecutor executor(std::move(a));
    for (const bool in_place : {false, true}) {
      for (const std::int64_t count : {6, 7}) {
        SelfTestOptions options{.run = {.count = count, .in_place = in_place}, .repeats = 2};
        const SelfTestResult result = self_test(executor, options);
        EXPECT_TRUE(result.checked);
        EXPECT_FALSE(result.mismatch) << describe(*result.mismatch);
      }
    }
  }
}

TEST(Calls, AnExecutorMoves) {
  LocalExecutor first(pair_allreduce_in_place());
  LocalExecutor second(std::move(first));
  PerRank<float> in = {{1, 2}, {10, 20}};
  EXPECT_EQ(run<float>(second, in, {.count = 2, .in_place = true}, 0.0f)[0],
            (std::vector<float>{11, 22}));
  EXPECT_EQ(second.algorithm().name, "handmade");
}

}  // namespace
}  // namespace hocket::test
