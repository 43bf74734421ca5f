#include "verify/execution.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "verify/explain.h"
#include "verify/interpret.h"
#include "verify/origins.h"
#include "verify/words.h"

namespace hocket::verifying {
namespace {

// Steps of a chain that a finding lists, and of those the ones that become notes.
constexpr std::size_t kMostSteps = 64;
constexpr std::size_t kMostNotes = 8;
// Chunks that all steps together move; of more, nobody remembers which way they took.
constexpr std::int64_t kMostExplained = std::int64_t{1} << 23;

// A step that reads a chunk that nobody wrote; its first such lane.
struct Unwritten {
  InstrId by = kNone;
  std::int32_t lane = 0;
  CellId cell = 0;
};

struct Contents {
  ChunkValues values;
  std::vector<std::uint8_t> written;  // of each cell: there is something, if only worth nothing
  std::vector<Unwritten> unwritten;
  std::size_t most_unwritten = 0;
  std::int64_t num_unwritten = 0;
  InstrId last_unwritten = kNone;

  std::uint32_t add(std::uint32_t a, std::uint32_t b) { return values.sum(a, b); }
  bool sources_first(const Instr&) { return false; }
  void read(InstrId i, std::int32_t lane, CellId cell, std::uint32_t value) {
    if (value != kNothing || written[cell] != 0 || last_unwritten == i) return;
    last_unwritten = i;
    ++num_unwritten;
    if (unwritten.size() < most_unwritten) unwritten.push_back({i, lane, cell});
  }
  void wrote(InstrId, std::int32_t, CellId cell) { written[cell] = 1; }
  void made(InstrId, std::int32_t, std::uint32_t) {}
};

// A slot of the postcondition that does not hold what it must.
struct Wrong {
  int rank = 0;
  Slot slot;
  CellId cell = 0;
};

class Checker {
 public:
  Checker(const Loaded& loaded, const ExecutionOrder& order, const VerifyOptions& options)
      : loaded_(loaded),
        order_(order),
        check_(options.check),
        most_(static_cast<std::size_t>(std::max(options.max_findings, 0))),
        origins_(loaded),
        run_{ChunkValues(1, static_cast<int>(origins_.size())),
             std::vector<std::uint8_t>(loaded.num_cells(), 0),
             {},
             most_} {}

  Execution check() {
    Execution result;
    result.contents.assign(loaded_.num_cells(), kNothing);
    for (const Origins::Start& s : origins_.starts()) {
      result.contents[s.cell] = run_.values.origin({0, static_cast<std::int32_t>(s.number)});
    }
    {
      Interpreter<Contents> interpreter(loaded_, run_, result.contents);
      interpreter.run(order_);
    }
    rule_initialised(result.initialised);
    rule_postcondition(result);
    if (check_) ask(result);
    return result;
  }

 private:
  void rule_initialised(PropertyRuling& ruling) {
    ruling.num_findings = run_.num_unwritten;
    ruling.ruling = run_.num_unwritten == 0 ? Ruling::proved : Ruling::refuted;
    ruling.summary =
        run_.num_unwritten == 0 ? "every chunk is written before it is read"
        : run_.num_unwritten == 1
            ? "a step reads a chunk that nobody wrote"
            : fmt::format("{} steps read chunks that nobody wrote", run_.num_unwritten);
    for (const Unwritten& u : run_.unwritten) {
      const Instr& instr = loaded_.instrs[u.by];
      Finding f;
      f.at = loaded_.place(u.by);
      std::tie(f.buffer, f.index) = operand_of(u);
      f.found = "nothing";
      f.diagnostic.code = Code::UninitialisedRead;
      f.diagnostic.message =
          fmt::format("{} ({}) reads {}[{}], where nobody wrote anything", str(f.at),
                      op_info(instr.op).name, buffer_kind_name(*f.buffer), f.index);
      locate(loaded_, u.by, f.diagnostic);
      ruling.findings.push_back(std::move(f));
    }
  }

