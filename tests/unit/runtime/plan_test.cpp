// What the executor refuses to run: everything that would read out of bounds or has no meaning.
#include <gtest/gtest.h>

#include "hocket/runtime.h"
#include "unit/runtime/build_algorithm.h"

namespace hocket::test {
namespace {

struct Refused {
  const char* name;
  std::function<void(Algorithm&)> damage;
  const char* message;
};

// A right algorithm to damage: rank 0 has steps 0 to 3 (tb 0), 4 and 5 (tb 1), 6 (tb 2); rank 1 the
// same from step 7 on.
Algorithm right() { return pair_allreduce_out_of_place(); }

const Refused kRefused[] = {
    {"no ranks", [](Algorithm& a) { a.ranks.clear(); },
     "an algorithm of no ranks, expected at least 1"},
    {"another rank count", [](Algorithm& a) { a.collective = allreduce(3, 2); },
     "the algorithm has 2 ranks, but its collective allreduce has 3"},
    {"negative scratch", [](Algorithm& a) { a.ranks[1].scratch_chunks = -1; },
     "rank 1 has -1 scratch chunks, expected 0 or more"},
    {"steps beyond the end", [](Algorithm& a) { a.ranks[1].threadblocks[2].num_steps = 2; },
     "rank 1 threadblock 2 has steps 13 to 15, but the algorithm has 14"},
    {"steps beyond 32 bits",
     [](Algorithm& a) { a.ranks[0].threadblocks[0].first_step = 0xffffffffu; },
     "rank 0 threadblock 0 has steps 4294967295 to 4294967299, but the algorithm has 14"},
    {"a peer that is not there", [](Algorithm& a) { a.ranks[0].threadblocks[0].send = 2; },
     "rank 0 threadblock 0 sends to rank 2, expected another rank of 2 (0 to 1) or -1 for none"},
    {"itself as peer", [](Algorithm& a) { a.ranks[0].threadblocks[0].recv = 0; },
     "rank 0 threadblock 0 receives from rank 0, expected another rank of 2 (0 to 1) or -1 for "
     "none"},
    {"a peer below none", [](Algorithm& a) { a.ranks[0].threadblocks[1].recv = -2; },
     "rank 0 threadblock 1 receives from rank -2, expected another rank of 2 (0 to 1) or -1 for "
     "none"},
    {"a negative channel", [](Algorithm& a) { a.ranks[0].threadblocks[2].channel = -1; },
     "rank 0 threadblock 2 is on channel -1, expected 0 or more"},
    {"an unknown operation", [](Algorithm& a) { a.steps[0].op = static_cast<OpCode>(9); },
     "rank 0 threadblock 0 step 0 has operation number 9, expected 0 to 8"},
    {"an unknown buffer", [](Algorithm& a) { a.steps[0].src_buffer = static_cast<BufferKind>(3); },
     "rank 0 threadblock 0 step 0 (s) reads buffer number 3, expected 0 to 2"},
    {"a send to nobody", [](Algorithm& a) { a.steps[6].op = OpCode::send; },
     "rank 0 threadblock 2 step 0 (s) sends, but its threadblock has no rank to send to"},
    {"a receive from nobody", [](Algorithm& a) { a.steps[6].op = OpCode::recv; },
     "rank 0 threadblock 2 step 0 (r) receives, but its threadblock has no rank to receive from"},
    {"a step of nothing", [](Algorithm& a) { a.steps[6].count = 0; },
     "rank 0 threadblock 2 step 0 (cpy) moves 0 chunks, expected at least 1"},
    {"a read beyond the input", [](Algorithm& a) { a.steps[6].src_offset = 2; },
     "rank 0 threadblock 2 step 0 (cpy) reads 1 chunks from 2 of its input, which has 2"},
    {"a negative offset", [](Algorithm& a) { a.steps[6].src_offset = -1; },
     "rank 0 threadblock 2 step 0 (cpy) reads 1 chunks from -1 of its input, which has 2"},
    {"a count beyond the output",
     [](Algorithm& a) {
       a.steps[6].dst_offset = 1;
       a.steps[6].count = 2;
     },
     "rank 0 threadblock 2 step 0 (cpy) writes 2 chunks from 1 of its output, which has 2"},
    {"a sum that overflows",
     [](Algorithm& a) {
       a.steps[6].src_offset = 0x7fffffff;
       a.steps[6].count = 0x7fffffff;
     },
     "rank 0 threadblock 2 step 0 (cpy) reads 2147483647 chunks from 2147483647 of its input, "
     "which has 2"},
    {"a write beyond scratch", [](Algorithm& a) { a.ranks[0].scratch_chunks = 0; },
     "rank 0 threadblock 0 step 1 (r) writes 1 chunks from 0 of its scratch, which has 0"},
    {"a file's claim of more chunks than the collective has",
     [](Algorithm& a) {
       a.ranks[0].input_chunks = 100;
       a.steps[6].src_offset = 50;
     },
     "rank 0 threadblock 2 step 0 (cpy) reads 1 chunks from 50 of its input, which has 2"},
    {"a dependence on no threadblock", [](Algorithm& a) { a.steps[5].depend_tb = 3; },
     "rank 0 threadblock 1 step 1 (re) waits for threadblock 3, but the rank has 3"},
    {"a dependence on no step", [](Algorithm& a) { a.steps[5].depend_step = 4; },
     "rank 0 threadblock 1 step 1 (re) waits for step 4 of threadblock 0, which has 4 steps"},
    {"a nop's dependence on a negative step", [](Algorithm& a) { a.steps[4].depend_step = -1; },
     "rank 0 threadblock 1 step 0 (nop) waits for step -1 of threadblock 2, which has 1 steps"},
    {"two senders on a connection", [](Algorithm& a) { a.ranks[0].threadblocks[1].send = 1; },
     "rank 0 threadblock 0 and threadblock 1 both send on connection 0 -> 1 on channel 0, expected "
     "one"},
    {"two receivers on a connection", [](Algorithm& a) { a.ranks[1].threadblocks[2].recv = 0; },
     "rank 1 threadblock 0 and threadblock 2 both receive on connection 0 -> 1 on channel 0, "
     "expected one"},
    {"ends on different channels", [](Algorithm& a) { a.ranks[0].threadblocks[0].channel = 1; },
     "rank 1 threadblock 0 receives on connection 0 -> 1 on channel 0, but no threadblock of rank "
     "0 sends there"},
    {"a sender without a receiver",
     [](Algorithm& a) {
       a.ranks[1].threadblocks[0].channel = 1;
       for (std::size_t i = 7; i < 11; ++i) a.steps[i].op = OpCode::nop;
     },
     "rank 0 threadblock 0 sends on connection 0 -> 1 on channel 0, but no threadblock of rank 1 "
     "receives there"},
    {"unequal counts",
     [](Algorithm& a) {
       a.steps[0].src_offset = 0;
       a.steps[0].count = 2;
     },
     "rank 0 threadblock 0 step 0 (s) sends 2 chunks, but rank 1 threadblock 0 step 1 receives 1"},
    {"a send too many", [](Algorithm& a) { a.ranks[1].threadblocks[0].num_steps = 3; },
     "rank 0 threadblock 0 step 2 (s) sends on connection 0 -> 1 on channel 0, but rank 1 "
     "threadblock 0 has no receive left for it"},
    {"a receive too many", [](Algorithm& a) { a.steps[0].op = OpCode::nop; },
     "rank 1 threadblock 0 step 3 (r) receives on connection 0 -> 1 on channel 0, but rank 0 "
     "threadblock 0 has no send left for it"},
    {"overlapping operands",
     [](Algorithm& a) {
       a.collective = allreduce(2, 4);
       a.steps[6] = {OpCode::copy, BufferKind::output, BufferKind::output, true, 0, 1, 2, -1, -1};
     },
     "rank 0 threadblock 2 step 0 (cpy) reads chunks 0 to 1 and writes 1 to 2 of its output, "
     "expected the same or none in common"},
    {"source locations for some steps", [](Algorithm& a) { a.step_locations = {0}; },
     "1 source locations for 14 steps, expected one a step or none"},
    {"a source location that is not there", [](Algorithm& a) { a.step_locations.assign(14, 1); },
     "source location 1 of 0"},
};

TEST(Plan, RefusesWhatCannotBeExecuted) {
  for (const Refused& refused : kRefused) {
    SCOPED_TRACE(refused.name);
    Algorithm a = right();
    refused.damage(a);
    try {
      const LocalExecutor executor(std::move(a));
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::BadAlgorithm);
      EXPECT_EQ(error.diagnostic().message, refused.message);
    }
  }
}

TEST(Plan, NamesTheSourceLine) {
  Algorithm a = right();
  a.locations = {{}, {"mine.py", 33}};
  a.step_locations.assign(14, 0);
  a.step_locations[6] = 1;
  a.steps[6].src_offset = 2;
  try {
    const LocalExecutor executor(std::move(a));
    ADD_FAILURE() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.diagnostic().where.str(), "mine.py:33");
  }
}

// Near misses of the above.
TEST(Plan, AcceptsWhatIsMerelyUnusual) {
  Algorithm a = right();
  a.ranks[0].threadblocks[1].send = 1;  // no step sends
  a.ranks[0].threadblocks[1].channel = 5;
  a.ranks[0].input_chunks = 0;  // files may leave a buffer out that has another name in place
  a.ranks[0].output_chunks = 99;
  a.num_channels = 0;
  a.ranks[1].threadblocks.push_back({-1, -1, 0, 14, 0});  // no steps at all
  // Unused operands may be anything.
  a.steps[0].dst_offset = 1000;
  a.steps[1].src_offset = -5;
  LocalExecutor executor(std::move(a));
  EXPECT_FALSE(self_test(executor, {.run = {.count = 9}}).mismatch);
}

TEST(Plan, AnAlgorithmWithoutStepsRuns) {
  LocalExecutor executor(AlgorithmBuilder(all_to_next_forward(1, 1)).build());
  const SelfTestResult result = self_test(executor, {.run = {.count = 9}});
  EXPECT_TRUE(result.checked);
  EXPECT_FALSE(result.mismatch);
}

}  // namespace
}  // namespace hocket::test
