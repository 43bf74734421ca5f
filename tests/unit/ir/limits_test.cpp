// check_limits(): one algorithm just inside each limit and one just outside, with code and text.
#include <gtest/gtest.h>

#include <functional>

#include "hocket/format.h"
#include "hocket/target.h"

namespace hocket {
namespace {

// A ring of two ranks that runs everywhere; each test breaks one thing.
Algorithm plain() {
  return from_text(R"(algorithm "plain" channels=1
collective allreduce ranks=2 factor=2
rank 0
  tb 0 send=1 recv=1
    s    i[0] -> s[0]
    r    i[0] -> s[0]
  tb 1
    cpy  i[1] -> o[1]
rank 1
  tb 0 send=0 recv=0
    s    i[0] -> s[0]
    r    i[0] -> s[0]
)");
}

std::vector<std::string> problems(const Algorithm& a, Target target, int max_listed = 3) {
  std::vector<std::string> found;
  for (const Diagnostic& d : check_limits(a, target, max_listed)) {
    EXPECT_EQ(d.severity, Severity::error);
    found.push_back(std::string(code_text(d.code)) + " " + d.message);
  }
  return found;
}

using Problems = std::vector<std::string>;

// The threadblock of rank 0 that has only a local step gets `count` steps.
Algorithm with_steps(std::size_t count, const std::function<void(std::size_t, Step&)>& change) {
  Algorithm a = plain();
  ThreadBlock& tb = a.ranks[0].threadblocks[1];
  tb.first_step = static_cast<std::uint32_t>(a.steps.size());
  tb.num_steps = static_cast<std::uint32_t>(count);
  a.steps.resize(a.steps.size() + count, a.steps[2]);
  for (std::size_t i = 0; i < count; ++i) change(i, a.steps[tb.first_step + i]);
  return a;
}

Algorithm with_step(const std::function<void(Step&)>& change) {
  return with_steps(1, [&](std::size_t, Step& step) { change(step); });
}

TEST(Limits, AnOrdinaryAlgorithmBreaksNone) {
  for (const Target target : all_targets()) EXPECT_EQ(problems(plain(), target), Problems{});
}

TEST(Limits, Steps) {
  const auto nothing = [](std::size_t, Step&) {};
  EXPECT_EQ(problems(with_steps(256, nothing), Target::msccl), Problems{});
  EXPECT_EQ(problems(with_steps(257, nothing), Target::msccl),
            Problems{"HK0401 rank 0 threadblock 1 has 257 steps, but msccl runs 256"});
  EXPECT_EQ(problems(with_steps(64, nothing), Target::rccl), Problems{});
  EXPECT_EQ(problems(with_steps(65, nothing), Target::rccl),
            Problems{"HK0401 rank 0 threadblock 1 has 65 steps, but rccl runs 64"});
  EXPECT_EQ(problems(with_steps(65, nothing), Target::msccl_executor),
            Problems{"HK0401 rank 0 threadblock 1 has 65 steps, but msccl-executor runs 64"});
  EXPECT_EQ(problems(with_steps(100000, nothing), Target::hocket), Problems{});
}

TEST(Limits, Threadblocks) {
  Algorithm a = plain();
  a.ranks[1].threadblocks.resize(64);
  EXPECT_EQ(problems(a, Target::rccl), Problems{});
  a.ranks[1].threadblocks.resize(65);
  EXPECT_EQ(problems(a, Target::rccl),
            Problems{"HK0402 rank 1 has 65 threadblocks, but rccl runs 64"});
  EXPECT_EQ(problems(a, Target::msccl), Problems{});
  a.ranks[1].threadblocks.resize(217);
  EXPECT_EQ(problems(a, Target::msccl),
            Problems{"HK0402 rank 1 has 217 threadblocks, but msccl runs 216"});
}

TEST(Limits, Channels) {
  Algorithm a = plain();
  a.num_channels = 32;
  EXPECT_EQ(problems(a, Target::msccl), Problems{});
  a.num_channels = 33;
  EXPECT_EQ(problems(a, Target::msccl), Problems{"HK0403 33 channels, but msccl has 32"});
  a.num_channels = 0;
  EXPECT_EQ(
      problems(a, Target::msccl),
      (Problems{"HK0403 rank 0 threadblock 0 uses channel 0, but the algorithm has 0: it would "
                "never be connected",
                "HK0403 rank 1 threadblock 0 uses channel 0, but the algorithm has 0: it would "
                "never be connected"}));
}

TEST(Limits, Counts) {
  EXPECT_EQ(problems(with_step([](Step& s) { s.count = 71; }), Target::msccl), Problems{});
  const Algorithm a = with_step([](Step& s) { s.count = 72; });
  EXPECT_EQ(problems(a, Target::msccl),
            Problems{"HK0404 rank 0 threadblock 1 step 0: 72 chunks, but msccl takes 71"});
  EXPECT_EQ(problems(a, Target::hocket), Problems{});
}

TEST(Limits, Offsets) {
  EXPECT_EQ(problems(with_step([](Step& s) { s.src_offset = 32767; }), Target::rccl), Problems{});
  EXPECT_EQ(problems(with_step([](Step& s) { s.dst_offset = 32768; }), Target::rccl),
            Problems{"HK0405 rank 0 threadblock 1 step 0: chunk index 32768, but rccl stores up to "
                     "32767"});
}

TEST(Limits, Dependences) {
  const auto waits_for = [](int tb) {
    return with_step([tb](Step& s) {
      s.depend_tb = tb;
      s.depend_step = 0;
    });
  };
  EXPECT_EQ(problems(waits_for(127), Target::msccl), Problems{});
  EXPECT_EQ(problems(waits_for(128), Target::msccl_executor),
            Problems{"HK0406 rank 0 threadblock 1 step 0: waits for threadblock 128, but "
                     "msccl-executor can name 0 to 127"});
  EXPECT_EQ(problems(waits_for(64), Target::rccl),
            Problems{"HK0406 rank 0 threadblock 1 step 0: waits for threadblock 64, but rccl can "
                     "name 0 to 63"});
}

TEST(Limits, Nodes) {
  // 1 algo + 2 gpus + 1 tb of rank 1 with 4 steps: spread the steps over threadblocks.
  Algorithm a = plain();
  RankProgram& rank = a.ranks[1];
  rank.threadblocks.resize(17);  // 16 more
  for (std::size_t t = 1; t < 17; ++t) {
    rank.threadblocks[t].first_step = static_cast<std::uint32_t>(a.steps.size());
    rank.threadblocks[t].num_steps = 254;
    a.steps.resize(a.steps.size() + 254, a.steps[2]);
  }
  // 1 + 2 + 17 + 2 + 16 * 254
  EXPECT_EQ(problems(a, Target::msccl), Problems{});
  rank.threadblocks[16].num_steps = 255;
  rank.threadblocks.resize(24);
  a.steps.push_back(a.steps[2]);
  EXPECT_EQ(problems(a, Target::msccl), Problems{});  // 4094
  rank.threadblocks.resize(26);
  EXPECT_EQ(
      problems(a, Target::msccl),
      Problems{"HK0407 rank 1 needs 4096 XML nodes (1, a gpu each, its threadblocks and steps), "
               "but the reader of msccl keeps 4095"});
}

TEST(Limits, StepTypesOfRccl) {
  Algorithm a = plain();
  for (const OpCode op : {OpCode::recv_copy_send, OpCode::recv_reduce_send,
                          OpCode::recv_reduce_copy, OpCode::recv_reduce_copy_send}) {
    a.steps[1].op = op;
    EXPECT_EQ(problems(a, Target::rccl),
              Problems{"HK0408 rank 0 threadblock 0 step 1: " + std::string(op_info(op).name) +
                       ", which rccl does not run"});
    EXPECT_EQ(problems(a, Target::msccl), Problems{});
    EXPECT_EQ(problems(a, Target::msccl_executor), Problems{});
  }
}

TEST(Limits, CollectivesWithoutAName) {
  Algorithm a = plain();
  a.collective = all_to_next_forward(2, 2);
  EXPECT_EQ(problems(a, Target::msccl), Problems{});
  EXPECT_EQ(problems(a, Target::rccl),
            Problems{"HK0409 rccl has no name for the collective all_to_next_forward"});
}

TEST(Limits, ThreadblocksOnAChannel) {
  const auto crowd = [](std::size_t n, OpCode op) {
    Algorithm a = plain();
    const std::uint32_t step = op == OpCode::send ? 0 : 1;
    a.ranks[1].threadblocks.assign(n, {.send = 0, .recv = 0, .first_step = step, .num_steps = 1});
    return a;
  };
  EXPECT_EQ(problems(crowd(32, OpCode::send), Target::rccl), Problems{});
  EXPECT_EQ(problems(crowd(40, OpCode::send), Target::rccl),
            Problems{"HK0410 rank 1 has more than 32 threadblocks that send on channel 0, the most "
                     "that rccl takes"});
  EXPECT_EQ(
      problems(crowd(33, OpCode::recv), Target::msccl),
      Problems{"HK0410 rank 1 has more than 32 threadblocks that receive on channel 0, the most "
               "that msccl takes"});
}

TEST(Limits, SizeRanges) {
  Algorithm a = plain();
  a.min_bytes = 100;
  a.max_bytes = 99;
  EXPECT_EQ(problems(a, Target::hocket),
            Problems{"HK0411 message sizes from 100 to 99 bytes leave none that can be called"});
  // Scratch for any size cannot be had from MSCCL: it is allocated at start-up.
  a.max_bytes.reset();
  a.min_bytes = 1 << 27;
  a.ranks[0].scratch_chunks = 1;
  EXPECT_EQ(
      problems(a, Target::msccl),
      Problems{"HK0411 message sizes from 134217728 bytes with scratch and no upper limit, but "
               "msccl allocates scratch for messages below 134217728 bytes then"});
  EXPECT_EQ(problems(a, Target::rccl), Problems{});
  a.max_bytes = 1 << 28;
  EXPECT_EQ(problems(a, Target::msccl), Problems{});
}

TEST(Limits, BufferSizesOfMsccl) {
  Algorithm a = plain();
  a.ranks[0].input_chunks = 0;  // not used
  EXPECT_EQ(problems(a, Target::msccl), Problems{});
  a.ranks[0].input_chunks = 1;
  EXPECT_EQ(problems(a, Target::msccl),
            Problems{"HK0413 rank 0 has 1 input chunks, but msccl expects 2 (or 0 for none) when 2 "
                     "chunks are a loop"});
  EXPECT_EQ(problems(a, Target::msccl_executor), Problems{});
  a.collective = allgather(2, 1);                    // the input is a rank's share of the loop
  EXPECT_EQ(problems(a, Target::msccl).size(), 1U);  // rank 1 still has 2
  a.ranks[1].input_chunks = 1;
  EXPECT_EQ(problems(a, Target::msccl), Problems{});
}

// Reduces in a row into one place are merged by the loaders, which count wrongly.
TEST(Limits, FusedReduces) {
  const auto chain = [](std::size_t n, const std::function<void(std::size_t, Step&)>& change) {
    return with_steps(n, [&](std::size_t i, Step& step) {
      step.op = OpCode::reduce;
      step.src_buffer = BufferKind::scratch;
      step.src_offset = static_cast<std::int32_t>(i);
      change(i, step);
    });
  };
  const auto nothing = [](std::size_t, Step&) {};
  const std::string complaint =
      "HK0414 rank 0 threadblock 1 step 15: more than 15 reduces into output[1] in a row, which "
      "rccl "
      "merges into one and then loses the destination's old value";
  EXPECT_EQ(problems(chain(15, nothing), Target::rccl), Problems{});
  EXPECT_EQ(problems(chain(16, nothing), Target::rccl), Problems{complaint});
  // They merge none with the 16th of a threadblock; what follows is another chain.
  EXPECT_EQ(problems(chain(31, nothing), Target::rccl), Problems{complaint});
  EXPECT_EQ(problems(chain(32, nothing), Target::rccl).size(), 2U);
  EXPECT_EQ(problems(chain(40, nothing), Target::hocket), Problems{});
  // Each of these ends the merging.
  EXPECT_EQ(
      problems(chain(30, [](std::size_t i, Step& s) { s.has_dependent = i == 14; }), Target::rccl),
      Problems{});
  EXPECT_EQ(problems(chain(30,
                           [](std::size_t i, Step& s) {
                             if (i != 15) return;
                             s.depend_tb = 0;
                             s.depend_step = 0;
                           }),
                     Target::rccl),
            Problems{});
  EXPECT_EQ(problems(chain(30,
                           [](std::size_t i, Step& s) {
                             if (i >= 15) s.dst_offset = 0;
                           }),
                     Target::rccl),
            Problems{});
  EXPECT_EQ(problems(chain(30,
                           [](std::size_t i, Step& s) {
                             if (i == 15) s.op = OpCode::copy;
                           }),
                     Target::rccl),
            Problems{});
  // A nop between does not.
  EXPECT_EQ(problems(chain(17,
                           [](std::size_t i, Step& s) {
                             if (i != 7) return;
                             s = Step();
                             s.depend_tb = 0;
                             s.depend_step = 0;
                           }),
                     Target::rccl)
                .back()
                .substr(0, 41),
            "HK0414 rank 0 threadblock 1 step 16: more");
}

TEST(Limits, DependencesThatTheLoadersLose) {
  const Algorithm bare = with_steps(2, [](std::size_t i, Step& s) {
    if (i == 0) s = Step();
  });
  EXPECT_EQ(
      problems(bare, Target::msccl),
      (Problems{"HK0415 rank 0 threadblock 1 step 0: a nop without a dependence, after which "
                "the runtimes misnumber the steps",
                "HK0415 rank 0 threadblock 1 step 1: no dependence of its own after a nop, whose "
                "dependence the runtimes then refuse"}));
  EXPECT_EQ(problems(bare, Target::hocket), Problems{});
}

TEST(Limits, Ranks) {
  Algorithm a = plain();
  a.ranks.resize(1024);
  EXPECT_EQ(problems(a, Target::msccl_executor), Problems{});
  a.ranks.resize(1025);
  EXPECT_EQ(problems(a, Target::msccl_executor),
            Problems{"HK0416 1025 ranks, but the reader of msccl-executor keeps 1024"});
  EXPECT_EQ(problems(a, Target::hocket), Problems{});
}

// Rank 0 and its peer; LL unless said.
Problems unfenced(const std::string& rank0, const std::string& rank1, Target target = Target::rccl,
                  const std::string& root = "proto=LL") {
  return problems(from_text("algorithm \"a\" channels=2 " + root +
                            "\ncollective allreduce ranks=2 factor=2\nrank 0 scratch=2\n" + rank0 +
                            "\nrank 1 scratch=2\n" + rank1),
                  target);
}

constexpr const char* kAnswers = "tb 0 send=0 recv=0\n r i[0] -> s[0]\n s s[0] -> i[0]\n";
constexpr const char* kTakes = "tb 0 recv=0\n r i[0] -> s[0]\n";

TEST(Limits, SendsInLLWhoseSourceIsOverwrittenTooEarly) {
  const Problems same{
      "HK0417 rank 0 threadblock 0 step 1 (cpy) may overwrite what step 0 (s) of threadblock 0 "
      "still reads: in LL, rccl does not end a send with a barrier"};
  const std::string order = "tb 0 send=1\n s i[0] -> s[0]\n cpy i[1] -> i[0]\n";
  EXPECT_EQ(unfenced(order, kTakes), same);
  EXPECT_EQ(unfenced(order, kTakes, Target::rccl, "proto=LL128"), Problems{});
  EXPECT_EQ(unfenced(order, kTakes, Target::rccl, "proto=Simple"), Problems{});
  EXPECT_EQ(unfenced(order, kTakes, Target::msccl), Problems{});
  EXPECT_EQ(unfenced(order, kTakes, Target::msccl_executor), Problems{});
  EXPECT_EQ(unfenced(order, kTakes, Target::hocket), Problems{});
  // Its own flag is no better than program order, and another send is no barrier.
  EXPECT_EQ(
      unfenced("tb 0 send=1\n s i[0] -> s[0] signals\ntb 1\n cpy i[1] -> i[0] after=0:0\n", kTakes),
      (Problems{"HK0417 rank 0 threadblock 1 step 0 (cpy) may overwrite what step 0 (s) of "
                "threadblock 0 still reads: in LL, rccl does not end a send with a barrier"}));
  EXPECT_EQ(unfenced("tb 0 send=1\n s i[0] -> s[0]\n s i[1] -> s[1] signals\n"
                     "tb 1\n cpy i[1] -> i[0] after=0:1\n",
                     "tb 0 recv=0\n r i[0] -> s[0]\n r i[1] -> s[1]\n")
                .size(),
            1U);
  // In place, output is input.
  const std::string output = "tb 0 send=1\n s i[0] -> s[0]\n cpy i[1] -> o[0]\n";
  EXPECT_EQ(unfenced(output, kTakes, Target::rccl, "proto=LL in_place"), same);
  EXPECT_EQ(unfenced(output, kTakes), Problems{});
}

TEST(Limits, SendsInLLThatAreReadInTime) {
  // Written before, in this threadblock or in another.
  EXPECT_EQ(unfenced("tb 0 send=1\n cpy i[1] -> i[0]\n s i[0] -> s[0]\n", kTakes), Problems{});
  EXPECT_EQ(
      unfenced("tb 0 send=1\n s i[0] -> s[0] after=1:0\ntb 1\n cpy i[1] -> i[0] signals\n", kTakes),
      Problems{});
  // A step that ends with a barrier lies between, or its flag.
  EXPECT_EQ(
      unfenced("tb 0 send=1\n s i[0] -> s[0]\n cpy i[1] -> s[1]\n cpy i[1] -> i[0]\n", kTakes),
      Problems{});
  EXPECT_EQ(unfenced("tb 0 send=1\n s i[0] -> s[0]\n cpy i[1] -> s[1] signals\n"
                     "tb 1\n cpy i[1] -> i[0] after=0:1\n",
                     kTakes),
            Problems{});
  // The threads meet before a step that waits.
  EXPECT_EQ(unfenced("tb 0 send=1\n s i[0] -> s[0]\n cpy i[1] -> i[0] after=1:0\n"
                     "tb 1\n cpy i[1] -> s[1] signals\n",
                     kTakes),
            Problems{});
  // What comes back was read before it left.
  EXPECT_EQ(unfenced("tb 0 send=1 recv=1\n s i[0] -> s[0]\n r s[0] -> i[0]\n", kAnswers),
            Problems{});
}

TEST(Limits, OfEachKindOnlyAFewAreListed) {
  const Algorithm a = with_steps(50, [](std::size_t, Step& s) { s.count = 100; });
  EXPECT_EQ(problems(a, Target::msccl).size(), 3U);
  EXPECT_EQ(problems(a, Target::msccl, 7).size(), 7U);
}

TEST(Limits, NameTheUsersLine) {
  const Algorithm a = from_text(
      "algorithm \"a\"\ncollective allreduce ranks=1 factor=1\nrank 0\ntb 0\n"
      "cpy i[0] -> o[0] cnt=72 @mine.cpp:4\n");
  const std::vector<Diagnostic> found = check_limits(a, Target::msccl);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].where, Location("mine.cpp", 4));
}

}  // namespace
}  // namespace hocket
