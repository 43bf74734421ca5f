// Does the program implement its collective? Every slot that the postcondition names is compared by
// fingerprint, in O(slots); what is wrong is then spelled out, up to a limit.
#include <fmt/format.h>

#include <algorithm>

#include "lang/program_state.h"

namespace hocket {
namespace {

// Origins listed of a set.
constexpr std::uint64_t kMostListed = 8;

struct Listed {
  std::vector<Origin> origins;  // the first kMostListed, repeats included
  std::uint64_t total = 0;

  void add(Origin origin, std::uint64_t times) {
    for (std::uint64_t i = 0; i < times && origins.size() < kMostListed; ++i) {
      origins.push_back(origin);
    }
    total = total + times < total ? ~std::uint64_t{0} : total + times;
  }
  // "r0.c2 + r1.c2 + ... (14 in all)"
  std::string str(std::string_view separator) const {
    std::string text;
    for (const Origin& o : origins) {
      if (!text.empty()) text += separator;
      text += fmt::format("r{}.c{}", o.rank, o.index);
    }
    if (total > origins.size()) text += fmt::format("{}... ({} in all)", separator, total);
    return text;
  }
};

// a without b, both sorted.
Listed difference(const std::vector<Contribution>& a, const std::vector<Contribution>& b) {
  Listed rest;
  auto other = b.begin();
  for (const Contribution& c : a) {
    while (other != b.end() && other->origin < c.origin) ++other;
    const std::uint64_t there = other != b.end() && other->origin == c.origin ? other->times : 0;
    if (c.times > there) rest.add(c.origin, c.times - there);
  }
  return rest;
}

Listed all_of(const std::vector<Contribution>& contributions) {
  Listed all;
  for (const Contribution& c : contributions) all.add(c.origin, c.times);
  return all;
}

std::vector<Contribution> expected_contributions(const Expected& expected, int ranks) {
  std::vector<Contribution> result;
  switch (expected.kind) {
    case Expected::Kind::any:
      break;
    case Expected::Kind::one:
      result.push_back({expected.origin, 1});
      break;
    case Expected::Kind::all_ranks:
      for (int r = 0; r < ranks; ++r) result.push_back({{r, expected.origin.index}, 1});
      break;
    case Expected::Kind::list:
      for (const Origin& o : expected.list) {
        if (!result.empty() && result.back().origin == o) {
          ++result.back().times;
        } else {
          result.push_back({o, 1});
        }
      }
      break;
  }
  return result;
}

// The fingerprints that a postcondition asks for; those over all ranks are worked out once an
// index.
class ExpectedFingerprints {
 public:
  explicit ExpectedFingerprints(int ranks) : ranks_(ranks) {}

  bool holds(const Expected& expected, const ChunkValues& values, ValueId value) {
    if (value == kNothing) return false;
    switch (expected.kind) {
      case Expected::Kind::any:
        return true;
      case Expected::Kind::one:
        return values.is_origin(value) && values.origin_of(value) == expected.origin;
      case Expected::Kind::all_ranks:
        return values.count(value) == static_cast<std::uint64_t>(ranks_) &&
               values.fingerprint(value) == all_ranks(expected.origin.index);
      case Expected::Kind::list: {
        Fingerprint sum;
        for (const Origin& o : expected.list) sum += origin_fingerprint(o);
        return values.count(value) == expected.list.size() && values.fingerprint(value) == sum;
      }
    }
    return false;
  }

 private:
  const Fingerprint& all_ranks(std::int32_t index) {
    const auto i = static_cast<std::size_t>(index);
    if (i >= sums_.size()) sums_.resize(i + 1);
    if (!sums_[i]) {
      sums_[i].emplace();
      for (int r = 0; r < ranks_; ++r) *sums_[i] += origin_fingerprint({r, index});
    }
    return *sums_[i];
  }

