// The order of the checks, and which of them may speak when another has failed.
#include "hocket/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>

#include "verify/bits.h"
#include "verify/deadlock.h"
#include "verify/execution.h"
#include "verify/findings.h"
#include "verify/loaded.h"
#include "verify/orders.h"
#include "verify/races.h"
#include "verify/targets.h"
#include "verify/waste.h"

namespace hocket {

std::string_view ruling_name(Ruling ruling) {
  constexpr std::array<std::string_view, 3> kNames = {"proved", "refuted", "undecided"};
  return kNames[static_cast<std::size_t>(ruling)];
}

std::string_view property_name(Property property) {
  constexpr std::array<std::string_view, kNumProperties> kNames = {
      "structure", "deadlock", "races", "initialised", "postcondition", "same-bits"};
  return kNames[static_cast<std::size_t>(property)];
}

std::string str(const StepPlace& place) {
  std::string text = place.rank < 0 ? "" : fmt::format("rank {}", place.rank);
  if (place.tb >= 0) text += fmt::format(" tb {}", place.tb);
  if (place.step >= 0) text += fmt::format(" step {}", place.step);
  return text;
}

namespace {

using namespace verifying;

constexpr const char* kNotRight = "its structure is not right";

// A range without sizes would be right of itself. Of one that nobody asked for, see check_call().
void check_sizes(const Algorithm& algorithm, const VerifyOptions& options) {
  if (!options.min_bytes && !options.max_bytes) return;
  const std::int64_t min = options.min_bytes.value_or(algorithm.min_bytes);
  const auto max = options.max_bytes ? options.max_bytes : algorithm.max_bytes;
  if (min >= 0 && (!max || *max >= min)) return;
  const auto whose = [](bool asked) { return asked ? "" : " (the algorithm's own)"; };
  throw Error(Code::BadSizeRange,
              fmt::format("message sizes from {}{} to {} bytes{}", min,
                          whose(options.min_bytes.has_value()),
                          max ? fmt::to_string(*max) : "any number of",
                          max ? whose(options.max_bytes.has_value()) : ""),
              {}, "give 0 <= min <= max");
}

void check_collective(const Algorithm& algorithm, const Collective& collective) {
  if (collective.num_ranks() != algorithm.num_ranks()) {
    throw Error(Code::BadCollective, fmt::format("a collective of {} ranks for an algorithm of {}",
                                                 collective.num_ranks(), algorithm.num_ranks()));
  }
  for (int r = 0; r < algorithm.num_ranks(); ++r) {
    const RankProgram& rank = algorithm.ranks[static_cast<std::size_t>(r)];
    for (const BufferKind kind : {BufferKind::input, BufferKind::output}) {
      const std::int32_t has = rank.chunks(kind);
      const std::int32_t given = collective.chunks(r, kind);
      if (has == 0 || has == given) continue;
      throw Error(Code::BadCollective,
                  fmt::format("the collective gives rank {} {} chunks of {}, but the algorithm has "
                              "{}",
                              r, given, buffer_kind_name(kind), has),
                  {},
                  given > 0 && has % given == 0
                      ? "an algorithm of several instances has the chunks of all of them: a custom "
                        "collective says how many in `split`, others in the chunk factor"
                      : "");
    }
  }
}

// The same collective called the other way; none where it has no meaning.
std::optional<Collective> called(const Collective& c, bool in_place) {
  if (c.in_place() == in_place) return c;
  try {
    if (c.kind() != CollectiveKind::custom) {
      return Collective::make(c.kind(), c.num_ranks(), c.chunk_factor(), in_place, c.root());
    }
    if (c.custom() == nullptr) return std::nullopt;
    const CustomCollective& declared = *c.custom();
    CustomCollective other(declared.name(), declared.num_ranks(),
                           c.chunk_factor() / std::max(c.split(), 1), in_place);
    for (int r = 0; r < declared.num_ranks(); ++r) {
      const CustomCollective::RankSlots& slots = declared.rank(r);
      other.buffers(r, slots.input_chunks, slots.output_chunks);
      for (const BufferKind kind : {BufferKind::input, BufferKind::output}) {
        const auto k = static_cast<std::size_t>(kind);
        for (std::size_t i = 0; i < slots.initial[k].size(); ++i) {
          const Slot slot{kind, static_cast<std::int32_t>(i)};
          if (slots.initial[k][i]) other.holds(r, slot, *slots.initial[k][i]);
          if (slots.expected[k][i]) other.requires_(r, slot, *slots.expected[k][i]);
        }
      }
    }
    if (!c.has_postcondition()) other.without_postcondition();
    return other.build().refined(c.split());
  } catch (const Error&) {
    return std::nullopt;
  }
}

// A file of which only the word "custom" is known says as little of the start as of the end. What
// the caller hands over is taken to be data: the input and, in place, the whole of the buffer.
Collective with_inputs(const Collective& c, bool in_place, std::int64_t max_chunks) {
  if (c.kind() != CollectiveKind::custom || c.has_postcondition()) return c;
  std::int64_t chunks = 0;
  std::vector<std::pair<int, Slot>> starts;
  for (int r = 0; r < c.num_ranks(); ++r) {
    for (const BufferKind kind : {BufferKind::input, BufferKind::output}) {
      chunks += c.chunks(r, kind);
      if (chunks > max_chunks) return c;
      for (int k = 0; k < c.chunks(r, kind); ++k) {
        const Slot slot{kind, k};
        if (c.initial(r, slot)) return c;
        if ((in_place || kind == BufferKind::input) && c.alias(r, slot) == slot) {
          starts.emplace_back(r, slot);
        }
      }
    }
  }
  CustomCollective data(c.name(), c.num_ranks(), c.chunk_factor(), c.in_place());
  for (int r = 0; r < c.num_ranks(); ++r) data.buffers(r, c.input_chunks(r), c.output_chunks(r));
  for (const auto& [r, slot] : starts) {
    const int before = slot.buffer == BufferKind::input ? 0 : c.input_chunks(r);
    data.holds(r, slot, {r, before + slot.index});
  }
  return data.without_postcondition().build();
}

void leave_open(PlacementReport& report, Property from, const std::string& why) {
  for (int k = static_cast<int>(from); k < kNumProperties; ++k) {
    report.of(static_cast<Property>(k)) = undecided(why);
  }
}

// Rulings that say what would hold if nothing raced.
void withdraw_proof(PropertyRuling& ruling, const char* why) {
  if (ruling.ruling == Ruling::proved) ruling = undecided(why);
}

Ruling worst(const PlacementReport& report, const VerifyOptions& options) {
  Ruling result = Ruling::proved;
  for (int k = 0; k < kNumProperties; ++k) {
    const Ruling ruling = report.of(static_cast<Property>(k)).ruling;
    if (static_cast<Property>(k) == Property::same_bits && !options.require_same_bits) continue;
    if (ruling == Ruling::refuted) return Ruling::refuted;
    if (ruling == Ruling::undecided) result = Ruling::undecided;
  }
  return result;
}

class Verifier {
 public:
  Verifier(const Algorithm& algorithm, const VerifyOptions& options)
      : algorithm_(algorithm), options_(options) {}

