// Is an algorithm right? Decided from the algorithm alone, whoever made it.
//
//     VerifyReport report = verify(from_xml(text, "ring.xml"));
//     if (report.ruling() != Ruling::proved) fmt::print("{}", report.str());
//
// The model is that of the public runtimes (docs/verification.md states it and argues why what is
// decided here holds for every schedule): nops folded into the waits of the next step, consecutive
// `re` merged as the loaders merge them, connections with the protocol's slots, every step cut into
// transfers as the largest admissible message cuts it, flags with acquire and release, nothing
// else.
//
// Every property is ruled on by itself, and what rests on another that failed is undecided, never
// proved: races and the result need a right structure, the result needs the absence of races.
//
// Costs: linear in steps, times the threadblocks of a rank at worst, plus the sum of the counts of
// all steps; about a microsecond and a few hundred bytes a step. Memory is bounded by
// VerifyOptions::max_chunks; beyond it properties are undecided.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hocket/algorithm.h"
#include "hocket/collective.h"
#include "hocket/diagnostic.h"
#include "hocket/target.h"

namespace hocket {

enum class Ruling : std::uint8_t { proved, refuted, undecided };
std::string_view ruling_name(Ruling ruling);  // "proved", "refuted", "undecided"

enum class Property : std::uint8_t {
  structure,      // every step means what it says; every send meets its receive
  deadlock,       // every schedule ends
  races,          // no two conflicting accesses that nothing orders
  initialised,    // no step reads what nobody wrote
  postcondition,  // every slot ends with what its collective says
  same_bits,      // ranks that end with the same sum have added in the same order
};
inline constexpr int kNumProperties = 6;
std::string_view property_name(Property property);  // "structure", "same-bits", ...

// A step by its position in the file: rank, threadblock id, position in the threadblock (nops
// counted). -1: no particular one.
struct StepPlace {
  std::int32_t rank = -1;
  std::int32_t tb = -1;
  std::int32_t step = -1;
  friend bool operator==(const StepPlace&, const StepPlace&) = default;
};
// "rank 3 tb 1 step 2", as far as it is known
std::string str(const StepPlace& place);

// One thing that is wrong, or wasted. The diagnostic says it in words, with the user's line where
// the algorithm knows it; the rest says the same to programs.
struct Finding {
  Diagnostic diagnostic;
  StepPlace at;
  // The chunk it is about: a slot of rank at.rank, under the name that the step uses.
  std::optional<BufferKind> buffer;
  std::int32_t index = -1;
  std::string
      expected;  // contents, as "sum of in[3] of ranks 0-7"; empty where nothing is compared
  std::string found;
  // Steps that explain it: of a wrong value, those that brought it there, the first one first; of a
  // deadlock, the cycle, each waiting for the next and the last for the first; of a race, the other
  // access.
  std::vector<StepPlace> chain;
  std::int64_t saves = 0;  // of a warning of waste: steps, dependences or chunks, as the text says
};

struct PropertyRuling {
  Ruling ruling = Ruling::undecided;
  std::string summary;            // one line, lower case: how, why not, or why it is undecided
  std::vector<Finding> findings;  // at most VerifyOptions::max_findings
  std::int64_t num_findings = 0;  // all of them
};

// How the contributions to one sum are added up, and where it ends: "((in0+in1)+in2) of chunk 3",
// or with an index for each where they differ, "(in0[1]+in2[0])". The operators commute, so
// branches have no order. Reduces that loaders merge begin with the destination, as written;
// MSCCL's may add up the sources first (docs/verification.md, same-bits).
struct SumOrder {
  std::string order;
  struct Place {
    int rank = 0;
    Slot slot;
    friend bool operator==(const Place&, const Place&) = default;
  };
  std::vector<Place> places;  // by rank
};

// All properties of one way to call it.
struct PlacementReport {
  bool in_place = false;
  std::array<PropertyRuling, kNumProperties> properties;
  // Deadlock. Slots of every connection with which it ends, at the worst cut; 0: a sender may wait
  // for its receiver. None: no number is enough, or it was not decided.
  std::optional<int> least_slots;
  // Largest message in bytes that is free of deadlock with the protocol's slots; only where the
  // range asked for is not (none then: no size is).
  std::optional<std::int64_t> largest_safe_bytes;
  // Only if VerifyOptions::orders, and where it ends: of every slot of the postcondition that holds
  // a sum. Where steps race, of one schedule.
  std::vector<SumOrder> orders;