  // The name under which the step reads the cell.
  std::pair<BufferKind, std::int32_t> operand_of(const Unwritten& u) const {
    const Instr& instr = loaded_.instrs[u.by];
    const std::int32_t rank = loaded_.rank_of(u.by);
    const auto is = [&](BufferKind buffer, std::int32_t index) {
      return loaded_.cell(rank, buffer, index) == u.cell;
    };
    if (op_info(instr.op).reads_src) {
      if (is(instr.src_buffer, instr.src_offset + u.lane)) {
        return {instr.src_buffer, instr.src_offset + u.lane};
      }
      for (const std::int32_t source : loaded_.sources_of(u.by)) {
        if (is(instr.src_buffer, source + u.lane)) return {instr.src_buffer, source + u.lane};
      }
    }
    return {instr.dst_buffer, instr.dst_offset + u.lane};
  }

  void rule_postcondition(Execution& result) {
    PropertyRuling& ruling = result.postcondition;
    const Collective& c = *loaded_.collective;
    if (!c.has_postcondition()) {
      ruling.summary = fmt::format("what {} must compute is not known", c.name());
      return;
    }
    std::vector<Wrong> wrong;
    std::int64_t checked = 0;
    std::int64_t num_wrong = 0;
    for_each_slot(loaded_, [&](int rank, Slot slot, CellId cell) {
      const Expected expected = c.expected(rank, slot);
      if (expected.kind == Expected::Kind::any) return;
      ++checked;
      if (cell != kNone && holds(expected, result.contents[cell])) return;
      ++num_wrong;
      if (wrong.size() < most_) wrong.push_back({rank, slot, cell});
    });
    ruling.num_findings = num_wrong;
    ruling.ruling = num_wrong == 0 ? Ruling::proved : Ruling::refuted;
    const std::string what =
        has_root(c.kind()) ? fmt::format("{} with root {}", c.name(), c.root()) : c.name();
    ruling.summary = num_wrong == 0 ? fmt::format("{} chunk{} as {} wants", checked,
                                                  checked == 1 ? "" : "s", what)
                                    : fmt::format("{} of {} chunk{} not as {} wants", num_wrong,
                                                  checked, checked == 1 ? "" : "s", what);
    // So that nobody takes it for more.
    if (checked == 0) ruling.summary = fmt::format("{} wants nothing of any chunk", c.name());
    if (wrong.empty()) return;
    std::int64_t moved = 0;
    for (const Instr& i : loaded_.instrs) moved += i.count;
    std::optional<History> history;
    if (moved <= kMostExplained) history.emplace(loaded_, order_, origins_);
    for (const Wrong& w : wrong) {
      const ValueId value = w.cell == kNone ? kNothing : result.contents[w.cell];
      ruling.findings.push_back(describe(w, value, history ? &*history : nullptr));
    }
  }

  // The user's own check.
  void ask(Execution& result) const {
    PropertyRuling& ruling = result.postcondition;
    const std::optional<std::string> fault = check_(View(*this, result.contents));
    if (!fault) return;
    if (!fault->empty()) {
      if (ruling.ruling != Ruling::refuted) ruling.summary = *fault;
      ruling.ruling = Ruling::refuted;
      ++ruling.num_findings;
      if (ruling.findings.size() >= most_) return;
      Finding f;
      f.diagnostic.code = Code::WrongContent;
      f.diagnostic.message = *fault;
      ruling.findings.push_back(std::move(f));
    } else if (ruling.ruling == Ruling::undecided) {
      ruling = {Ruling::proved, "as its check wants", {}, 0};
    }
  }