  int ranks_;
  std::vector<std::optional<Fingerprint>> sums_;
};

}  // namespace

CheckReport ProgramState::check(int max_listed) const {
  const Collective& c = trace_.collective;
  CheckReport report;
  report.has_postcondition = c.has_postcondition();
  report.program = trace_.name;
  report.collective = c.name();
  if (!report.has_postcondition) return report;
  ExpectedFingerprints expected_fingerprints(c.num_ranks());
  for (int rank = 0; rank < c.num_ranks(); ++rank) {
    for (const BufferKind kind : {BufferKind::input, BufferKind::output}) {
      const auto buffer = static_cast<std::uint32_t>(kind);
      // Only canonical slots: an aliased buffer has none of its own.
      for (int i = 0; i < slots_.size(rank, buffer); ++i) {
        const Expected expected = c.expected(rank, {kind, i});
        if (expected.kind == Expected::Kind::any) continue;
        ++report.checked;
        const Place place{rank, buffer, i, 1};
        const SlotRecord record = slot(place);
        if (expected_fingerprints.holds(expected, values_, record.value)) continue;
        ++report.wrong;
        if (static_cast<std::int64_t>(report.list.size()) >= max_listed) continue;

        const auto want = expected_contributions(expected, c.num_ranks());
        const auto have = values_.contributions(record.value);
        const Listed all_wanted = all_of(want);
        const Listed all_found = all_of(have);
        const Listed missing = difference(want, have);
        const Listed surplus = difference(have, want);
        WrongChunk wrong;
        wrong.rank = rank;
        wrong.buffer = kind;
        wrong.index = i;
        wrong.expected = all_wanted.origins;
        wrong.found = all_found.origins;
        wrong.missing = missing.origins;
        wrong.surplus = surplus.origins;
        wrong.written = record.writer != 0;
        wrong.last_write = last_write(record);
        wrong.message = fmt::format(
            "{}: expected {{{}}}, found {}", describe(place), all_wanted.str(" + "),
            record.value == kNothing ? "nothing" : fmt::format("{{{}}}", all_found.str(" + ")));
        // Where nothing was found, or nothing of it is right, the difference says nothing new.
        if (missing.total > 0 && missing.total < all_wanted.total) {
          wrong.message += fmt::format("; missing {}", missing.str(", "));
        }
        if (surplus.total > 0 && surplus.total < all_found.total) {
          wrong.message += fmt::format("; surplus {}", surplus.str(", "));
        }
        if (wrong.last_write.known()) {
          wrong.message += fmt::format(" (last written at {})", wrong.last_write.str());
        } else if (record.value == kNothing) {
          wrong.message += " (never written)";
        } else if (!wrong.written) {
          wrong.message += " (there from the start)";
        }
        report.list.push_back(std::move(wrong));
      }
    }
  }
  return report;
}

std::string CheckReport::str() const {
  if (!has_postcondition) {
    return fmt::format("program {}: the postcondition of collective {} is not known", program,
                       collective);
  }
  if (wrong == 0) {
    return fmt::format("program {} implements {}: {} chunk{} right", program, collective, checked,
                       checked == 1 ? "" : "s");
  }
  std::string text;
  for (const WrongChunk& w : list) text += w.message + '\n';
  const std::int64_t rest = wrong - static_cast<std::int64_t>(list.size());
  if (rest > 0) text += fmt::format("... and {} more\n", rest);
  return text + fmt::format("program {} does not implement {}: {} of {} chunk{} wrong", program,
                            collective, wrong, checked, checked == 1 ? "" : "s");
}

void CheckReport::require(CallSite at) const {
  if (ok()) return;
  if (!has_postcondition) {
    throw Error(Code::NoPostcondition, str(), at,
                "declare what must lie where with CustomCollective::requires_()");
  }
  std::vector<Note> notes;
  constexpr std::size_t kMostNotes = 8;
  for (std::size_t i = 0; i < std::min(kMostNotes, list.size()); ++i) {
    const WrongChunk& w = list[i];
    std::string text = w.message;
    // The note stands at the last write already.
    const std::string at_line = fmt::format("(last written at {})", w.last_write.str());
    if (w.last_write.known() && text.ends_with(at_line)) {
      text.replace(text.size() - at_line.size(), at_line.size(), "(last written here)");
    }
    notes.push_back({std::move(text), w.last_write});
  }
  if (wrong > static_cast<std::int64_t>(notes.size())) {
    notes.push_back(
        {fmt::format("and {} more", wrong - static_cast<std::int64_t>(notes.size())), {}});
  }
  throw Error(Code::WrongResult,
              fmt::format("program {} does not implement {}: {} of {} chunk{} wrong", program,
                          collective, wrong, checked, checked == 1 ? "" : "s"),
              at, {}, std::move(notes));
}

}  // namespace hocket
