// The brute force on algorithms of which one can see what is true.
#include "support/schedules.h"

#include <gtest/gtest.h>

#include "support/build.h"

namespace hocket::oracle {
namespace {

Schedules schedules_of(const Algorithm& a, const ScheduleOptions& options = {}) {
  Schedules all = all_schedules(view_of(a, a.collective.in_place()), options);
  EXPECT_EQ(all.contradiction, "");
  EXPECT_TRUE(all.complete);
  return all;
}

bool ends(const Algorithm& a, std::optional<int> slots, int cut = 1) {
  const Ending ending = all_endings(view_of(a, a.collective.in_place()), slots, cut, 100'000);
  EXPECT_TRUE(ending.confluent);
  EXPECT_TRUE(ending.complete);
  return ending.ends;
}

TEST(Schedules, TwoCopiesToOnePlaceRace) {
  Build b(allreduce(1, 2));
  b.tb(0).copy(kIn, 0, kOut, 0);
  b.tb(0).copy(kIn, 1, kOut, 0);
  const Schedules all = schedules_of(b.done());
  ASSERT_EQ(all.races.size(), 1U);
  EXPECT_EQ(str(all.races[0]), "rank 0 output[0]: tb 0 step 0 and tb 1 step 0");
  EXPECT_GT(all.states, 2U);
}

TEST(Schedules, AFlagOrdersThem) {
  Build b(allreduce(1, 2));
  b.tb(0).copy(kIn, 0, kOut, 0).flag();
  b.tb(0).copy(kIn, 1, kOut, 0).on(0, 0);
  const Schedules all = schedules_of(b.done());
  EXPECT_TRUE(all.races.empty());
  EXPECT_TRUE(all.through_ranks.empty());
  EXPECT_EQ(all.sums.str(all.memory[0].at({kOut, 0})), "r0[1]");
}

// Rank 0 writes, sends, and gets something back that it then reads beside.
Algorithm round_trip(bool write_first) {
  Build b(allreduce(2, 1), Protocol::ll);
  b.scratch(0, 2).scratch(1, 1);
  if (write_first) {
    b.tb(0, 1, -1).copy(kIn, 0, kScratch, 0).send(kIn, 0);
    b.tb(0, -1, 1).recv(kScratch, 1).copy(kScratch, 0, kOut, 0);
  } else {
    b.tb(0, 1, -1).send(kIn, 0);
    b.tb(0, -1, 1).recv(kScratch, 1).copy(kScratch, 1, kIn, 0);
  }
  b.tb(1, 0, 0).rcs(kScratch, 0);
  return b.done();
}

TEST(Schedules, AReadIsBeforeAWriteThatItsMessageBroughtBack) {
  const Schedules all = schedules_of(round_trip(false));
  EXPECT_TRUE(all.races.empty());
  EXPECT_TRUE(all.through_ranks.empty());
}

TEST(Schedules, AWriteIsNotPublishedByAMessageThatComesBack) {
  const Schedules all = schedules_of(round_trip(true));
  EXPECT_TRUE(all.races.empty());
  ASSERT_EQ(all.through_ranks.size(), 1U);
  EXPECT_EQ(str(all.through_ranks[0]), "rank 0 scratch[0]: tb 0 step 0 and tb 1 step 1");
}

TEST(Schedules, OneChunkMayComeBackBeforeTheNextIsRead) {
  // The send of two chunks reads in[1] while in[0] is already back and written over it.
  Build b(allreduce(2, 2), Protocol::ll);
  b.scratch(0, 1).scratch(1, 2);
  b.tb(0, 1, -1).send(kIn, 0, 2);
  b.tb(0, -1, 1).step(OpCode::recv, kIn, 0, kIn, 1);
  b.tb(1, -1, 0).recv(kScratch, 0, 2);
  b.tb(1, 0, -1).send(kScratch, 0).on(0, 0);
  Algorithm a = b.done();
  a.steps_of(a.ranks[1].threadblocks[0])[0].has_dependent = true;
  EXPECT_TRUE(schedules_of(a).races.empty()) << "it has both when it sends one";
  Build c(allreduce(2, 2), Protocol::ll);
  c.scratch(1, 2);
  c.tb(0, 1, -1).send(kIn, 0, 2);
  c.tb(0, -1, 1).step(OpCode::recv, kIn, 0, kOut, 0, 2);
  c.tb(0, -1, -1).copy(kOut, 0, kIn, 1);
  c.tb(1, 0, 0).rcs(kScratch, 0, 2);
  EXPECT_FALSE(schedules_of(c.done()).races.empty());
}

TEST(Schedules, ASendThatLagsIsOverwrittenByTheNextStep) {
  Build b(allreduce(2, 2), Protocol::ll);
  b.scratch(1, 1);
  b.tb(0, 1, -1).send(kIn, 0).flag();
  b.tb(0, -1, -1).copy(kIn, 1, kIn, 0).on(0, 0);
  b.tb(1, -1, 0).recv(kScratch, 0);
  EXPECT_TRUE(schedules_of(b.done()).races.empty());
  ScheduleOptions lagging;
  lagging.lagging_sends = true;
  EXPECT_EQ(schedules_of(b.done(), lagging).races.size(), 1U);
}

TEST(Schedules, ASendThatLagsIsOverwrittenByItsOwnThreadblock) {
  for (const bool between : {false, true}) {
    Build b(allreduce(2, 2), Protocol::ll);
    b.scratch(1, 1);
    TbBuild& tb = b.tb(0, 1, -1).send(kIn, 0);
    if (between) tb.copy(kIn, 1, kOut, 1);
    tb.copy(kIn, 1, kIn, 0);
    b.tb(1, -1, 0).recv(kScratch, 0);
    EXPECT_TRUE(schedules_of(b.done()).races.empty());
    ScheduleOptions lagging;
    lagging.lagging_sends = true;
    EXPECT_EQ(schedules_of(b.done(), lagging).races.size(), between ? 0U : 1U);
  }
}

TEST(Schedules, ChainsAddInEitherOrder) {
  Build b(allreduce(1, 3));
  b.tb(0).copy(kIn, 0, kOut, 0).reduce(kIn, 1, kOut, 0).reduce(kIn, 2, kOut, 0);
  Schedules all = schedules_of(b.done());
  EXPECT_EQ(all.sums.str(all.memory[0].at({kOut, 0})), "(r0[2] + (r0[0] + r0[1]))");
  ScheduleOptions sources;
  sources.chains = ChainOrder::sources_first;
  all = schedules_of(b.done(), sources);
  EXPECT_EQ(all.sums.str(all.memory[0].at({kOut, 0})), "(r0[0] + (r0[1] + r0[2]))");
}

TEST(Schedules, AReadOfNothingIsSeen) {
  Build b(allreduce(1, 1));
  b.scratch(0, 1);
  b.tb(0).copy(kScratch, 0, kOut, 0);
  EXPECT_TRUE(schedules_of(b.done()).reads_nothing);
}

TEST(Endings, BothSendBeforeTheyReceive) {
  for (const int transfers : {1, 2, 3}) {
    Build b(allreduce(2, 1));
    b.scratch(0, 1).scratch(1, 1);
    for (const int r : {0, 1}) {
      TbBuild& tb = b.tb(r, 1 - r, 1 - r);
      for (int k = 0; k < transfers; ++k) tb.send(kIn, 0);
      for (int k = 0; k < transfers; ++k) tb.recv(kScratch, 0);
    }
    for (int slots = 0; slots <= 3; ++slots) {
      EXPECT_EQ(ends(b.done(), slots), slots >= transfers) << transfers << " with " << slots;
    }
    EXPECT_TRUE(ends(b.done(), std::nullopt));
  }
}

TEST(Endings, AStepIsCutIntoTransfers) {
  Build b(allreduce(2, 4));
  b.scratch(0, 4).scratch(1, 4);
  for (const int r : {0, 1}) b.tb(r, 1 - r, 1 - r).send(kIn, 0, 4).recv(kScratch, 0, 4);
  EXPECT_FALSE(ends(b.done(), 2, 1));
  EXPECT_TRUE(ends(b.done(), 2, 2));
  EXPECT_TRUE(ends(b.done(), 1, 4));
  EXPECT_FALSE(ends(b.done(), 0, 4));
}

TEST(Endings, WithoutSlotsWhatIsPassedOnMovesAtOnce) {
  Build chain(allreduce(3, 1));
  chain.tb(0, 1, -1).send(kIn, 0);
  chain.tb(1, 2, 0).rcs(kOut, 0);
  chain.tb(2, -1, 1).recv(kOut, 0);
  EXPECT_TRUE(ends(chain.done(), 0));
  Build ring(allreduce(2, 1));
  for (const int r : {0, 1}) ring.tb(r, 1 - r, 1 - r).rcs(kOut, 0);
  EXPECT_FALSE(ends(ring.done(), 0));
  EXPECT_FALSE(ends(ring.done(), std::nullopt)) << "nobody begins";
}

}  // namespace
}  // namespace hocket::oracle
