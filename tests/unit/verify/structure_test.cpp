// What is wrong with a step, a connection or a chain of reduces, whatever the schedule.
#include "verify/structure.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "hocket/format.h"
#include "support/build.h"
#include "support/structure.h"
#include "tiny_algorithm.h"
#include "verify/loaded.h"

namespace hocket::verifying {
namespace {

using oracle::Build;
using oracle::kIn;
using oracle::kOut;
using oracle::kScratch;
using oracle::TbBuild;

PropertyRuling loaded(const Algorithm& a, Loaded& out) {
  PropertyRuling structure;
  EXPECT_TRUE(load(a, a.collective, a.in_place, 1 << 20, out, structure));
  return structure;
}

PropertyRuling structure_of(const Algorithm& a) {
  Loaded out;
  return loaded(a, out);
}

void expect_only(const Algorithm& a, Code code, StepPlace at, const std::string& message) {
  const PropertyRuling structure = structure_of(a);
  EXPECT_EQ(structure.ruling, Ruling::refuted) << message;
  ASSERT_EQ(structure.findings.size(), 1U) << message;
  EXPECT_EQ(structure.findings[0].diagnostic.message, message);
  EXPECT_EQ(structure.findings[0].diagnostic.code, code) << message;
  EXPECT_EQ(structure.findings[0].at, at) << message;
}

// Two ranks of two chunks and two of scratch, each with a threadblock that may send and receive.
struct Pair {
  explicit Pair(bool in_place = false) : build(allreduce(2, 2, in_place)) {
    build.scratch(0, 2).scratch(1, 2);
  }
  Build build;
  TbBuild& a = build.tb(0, 1, 1);
  TbBuild& b = build.tb(1, 0, 0);
};

TEST(Structure, a_right_one_is_loaded) {
  Pair p;
  p.a.send(kIn, 0, 2).recv(kScratch, 0, 2).flag();
  p.b.send(kIn, 0, 2).recv(kScratch, 0, 2);
  p.build.tb(0).copy(kIn, 0, kOut, 0, 2).flag();
  TbBuild& last = p.build.tb(0);
  last.nop(1, 0).reduce(kScratch, 0, kOut, 0).on(0, 1).reduce(kScratch, 1, kOut, 0);
  const Algorithm a = p.build.done();
  Loaded out;
  const PropertyRuling structure = loaded(a, out);
  EXPECT_EQ(structure.ruling, Ruling::proved);
  EXPECT_EQ(structure.summary, "8 steps in 4 threadblocks; every send meets its receive");

  // Instructions by block: 2 of rank 0 tb 0, the copy, the reduces that are one, 2 of rank 1.
  ASSERT_EQ(out.instrs.size(), 6U);
  EXPECT_EQ(out.instrs[1].partner, 4U);
  EXPECT_EQ(out.receiver_of[4], 1U);
  EXPECT_EQ(out.receiver_of[0], 5U);
  const Instr& merged = out.instrs[3];
  EXPECT_EQ(merged.step, 1);
  EXPECT_EQ(merged.last_step, 2);
  EXPECT_EQ(merged.more_sources, 1U);
  ASSERT_EQ(out.sources_of(3).size(), 1U);
  EXPECT_EQ(out.sources_of(3)[0], 1);
  // The wait of the nop, then its own.
  ASSERT_EQ(out.waits_of(3).size(), 2U);
  EXPECT_EQ(out.waits_of(3)[0], 2U);
  EXPECT_EQ(out.waits_of(3)[1], 1U);
  // 2 + 2 + 2 cells a rank, none aliased.
  EXPECT_EQ(out.num_cells(), 12U);
  EXPECT_NE(out.cell(0, kIn, 1), out.cell(0, kOut, 1));
}

TEST(Structure, in_place_two_names_are_one_cell) {
  Pair p(true);
  const Algorithm a = p.build.done();
  Loaded out;
  ASSERT_EQ(loaded(a, out).ruling, Ruling::proved);
  EXPECT_EQ(out.cell(1, kIn, 1), out.cell(1, kOut, 1));
  EXPECT_NE(out.cell(1, kIn, 1), out.cell(1, kIn, 0));
  EXPECT_NE(out.cell(1, kIn, 1), out.cell(0, kIn, 1));
}

TEST(Structure, operands_with_their_count) {
  {
    Pair p;
    p.build.tb(0).copy(kIn, 1, kOut, 0, 2);
    expect_only(p.build.done(), Code::VerifyStructure, {0, 1, 0},
                "rank 0 tb 1 step 0 (cpy) uses input[1, +2], but rank 0 has 2 chunks of it");
  }
  {
    Pair p;
    p.build.tb(1).copy(kIn, 0, kOut, -1);
    expect_only(p.build.done(), Code::VerifyStructure, {1, 1, 0},
                "rank 1 tb 1 step 0 (cpy) uses output[-1], but rank 1 has 2 chunks of it");
  }
  {
    Pair p;
    p.build.tb(0).copy(kIn, 0, kOut, 0, 0);
    expect_only(p.build.done(), Code::VerifyStructure, {0, 1, 0},
                "rank 0 tb 1 step 0 (cpy) has a count of 0");
  }
  {
    Build b(allreduce(1, 1));
    b.tb(0).copy(kIn, 0, kScratch, 0);
    expect_only(b.done(), Code::VerifyStructure, {0, 0, 0},
                "rank 0 tb 0 step 0 (cpy) uses scratch[0], but rank 0 has no scratch by that name");
  }
  {
    // What a step does not use may be anything: the destination of `s`, the source of `r`.
    Pair p;
    p.a.step(OpCode::send, kIn, 0, kOut, 99).step(OpCode::recv, kIn, -7, kOut, 0);
    p.b.step(OpCode::send, kIn, 0, kOut, 99).step(OpCode::recv, kScratch, 99, kOut, 0);
    EXPECT_EQ(structure_of(p.build.done()).ruling, Ruling::proved);
  }
}

TEST(Structure, overlap_inside_a_step) {
  {
    Build b(allreduce(1, 3));
    b.tb(0).copy(kIn, 0, kIn, 1, 2);
    expect_only(b.done(), Code::VerifyStructure, {0, 0, 0},
                "rank 0 tb 0 step 0 (cpy) reads input[0, +2] and writes input[1, +2]: they overlap "
                "without being the same");
  }
  {
    Build b(allreduce(1, 3, true));
    b.tb(0).copy(kIn, 0, kOut, 1, 2);
    expect_only(b.done(), Code::VerifyStructure, {0, 0, 0},
                "rank 0 tb 0 step 0 (cpy) reads input[0, +2] and writes output[1, +2], one memory "
                "in place: they overlap without being the same");
  }
  {
    Build b(allreduce(1, 3));
    b.tb(0).copy(kIn, 0, kOut, 1, 2);
    EXPECT_EQ(structure_of(b.done()).ruling, Ruling::proved);
  }
  {
    Build b(allreduce(1, 3));
    b.tb(0).reduce(kIn, 1, kIn, 1);
    expect_only(b.done(), Code::VerifyStructure, {0, 0, 0},
                "rank 0 tb 0 step 0 (re) reduces a place with itself");
  }
}

TEST(Structure, peers_and_channels) {
  const auto with = [](const std::function<void(ThreadBlock&)>& change) {
    Build b(allreduce(2, 1));
    change(b.tb(0).tb);
    Algorithm a = b.done();
    a.num_channels = 1;
    return a;
  };
  expect_only(with([](ThreadBlock& tb) { tb.send = 2; }), Code::VerifyStructure, {0, 0},
              "rank 0 tb 0 sends to rank 2, but the algorithm has 2 ranks");
  expect_only(with([](ThreadBlock& tb) { tb.recv = -2; }), Code::VerifyStructure, {0, 0},
              "rank 0 tb 0 receives from rank -2, but the algorithm has 2 ranks");
  expect_only(with([](ThreadBlock& tb) { tb.recv = 0; }), Code::VerifyStructure, {0, 0},
              "rank 0 tb 0 receives from its own rank");
  expect_only(with([](ThreadBlock& tb) { tb.channel = 1; }), Code::VerifyStructure, {0, 0},
              "rank 0 tb 0 is on channel 1, but there are 1");
  Build none(allreduce(2, 1));
  none.tb(0).send(kIn, 0);
  expect_only(none.done(), Code::VerifyStructure, {0, 0, 0},
              "rank 0 tb 0 step 0 (s) sends, but its threadblock has no peer to send to");
}

TEST(Structure, sizes_of_buffers) {
  Algorithm a = Build(allreduce(2, 2)).done();
  a.ranks[1].output_chunks = 3;
  expect_only(a, Code::VerifyStructure, {1},
              "rank 1 has 3 chunks of output, but its collective gives it 2");
  a.ranks[1].output_chunks = 0;  // not used by name
  EXPECT_EQ(structure_of(a).ruling, Ruling::proved);
  a.chunks_per_loop = 4;
  expect_only(a, Code::VerifyStructure, {}, "4 chunks a loop, but the largest buffer has 2");
  a.ranks.pop_back();
  expect_only(a, Code::VerifyStructure, {}, "the algorithm has 1 ranks, but its collective 2");
}

TEST(Structure, dependences) {
  const auto with = [](int tb, int step, bool flag) {
    Build b(allreduce(1, 1));
    b.scratch(0, 1);
    TbBuild& first = b.tb(0);
    first.copy(kIn, 0, kOut, 0);
    if (flag) first.flag();
    first.nop(1, 0).copy(kIn, 0, kScratch, 0).on(1, 0);
    b.tb(0).copy(kIn, 0, kOut, 0).on(tb, step).flag();
    return b.done();
  };
  EXPECT_EQ(structure_of(with(0, 0, true)).ruling, Ruling::proved);
  expect_only(with(2, 0, true), Code::VerifyStructure, {0, 1, 0},
              "rank 0 tb 1 step 0 waits for tb 2, which is not there");
  expect_only(with(0, 3, true), Code::VerifyStructure, {0, 1, 0},
              "rank 0 tb 1 step 0 waits for step 3 of tb 0, which has 3 steps");
  expect_only(with(0, -1, true), Code::VerifyStructure, {0, 1, 0},
              "rank 0 tb 1 step 0 waits for step -1 of tb 0, which has 3 steps");
  expect_only(with(0, 1, true), Code::VerifyStructure, {0, 1, 0},
              "rank 0 tb 1 step 0 waits for step 1 of tb 0, a nop, which shows no flag");
  expect_only(with(0, 0, false), Code::VerifyStructure, {0, 1, 0},
              "rank 0 tb 1 step 0 waits for step 0 of tb 0, which shows no flag (hasdep is 0)");
  expect_only(with(1, 0, true), Code::VerifyStructure, {0, 1, 0},
              "rank 0 tb 1 step 0 waits for itself");
}

TEST(Structure, nops) {
  const auto with = [](const std::function<void(TbBuild&)>& steps) {
    Build b(allreduce(1, 1));
    steps(b.tb(0));
    b.tb(0).copy(kIn, 0, kOut, 0).flag();
    return b.done();
  };
  expect_only(with([](TbBuild& tb) { tb.nop(1, 0); }), Code::VerifyStructure, {0, 0, 0},
              "rank 0 tb 0 step 0 is a nop that no step follows: its dependence is lost");
  expect_only(with([](TbBuild& tb) { tb.nop(1, 0).copy(kIn, 0, kOut, 0); }), Code::VerifyStructure,
              {0, 0, 0},
              "rank 0 tb 0 step 0 is a nop before a step that has no dependence of its own: "
              "loaders refuse that");
  expect_only(with([](TbBuild& tb) { tb.nop(-1, -1).copy(kIn, 0, kOut, 0).on(1, 0); }),
              Code::VerifyStructure, {0, 0, 0},
              "rank 0 tb 0 step 0 is a nop without a dependence: it shifts the numbers of the "
              "steps after it");
}

TEST(Structure, connections) {
  {
    Build b(allreduce(2, 1));
    b.tb(0, 1);
    b.tb(0, 1).send(kIn, 0);
    b.tb(1, -1, 0).recv(kOut, 0);
    const PropertyRuling structure = structure_of(b.done());
    ASSERT_FALSE(structure.findings.empty());
    EXPECT_EQ(structure.findings[0].diagnostic.code, Code::VerifyConnection);
    EXPECT_EQ(structure.findings[0].diagnostic.message,
              "rank 0 tb 1 sends to rank 1 on channel 0, and so does tb 0");
  }
  {
    // Nothing uses it, but the runtimes connect both ends before they start.
    Build b(allreduce(2, 1));
    b.tb(0, 1);
    expect_only(b.done(), Code::VerifyConnection, {0, 0},
                "rank 0 tb 0 sends to rank 1 on channel 0, but no tb of rank 1 receives from rank "
                "0 there");
  }
  {
    Build b(allreduce(2, 1));
    b.tb(1, -1, 0);
    expect_only(b.done(), Code::VerifyConnection, {1, 0},
                "rank 1 tb 0 receives from rank 0 on channel 0, but no tb of rank 0 sends to rank "
                "1 there");
  }
  {
    Pair p;
    p.a.send(kIn, 0).send(kIn, 1).send(kIn, 0);
    p.b.recv(kOut, 0);
    expect_only(p.build.done(), Code::VerifyConnection, {0, 0, 1},
                "rank 0 tb 0 step 1 (s) has no partner: rank 0 sends 3 messages to rank 1 on "
                "channel 0, which receives 1");
  }
  {
    Pair p;
    p.a.send(kIn, 0, 2).send(kIn, 0);
    p.b.recv(kOut, 0, 2).recv(kOut, 0, 2);
    expect_only(p.build.done(), Code::VerifyConnection, {0, 0, 1},
                "rank 0 tb 0 step 1 (s) sends 1 chunks, but rank 1 tb 0 step 1 (r), its partner, "
                "receives 2");
  }
}

// Channel numbers up to 2^31 and ranks up to 2^20: no two connections are taken for one.
TEST(Structure, connections_of_huge_channels) {
  constexpr int kRanks = 1 << 17;
  Build b(allreduce(kRanks, 1));
  b.tb(1, 0, -1, 0).send(kIn, 0);
  b.tb(0, -1, 1, 1 << 30).recv(kOut, 0);
  Algorithm a = b.done();
  Loaded out;
  PropertyRuling structure;
  ASSERT_TRUE(load(a, a.collective, false, 1 << 20, out, structure));
  EXPECT_EQ(structure.ruling, Ruling::refuted);
  EXPECT_EQ(structure.num_findings, 2);
}

TEST(Structure, chains_of_reduces) {
  {
    Build b(allreduce(1, 3));
    b.tb(0).reduce(kIn, 0, kOut, 0).reduce(kIn, 1, kOut, 0, 2);
    expect_only(b.done(), Code::VerifyMerge, {0, 0, 1},
                "rank 0 tb 0 step 1 (re, count 2) is merged with step 0 (re, count 1), and loaders "
                "use one count for both");
  }
  {
    Build b(allreduce(1, 3));
    b.tb(0).reduce(kIn, 0, kOut, 0).flag().reduce(kIn, 1, kOut, 0, 2);
    EXPECT_EQ(structure_of(b.done()).ruling, Ruling::proved);
  }
  {
    Build b(allreduce(1, 4));
    b.tb(0).reduce(kIn, 2, kIn, 0, 2).reduce(kIn, 1, kIn, 0, 2);
    const PropertyRuling structure = structure_of(b.done());
    EXPECT_EQ(structure.ruling, Ruling::refuted);
  }
  for (const int n : {15, 16}) {
    Build b(allreduce(1, 20));
    TbBuild& tb = b.tb(0);
    for (int k = 0; k < n; ++k) tb.reduce(kIn, k, kOut, 0);
    if (n == 15) {
      EXPECT_EQ(structure_of(b.done()).ruling, Ruling::proved);
    } else {
      expect_only(b.done(), Code::VerifyMerge, {0, 0, 15},
                  "rank 0 tb 0 step 15 (re) is the 16th that loaders merge into one instruction, "
                  "which holds 15");
    }
  }
}

// The loaders never merge with the 16th reduce of a threadblock, wherever the others were.
TEST(Structure, the_sixteenth_reduce_ends_a_chain) {
  for (const int before : {13, 14, 15, 16}) {
    Build b(allreduce(1, 20));
    TbBuild& tb = b.tb(0);
    for (int k = 0; k < before; ++k) tb.reduce(kIn, k, kOut, 0).flag();
    tb.reduce(kIn, 16, kOut, 0);     // merged with none before
    tb.reduce(kIn, 17, kOut, 0, 2);  // merged with it, unless that was the 16th
    const Algorithm a = b.done();
    EXPECT_EQ(structure_of(a).ruling, before == 15 ? Ruling::proved : Ruling::refuted) << before;
    EXPECT_EQ(oracle::check_merges(oracle::view_of(a, a.in_place), {}).empty(), before == 15)
        << before;
  }
  // 10 by themselves, a chain of 6, a chain of 15.
  for (const int last : {15, 16}) {
    Build b(allreduce(1, 20));
    TbBuild& tb = b.tb(0);
    for (int k = 0; k < 10; ++k) tb.reduce(kIn, k, kOut, 1).flag();
    for (int k = 0; k < 6 + last; ++k) tb.reduce(kIn, k % 20, kOut, 0);
    EXPECT_EQ(structure_of(b.done()).ruling, last == 15 ? Ruling::proved : Ruling::refuted);
    const std::vector<Diagnostic> broken = check_limits(b.done(), Target::msccl);
    bool said = false;
    for (const Diagnostic& d : broken) said = said || d.code == Code::TooManyFusedReduces;
    EXPECT_EQ(said, last == 16);
  }
}

TEST(Structure, a_line_of_the_user_where_it_is_known) {
  const Algorithm a = from_text(
      "algorithm \"a\" proto=Simple channels=1 out_of_place\n"
      "collective allreduce ranks=1 factor=1\n"
      "rank 0 in=1 out=1 scratch=0\n"
      "  tb 0 chan=0\n"
      "    cpy i[0] -> o[3] @mine.cpp:7\n");
  const PropertyRuling structure = structure_of(a);
  ASSERT_EQ(structure.findings.size(), 1U);
  EXPECT_EQ(structure.findings[0].diagnostic.where, Location("mine.cpp", 7));
}

TEST(Structure, too_much_is_undecided) {
  const Algorithm a = Build(allreduce(2, 100)).done();
  Loaded out;
  PropertyRuling structure;
  EXPECT_FALSE(load(a, a.collective, false, 100, out, structure));
  EXPECT_EQ(structure.ruling, Ruling::undecided);
  EXPECT_EQ(structure.summary, "too large to be decided: its buffers have more than 100 chunks");
}

TEST(Structure, findings_are_counted_but_not_all_listed) {
  Build b(allreduce(1, 1));
  TbBuild& tb = b.tb(0);
  for (int k = 0; k < 30; ++k) tb.copy(kIn, 0, kOut, 5);
  const Algorithm a = b.done();
  Loaded out;
  PropertyRuling structure;
  load(a, a.collective, false, 1 << 20, out, structure, 4);
  EXPECT_EQ(structure.findings.size(), 4U);
  EXPECT_EQ(structure.num_findings, 30);
}

// A field of a right algorithm is changed: the slow checker says whether it is still right.
TEST(Structure, agrees_with_the_slow_checker) {
  int wrong = 0;
  int right = 0;
  for (std::uint64_t seed = 0; seed < 20'000; ++seed) {
    Algorithm a = tiny_algorithm(seed);
    std::mt19937_64 random(seed);
    const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    for (int change = below(3); change > 0 && !a.steps.empty(); --change) {
      Step& s = a.steps[random() % a.steps.size()];
      switch (below(8)) {
        case 0:
          s.src_offset = below(5) - 1;
          break;
        case 1:
          s.dst_offset = below(5) - 1;
          break;
        case 2:
          s.count = below(4);
          break;
        case 3:
          s.depend_tb = below(4) - 1;
          break;
        case 4:
          s.depend_step = below(5) - 1;
          break;
        case 5:
          s.has_dependent = !s.has_dependent;
          break;
        case 6:
          s.op = static_cast<OpCode>(below(kNumOps));
          break;
        case 7:
          s.src_buffer = static_cast<BufferKind>(below(3));
          break;
      }
    }
    const oracle::View view = oracle::view_of(a, a.in_place);
    const bool is_right = oracle::check_steps(view).empty() &&
                          oracle::check_connections(view).empty() &&
                          oracle::check_merges(view, {}).empty();
    const PropertyRuling structure = structure_of(a);
    ASSERT_EQ(structure.ruling, is_right ? Ruling::proved : Ruling::refuted)
        << seed << '\n'
        << to_text(a)
        << (structure.findings.empty() ? "" : structure.findings[0].diagnostic.message);
    ++(is_right ? right : wrong);
  }
  EXPECT_GT(right, 2000);
  EXPECT_GT(wrong, 2000);
}

}  // namespace
}  // namespace hocket::verifying