  bool holds(const Expected& expected, ValueId value) {
    if (value == kNothing) return false;
    switch (expected.kind) {
      case Expected::Kind::any:
        return true;
      case Expected::Kind::one: {
        const auto number = origins_.number(expected.origin);
        return number && value == leaf(*number);
      }
      case Expected::Kind::all_ranks: {
        const auto& sum = all_ranks(expected.origin.index);
        const auto ranks = static_cast<std::uint64_t>(loaded_.collective->num_ranks());
        return sum && run_.values.count(value) == ranks && run_.values.fingerprint(value) == *sum;
      }
      case Expected::Kind::list: {
        Fingerprint sum;
        for (const Origin& o : expected.list) {
          const auto number = origins_.number(o);
          if (!number) return false;
          sum += run_.values.fingerprint(leaf(*number));
        }
        return run_.values.count(value) == expected.list.size() &&
               run_.values.fingerprint(value) == sum;
      }
    }
    return false;
  }

  ValueId leaf(std::uint32_t number) const {
    return run_.values.origin({0, static_cast<std::int32_t>(number)});
  }

  // The sum over all ranks of an index; none: some rank has no such chunk.
  const std::optional<Fingerprint>& all_ranks(std::int32_t index) {
    const auto [at, fresh] = all_ranks_.try_emplace(index);
    if (fresh) {
      Fingerprint sum;
      for (int r = 0; r < loaded_.collective->num_ranks(); ++r) {
        const auto number = origins_.number({r, index});
        if (!number) return at->second;
        sum += run_.values.fingerprint(leaf(*number));
      }
      at->second = sum;
    }
    return at->second;
  }

  std::vector<Contribution> wanted(const Expected& expected) const {
    std::vector<Contribution> result;
    if (expected.kind == Expected::Kind::one) result.push_back({expected.origin, 1});
    if (expected.kind == Expected::Kind::all_ranks) {
      for (int r = 0; r < loaded_.collective->num_ranks(); ++r) {
        result.push_back({{r, expected.origin.index}, 1});
      }
    }
    if (expected.kind == Expected::Kind::list) {
      for (const Origin& o : expected.list) {
        if (!result.empty() && result.back().origin == o) {
          ++result.back().times;
        } else {
          result.push_back({o, 1});
        }
      }
    }
    return result;
  }

  Finding describe(const Wrong& w, ValueId value, const History* history) const {
    const auto want = wanted(loaded_.collective->expected(w.rank, w.slot));
    std::vector<Contribution> have = run_.values.contributions(value);
    for (Contribution& c : have) {
      c.origin = origins_.origin(static_cast<std::uint32_t>(c.origin.index));
    }
    const auto missing = difference(want, have);
    const auto surplus = difference(have, want);
    const InstrId last =
        w.cell == kNone || history == nullptr ? kNone : history->last_write(w.cell);

    Finding f;
    f.at.rank = w.rank;
    f.buffer = w.slot.buffer;
    f.index = w.slot.index;
    f.expected = content_text(want);
    f.found = value == kNothing && w.cell != kNone && run_.written[w.cell] != 0
                  ? "nothing of worth"
                  : content_text(have);
    f.diagnostic.code = Code::WrongContent;
    f.diagnostic.message =
        fmt::format("rank {} {}[{}] ends with {}, but must hold {}", w.rank,
                    buffer_kind_name(w.slot.buffer), w.slot.index, f.found, f.expected);
    // Where nothing was found, or nothing of it is right, the difference says nothing new.
    if (!missing.empty() && !have.empty() && missing != want) {
      f.diagnostic.message += fmt::format("; missing: {}", content_text(missing));
    }
    if (!surplus.empty() && surplus != have) {
      f.diagnostic.message += fmt::format("; too much: {}", content_text(surplus));
    }
    if (last == kNone) {
      if (w.cell != kNone && run_.written[w.cell] != 0) return f;
      f.diagnostic.message += value == kNothing ? " (never written)" : " (there from the start)";
      return f;
    }
    f.at = loaded_.place(last);
    f.diagnostic.message += fmt::format(" (last written by tb {} step {})", f.at.tb, f.at.step);
    locate(loaded_, last, f.diagnostic);
    std::optional<Origin> follow;
    if (!surplus.empty()) follow = surplus.front().origin;
    const std::vector<InstrId> trail = history->trail(w.cell, follow, kMostSteps);
    for (const InstrId i : trail) f.chain.push_back(loaded_.place(i));
    note_trail(trail, follow, value, f.diagnostic);
    return f;
  }

