// Every algorithm of the library, for every shape: the trace implements its collective, says
// nothing that deserves a warning, and leaves the input alone unless it is asked to work in place.
#include <gtest/gtest.h>

#include "ir/trace.h"
#include "support/interpreter.h"
#include "unit/algorithms/cases.h"

namespace hocket {
namespace {

constexpr int kMostRanks = 17;

std::vector<Case> sweep(const AlgorithmInfo& info) {
  std::vector<Case> cases = shapes(info, kMostRanks);
  cases = vary(cases, info, "in_place", {"false", "true"});
  return vary(cases, info, "chunk_factor", {"1", "3"});
}

class EveryAlgorithm : public testing::TestWithParam<AlgorithmInfo> {};

INSTANTIATE_TEST_SUITE_P(Library, EveryAlgorithm, testing::ValuesIn(algorithm_library()),
                         [](const auto& algorithm) { return algorithm.param.name; });

TEST_P(EveryAlgorithm, ImplementsItsCollectiveForEveryShape) {
  for (const Case& one : sweep(GetParam())) {
    SCOPED_TRACE(one.str());
    const Program p = one.make();
    const CheckReport report = p.check();
    ASSERT_TRUE(report.ok()) << report.str();
    EXPECT_EQ(p.collective().name(), GetParam().collective);
    EXPECT_EQ(p.name(), GetParam().name);
  }
}

// check() and the trace come from one machinery; this one interprets the trace with another.
TEST_P(EveryAlgorithm, MeansWhatItChecks) {
  for (const Case& one : sweep(GetParam())) {
    SCOPED_TRACE(one.str());
    const Program p = one.make();
    const oracle::Interpretation meaning = oracle::interpret(p.trace(), 1);
    const Collective& collective = p.collective();
    for (int r = 0; r < collective.num_ranks(); ++r) {
      for (int k = 0; k < collective.output_chunks(r); ++k) {
        const Slot slot{BufferKind::output, k};
        const Expected want = collective.expected(r, slot);
        if (want.kind == Expected::Kind::any) continue;
        oracle::Content expected;
        if (want.kind == Expected::Kind::one) expected = {want.origin};
        if (want.kind == Expected::Kind::all_ranks) {
          for (int q = 0; q < collective.num_ranks(); ++q)
            expected.push_back({q, want.origin.index});
        }
        const oracle::MaybeContent found =
            oracle::content_of(meaning, r, collective.alias(r, slot));
        ASSERT_TRUE(found.has_value()) << "rank " << r << " output " << k;
        ASSERT_EQ(*found, expected)
            << "rank " << r << " output " << k << ": " << oracle::str(found);
      }
    }
  }
}

TEST_P(EveryAlgorithm, GivesNoWarning) {
  for (const Case& one : sweep(GetParam())) {
    const Program p = one.make();
    ASSERT_TRUE(p.warnings().empty()) << one.str() << "\n" << render(p.warnings().front());
  }
}

TEST_P(EveryAlgorithm, LeavesTheInputAloneOutOfPlace) {
  for (const Case& one : sweep(GetParam())) {
    const Program p = one.make();
    if (p.collective().in_place()) continue;
    for (const TraceOp& op : p.trace().ops) {
      ASSERT_NE(op.dst_buffer, kInputBuffer)
          << one.str() << " writes the input of rank " << op.dst_rank;
    }
  }
}

TEST_P(EveryAlgorithm, RunsOnLargerMachinesToo) {
  std::vector<Case> cases;
  if (takes(GetParam(), "nodes")) {
    cases = {{GetParam().name, {{"nodes", "5"}, {"gpus", "8"}}},
             {GetParam().name, {{"nodes", "11"}, {"gpus", "2"}}},
             {GetParam().name, {{"nodes", "3"}, {"gpus", "16"}}}};
  } else {
    cases = {{GetParam().name, {{"ranks", "32"}}}, {GetParam().name, {{"ranks", "61"}}}};
    cases = vary(cases, GetParam(), "root", {"0", "29"});
  }
  for (const Case& one : vary(cases, GetParam(), "channels", {"0", "5"})) {
    const CheckReport report = one.make().check();
    EXPECT_TRUE(report.ok()) << one.str() << "\n" << report.str();
  }
}

TEST_P(EveryAlgorithm, HasDefaultsThatWork) {
  const Program p = make_algorithm(GetParam().name);
  EXPECT_TRUE(p.check().ok());
  EXPECT_GT(p.num_ranks(), 1);
}

}  // namespace
}  // namespace hocket