  VerifyReport run() {
    report_.name = algorithm_.name;
    report_.target_asked = options_.target.has_value();
    std::vector<bool> placements;
    if (options_.in_place) {
      placements.push_back(*options_.in_place);
    } else {
      const Collective& c = collective();
      if (algorithm_.out_of_place || (!algorithm_.in_place && !c.in_place())) {
        placements.push_back(false);
      }
      if (algorithm_.in_place || (!algorithm_.out_of_place && c.in_place())) {
        placements.push_back(true);
      }
    }
    only_placement_ = placements.size() == 1;
    PropertyRuling torn;
    check_storage(torn);
    check_call(torn);
    for (const bool in_place : placements) {
      if (torn.ruling == Ruling::refuted) {
        give_up(in_place, torn);
      } else {
        place(in_place);
      }
    }
    for (const Target target :
         options_.target ? std::vector<Target>{*options_.target} : all_targets()) {
      if (torn.ruling == Ruling::refuted) {
        report_.targets.push_back({target, {Ruling::refuted, kNotRight, {}, 0}});
        continue;
      }
      report_.targets.push_back(
          rule_on_target(algorithm_, first_ ? &*first_ : nullptr, base_, target, options_));
    }
    return std::move(report_);
  }

 private:
  const Collective& collective() const {
    return options_.collective ? *options_.collective : algorithm_.collective;
  }

  // No file can say it, but a program can: threadblocks whose steps are not there to be looked at.
  void check_storage(PropertyRuling& torn) const {
    for (std::size_t r = 0; r < algorithm_.ranks.size(); ++r) {
      const std::vector<ThreadBlock>& tbs = algorithm_.ranks[r].threadblocks;
      for (std::size_t t = 0; t < tbs.size(); ++t) {
        const std::uint64_t end = std::uint64_t{tbs[t].first_step} + tbs[t].num_steps;
        if (end <= algorithm_.steps.size()) continue;
        Finding finding;
        finding.at = {static_cast<std::int32_t>(r), static_cast<std::int32_t>(t), -1};
        finding.diagnostic.code = Code::VerifyStructure;
        finding.diagnostic.message =
            fmt::format("{} is said to have steps {} to {}, but the algorithm has {} steps",
                        str(finding.at), tbs[t].first_step, end - 1, algorithm_.steps.size());
        refute(torn, options_.max_findings, std::move(finding));
      }
    }
    torn.summary = kNotRight;
  }

