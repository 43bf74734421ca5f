#include "mutation/compare.h"

#include <fmt/format.h>

#include "hocket/format.h"
#include "mutation/draft.h"

namespace hocket::mutation {
namespace {

using fmt::format;

const char* fact_name(Fact fact) {
  switch (fact) {
    case Fact::holds:
      return "holds";
    case Fact::fails:
      return "fails";
    case Fact::open:
      return "open";
  }
  return "?";
}

bool agree(Ruling ruling, Fact fact) {
  // What rests on a failure may be left undecided; nothing else may.
  if (fact == Fact::open) return true;
  return ruling == (fact == Fact::holds ? Ruling::proved : Ruling::refuted);
}

std::string difference(const PlacementReport& verdict, const Truth& truth) {
  for (int k = 0; k < kNumProperties; ++k) {
    const auto property = static_cast<Property>(k);
    const Ruling ruling = verdict.of(property).ruling;
    const Fact fact = truth.of(property).fact;
    if (!agree(ruling, fact)) {
      return format("{}: {}, but {}", property_name(property), ruling_name(ruling),
                    fact_name(fact));
    }
    // Something that does not hold must have stopped what rests on it.
    if (fact == Fact::open && ruling == Ruling::proved && property != Property::deadlock) {
      if (property == Property::postcondition || property == Property::same_bits) continue;
      return format("{}: proved, though it rests on what fails", property_name(property));
    }
  }
  if (truth.of(Property::structure).fact == Fact::holds &&
      truth.least_slots != verdict.least_slots) {
    return "least slots";
  }
  if (truth.of(Property::structure).fact == Fact::holds &&
      truth.largest_safe_bytes != verdict.largest_safe_bytes) {
    return "largest safe size";
  }
  return {};
}

// Calls `edit` on a copy; keeps it while the two still differ in the same way.
template <typename Edit>
bool attempt(Algorithm& best, std::optional<Target> target, const std::string& differs, Edit edit) {
  Draft draft(best);
  if (!edit(draft)) return false;
  const Algorithm candidate = draft.done();
  if (candidate == best || compare(candidate, target).differs != differs) return false;
  best = candidate;
  return true;
}

}  // namespace

Comparison compare(const Algorithm& algorithm, std::optional<Target> target) {
  Comparison result;
  result.truth = find_truth(algorithm, target);
  VerifyOptions options;
  options.waste = false;
  options.target = target;
  options.in_place = algorithm.collective.in_place();
  const VerifyReport report = verify(algorithm, options);
  if (report.placements.size() != 1) {
    result.differs = "not one placement";
    return result;
  }
  result.verdict = report.placements[0];
  if (!result.truth.contradiction.empty()) {
    result.differs = "brute force: " + result.truth.contradiction;
  } else {
    result.differs = difference(result.verdict, result.truth);
  }
  return result;
}

Algorithm shrink(const Algorithm& algorithm, std::optional<Target> target,
                 const std::string& differs) {
  Algorithm best = algorithm;
  const auto each_step = [&](auto edit) {
    bool better = false;
    for (std::size_t r = 0; r < best.ranks.size(); ++r) {
      for (std::size_t t = 0; t < best.ranks[r].threadblocks.size(); ++t) {
        for (std::size_t i = best.ranks[r].threadblocks[t].num_steps; i-- > 0;) {
          better = attempt(best, target, differs,
                           [&](Draft& d) {
                             return edit(d, StepAt{r, t, i});
                           }) ||
                   better;
        }
      }
    }
    return better;
  };
  const auto step_of = [](Draft& d, StepAt at) -> Step& {
    return d.ranks[at.rank].tbs[at.tb].steps[at.step];
  };
  for (bool better = true; better;) {
    better = each_step([](Draft& d, StepAt at) {
      erase_step(d, at);
      return true;
    });
    better = each_step([&](Draft& d, StepAt at) {
               if (step_of(d, at).op != OpCode::send) return false;
               const auto to = partner_of(d, at, true);
               if (!to) return false;
               erase_step(d, at);
               erase_step(d, *to);
               return true;
             }) ||
             better;
    better = each_step([&](Draft& d, StepAt at) {
               Step& s = step_of(d, at);
               if (s.depend_tb < 0) return false;
               s.depend_tb = s.depend_step = -1;
               return true;
             }) ||
             better;
    better = each_step([&](Draft& d, StepAt at) {
               Step& s = step_of(d, at);
               const bool had = s.has_dependent;
               s.has_dependent = false;
               return had;
             }) ||
             better;
    for (std::size_t r = 0; r < best.ranks.size(); ++r) {
      for (std::size_t t = best.ranks[r].threadblocks.size(); t-- > 0;) {
        better = attempt(best, target, differs,
                         [&](Draft& d) {
                           auto& tbs = d.ranks[r].tbs;
                           if (!tbs[t].steps.empty() || t + 1 != tbs.size()) return false;
                           tbs.pop_back();
                           return true;
                         }) ||
                 better;
      }
    }
  }
  return best;
}

std::string report(const Algorithm& algorithm, const Comparison& comparison) {
  std::string text = comparison.differs + "\n";
  for (int k = 0; k < kNumProperties; ++k) {
    const auto property = static_cast<Property>(k);
    text +=
        format("  {}: verify {} ({}); brute force {} {}\n", property_name(property),
               ruling_name(comparison.verdict.of(property).ruling),
               comparison.verdict.of(property).summary,
               fact_name(comparison.truth.of(property).fact), comparison.truth.of(property).why);
  }
  text +=
      format("  least slots: verify {}, brute force {}; largest size: verify {}, brute force {}\n",
             comparison.verdict.least_slots.value_or(-1), comparison.truth.least_slots.value_or(-1),
             comparison.verdict.largest_safe_bytes.value_or(-1),
             comparison.truth.largest_safe_bytes.value_or(-1));
  return text + to_text(algorithm);
}

}  // namespace hocket::mutation
