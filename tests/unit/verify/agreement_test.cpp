// Races, results and bits of thousands of tiny algorithms against the slow judges.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>

#include "hocket/format.h"
#include "support/judge.h"
#include "support/schedules.h"
#include "support/structure.h"
#include "tiny_algorithm.h"
#include "verify/bits.h"
#include "verify/execution.h"
#include "verify/paths.h"
#include "verify/races.h"

namespace hocket::verifying {
namespace {

constexpr std::uint64_t kAlgorithms = 12000;

bool right_structure(const oracle::View& view) {
  return oracle::check_steps(view).empty() && oracle::check_connections(view).empty() &&
         oracle::check_merges(view, {}).empty();
}

struct Checked {
  Algorithm algorithm;
  Loaded loaded;
  PropertyRuling structure;
  ExecutionOrder order;
};

std::unique_ptr<Checked> checked(std::uint64_t seed) {
  auto c = std::make_unique<Checked>();
  c->algorithm = tiny_algorithm(seed);
  const oracle::View view = oracle::view_of(c->algorithm, c->algorithm.in_place);
  if (!right_structure(view)) return nullptr;
  if (!load(c->algorithm, c->algorithm.collective, c->algorithm.in_place, 1 << 24, c->loaded,
            c->structure)) {
    return nullptr;
  }
  c->order = find_order(c->loaded);
  return c;
}

std::string findings_text(const PropertyRuling& ruling) {
  std::string text = ruling.summary;
  for (const Finding& f : ruling.findings) text += "\n  " + f.diagnostic.message;
  return text;
}

TEST(Agreement, races_and_results_with_the_judge) {
  int judged = 0;
  std::map<std::string, int> seen;
  for (std::uint64_t seed = 0; seed < kAlgorithms; ++seed) {
    const auto c = checked(seed);
    if (!c) continue;
    ++judged;
    const oracle::Verdict verdict = oracle::judge(c->algorithm, {.slots = 1000});
    const bool stuck = oracle::has(verdict.findings, oracle::FindingKind::deadlock);
    ASSERT_EQ(c->order.complete(), !stuck) << seed << '\n' << to_text(c->algorithm);
    if (stuck) {
      ++seen["stuck"];
      EXPECT_EQ(find_races(c->loaded, c->order, {}).ruling, Ruling::undecided);
      continue;
    }
    const PropertyRuling races = find_races(c->loaded, c->order, {});
    const bool race = oracle::has(verdict.findings, oracle::FindingKind::race);
    const bool through = oracle::has(verdict.findings, oracle::FindingKind::through_ranks);
    ASSERT_EQ(races.ruling, race || through ? Ruling::refuted : Ruling::proved)
        << seed << '\n'
        << oracle::str(verdict.findings) << findings_text(races) << '\n'
        << to_text(c->algorithm);
    for (const Finding& f : races.findings) {
      const auto kind = f.diagnostic.code == Code::Race ? oracle::FindingKind::race
                                                        : oracle::FindingKind::through_ranks;
      // The judge names the pair either way round.
      const bool found = std::any_of(
          verdict.findings.begin(), verdict.findings.end(), [&](const oracle::Finding& o) {
            const auto is = [&](const StepPlace& p) {
              return o.rank == p.rank && o.tb == p.tb && o.step == p.step;
            };
            return o.kind == kind && (is(f.at) || is(f.chain.at(0)));
          });
      EXPECT_TRUE(found) << seed << ' ' << f.diagnostic.message << '\n'
                         << oracle::str(verdict.findings) << to_text(c->algorithm);
    }
    ++seen[race ? "race" : through ? "through ranks" : "no race"];
    if (races.ruling == Ruling::proved && races.summary.find("messages") != std::string::npos) {
      ++seen["by messages"];
    }

    const Execution execution = execute(c->loaded, c->order, {});
    if (race || through) continue;
    const bool unwritten = oracle::has(verdict.findings, oracle::FindingKind::uninitialised);
    EXPECT_EQ(execution.initialised.ruling, unwritten ? Ruling::refuted : Ruling::proved)
        << seed << '\n'
        << to_text(c->algorithm);
    const bool wrong = oracle::has(verdict.findings, oracle::FindingKind::wrong_result);
    EXPECT_EQ(execution.postcondition.ruling, wrong ? Ruling::refuted : Ruling::proved)
        << seed << '\n'
        << oracle::str(verdict.findings) << to_text(c->algorithm);
    ++seen[unwritten ? "uninitialised" : "initialised"];
    ++seen[wrong ? "wrong" : "right"];
  }
  std::string counts;
  for (const auto& [what, n] : seen) counts += fmt::format("{} {}, ", what, n);
  RecordProperty("seen", counts);
  fmt::print("{} judged: {}\n", judged, counts);
  EXPECT_GT(judged, static_cast<int>(kAlgorithms / 2));
  EXPECT_GT(seen["race"], 100);
  EXPECT_GT(seen["through ranks"], 10);
  EXPECT_GT(seen["no race"], 100);
  EXPECT_GT(seen["by messages"], 10);
}

// Search, bits and clocks find the same paths, whether sends lag or not.
TEST(Agreement, paths_with_each_other) {
  for (std::uint64_t seed = 0; seed < kAlgorithms / 6; ++seed) {
    const auto c = checked(seed);
    if (!c || !c->order.complete()) continue;
    std::vector<Paths::Question> questions;
    for (std::size_t i = 0; i < c->order.order.size(); ++i) {
      for (std::size_t k = i + 1; k < c->order.order.size(); ++k) {
        questions.push_back({c->order.order[i], c->order.order[k]});
      }
    }
    for (const bool lagging : {false, true}) {
      Paths paths(c->loaded, c->order, lagging);
      const std::vector<Found> bits = paths.answer(questions, Paths::Method::bits);
      if (!lagging) {
        EXPECT_EQ(bits, paths.answer(questions, Paths::Method::clocks)) << seed;
      }
      for (std::size_t q = 0; q < questions.size(); ++q) {
        ASSERT_EQ(paths.crosses(questions[q].x, questions[q].y), bits[q])
            << seed << ' ' << questions[q].x << ' ' << questions[q].y << '\n'
            << to_text(c->algorithm);
      }
    }
  }
}

TEST(Agreement, lagging_sends_with_every_schedule) {
  int races = 0;
  int only_lagging = 0;
  int none = 0;
  for (std::uint64_t seed = 0; seed < kAlgorithms / 12; ++seed) {
    auto c = checked(seed);
    if (!c || !c->order.complete()) continue;
    c->algorithm.protocol = Protocol::ll;
    const oracle::View view = oracle::view_of(c->algorithm, c->algorithm.in_place);
    oracle::ScheduleOptions lagging;
    lagging.lagging_sends = true;
    const oracle::Schedules schedules = oracle::all_schedules(view, lagging);
    ASSERT_EQ(schedules.contradiction, "");
    VerifyOptions options;
    options.target = Target::rccl;
    const PropertyRuling ruling = find_races(c->loaded, c->order, options);
    const bool race = !schedules.races.empty() || !schedules.through_ranks.empty();
    ASSERT_EQ(ruling.ruling, race ? Ruling::refuted : Ruling::proved)
        << seed << '\n'
        << findings_text(ruling) << '\n'
        << (schedules.races.empty() ? "" : oracle::str(schedules.races[0])) << '\n'
        << to_text(c->algorithm);
    ++(race ? races : none);
    if (race && find_races(c->loaded, c->order, {}).ruling == Ruling::proved) ++only_lagging;
  }
  fmt::print("{} races, {} only lagging, {} none\n", races, only_lagging, none);
  EXPECT_GT(only_lagging, 10);
  EXPECT_GT(none, 100);
}

// Do slots that hold the same sum hold the same tree of additions?
bool same_bits(const oracle::View& view, oracle::Schedules& schedules) {
  const Collective& c = view.algorithm->collective;
  std::map<oracle::Content, int> first;
  for (int r = 0; r < c.num_ranks(); ++r) {
    for (const BufferKind kind : {BufferKind::input, BufferKind::output}) {
      for (int i = 0; i < c.chunks(r, kind); ++i) {
        if (c.expected(r, {kind, i}).kind == Expected::Kind::any) continue;
        const auto& memory = schedules.memory[static_cast<std::size_t>(r)];
        const auto held = memory.find(view.canonical(r, kind, i));
        if (held == memory.end() || held->second == oracle::Sums::kNothing) continue;
        const auto [at, fresh] = first.emplace(schedules.sums.content(held->second), held->second);
        if (at->second != held->second) return false;
      }
    }
  }
  return true;
}

TEST(Agreement, bits_with_every_schedule) {
  int same = 0;
  int different = 0;
  for (std::uint64_t seed = 0; seed < kAlgorithms; ++seed) {
    const auto c = checked(seed);
    if (!c || !c->order.complete()) continue;
    if (find_races(c->loaded, c->order, {}).ruling != Ruling::proved) continue;
    const oracle::View view = oracle::view_of(c->algorithm, c->algorithm.in_place);
    oracle::Schedules one = oracle::all_schedules(view, {});
    bool expected = same_bits(view, one);
    if (c->algorithm.protocol == Protocol::simple) {
      oracle::ScheduleOptions other;
      other.chains = oracle::ChainOrder::sources_first;
      oracle::Schedules two = oracle::all_schedules(view, other);
      expected = expected && same_bits(view, two);
    }
    const Execution execution = execute(c->loaded, c->order, {});
    const PropertyRuling ruling = compare_bits(c->loaded, c->order, execution, {});
    ASSERT_EQ(ruling.ruling, expected ? Ruling::proved : Ruling::refuted)
        << seed << '\n'
        << findings_text(ruling) << '\n'
        << to_text(c->algorithm);
    ++(expected ? same : different);
  }
  fmt::print("{} same, {} different\n", same, different);
  EXPECT_GT(same, 100);
  EXPECT_GT(different, 30);
}

}  // namespace
}  // namespace hocket::verifying