  // Nor one that no call fits: everything would hold of all its calls.
  void check_call(PropertyRuling& torn) const {
    const auto refuse = [&](std::string message) {
      Finding finding;
      finding.diagnostic.code = Code::VerifyStructure;
      finding.diagnostic.message = std::move(message);
      refute(torn, options_.max_findings, std::move(finding));
    };
    if (!algorithm_.in_place && !algorithm_.out_of_place && !options_.in_place) {
      refuse("it may be called neither in place nor out of place, which is not at all");
    }
    const bool asked = options_.min_bytes || options_.max_bytes;
    const auto max = algorithm_.max_bytes;
    if (!asked && (algorithm_.min_bytes < 0 || (max && *max < algorithm_.min_bytes))) {
      refuse(fmt::format("it is for messages of {} to {} bytes, which none is",
                         algorithm_.min_bytes, max ? fmt::to_string(*max) : "any number of"));
    }
  }

  void give_up(bool in_place, const PropertyRuling& structure) {
    PlacementReport report;
    report.in_place = in_place;
    leave_open(report, Property::deadlock, kNotRight);
    report.of(Property::structure) = structure;
    report.ruling = Ruling::refuted;
    report_.placements.push_back(std::move(report));
  }

  void place(bool in_place) {
    PlacementReport report;
    report.in_place = in_place;
    const std::optional<Collective> c = called(collective(), in_place);
    if (!c) {
      leave_open(report, Property::structure,
                 fmt::format("what its collective means {} is not known",
                             in_place ? "in place" : "out of place"));
    } else {
      // What was loaded points to it; the first one stays for the targets.
      collectives_.push_back(std::make_unique<Collective>(
          options_.as_declared ? *c : with_inputs(*c, in_place, options_.max_chunks)));
      decide(*collectives_.back(), report);
    }
    report.ruling = worst(report, options_);
    if (report_.placements.empty()) base_ = report;
    report_.placements.push_back(std::move(report));
  }

  void decide(const Collective& collective, PlacementReport& report) {
    Loaded loaded;
    PropertyRuling& structure = report.of(Property::structure);
    load(algorithm_, collective, report.in_place, options_.max_chunks, loaded, structure,
         options_.max_findings);
    if (structure.ruling == Ruling::refuted) {
      structure.summary = fmt::format("{} {} wrong", structure.num_findings,
                                      structure.num_findings == 1 ? "thing is" : "things are");
    }
    if (structure.ruling != Ruling::proved) {
      leave_open(report, Property::deadlock,
                 structure.ruling == Ruling::refuted ? kNotRight : structure.summary);
      return;
    }
    check_deadlock(loaded, options_, report);
    const ExecutionOrder order = find_order(loaded);
    if (!order.complete()) {
      leave_open(report, Property::races, "it does not end with any number of slots");
    } else {
      report.of(Property::races) = find_races(loaded, order, options_);
      Execution execution = execute(loaded, order, options_);
      PropertyRuling& bits = report.of(Property::same_bits);
      bits = compare_bits(loaded, order, execution, options_);
      if (options_.orders) report.orders = reduction_orders(loaded, order, execution);
      report.of(Property::initialised) = std::move(execution.initialised);
      report.of(Property::postcondition) = std::move(execution.postcondition);
      if (report.of(Property::races).ruling != Ruling::proved) {
        constexpr const char* kWhy = "holds in one schedule, but races were not ruled out";
        withdraw_proof(report.of(Property::initialised), kWhy);
        withdraw_proof(report.of(Property::postcondition), kWhy);
        withdraw_proof(bits, kWhy);
      }
      if (options_.waste && report_.placements.empty()) look_for_waste(loaded, order, report);
    }
    if (report_.placements.empty()) first_ = std::move(loaded);
  }

  void look_for_waste(const Loaded& loaded, const ExecutionOrder& order,
                      const PlacementReport& report) {
    for (const Property p : {Property::deadlock, Property::races, Property::initialised}) {
      if (report.of(p).ruling != Ruling::proved) return;
    }
    const Ruling result = report.of(Property::postcondition).ruling;
    if (result == Ruling::refuted) return;
    Waste waste = find_waste(loaded, order, options_,
                             result == Ruling::proved && only_placement_ && !options_.check);
    report_.waste = std::move(waste.findings);
    report_.num_waste = waste.num_findings;
  }

  const Algorithm& algorithm_;
  const VerifyOptions& options_;
  VerifyReport report_;
  bool only_placement_ = true;
  std::vector<std::unique_ptr<Collective>> collectives_;
  std::optional<Loaded> first_;
  PlacementReport base_;  // of the first placement
};

}  // namespace

Ruling VerifyReport::ruling() const {
  Ruling result = placements.empty() ? Ruling::undecided : Ruling::proved;
  const auto take = [&](Ruling ruling) {
    if (ruling == Ruling::refuted || result == Ruling::refuted) {
      result = Ruling::refuted;
    } else if (ruling == Ruling::undecided) {
      result = Ruling::undecided;
    }
  };
  for (const PlacementReport& placement : placements) take(placement.ruling);
  if (target_asked) {
    for (const TargetRuling& target : targets) take(target.ruling.ruling);
  }
  return result;
}

VerifyReport verify(const Algorithm& algorithm, const VerifyOptions& options) {
  check_sizes(algorithm, options);
  if (options.collective) check_collective(algorithm, *options.collective);
  return Verifier(algorithm, options).run();
}

}  // namespace hocket
