// Random valid programs, compiled in several ways and held to the property. See docs/testing.md for
// the long form:
//
//     HOCKET_RANDOM_COUNT=1000000 HOCKET_RANDOM_SEED=7 HOCKET_RANDOM_SECONDS=3600
//     hocket_random_test
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <map>

#include "hocket/compile.h"
#include "random/program_generator.h"
#include "random/property.h"

namespace hocket::random_test {
namespace {

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

constexpr int kShards = 4;

// A sanitizer makes everything slow, and looks for faults that every program shows.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t kPrograms = 1'000;
#else
constexpr std::uint64_t kPrograms = 10'000;
#endif

// Three ways a program, every fourth also on real data, every eighth also written and read.
Checks checks_of(std::uint64_t seed) {
  static constexpr std::int64_t kSizes[] = {1, 4 << 10, 64 << 10, 1 << 20, 4 << 20, 16 << 20};
  Checks checks;
  const auto target = static_cast<Target>(seed % 4);
  checks.ways = {{Target::hocket, std::nullopt},
                 {target, std::nullopt},
                 {target, kSizes[seed / 4 % std::size(kSizes)]}};
  if (target == Target::hocket) checks.ways[1].target = Target::rccl;
  if (seed / 2 % 4 == 0) checks.execute = seed / 8;
  checks.forms = seed / 3 % 8 == 0;
  return checks;
}

// Most are small, so that much of what can meet does; every twentieth is large.
GeneratorLimits limits_of(std::uint64_t seed) {
  GeneratorLimits limits;
  if (seed % 20 == 0) {
    limits.max_ranks = 9;
    limits.max_calls = 120;
    limits.max_chunks = 6;
    limits.max_instances = 6;
  }
  return limits;
}

class RandomPrograms : public testing::TestWithParam<int> {};

TEST_P(RandomPrograms, CompileToWhatTheyMean) {
  const std::uint64_t first = number_from("HOCKET_RANDOM_SEED", 1);
  const std::uint64_t count = number_from("HOCKET_RANDOM_COUNT", kPrograms) / kShards;
  const std::uint64_t seconds = number_from("HOCKET_RANDOM_SECONDS", 0);
  const auto start = std::chrono::steady_clock::now();
  int faults = 0;
  std::map<std::string, int> kinds;
  std::uint64_t done = 0;
  for (; done < count; ++done) {
    if (seconds != 0 && std::chrono::steady_clock::now() - start > std::chrono::seconds(seconds)) {
      break;
    }
    const std::uint64_t seed = first + done * kShards + static_cast<std::uint64_t>(GetParam());
    const Checks checks = checks_of(seed);
    const ProgramSpec spec = generate(seed, limits_of(seed));
    const Outcome outcome = check_program(spec, checks);
    if (outcome.right) continue;
    ++faults;
    // One small example of each kind of fault.
    if (kinds[outcome.fault]++ > 0) continue;
    const ProgramSpec small = shrink(spec, checks, outcome);
    ADD_FAILURE() << "seed " << seed << ", shrunk:\n"
                  << report(small, check_program(small, checks));
  }
  std::cout << done << " programs from seed " << first << ", " << faults << " wrong\n";
  for (const auto& [kind, times] : kinds) std::cout << "  " << times << " x " << kind << "\n";
  EXPECT_EQ(faults, 0);
}

INSTANTIATE_TEST_SUITE_P(Shard, RandomPrograms, testing::Range(0, kShards));

TEST(Generator, TheSameSeedGivesTheSameProgram) {
  EXPECT_EQ(listing(generate(42)), listing(generate(42)));
  EXPECT_NE(listing(generate(42)), listing(generate(43)));
}

// What the generator is for: every feature occurs often.
TEST(Generator, CoversTheLanguage) {
  std::map<std::string, int> seen;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    const ProgramSpec spec = generate(seed);
    const ProgramOptions& o = spec.options;
    ++seen[std::string(collective_kind_name(spec.collective.kind))];
    ++seen["protocol " + std::string(protocol_name(o.protocol))];
    if (spec.collective.in_place) ++seen["in place"];
    if (!spec.links.empty()) ++seen["sparse topology"];
    if (o.instances > 1) ++seen["instances"];
    if (o.instances > 1 && o.replication == Replication::batched) ++seen["batched"];
    if (!o.fuse) ++seen["no fusion"];
    if (o.dependence_nop) ++seen["dependence_nop"];
    if (o.placement == Placement::manual) ++seen["manual"];
    if (o.lenient_placement) ++seen["lenient"];
    if (!spec.requirement.all) ++seen["some slots"];
    if (spec.ranks == 1) ++seen["one rank"];
    bool fragment = false;
    for (const Call& call : spec.calls) {
      const bool local = call.src.rank == call.dst.rank;
      ++seen[std::string(local ? "local " : "remote ") + (call.reduce ? "reduce" : "copy")];
      if (call.src.size > 1) ++seen["several chunks"];
      if (call.src.size > 71) ++seen["more chunks than a step has"];
      if (call.form == Form::append) ++seen["append"];
      if (call.form == Form::same_place) ++seen["same place"];
      if (call.shape == Shape::split) ++seen["split"];
      if (call.shape == Shape::overlap && call.src.size > 2) ++seen["overlapping group"];
      if (call.via.channel >= 0) ++seen["explicit channel"];
      fragment = fragment || call.fragment != 0;
    }
    if (fragment) ++seen["fragment"];
  }
  const char* all[] = {"allreduce",
                       "allgather",
                       "reduce_scatter",
                       "alltoall",
                       "broadcast",
                       "reduce",
                       "gather",
                       "scatter",
                       "all_to_next_forward",
                       "all_to_next_backward",
                       "custom",
                       "protocol Simple",
                       "protocol LL",
                       "protocol LL128",
                       "in place",
                       "sparse topology",
                       "instances",
                       "batched",
                       "no fusion",
                       "dependence_nop",
                       "manual",
                       "lenient",
                       "some slots",
                       "one rank",
                       "local copy",
                       "local reduce",
                       "remote copy",
                       "remote reduce",
                       "several chunks",
                       "more chunks than a step has",
                       "append",
                       "same place",
                       "split",
                       "overlapping group",
                       "explicit channel",
                       "fragment"};
  for (const char* feature : all) EXPECT_GE(seen[feature], 40) << feature;
}

// The compiled programs use everything that the compiler can make of them.
TEST(Generator, ReachesEveryStepAndEveryKindOfWait) {
  std::map<std::string, std::int64_t> seen;
  for (std::uint64_t seed = 1; seed <= 600; ++seed) {
    const ProgramSpec spec = generate(seed);
    for (const Target target : {Target::hocket, Target::rccl}) {
      const Algorithm a =
          compile(replay(spec, collective_of(spec)), {.target = target, .check_limits = false});
      const AlgorithmStats s = stats(a);
      for (int op = 0; op < kNumOps; ++op) {
        seen[std::string(op_info(static_cast<OpCode>(op)).name)] += s.steps_by_op[op];
      }
      seen["dependences"] += s.dependences;
      seen["programs with scratch"] += s.max_scratch_chunks > 0 ? 1 : 0;
      seen["programs with several channels"] += s.channels > 1 ? 1 : 0;
      for (const Step& step : a.steps) seen["steps of several chunks"] += step.count > 1 ? 1 : 0;
    }
  }
  for (const auto& [what, times] : seen) {
    std::cout << "  " << what << " " << times << "\n";
    EXPECT_GE(times, 60) << what;
  }
}

}  // namespace
}  // namespace hocket::random_test
