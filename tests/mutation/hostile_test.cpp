// Small files that ask for much: a megabyte of text must not cost a gigabyte, nor minutes. Each is
// read and verified in a process of its own that has no more.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "hocket/format.h"
#include "hocket/verify.h"
#include "support/build.h"

namespace hocket::mutation {
namespace {

using oracle::Build;
using oracle::kIn;
using oracle::kOut;
using oracle::kScratch;
using oracle::TbBuild;

constexpr std::size_t kMaxText = 1 << 20;
constexpr rlim_t kMaxBytes = rlim_t{1} << 30;
constexpr unsigned kMaxSeconds = 60;

// Runs in a child; 0 where it ended by itself.
int in_a_small_process(const std::function<void()>& work) {
  const pid_t child = fork();
  if (child == 0) {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    const rlimit limit{kMaxBytes, kMaxBytes};
    setrlimit(RLIMIT_AS, &limit);
#endif
    alarm(kMaxSeconds);
    try {
      work();
    } catch (const Error&) {
      _exit(0);  // refused, which is an answer
    } catch (...) {
      _exit(3);
    }
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

void expect_cheap(const Algorithm& algorithm) {
  const std::string text = to_text(algorithm);
  EXPECT_LE(text.size(), kMaxText);
  for (const bool waste : {false, true}) {
    const int status = in_a_small_process([&] {
      VerifyOptions options;
      options.waste = waste;
      const VerifyReport report = verify(from_text(text, "hostile"), options);
      if (report.str().size() + to_json(report).size() > 64 * kMaxText) _exit(4);
    });
    EXPECT_EQ(status, 0) << (WIFSIGNALED(status) ? "signal " : "exit ")
                         << (WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status))
                         << (waste ? ", with waste" : "");
  }
}

constexpr int kMany = 10'000;
constexpr int kHuge = 2'000'000'000;

TEST(Hostile, BuffersThatNobodyHas) {
  Build b(allreduce(2, 1));
  b.scratch(0, kHuge).scratch(1, kHuge);
  b.tb(0).copy(kScratch, 0, kScratch, kHuge / 2, kHuge / 2);
  expect_cheap(b.done());
  expect_cheap(Build(allreduce(2, kHuge)).done());
  expect_cheap(Build(alltoall(1000, 100'000)).done());
}

TEST(Hostile, ManyStepsOfManyChunks) {
  Build b(allreduce(1, 1));
  b.scratch(0, 2'000'000);
  TbBuild& tb = b.tb(0);
  for (int k = 0; k < kMany; ++k) tb.copy(kScratch, 0, kScratch, 1'000'000, 1'000'000);
  expect_cheap(b.done());
}

// Contributions double with every step, or grow as the Fibonacci numbers.
TEST(Hostile, SumsThatGrowExponentially) {
  Build b(allreduce(1, 2));
  TbBuild& tb = b.tb(0);
  for (int k = 0; k < kMany; ++k) tb.reduce(kIn, k % 2, kIn, 1 - k % 2);
  expect_cheap(b.done());
}

// Every rank's contribution at every rank, in every order: long contents, none shared.
TEST(Hostile, LongSumsInManyOrders) {
  Build b(allreduce(1, 3000));
  b.scratch(0, 3000);
  TbBuild& tb = b.tb(0);
  for (int k = 0; k < kMany; ++k) tb.reduce(kIn, k * 7 % 3000, kOut, k % 3 + k / 6);
  TbBuild& sums = b.tb(0);
  for (int k = 0; k < kMany; ++k) sums.reduce(kIn, k * 7 % 3000, kIn, (k * 11 + 1) % 3000);
  expect_cheap(b.done());
}

// A thousand wrong chunks, each a sum of a thousand contributions with a thousand steps behind it.
TEST(Hostile, ManyFindingsWithLongTrails) {
  constexpr int kChunks = 2000;
  Build b(allreduce(1, kChunks));
  TbBuild& tb = b.tb(0);
  tb.copy(kIn, 0, kOut, 0, kChunks);
  for (int k = 1; k < kChunks; ++k) tb.reduce(kIn, k, kOut, 0).flag();
  for (int k = 1; k < kChunks; ++k) tb.copy(kOut, 0, kOut, k);
  const Algorithm a = b.done();
  EXPECT_EQ(in_a_small_process([&] {
              VerifyOptions options;
              options.max_findings = 1'000'000;
              const VerifyReport report = verify(a, options);
              const auto& wrong = report.placements[0].of(Property::postcondition);
              if (wrong.num_findings != kChunks) _exit(4);
            }),
            0);
}

// Every rank could be the root, and each try costs four million chunks.
TEST(Hostile, ManyRootsToTry) {
  std::string text = "algorithm \"x\"\ncollective broadcast ranks=1000 factor=2000\n";
  for (int r = 0; r < 1000; ++r) text += "rank " + std::to_string(r) + "\n";
  EXPECT_EQ(in_a_small_process([&] {
              VerifyOptions options;
              options.waste = false;
              if (infer_root(from_text(text, "hostile"), options)) _exit(4);
            }),
            0);
}

TEST(Hostile, ThousandsOfThreadblocksInOneRank) {
  Build b(allreduce(1, 1));
  b.scratch(0, kMany);
  for (int k = 0; k < kMany; ++k) {
    TbBuild& tb = b.tb(0);
    tb.copy(kIn, 0, kScratch, k).flag();
    if (k > 0) tb.on(k - 1, 0);
  }
  expect_cheap(b.done());
}

TEST(Hostile, ThousandsOfThreadblocksOnOneChunk) {
  Build b(allreduce(1, 1));
  for (int k = 0; k < kMany; ++k) b.tb(0).copy(kIn, 0, kOut, 0);
  expect_cheap(b.done());
}

TEST(Hostile, EverybodyWaitsForEverybody) {
  Build b(allreduce(1, 1));
  b.scratch(0, 100);
  for (int k = 0; k < 100; ++k) {
    TbBuild& tb = b.tb(0);
    for (int i = 0; i < 100; ++i) tb.copy(kIn, 0, kScratch, k).on((k + i + 1) % 100, i).flag();
  }
  expect_cheap(b.done());
}

TEST(Hostile, ManyRanksThatDoNothing) { expect_cheap(Build(allreduce(20'000, 1)).done()); }

TEST(Hostile, WaitsThatPointNowhere) {
  Build b(allreduce(1, 1));
  TbBuild& tb = b.tb(0);
  for (int k = 0; k < kMany; ++k) tb.copy(kIn, 0, kOut, 0).on(k * 1000, kHuge);
  expect_cheap(b.done());
}

TEST(Hostile, LongWayRoundTheRanks) {
  // A read and a write that only messages through all ranks order, again and again.
  constexpr int kRanks = 300;
  constexpr int kTimes = 30;
  Build b(allreduce(kRanks, 1), Protocol::ll);
  TbBuild& out = b.tb(0, 1, -1);
  TbBuild& in = b.tb(0, -1, kRanks - 1);
  for (int k = 0; k < kTimes; ++k) out.send(kIn, 0);
  for (int k = 0; k < kTimes; ++k) in.recv(kIn, 0);
  for (int r = 1; r < kRanks; ++r) {
    b.scratch(r, 1);
    TbBuild& tb = b.tb(r, (r + 1) % kRanks, r - 1);
    for (int k = 0; k < kTimes; ++k) tb.rcs(kScratch, 0);
  }
  expect_cheap(b.done());
}

}  // namespace
}  // namespace hocket::mutation
