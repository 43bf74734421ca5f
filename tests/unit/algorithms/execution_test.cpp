// Every algorithm of the library compiled: the independent judge finds nothing (structure,
// deadlock, races in any schedule, the postcondition), and running it on real data gives the right
// elements.
#include <gtest/gtest.h>

#include "support/judge.h"
#include "unit/algorithms/cases.h"

namespace hocket {
namespace {

std::vector<Case> sweep(const AlgorithmInfo& info, int most) {
  std::vector<Case> cases = shapes(info, most);
  return vary(cases, info, "in_place", {"false", "true"});
}

class EveryCompiledAlgorithm : public testing::TestWithParam<AlgorithmInfo> {};

INSTANTIATE_TEST_SUITE_P(Library, EveryCompiledAlgorithm, testing::ValuesIn(algorithm_library()),
                         [](const auto& algorithm) { return algorithm.param.name; });

void expect_clean(const Algorithm& algorithm) {
  oracle::JudgeOptions options;
  options.target = Target::hocket;
  const oracle::Verdict verdict = oracle::judge(algorithm, options);
  ASSERT_TRUE(verdict.clean()) << oracle::str(verdict.findings);
  ASSERT_TRUE(verdict.compared);
}

TEST_P(EveryCompiledAlgorithm, IsRightInEverySchedule) {
  for (const Case& one : sweep(GetParam(), 9)) {
    SCOPED_TRACE(one.str());
    expect_clean(compile(one.make()));
    if (HasFatalFailure()) return;
  }
}

TEST_P(EveryCompiledAlgorithm, IsRightWithInstancesFactorsAndProtocols) {
  std::vector<Case> cases = {{GetParam().name, {{"instances", "2"}, {"protocol", "LL"}}},
                             {GetParam().name, {{"instances", "3"}, {"chunk_factor", "2"}}},
                             {GetParam().name, {{"fuse", "false"}, {"protocol", "LL128"}}}};
  for (Case& one : cases) {
    if (takes(GetParam(), "nodes")) {
      one.parameters.insert({{"nodes", "2"}, {"gpus", "3"}});
    } else {
      one.parameters["ranks"] = "6";
    }
  }
  cases = vary(cases, GetParam(), "root", {"2"});
  cases = vary(cases, GetParam(), "channels", {"0", "1", "2"});
  for (const Case& one : vary(cases, GetParam(), "in_place", {"false", "true"})) {
    SCOPED_TRACE(one.str());
    expect_clean(compile(one.make()));
    if (HasFatalFailure()) return;
  }
}

TEST_P(EveryCompiledAlgorithm, RunsOnRealData) {
  for (const Case& one : sweep(GetParam(), 9)) {
    SCOPED_TRACE(one.str());
    LocalExecutor executor(compile(one.make()));
    const std::int64_t chunks = executor.algorithm().collective.chunk_factor();
    // One element a chunk; a remainder; fewer elements than chunks; nothing.
    for (const std::int64_t elements : {chunks, 2 * chunks + 1, std::int64_t{1}, std::int64_t{0}}) {
      SelfTestOptions options;
      options.run.type = DataType::int64;
      options.run.count = elements;
      options.run.in_place = executor.algorithm().in_place;
      options.repeats = 2;
      const SelfTestResult result = self_test(executor, options);
      ASSERT_TRUE(result.checked);
      ASSERT_FALSE(result.mismatch)
          << elements << " elements: rank " << result.mismatch->rank << " offset "
          << result.mismatch->offset << " is " << result.mismatch->found << ", expected "
          << result.mismatch->expected;
    }
  }
}

TEST_P(EveryCompiledAlgorithm, FitsMscclOrIsRefusedForWantOfAName) {
  Parameters small;
  if (takes(GetParam(), "nodes")) small["gpus"] = "4";
  const Program program = make_algorithm(GetParam().name, small);
  const CompileOptions options = {.target = Target::msccl, .max_bytes = 1 << 20};
  if (target_collective_name(Target::msccl, program.collective().kind())) {
    EXPECT_TRUE(check_limits(compile(program, options), Target::msccl).empty());
    return;
  }
  try {
    (void)compile(program, options);
    ADD_FAILURE() << "MSCCL has no " << GetParam().collective;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::UnsupportedCollective) << error.what();
  }
}

}  // namespace
}  // namespace hocket
