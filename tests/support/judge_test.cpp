// The judge on algorithms written by hand: right ones pass, and each kind of fault is found and
// placed.
#include "support/judge.h"

#include <gtest/gtest.h>

#include "support/build.h"

namespace hocket::oracle {
namespace {

// The pair of msccl-ir-spec.md 8.1: two ranks, in place, fused.
Build pair_in_place() {
  Build b(allreduce(2, 2, /*in_place=*/true), Protocol::ll);
  for (int r : {0, 1}) {
    const int other = 1 - r;
    b.tb(r, other, other).send(kIn, other).rrcs(kIn, r, kIn, r).recv(kIn, other);
  }
  return b;
}

// The pair of msccl-ir-spec.md 8.2: out of place, with scratch, dependences and a nop.
Algorithm pair_out_of_place() {
  Build b(allreduce(2, 2));
  for (int r : {0, 1}) {
    const int other = 1 - r;
    b.scratch(r, 1);
    b.tb(r, other, other)
        .send(kIn, other)
        .recv(kScratch, 0)
        .flag()
        .send(kOut, r)
        .on(1, 1)
        .recv(kOut, other);
    b.tb(r).nop(2, 0).reduce(kScratch, 0, kOut, r).on(0, 1).flag();
    b.tb(r).copy(kIn, r, kOut, r).flag();
  }
  return b.done();
}

// Expects exactly one finding, of this kind and place, whose text has these words.
void expect_one(const Algorithm& algorithm, FindingKind kind, int rank, int tb, int step,
                const std::string& words, const JudgeOptions& options = {}) {
  const Findings findings = judge(algorithm, options).findings;
  ASSERT_EQ(findings.size(), 1U) << str(findings);
  EXPECT_EQ(findings[0].kind, kind) << str(findings);
  EXPECT_EQ(findings[0].rank, rank);
  EXPECT_EQ(findings[0].tb, tb);
  EXPECT_EQ(findings[0].step, step);
  EXPECT_NE(findings[0].text.find(words), std::string::npos) << findings[0].text;
}

void expect_has(const Algorithm& algorithm, FindingKind kind, const std::string& words,
                const JudgeOptions& options = {}) {
  const Findings findings = judge(algorithm, options).findings;
  for (const Finding& f : findings) {
    if (f.kind == kind && f.text.find(words) != std::string::npos) return;
  }
  ADD_FAILURE() << "no " << finding_kind_name(kind) << " with \"" << words << "\" in\n"
                << str(findings);
}

TEST(Judge, AcceptsTheFusedPair) {
  const Verdict verdict = judge(pair_in_place().done());
  EXPECT_TRUE(verdict.clean()) << str(verdict.findings);
  EXPECT_TRUE(verdict.compared);
  EXPECT_EQ(verdict.memory[1].at({kIn, 0}), (Content{{0, 0}, {1, 0}}));
}

TEST(Judge, AcceptsThePairWithScratchAndNop) {
  const Verdict verdict = judge(pair_out_of_place());
  EXPECT_TRUE(verdict.clean()) << str(verdict.findings);
  EXPECT_TRUE(verdict.compared);
}

TEST(Judge, FindsAStepOutsideItsBuffer) {
  Build b(allgather(1, 2));
  b.tb(0).copy(kIn, 1, kOut, 0, 2);
  expect_has(b.done(), FindingKind::structure, "input [1, +2) of a buffer of 2");
  Build s(allgather(1, 1));
  s.tb(0).copy(kIn, 0, kScratch, 0);
  expect_one(s.done(), FindingKind::structure, 0, 0, 0, "scratch [0, +1) of a buffer of 0");
}

TEST(Judge, FindsAStepWithoutItsPeer) {
  Build b(allgather(2, 1));
  b.tb(0).send(kIn, 0);
  expect_one(b.done(), FindingKind::structure, 0, 0, 0, "sends without a peer");
}

TEST(Judge, FindsAChannelOutOfRange) {
  Algorithm a = pair_out_of_place();
  a.num_channels = 0;
  expect_has(a, FindingKind::structure, "channel 0 of 0");
}

TEST(Judge, FindsWrongBufferSizes) {
  Algorithm a = pair_out_of_place();
  a.ranks[1].input_chunks = 3;
  expect_one(a, FindingKind::structure, 1, -1, -1, "3 chunks of input, but the collective has 2");
  a = pair_out_of_place();
  a.chunks_per_loop = 4;
  expect_one(a, FindingKind::structure, -1, -1, -1, "4 chunks a loop");
}

TEST(Judge, FindsAPartlyOverlappingStep) {
  Build b(allgather(1, 3));
  b.tb(0).copy(kIn, 0, kIn, 1, 2);
  expect_one(b.done(), FindingKind::structure, 0, 0, 0, "overlap");
  // In place, two names of one memory overlap too.
  Build in_place(allreduce(1, 3, true));
  in_place.tb(0).copy(kIn, 0, kOut, 1, 2);
  expect_one(in_place.done(), FindingKind::structure, 0, 0, 0, "overlap");
}

TEST(Judge, FindsNopsThatNothingWaitsWith) {
  Build lonely(allgather(1, 1));
  lonely.tb(0).copy(kIn, 0, kOut, 0).flag();
  lonely.tb(0).nop(0, 0);
  expect_one(lonely.done(), FindingKind::structure, 0, 1, 0, "no step follows");

  Build unwaited(allgather(1, 1));
  unwaited.scratch(0, 1);
  unwaited.tb(0).copy(kIn, 0, kOut, 0).flag();
  unwaited.tb(0).nop(0, 0).copy(kIn, 0, kScratch, 0);
  expect_one(unwaited.done(), FindingKind::structure, 0, 1, 0, "without a dependence of its own");

  Build empty(allgather(1, 1));
  empty.scratch(0, 1);
  empty.tb(0).copy(kIn, 0, kOut, 0).flag();
  empty.tb(0).nop(-1, -1).copy(kIn, 0, kScratch, 0).on(0, 0);
  expect_one(empty.done(), FindingKind::structure, 0, 1, 0, "a nop without a dependence");
}

TEST(Judge, FindsDependencesOnWhatDoesNotPublish) {
  Build b(allgather(1, 1));
  b.scratch(0, 1);
  b.tb(0).copy(kIn, 0, kOut, 0);
  b.tb(0).copy(kOut, 0, kScratch, 0).on(0, 0);
  expect_one(b.done(), FindingKind::structure, 0, 1, 0, "does not publish");

  Build gone(allgather(1, 1));
  gone.tb(0).copy(kIn, 0, kOut, 0).on(3, 0);
  expect_one(gone.done(), FindingKind::structure, 0, 0, 0, "threadblock 3, which is not there");

  Build self(allgather(1, 1));
  self.tb(0).copy(kIn, 0, kOut, 0).flag().on(0, 0);
  expect_one(self.done(), FindingKind::structure, 0, 0, 0, "waits for itself");
}

TEST(Judge, FindsTwoThreadblocksOnOneConnection) {
  Build b(allgather(2, 1));
  b.tb(0, 1).send(kIn, 0);
  b.tb(0, 1);
  b.tb(1, -1, 0).recv(kOut, 0);
  expect_one(b.done(), FindingKind::connection, 0, 1, -1, "threadblock 0 also sends 0->1");
}

TEST(Judge, FindsAConnectionWithOneEnd) {
  Build b(allgather(2, 1));
  b.tb(0, 1).send(kIn, 0);
  expect_one(b.done(), FindingKind::connection, 0, 0, -1, "has no receiver");
  // The other end on another channel is not the other end.
  b.tb(1, -1, 0, /*channel=*/1).recv(kOut, 0);
  expect_has(b.done(), FindingKind::connection, "has no receiver");
  expect_has(b.done(), FindingKind::connection, "has no sender");
}

TEST(Judge, FindsUnequalCounts) {
  Build b(allgather(2, 2));
  b.tb(0, 1).send(kIn, 0, 2);
  b.tb(1, -1, 0).recv(kOut, 0).recv(kOut, 1);
  const Findings findings = judge(b.done()).findings;
  expect_has(b.done(), FindingKind::connection, "1 sends to rank 1 on channel 0, which receives 2");
  expect_has(b.done(), FindingKind::connection,
             "sends 2 chunks, but rank 1 tb 0 step 0 receives 1");
}

// Two ranks that both send n chunks and then receive n.
Algorithm send_then_receive(int n, Protocol protocol) {
  Build b(alltoall(2, n), protocol);
  for (int r : {0, 1}) {
    b.tb(r, 1 - r, 1 - r).send(kIn, (1 - r) * n, n).recv(kOut, (1 - r) * n, n);
    b.tb(r).copy(kIn, r * n, kOut, r * n, n);
  }
  return b.done();
}

TEST(Judge, CountsSlotsChunkByChunk) {
  EXPECT_TRUE(judge(send_then_receive(2, Protocol::simple)).clean());
  expect_has(send_then_receive(3, Protocol::simple), FindingKind::deadlock,
             "waits for a free slot to rank 1 on channel 0");
  EXPECT_TRUE(judge(send_then_receive(8, Protocol::ll)).clean());
  expect_has(send_then_receive(9, Protocol::ll), FindingKind::deadlock, "waits for a free slot");
}

TEST(Judge, ALimitOnTheSizeAllowsLargerTransfers) {
  Algorithm a = send_then_receive(8, Protocol::simple);
  EXPECT_FALSE(judge(a).clean());
  a.max_bytes = 16 << 20;  // 16 chunks of 1 MiB, two a transfer: four transfers
  EXPECT_EQ(allowed_cut(a, Target::msccl), 2);
  EXPECT_FALSE(judge(a).clean());
  a.max_bytes = 8 << 20;  // four a transfer: two transfers
  EXPECT_EQ(allowed_cut(a, Target::msccl), 4);
  EXPECT_TRUE(judge(a).clean());
  // RCCL's LL buffers are half the size.
  a.protocol = Protocol::ll;
  a.max_bytes = 16 * 32 * 1024;
  EXPECT_EQ(allowed_cut(a, Target::msccl), 1);
  a.max_bytes = 16 * 4 * 1024;
  EXPECT_EQ(allowed_cut(a, Target::msccl), 8);
  EXPECT_EQ(allowed_cut(a, Target::rccl), 4);
}

TEST(Judge, FindsACycleOfFusedSteps) {
  Build b(allreduce(2, 1, true));
  for (int r : {0, 1}) b.tb(r, 1 - r, 1 - r).rrcs(kIn, 0, kIn, 0);
  expect_has(b.done(), FindingKind::deadlock, "waits for data from rank 1 on channel 0");
}

TEST(Judge, FindsACycleOfFlags) {
  Build b(allgather(1, 2));
  b.tb(0).copy(kIn, 0, kOut, 0).flag().on(1, 0);
  b.tb(0).copy(kIn, 1, kOut, 1).flag().on(0, 0);
  expect_has(b.done(), FindingKind::deadlock, "waits for step 0 of threadblock 1");
}

TEST(Judge, FindsRaces) {
  // Read after write.
  Build raw(allgather(1, 1));
  raw.scratch(0, 1);
  raw.tb(0).copy(kIn, 0, kScratch, 0);
  raw.tb(0).copy(kScratch, 0, kOut, 0);
  expect_one(raw.done(), FindingKind::race, 0, 1, 0,
             "reads scratch[0], which threadblock 0 step 0 writes");
  // Two writes.
  Build waw(allgather(1, 1));
  waw.tb(0).copy(kIn, 0, kOut, 0);
  waw.tb(0).copy(kIn, 0, kOut, 0);
  expect_one(waw.done(), FindingKind::race, 0, 1, 0, "writes output[0]");
  // In place, under two names.
  Build aliased(allreduce(1, 2, true));
  aliased.tb(0).copy(kIn, 0, kIn, 1);
  aliased.tb(0).copy(kOut, 1, kOut, 0);
  EXPECT_TRUE(has(judge(aliased.done()).findings, FindingKind::race));
}

TEST(Judge, AFlagOrdersAndCoversWhatWentBefore) {
  Build b(allgather(1, 2));
  b.scratch(0, 2);
  b.tb(0).copy(kIn, 0, kScratch, 0).copy(kIn, 1, kScratch, 1).flag();
  b.tb(0).copy(kScratch, 0, kOut, 0).on(0, 1).copy(kScratch, 1, kOut, 1);
  EXPECT_TRUE(judge(b.done()).clean()) << str(judge(b.done()).findings);
}

// Rank 0 reads a chunk in one threadblock, and another overwrites it with what comes back from
// rank 1.
Build there_and_back(bool reads_before_sending) {
  CustomCollective c("there_and_back", 2);
  c.buffers(0, 1, 1).holds(0, {kIn, 0}, {0, 0});
  c.buffers(1, 1, 1).holds(1, {kIn, 0}, {1, 0});
  c.requires_(0, {kIn, 0}, {{1, 0}}).requires_(0, {kOut, 0}, {{0, 0}});
  Build b(c.build());
  TbBuild& out = b.tb(0, 1, -1);
  if (reads_before_sending) out.copy(kIn, 0, kOut, 0);
  out.send(kIn, 0);
  if (!reads_before_sending) out.copy(kIn, 0, kOut, 0);
  b.tb(0, -1, 1).recv(kIn, 0);
  b.tb(1, 0, 0).recv(kOut, 0).send(kIn, 0);
  return b;
}

TEST(Judge, AMessageThatComesBackOrdersAWriteAfterARead) {
  EXPECT_TRUE(judge(there_and_back(true).done()).clean())
      << str(judge(there_and_back(true).done()).findings);
  expect_has(there_and_back(false).done(), FindingKind::race,
             "writes input[0], which threadblock 0 step 1 reads");
}

TEST(Judge, AMessageThatComesBackDoesNotPublishAWrite) {
  Build b(allgather(2, 1));
  b.scratch(0, 1);
  b.tb(0, 1, -1).copy(kIn, 0, kScratch, 0).send(kIn, 0);
  b.tb(0, -1, 1).recv(kOut, 1).copy(kScratch, 0, kOut, 0);
  b.tb(1, 0, 0).recv(kOut, 0).send(kIn, 0).copy(kIn, 0, kOut, 1);
  expect_one(b.done(), FindingKind::through_ranks, 0, 1, 1, "reads scratch[0]");
}

TEST(Judge, ASlotThatBecomesFreeOrdersNothing) {
  // The third send can only happen after rank 1 received the first, but that is no order.
  CustomCollective c("slots", 2);
  c.buffers(0, 3, 1).buffers(1, 1, 3);
  for (int i : {0, 1, 2}) c.holds(0, {kIn, i}, {0, i});
  for (int i : {0, 1, 2}) c.requires_(1, {kOut, i}, {{0, i}});
  c.holds(1, {kIn, 0}, {1, 0}).requires_(0, {kIn, 0}, {{1, 0}});
  Build b(c.build());
  b.tb(0, 1, -1).send(kIn, 0).send(kIn, 1).send(kIn, 2);
  b.tb(0, -1, 1).recv(kIn, 0);
  b.tb(1, 0, -1).send(kIn, 0);
  b.tb(1, -1, 0).recv(kOut, 0).recv(kOut, 1).recv(kOut, 2);
  expect_one(b.done(), FindingKind::race, 0, 1, 0, "writes input[0]");
}

TEST(Judge, ChunksOfOneStepAreOrderedOneByOne) {
  // Both chunks go round; each comes back after it was read, whatever the transfers carry.
  CustomCollective c("round", 2);
  c.buffers(0, 2, 1).buffers(1, 2, 2);
  for (int i : {0, 1}) {
    c.holds(0, {kIn, i}, {0, i}).holds(1, {kIn, i}, {1, i});
    c.requires_(0, {kIn, i}, {{0, i}, {1, i}});
  }
  const auto round = [&](int back) {
    Build b(c.build());
    b.tb(0, 1, -1).send(kIn, 0, 2);
    if (back == 0) {
      b.tb(0, -1, 1).recv(kIn, 0, 2);
    } else {
      b.tb(0, -1, 1).recv(kIn, 1).recv(kIn, 0);
    }
    if (back == 0) {
      b.tb(1, 0, 0).rrcs(kIn, 0, kIn, 0, 2);
    } else {
      b.tb(1, 0, 0).rrc(kIn, 0, kIn, 0, 2).send(kIn, 1).send(kIn, 0);
    }
    return b.done();
  };
  EXPECT_TRUE(judge(round(0)).clean()) << str(judge(round(0)).findings);
  EXPECT_TRUE(judge(round(1)).clean()) << str(judge(round(1)).findings);
}

TEST(Judge, FindsReadsOfNothing) {
  Build b(allgather(1, 1));
  b.scratch(0, 1);
  b.tb(0).copy(kScratch, 0, kOut, 0);
  expect_has(b.done(), FindingKind::uninitialised, "reads scratch[0]");
  expect_has(b.done(), FindingKind::wrong_result, "must hold r0[0], but holds nothing");
}

TEST(Judge, FindsMissingDoubledAndMisplacedChunks) {
  Build missing(allreduce(2, 1, true));
  missing.tb(0, 1, -1).send(kIn, 0);
  missing.tb(1, -1, 0).rrc(kIn, 0, kIn, 0);
  expect_has(missing.done(), FindingKind::wrong_result,
             "input[0] must hold r0[0] + r1[0], but holds r0[0]");

  Build doubled(reduce(2, 1));
  doubled.tb(1, 0, -1).send(kIn, 0).send(kIn, 0);
  doubled.tb(0, -1, 1).rrc(kIn, 0, kOut, 0).rrc(kOut, 0, kOut, 0);
  expect_one(doubled.done(), FindingKind::wrong_result, 0, -1, -1,
             "but holds r0[0] + r1[0] + r1[0]");

  Build misplaced(allgather(1, 2));
  misplaced.tb(0).copy(kIn, 0, kOut, 1).copy(kIn, 1, kOut, 0);
  EXPECT_EQ(judge(misplaced.done()).findings.size(), 2U);
}

TEST(Judge, RrsLeavesItsOperandAlone) {
  Build b(reduce(3, 1, /*root=*/2));
  b.tb(0, 1, -1).send(kIn, 0);
  b.tb(1, 2, 0).rrs(kIn, 0);
  b.tb(2, -1, 1).rrc(kIn, 0, kOut, 0);
  const Verdict verdict = judge(b.done());
  EXPECT_TRUE(verdict.clean()) << str(verdict.findings);
  EXPECT_EQ(verdict.memory[1].at({kIn, 0}), (Content{{1, 0}}));
}

TEST(Judge, RrcReadsItsSourceOnly) {
  Build b(reduce(2, 1));
  b.tb(1, 0, -1).send(kIn, 0);
  b.tb(0, -1, 1).copy(kIn, 0, kOut, 0).rrc(kOut, 0, kOut, 0);
  EXPECT_TRUE(judge(b.done()).clean());
}

// `n` reductions of scratch chunks into output[0], as the loaders would merge them.
Build chain(int n) {
  Build b(allgather(1, 1));
  b.scratch(0, 2 * n);
  TbBuild& tb = b.tb(0);
  for (int i = 0; i < 2 * n; ++i) tb.copy(kIn, 0, kScratch, i);
  tb.copy(kIn, 0, kOut, 0);
  for (int i = 0; i < n; ++i) tb.reduce(kScratch, i, kOut, 0);
  return b;
}

TEST(Judge, ChecksWhatTheLoadersMerge) {
  JudgeOptions options;
  options.postcondition = false;
  EXPECT_TRUE(judge(chain(15).done(), options).clean());
  expect_has(chain(16).done(), FindingKind::merge, "more than 15", options);
  options.structure.loader_rules = false;
  EXPECT_TRUE(judge(chain(16).done(), options).clean());
}

TEST(Judge, AFlagBreaksAMerge) {
  JudgeOptions options;
  options.postcondition = false;
  Algorithm a = chain(16).done();
  a.steps[33 + 14].has_dependent = true;  // the 15th reduction
  ASSERT_EQ(a.steps[33 + 14].op, OpCode::reduce);
  EXPECT_TRUE(judge(a, options).clean()) << str(judge(a, options).findings);
}

TEST(Judge, FindsAMergeOfUnequalCountsOrOverOverlap) {
  JudgeOptions options;
  options.postcondition = false;
  Build counts(allgather(1, 2));
  counts.scratch(0, 3);
  counts.tb(0)
      .copy(kIn, 0, kScratch, 0, 2)
      .copy(kIn, 0, kScratch, 2)
      .copy(kIn, 0, kOut, 0, 2)
      .reduce(kScratch, 0, kOut, 0, 2)
      .reduce(kScratch, 2, kOut, 0);
  expect_one(counts.done(), FindingKind::merge, 0, 0, 4, "of another count", options);
}

TEST(Judge, RefusesToGuessWithoutAPostcondition) {
  CustomCollective c("unknown", 1);
  c.buffers(0, 1, 1).holds(0, {kIn, 0}, {0, 0}).without_postcondition();
  Build b(c.build());
  b.tb(0).copy(kIn, 0, kOut, 0);
  const Verdict verdict = judge(b.done());
  EXPECT_TRUE(verdict.clean());
  EXPECT_FALSE(verdict.compared);
}

}  // namespace
}  // namespace hocket::oracle