  const PropertyRuling& of(Property p) const { return properties[static_cast<std::size_t>(p)]; }
  PropertyRuling& of(Property p) { return properties[static_cast<std::size_t>(p)]; }
  // Refuted where any property is (same_bits only if it was required), else undecided where any is.
  Ruling ruling = Ruling::undecided;
};

// Would it load on every rank of a target, and run there as the model says?
struct TargetRuling {
  Target target = Target::hocket;
  PropertyRuling ruling;
};

// What the user's buffers hold at the end of one way to call it, whatever the schedule if nothing
// races. Valid only while VerifyOptions::check runs.
class FinalContents {
 public:
  // The algorithm's, its chunk counts and origins those of its instances.
  virtual const Collective& collective() const = 0;
  virtual bool in_place() const = 0;
  // Equal exactly for slots that hold the same sum; 0: nothing of worth, or no such slot. O(1).
  virtual std::uint32_t value(int rank, Slot slot) const = 0;
  // The sum: each origin as often as it was added, sorted; empty where value() is 0. Error HK0306
  // beyond 2^27 of them.
  virtual std::vector<Origin> origins(int rank, Slot slot) const = 0;
  // The same, each origin once and how often it was added, modulo 2^64; however many those are.
  struct Count {
    Origin origin;
    std::uint64_t times = 0;
  };
  virtual std::vector<Count> counts(int rank, Slot slot) const = 0;

 protected:
  FinalContents() = default;
  ~FinalContents() = default;
  FinalContents(const FinalContents&) = default;
  FinalContents& operator=(const FinalContents&) = default;
};

struct VerifyOptions {
  // The runtime asked about. None: one TargetRuling for each, which then count for nothing in
  // ruling(), and the model of Target::hocket (no merging rules relaxed, the default slots).
  std::optional<Target> target;
  // Message sizes that must be safe; none: the algorithm's own range.
  std::optional<std::int64_t> min_bytes;
  std::optional<std::int64_t> max_bytes;
  std::optional<int> slots;  // of a connection, 0 or more; none: the protocol's
  // Which calls: none: those the algorithm allows.
  std::optional<bool> in_place;
  // What it must compute; none: the algorithm's own collective. Its buffers must be as large.
  std::optional<Collective> collective;
  // What the result must satisfy beyond that. Its answer: what is wrong in one sentence, empty
  // where nothing is, none where it has nothing to say. Asked for each placement that ends. It
  // decides the postcondition where the collective does not say one; where the collective does,
  // both must hold.
  std::function<std::optional<std::string>(const FinalContents&)> check;
  // A custom collective that declares nothing, neither of the start nor of the end, is one of which
  // a file says no more than "custom": every chunk of the input, and in place of the whole buffer,
  // is then taken to hold data of its own. True: it is taken at its word, nothing lies there.
  bool as_declared = false;
  bool require_same_bits = false;
  bool orders = false;    // list PlacementReport::orders
  bool waste = true;      // look for what could be left out
  int max_findings = 10;  // listed of each property
  // Bounds the chunks of all buffers of all ranks together, and the sum of counts of all steps. The
  // larger of this and 64 a step is allowed.
  std::int64_t max_chunks = std::int64_t{1} << 22;
};

struct VerifyReport {
  std::string name;  // of the algorithm
  std::vector<PlacementReport> placements;
  std::vector<TargetRuling> targets;  // the one asked for, or all
  bool target_asked = false;          // whether the target counts in ruling()
  std::vector<Finding> waste;         // warnings; at most max_findings of each code
  std::int64_t num_waste = 0;

  Ruling ruling() const;
  // For people: a line a property and placement, findings below. Ends with a newline.
  std::string str() const;
};
// For programs; docs/verification.md describes it. Ends with a newline.
std::string to_json(const VerifyReport& report);

// Never throws for anything that an Algorithm can hold; Error HK0411 for an empty range of sizes,
// HK0201 for a collective of other sizes.
VerifyReport verify(const Algorithm& algorithm, const VerifyOptions& options = {});

// The root of a broadcast, reduce, gather or scatter. Said in the algorithm (not
// Algorithm::root_guessed, and no VerifyOptions::collective): that one. Else the one the collective
// has if the postcondition holds with it, or the first with which it does. None: with no rank it
// does, or there are too many to try (20 million steps and chunks in all), or there is no root.
std::optional<int> infer_root(const Algorithm& algorithm, const VerifyOptions& options = {});

}  // namespace hocket
