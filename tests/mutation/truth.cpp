#include "mutation/truth.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "support/judge.h"
#include "support/schedules.h"

namespace hocket::mutation {
namespace {

using fmt::format;
using namespace oracle;

void rule(Truth::Of& of, const std::string& fault) {
  of.fact = fault.empty() ? Fact::holds : Fact::fails;
  of.why = fault;
}

oracle::Findings structure_of(const View& view) {
  oracle::Findings all = check_steps(view);
  if (all.empty()) all = check_connections(view);
  if (all.empty()) all = check_merges(view, {});
  return all;
}

// The largest message that is cut into transfers of `cut` chunks or more.
std::int64_t largest_with_cut(Algorithm a, Target target, int cut) {
  std::int64_t fits = 0;
  for (std::int64_t bit = std::int64_t{1} << 45; bit > 0; bit /= 2) {
    a.max_bytes = fits + bit;
    if (allowed_cut(a, target) >= cut) fits += bit;
  }
  return fits;
}

void find_ending(const View& view, Target target, Truth& truth) {
  const Algorithm& a = *view.algorithm;
  const int cut = allowed_cut(a, target);
  const int slots = protocol_slots(a.protocol);
  const auto ends = [&](std::optional<int> n) {
    const Ending ending = all_endings(view, n, cut);
    if (!ending.confluent) truth.contradiction = "whether it ends depends on the schedule";
    truth.states += ending.states;
    truth.exhaustive = truth.exhaustive && ending.complete;
    return ending.ends;
  };
  rule(truth.of(Property::deadlock), ends(slots) ? "" : format("stuck with {} slots", slots));
  if (!ends(std::nullopt)) return;
  if (truth.of(Property::deadlock).fact == Fact::fails) {
    for (int larger = cut + 1; larger <= 71 && !truth.largest_safe_bytes; ++larger) {
      if (!all_endings(view, slots, larger, 0).ends) continue;
      const std::int64_t bytes = largest_with_cut(a, target, larger);
      if (bytes > 0) truth.largest_safe_bytes = bytes;
    }
  }
  int most = 0;
  for (const Step& s : a.steps) most += s.count;
  for (int n = 0; n <= most && !truth.least_slots; ++n) {
    if (all_endings(view, n, cut, 0).ends) truth.least_slots = n;
  }
}

// Slots that must hold a sum, by what they hold: all in one order of adding?
std::string different_bits(const View& view, Schedules& schedules) {
  const Collective& c = view.algorithm->collective;
  std::map<Content, std::pair<int, std::string>> first;
  for (int r = 0; r < c.num_ranks(); ++r) {
    for (const BufferKind kind : {BufferKind::input, BufferKind::output}) {
      for (int i = 0; i < c.chunks(r, kind); ++i) {
        if (c.expected(r, {kind, i}).kind == Expected::Kind::any) continue;
        const auto& memory = schedules.memory[static_cast<std::size_t>(r)];
        const auto held = memory.find(view.canonical(r, kind, i));
        if (held == memory.end() || held->second == Sums::kNothing) continue;
        const Content& content = schedules.sums.content(held->second);
        const std::string place = format("rank {} {}[{}]", r, buffer_kind_name(kind), i);
        const auto [at, fresh] = first.emplace(content, std::pair(held->second, place));
        if (!fresh && at->second.first != held->second) {
          return format("{}: {}, but {}: {}", at->second.second,
                        schedules.sums.str(at->second.first), place,
                        schedules.sums.str(held->second));
        }
      }
    }
  }
  return {};
}

std::string wrong_result(const View& view, const Schedules& schedules) {
  const Collective& c = view.algorithm->collective;
  for (int r = 0; r < c.num_ranks(); ++r) {
    for (const BufferKind kind : {BufferKind::input, BufferKind::output}) {
      for (int i = 0; i < c.chunks(r, kind); ++i) {
        const Expected expected = c.expected(r, {kind, i});
        if (expected.kind == Expected::Kind::any) continue;
        const auto& memory = schedules.memory[static_cast<std::size_t>(r)];
        const auto held = memory.find(view.canonical(r, kind, i));
        const int id = held == memory.end() ? Sums::kNothing : held->second;
        const Content wanted = expected_content(expected, c.num_ranks());
        if (id != Sums::kNothing && schedules.sums.content(id) == wanted) continue;
        return format("rank {} {}[{}] holds {}, not {}", r, buffer_kind_name(kind), i,
                      schedules.sums.str(id), oracle::str(MaybeContent(wanted)));
      }
    }
  }
  return {};
}

// The judge reasons about one order of moments; it must come to the same.
std::string judged_otherwise(const Algorithm& algorithm, const Truth& truth) {
  const Verdict verdict = judge(algorithm, {.target = Target::hocket});
  const auto differs = [&](Property property, bool fails) {
    const Fact fact = truth.of(property).fact;
    if (fact == Fact::open || (fact == Fact::fails) == fails) return std::string();
    return format("the judge thinks otherwise of {}\n{}", property_name(property),
                  oracle::str(verdict.findings));
  };
  // A deadlock of every schedule is reported twice: by the machine and as a cycle.
  std::string text = differs(Property::deadlock, has(verdict.findings, FindingKind::deadlock));
  const bool race =
      has(verdict.findings, FindingKind::race) || has(verdict.findings, FindingKind::through_ranks);
  if (text.empty()) text = differs(Property::races, race);
  if (text.empty()) {
    text = differs(Property::initialised, has(verdict.findings, FindingKind::uninitialised));
  }
  if (text.empty()) {
    text = differs(Property::postcondition, has(verdict.findings, FindingKind::wrong_result));
  }
  return text;
}

}  // namespace

Truth find_truth(const Algorithm& algorithm, std::optional<Target> target) {
  Truth truth;
  const View view = view_of(algorithm, algorithm.collective.in_place());
  const oracle::Findings findings = structure_of(view);
  rule(truth.of(Property::structure), findings.empty() ? "" : oracle::str(findings));
  if (!findings.empty()) return truth;
  find_ending(view, target.value_or(Target::hocket), truth);

  ScheduleOptions options;
  options.lagging_sends = target == Target::rccl && algorithm.protocol == Protocol::ll;
  Schedules schedules = all_schedules(view, options);
  truth.states += schedules.states;
  truth.exhaustive = truth.exhaustive && schedules.complete;
  if (!schedules.contradiction.empty()) truth.contradiction = schedules.contradiction;
  if (!schedules.ends) return truth;
  std::string race;
  if (!schedules.races.empty()) {
    race = "both orders happen: " + oracle::str(schedules.races[0]);
  } else if (!schedules.through_ranks.empty()) {
    race = "ordered only through other ranks: " + oracle::str(schedules.through_ranks[0]);
  }
  rule(truth.of(Property::races), race);
  if (!race.empty()) {
    if (!target) truth.contradiction += judged_otherwise(algorithm, truth);
    return truth;
  }

  rule(truth.of(Property::initialised), schedules.reads_nothing ? "reads nothing" : "");
  if (algorithm.collective.has_postcondition()) {
    rule(truth.of(Property::postcondition), wrong_result(view, schedules));
  }
  std::string bits = different_bits(view, schedules);
  // Large pieces of Simple add the sources first, but not on RCCL.
  if (bits.empty() && target != Target::rccl && algorithm.protocol == Protocol::simple) {
    options.chains = ChainOrder::sources_first;
    Schedules other = all_schedules(view, options);
    bits = different_bits(view, other);
  }
  rule(truth.of(Property::same_bits), bits);
  if (!target) truth.contradiction += judged_otherwise(algorithm, truth);
  return truth;
}

}  // namespace hocket::mutation