  void note_trail(const std::vector<InstrId>& trail, std::optional<Origin> follow, ValueId value,
                  Diagnostic& diagnostic) const {
    const std::string what = follow ? fmt::format("in[{}] of rank {}", follow->index, follow->rank)
                             : value == kNothing ? std::string("what nobody wrote")
                                                 : std::string("most of what it holds");
    for (std::size_t k = 0; k < trail.size(); ++k) {
      // Of a long way its start and its end.
      if (trail.size() > kMostNotes && k == kMostNotes / 2) {
        k = trail.size() - kMostNotes / 2;
        diagnostic.notes.push_back(
            {fmt::format("... {} steps ...", trail.size() - kMostNotes), {}});
      }
      note_step(loaded_, trail[k],
                k == 0 ? fmt::format("takes {}", what) : std::string("brings it on"), diagnostic);
    }
  }

  class View final : public FinalContents {
   public:
    View(const Checker& checker, const std::vector<ValueId>& contents)
        : checker_(checker), contents_(contents) {}
    const Collective& collective() const override { return *checker_.loaded_.collective; }
    bool in_place() const override { return checker_.loaded_.in_place; }
    std::uint32_t value(int rank, Slot slot) const override {
      const Loaded& loaded = checker_.loaded_;
      if (rank < 0 || rank >= loaded.num_ranks() || slot.index < 0) return kNothing;
      const auto& sizes = loaded.sizes[static_cast<std::size_t>(rank)];
      if (slot.index >= sizes[static_cast<std::size_t>(slot.buffer)]) return kNothing;
      return contents_[loaded.cell(rank, slot.buffer, slot.index)];
    }
    std::vector<Origin> origins(int rank, Slot slot) const override {
      constexpr std::uint64_t kMostListed = std::uint64_t{1} << 27;
      std::vector<Origin> list;
      const ValueId sum = value(rank, slot);
      if (sum == kNothing) return list;
      const ChunkValues& values = checker_.run_.values;
      if (values.count(sum) > kMostListed) {
        throw Error(
            Code::TooLarge,
            fmt::format("rank {} {}[{}] ends with {} contributions, more than can be listed", rank,
                        buffer_kind_name(slot.buffer), slot.index, values.count(sum)));
      }
      for (const Contribution& c : values.contributions(sum)) {
        const Origin origin = checker_.origins_.origin(static_cast<std::uint32_t>(c.origin.index));
        list.insert(list.end(), static_cast<std::size_t>(c.times), origin);
      }
      return list;
    }

    std::vector<Count> counts(int rank, Slot slot) const override {
      std::vector<Count> list;
      const ValueId sum = value(rank, slot);
      if (sum == kNothing) return list;
      for (const Contribution& c : checker_.run_.values.contributions_modulo(sum)) {
        list.push_back(
            {checker_.origins_.origin(static_cast<std::uint32_t>(c.origin.index)), c.times});
      }
      return list;
    }

   private:
    const Checker& checker_;
    const std::vector<ValueId>& contents_;
  };

  const Loaded& loaded_;
  const ExecutionOrder& order_;
  const decltype(VerifyOptions::check)& check_;
  const std::size_t most_;
  const Origins origins_;
  Contents run_;
  std::unordered_map<std::int32_t, std::optional<Fingerprint>> all_ranks_;
};

}  // namespace

Execution execute(const Loaded& loaded, const ExecutionOrder& order, const VerifyOptions& options) {
  return Checker(loaded, order, options).check();
}

}  // namespace hocket::verifying
