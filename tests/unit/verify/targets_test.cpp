// Which runtimes load and run an algorithm, and what keeps the others from it.
#include <gtest/gtest.h>

#include "hocket/verify.h"
#include "support/build.h"

namespace hocket {
namespace {

using oracle::Build;
using oracle::kIn;
using oracle::kOut;
using oracle::TbBuild;

const TargetRuling& of(const VerifyReport& report, Target target) {
  for (const TargetRuling& t : report.targets) {
    if (t.target == target) return t;
  }
  ADD_FAILURE() << "no ruling for " << target_name(target);
  return report.targets.at(0);
}

PropertyRuling ruling(const Algorithm& a, Target target) { return of(verify(a), target).ruling; }

Algorithm exchange(Protocol protocol = Protocol::simple, bool in_place = false) {
  Build b(alltoall(2, 1, in_place), protocol);
  for (int r = 0; r < 2; ++r) {
    b.tb(r, 1 - r, 1 - r).send(kIn, 1 - r).recv(kOut, 1 - r);
    b.tb(r).copy(kIn, r, kOut, r);
  }
  return b.done();
}

TEST(Targets, all_are_asked_and_none_counts) {
  Algorithm a = exchange();
  a.num_threads = 33;  // which only MSCCL reads
  const VerifyReport report = verify(a);
  EXPECT_FALSE(report.target_asked);
  ASSERT_EQ(report.targets.size(), all_targets().size());
  EXPECT_EQ(of(report, Target::msccl).ruling.ruling, Ruling::refuted);
  EXPECT_EQ(of(report, Target::rccl).ruling.ruling, Ruling::proved);
  EXPECT_EQ(report.ruling(), Ruling::proved);
}

TEST(Targets, the_one_asked_for_counts) {
  Algorithm a = exchange();
  a.num_threads = 33;
  VerifyOptions options;
  options.target = Target::msccl;
  const VerifyReport report = verify(a, options);
  ASSERT_EQ(report.targets.size(), 1U);
  EXPECT_TRUE(report.target_asked);
  EXPECT_EQ(report.ruling(), Ruling::refuted);
  options.target = Target::rccl;
  EXPECT_EQ(verify(a, options).ruling(), Ruling::proved);
}

TEST(Targets, threads_of_msccl) {
  const auto with = [](int threads, Protocol protocol) {
    Algorithm a = exchange(protocol);
    a.num_threads = threads;
    return ruling(a, Target::msccl);
  };
  for (const int good : {0, 32, 64, 256, 512, 1024, 96 + 512}) {
    EXPECT_EQ(with(good, Protocol::simple).ruling, Ruling::proved) << good;
  }
  EXPECT_EQ(with(96, Protocol::ll).ruling, Ruling::proved);
  EXPECT_EQ(with(96, Protocol::simple).summary,
            "96 threads a threadblock, but with Simple msccl takes powers of 2");
  EXPECT_EQ(with(100, Protocol::ll).summary,
            "100 threads a threadblock, but msccl takes multiples of 32");
  EXPECT_EQ(with(-32, Protocol::ll).ruling, Ruling::refuted);
}

TEST(Targets, a_name_that_msccl_takes_for_its_own) {
  Algorithm a = exchange();
  a.name = "2D";
  const PropertyRuling msccl = ruling(a, Target::msccl);
  EXPECT_EQ(msccl.ruling, Ruling::refuted);
  EXPECT_EQ(
      msccl.summary,
      "an alltoall named \"2D\", for which msccl runs its own algorithm instead of the steps");
  EXPECT_EQ(msccl.findings.at(0).diagnostic.code, Code::NameTooLong);
  EXPECT_EQ(ruling(a, Target::msccl_executor).ruling, Ruling::proved);
}

TEST(Targets, limits_say_by_how_much) {
  Build b(allreduce(1, 1));
  TbBuild& tb = b.tb(0);
  for (int k = 0; k < 65; ++k) tb.copy(kIn, 0, kOut, 0);
  const VerifyReport report = verify(b.done());
  EXPECT_EQ(of(report, Target::rccl).ruling.summary,
            "rank 0 threadblock 0 has 65 steps, but rccl runs 64");
  EXPECT_EQ(of(report, Target::msccl_executor).ruling.ruling, Ruling::refuted);
  EXPECT_EQ(of(report, Target::msccl).ruling.ruling, Ruling::proved);
  EXPECT_EQ(of(report, Target::hocket).ruling.ruling, Ruling::proved);
}

TEST(Targets, smaller_transfers_of_rccl) {
  // 16 chunks in 8 slots, two a transfer: LL of RCCL carries half.
  Build b(alltoall(2, 16), Protocol::ll);
  for (int r = 0; r < 2; ++r) {
    const int mine = 16 * r;
    const int other = 16 * (1 - r);
    b.tb(r, 1 - r, 1 - r).send(kIn, other, 16).recv(kOut, other, 16);
    b.tb(r).copy(kIn, mine, kOut, mine, 16);
  }
  Algorithm a = b.done();
  a.max_bytes = std::int64_t{32} * (16 << 10);
  const VerifyReport report = verify(a);
  EXPECT_EQ(report.ruling(), Ruling::proved);
  EXPECT_EQ(of(report, Target::msccl).ruling.ruling, Ruling::proved);
  const PropertyRuling& rccl = of(report, Target::rccl).ruling;
  EXPECT_EQ(rccl.ruling, Ruling::refuted);
  ASSERT_EQ(rccl.findings.size(), 1U);
  EXPECT_EQ(rccl.findings[0].diagnostic.code, Code::VerifyDeadlock);
}

TEST(Targets, passes_that_flags_cannot_count) {
  Algorithm a = exchange(Protocol::ll);  // 2 chunks, 32 KiB a transfer
  a.max_bytes = std::int64_t{2} * 65535 * (32 << 10);
  EXPECT_EQ(ruling(a, Target::msccl).ruling, Ruling::proved);
  EXPECT_EQ(ruling(a, Target::rccl).ruling, Ruling::refuted);  // 16 KiB
  a.max_bytes = *a.max_bytes + 1;
  const PropertyRuling msccl = ruling(a, Target::msccl);
  EXPECT_EQ(msccl.ruling, Ruling::refuted);
  ASSERT_EQ(msccl.findings.size(), 1U);
  EXPECT_EQ(msccl.findings[0].diagnostic.code, Code::TooManyIterations);
  EXPECT_EQ(msccl.summary,
            "messages of 4294901761 bytes take 65536 passes, but flags of msccl count up to 65535");
  EXPECT_EQ(ruling(a, Target::hocket).ruling, Ruling::proved);
  a.max_bytes = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(ruling(a, Target::msccl).ruling, Ruling::refuted);
}

TEST(Targets, steps_that_rccl_does_not_run) {
  Build b(allreduce(2, 1));
  for (int r = 0; r < 2; ++r) b.tb(r, 1 - r, 1 - r).send(kIn, 0).rrc(kIn, 0, kOut, 0);
  const VerifyReport report = verify(b.done());
  EXPECT_EQ(of(report, Target::rccl).ruling.ruling, Ruling::refuted);
  EXPECT_EQ(of(report, Target::rccl).ruling.findings.at(0).diagnostic.code, Code::UnsupportedStep);
  EXPECT_EQ(of(report, Target::msccl).ruling.ruling, Ruling::proved);
}

TEST(Targets, a_wrong_structure_runs_nowhere) {
  Build b(allreduce(2, 1));
  b.tb(0, 1).send(kIn, 0, 2);
  const VerifyReport report = verify(b.done());
  EXPECT_EQ(report.ruling(), Ruling::refuted);
  for (const TargetRuling& t : report.targets) EXPECT_EQ(t.ruling.ruling, Ruling::refuted);
}

TEST(Targets, nobody_knows_of_what_is_too_large) {
  VerifyOptions options;
  options.max_chunks = 1;
  Algorithm a = exchange();
  a.steps.resize(1);
  for (RankProgram& rank : a.ranks) {
    rank.scratch_chunks = 1000;
    for (ThreadBlock& tb : rank.threadblocks) tb.first_step = tb.num_steps = 0;
  }
  const VerifyReport report = verify(a, options);
  EXPECT_EQ(report.ruling(), Ruling::undecided);
  EXPECT_EQ(of(report, Target::hocket).ruling.ruling, Ruling::undecided);
}

}  // namespace
}  // namespace hocket
