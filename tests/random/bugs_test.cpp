// Twelve program shapes for which the original compiler makes wrong output (the B1 to B12 of the
// language description): each must compile to an algorithm that the judge accepts and that
// computes, on real data, what the program says.
#include <gtest/gtest.h>

#include <algorithm>

#include "hocket/compile.h"
#include "hocket/hocket.h"
#include "random/execution.h"
#include "support/interpreter.h"
#include "support/judge.h"

namespace hocket::random_test {
namespace {

constexpr BufferKind kIn = BufferKind::input;
constexpr BufferKind kOut = BufferKind::output;

// `ranks` ranks with `chunks` chunks of input and output, all input held, nothing said of the end.
CustomCollective plain(int ranks, int chunks) {
  CustomCollective c("plain", ranks);
  for (int r = 0; r < ranks; ++r) {
    c.buffers(r, chunks, chunks);
    for (int i = 0; i < chunks; ++i) c.holds(r, {kIn, i}, {r, i});
  }
  return c;
}

// Compiles `trace` for `target`, judges it, compares with the meaning on contents and on data.
Algorithm compile_right(const Program& program, Target target = Target::hocket) {
  CompileOptions options;
  options.target = target;
  options.check_limits = false;
  Algorithm algorithm = compile(program, options);
  const oracle::Verdict verdict = oracle::judge(algorithm, {.target = target});
  EXPECT_TRUE(verdict.clean()) << oracle::str(verdict.findings);
  if (!verdict.clean()) return algorithm;
  EXPECT_TRUE(verdict.compared);
  const Trace& trace = program.trace();
  const int parts = algorithm.collective.chunk_factor() / trace.collective.chunk_factor();
  const auto meaning = oracle::interpret(trace, parts);
  for (std::uint64_t choice = 0; choice < 14; ++choice) {
    EXPECT_EQ(execute_and_compare(algorithm, meaning, choice), "");
  }
  return algorithm;
}

void compile_right_for_all(const Program& program) {
  for (const Target target : all_targets()) {
    SCOPED_TRACE(target_name(target));
    compile_right(program, target);
  }
}

int count_of(const Algorithm& algorithm, OpCode op) {
  return static_cast<int>(std::count_if(algorithm.steps.begin(), algorithm.steps.end(),
                                        [op](const Step& s) { return s.op == op; }));
}

TEST(Bugs, B1AndB9LocalReduceOfTwoInputs) {
  CustomCollective c = plain(2, 2);
  c.requires_(0, {kIn, 0}, {{0, 0}, {0, 1}}).requires_(1, {kOut, 0}, {{0, 0}, {0, 1}});
  Program p("b1", fully_connected(2), c.build());
  p.chunk(0, Buffer::input, 0).reduce(p.chunk(0, Buffer::input, 1)).copy(1, Buffer::output, 0);
  EXPECT_TRUE(p.check().ok()) << p.check().str();
  compile_right_for_all(p);
  EXPECT_EQ(count_of(compile_right(p), OpCode::reduce), 1);
}

TEST(Bugs, B2TheNextHopSendsOtherChunksThanArrived) {
  CustomCollective c = plain(3, 3);
  // Rank 1 receives chunks 0 and 1, and sends its chunks 1 and 2 to index 0 of rank 2.
  c.requires_(2, {kIn, 0}, {{0, 1}}).requires_(2, {kIn, 1}, {{1, 2}});
  c.requires_(1, {kIn, 0}, {{0, 0}}).requires_(1, {kIn, 1}, {{0, 1}});
  Program p("b2", fully_connected(3), c.build());
  p.chunk(0, Buffer::input, 0, 2).copy(1, Buffer::input, 0);
  p.chunk(1, Buffer::input, 1, 2).copy(2, Buffer::input, 0);
  EXPECT_TRUE(p.check().ok()) << p.check().str();
  compile_right_for_all(p);
}

TEST(Bugs, B3AChunkOverwrittenBetweenReceiveAndSend) {
  CustomCollective c = plain(3, 3);
  c.requires_(2, {kIn, 0}, {{0, 0}}).requires_(2, {kIn, 1}, {{1, 2}});
  Program p("b3", fully_connected(3), c.build());
  p.chunk(0, Buffer::input, 0, 2).copy(1, Buffer::input, 0);
  p.chunk(1, Buffer::input, 2).copy(1, Buffer::input, 1);
  p.chunk(1, Buffer::input, 0, 2).copy(2, Buffer::input, 0);
  EXPECT_TRUE(p.check().ok()) << p.check().str();
  compile_right_for_all(p);
}

TEST(Bugs, B4ASumOfWhichOnlyOneChunkIsOverwritten) {
  CustomCollective c = plain(3, 2);
  c.requires_(1, {kIn, 0}, {{2, 0}}).requires_(1, {kIn, 1}, {{0, 1}, {1, 1}});
  c.requires_(2, {kIn, 0}, {{0, 0}, {1, 0}}).requires_(2, {kIn, 1}, {{0, 1}, {1, 1}});
  Program p("b4", fully_connected(3), c.build());
  const Ref late = p.chunk(2, Buffer::input, 0).copy(2, "late", 0);
  p.chunk(1, Buffer::input, 0, 2).reduce(p.chunk(0, Buffer::input, 0, 2));
  p.chunk(1, Buffer::input, 0, 2).copy(2, Buffer::input, 0);
  late.copy(1, Buffer::input, 0);
  EXPECT_TRUE(p.check().ok()) << p.check().str();
  compile_right_for_all(p);
}

// Rank 1 forwards through scratch whose layout differs from its neighbours'.
TEST(Bugs, B5AFusedStepWithScratchLaidOutDifferently) {
  CustomCollective c = plain(4, 1);
  c.requires_(3, {kOut, 0}, {{0, 0}})
      .requires_(1, {kOut, 0}, {{2, 0}})
      .requires_(0, {kOut, 0}, {{0, 0}});
  Program p("b5", fully_connected(4), c.build());
  // "first" comes before "way" on rank 1 only, and what it holds is still needed later.
  const Ref kept = p.chunk(2, Buffer::input, 0).copy(1, "first", 0);
  const Ref way = p.chunk(0, Buffer::input, 0).copy(1, "way", 0);
  way.copy(2, "way", 0).copy(3, Buffer::output, 0);
  kept.copy(1, Buffer::output, 0);
  way.copy(0, Buffer::output, 0);
  EXPECT_TRUE(p.check().ok()) << p.check().str();
  compile_right_for_all(p);
}

// The published program, as its Python source has it.
Program all_to_next_backwards(int nodes, int instances) {
  const int gpus = 8;
  const int ranks = nodes * gpus;
  Program p("alltonext_backwards", fully_connected(ranks), all_to_next_backward(ranks, gpus),
            {.instances = instances});
  for (int n = 0; n < nodes; ++n) {
    const std::string hop = "s" + std::to_string(n);
    for (int g = 0; g < gpus; ++g) {
      const int r = n * gpus + g;
      if (r == 0) continue;
      if (g != 0) {
        p.chunk(r, Buffer::input, 0, gpus).copy(r - 1, Buffer::output, 0, {.channel = g % 2});
        continue;
      }
      for (int i = 0; i < gpus; ++i) {
        const Via via{.channel = i % 2};
        Ref chunk = p.chunk(r, Buffer::input, i);
        if (i == 0) {
          chunk = chunk.copy((n - 1) * gpus, hop, 0, via);
        } else if (i == gpus - 1) {
          chunk = chunk.copy(n * gpus + i, hop, 0, via);
        } else {
          chunk = chunk.copy(n * gpus + i, hop, 0, via).copy((n - 1) * gpus + i, hop, 0, via);
        }
        chunk.copy(r - 1, Buffer::output, i, via);
      }
    }
  }
  return p;
}

TEST(Bugs, B5ThePublishedAllToNextProgramsForManySizes) {
  constexpr std::pair<int, int> kSizes[] = {{2, 1}, {2, 4},  {3, 1}, {4, 2},
                                            {8, 1}, {16, 8}, {32, 1}};
  for (const auto& [nodes, instances] : kSizes) {
    SCOPED_TRACE(std::to_string(nodes) + " nodes, " + std::to_string(instances) + " instances");
    const Program p = all_to_next_backwards(nodes, instances);
    EXPECT_TRUE(p.check().ok()) << p.check().str();
    compile_right(p, Target::msccl);
  }
}

TEST(Bugs, B6AReduceBetweenDifferentIndicesAndBuffers) {
  CustomCollective c = plain(2, 3);
  c.requires_(1, {kIn, 0}, {{0, 2}, {1, 0}}).requires_(1, {kOut, 1}, {{0, 1}, {1, 2}});
  Program p("b6", fully_connected(2), c.build());
  p.chunk(1, Buffer::input, 0).reduce(p.chunk(0, Buffer::input, 2));
  p.chunk(1, Buffer::input, 2).copy(1, Buffer::output, 1).reduce(p.chunk(0, Buffer::input, 1));
  EXPECT_TRUE(p.check().ok()) << p.check().str();
  compile_right_for_all(p);
  // The operand is local: the place that is reduced into, or the one it was copied from.
  const Algorithm a = compile_right(p, Target::msccl);
  for (const Step& s : a.steps) {
    if (s.op == OpCode::recv_reduce_copy) {
      EXPECT_EQ(s.src_buffer, BufferKind::input);
      EXPECT_EQ(s.src_offset, s.dst_buffer == BufferKind::input ? 0 : 2);
    }
  }
}

// Chains that cross and turn back, where a channel chosen for one end must hold for the other.
TEST(Bugs, B7AndB8ChannelsOfFusedChainsThatCross) {
  for (int ranks = 2; ranks <= 5; ++ranks) {
    SCOPED_TRACE(std::to_string(ranks) + " ranks");
    Program p("b7", fully_connected(ranks), alltoall(ranks, 1));
    for (int src = 0; src < ranks; ++src) {
      for (int dst = 0; dst < ranks; ++dst) {
        Ref chunk = p.chunk(src, Buffer::input, dst);
        const std::string name = "c" + std::to_string(src) + "_" + std::to_string(dst);
        // The long way round, in a direction that alternates.
        const int step = (src + dst) % 2 == 0 ? 1 : ranks - 1;
        for (int at = (src + step) % ranks; at != dst; at = (at + step) % ranks) {
          chunk = chunk.copy(at, name, 0);
        }
        chunk.copy(dst, Buffer::output, src);
      }
    }
    EXPECT_TRUE(p.check().ok()) << p.check().str();
    compile_right_for_all(p);
  }
}

TEST(Bugs, B8APingPongAcrossOneLink) {
  CustomCollective c = plain(3, 1);
  c.requires_(2, {kOut, 0}, {{1, 0}});
  Program p("b8", fully_connected(3), c.build());
  p.chunk(1, Buffer::input, 0)
      .copy(0, "s", 0)
      .copy(1, "s", 1)
      .copy(0, "s", 2)
      .copy(1, "s", 3)
      .copy(2, Buffer::output, 0);
  EXPECT_TRUE(p.check().ok()) << p.check().str();
  compile_right_for_all(p);
}

// Recursive doubling: operations of 1, 2 and 4 chunks meet on the same places.
TEST(Bugs, B10OperationsOfSeveralSizesWithInstances) {
  for (const int instances : {1, 2, 3, 4}) {
    SCOPED_TRACE(instances);
    const int ranks = 8;
    Program p("b10", fully_connected(ranks), allgather(ranks, 1), {.instances = instances});
    for (int r = 0; r < ranks; ++r) p.chunk(r, Buffer::input, 0).copy(r, Buffer::output, r);
    for (int size = 1; size < ranks; size *= 2) {
      for (int r = 0; r < ranks; ++r) {
        const int from = r / size * size;
        p.chunk(r, Buffer::output, from, size).copy(r ^ size);
      }
    }
    EXPECT_TRUE(p.check().ok()) << p.check().str();
    compile_right_for_all(p);
  }
}

// `re; send; re` of one threadblock, where the second reduction waits for the answer to the send.
TEST(Bugs, B11WaitsMustNotBeHoistedBeforeTheSendThatTheyNeed) {
  for (const Placement placement : {Placement::automatic, Placement::manual}) {
    CustomCollective c = plain(2, 3);
    c.requires_(0, {kIn, 0}, {{0, 0}, {0, 1}});
    c.requires_(0, {kIn, 2}, {{0, 2}, {0, 0}, {0, 1}, {1, 0}});
    const bool by_hand = placement == Placement::manual;
    Program p("b11", fully_connected(2), c.build(),
              {.placement = placement, .dependence_nop = true});
    const auto via = [&](int channel, int send_tb, int recv_tb) {
      return by_hand ? Via{channel, send_tb, recv_tb} : Via{};
    };
    p.chunk(0, Buffer::input, 0).reduce(p.chunk(0, Buffer::input, 1), via(-1, 0, -1));
    p.chunk(0, Buffer::input, 0).copy(1, "asked", 0, via(0, 0, 0));
    p.chunk(1, "asked", 0).reduce(p.chunk(1, Buffer::input, 0), via(-1, 0, -1));
    p.chunk(1, "asked", 0).copy(0, "answer", 0, via(1, 1, 1));
    p.chunk(0, Buffer::input, 2).reduce(p.chunk(0, "answer", 0), via(-1, 0, -1));
    EXPECT_TRUE(p.check().ok()) << p.check().str();
    compile_right_for_all(p);
  }
}

// A local operation without a channel in a threadblock that communicates on channel 3.
TEST(Bugs, B12ALocalOperationDoesNotMoveItsThreadblockToChannel0) {
  CustomCollective c = plain(2, 2);
  c.requires_(1, {kOut, 0}, {{0, 0}})
      .requires_(1, {kOut, 1}, {{0, 1}})
      .requires_(0, {kOut, 0}, {{0, 0}});
  Program p("b12", fully_connected(2), c.build(), {.placement = Placement::manual});
  p.chunk(0, Buffer::input, 0).copy(1, Buffer::output, 0, {3, 0, 0});
  p.chunk(0, Buffer::input, 0).copy(0, Buffer::output, 0, {.send_tb = 0});
  p.chunk(0, Buffer::input, 1).copy(1, Buffer::output, 1, {3, 0, 0});
  EXPECT_TRUE(p.check().ok()) << p.check().str();
  compile_right_for_all(p);
}

// Sends without a channel after one that names it stay on its connection.
TEST(Bugs, B12ASendWithoutAChannelKeepsItsThreadblocksChannel) {
  CustomCollective c = plain(2, 2);
  c.requires_(1, {kOut, 0}, {{0, 0}}).requires_(1, {kOut, 1}, {{0, 1}});
  Program p("b12", fully_connected(2), c.build(), {.placement = Placement::manual});
  p.chunk(0, Buffer::input, 0).copy(1, Buffer::output, 0, {3, 0, 0});
  p.chunk(0, Buffer::input, 1).copy(1, Buffer::output, 1, {-1, 0, 0});
  EXPECT_TRUE(p.check().ok()) << p.check().str();
  compile_right_for_all(p);
}

// Batched replication puts allgather's data in the wrong place: refused, with the user's line.
TEST(Bugs, BatchedReplicationIsRefusedWhereItWouldMisplaceData) {
  Program p("batched", fully_connected(2), allgather(2, 1),
            {.instances = 2, .replication = Replication::batched});
  for (int r : {0, 1}) {
    const Ref c = p.chunk(r, Buffer::input, 0).copy(r, Buffer::output, r);
    c.copy(1 - r);
  }
  try {
    compile(p);
    FAIL() << "compiled";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::BatchedWrong);
    EXPECT_NE(e.diagnostic().where.line, 0U);
  }
}

}  // namespace
}  // namespace hocket::random_test
