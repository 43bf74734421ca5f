#include "verify/explain.h"

#include <algorithm>

#include "verify/interpret.h"

namespace hocket::verifying {
namespace {

// Contributions that the search for one trail may look through; then it follows the largest part.
constexpr std::int64_t kMostSearched = 2'000'000;
// Steps that it may go back.
constexpr std::size_t kMostBack = 100'000;
// Contributions and steps of all trails together; of what is found after that only the last step is
// told.
constexpr std::int64_t kAllSearched = 50'000'000;

}  // namespace

struct History::Recorder {
  explicit Recorder(History& history) : history_(history) {}

  std::uint32_t add(std::uint32_t a, std::uint32_t b) { return history_.values_.sum(a, b); }
  bool sources_first(const Instr&) { return false; }
  void read(InstrId i, std::int32_t, CellId cell, std::uint32_t value) {
    if (last_ != i) {
      next_ = history_.first_read_[i];
      last_ = i;
    }
    history_.reads_[next_++] = {history_.last_write_[cell], value};
  }
  void wrote(InstrId i, std::int32_t lane, CellId cell) { history_.last_write_[cell] = {i, lane}; }
  void made(InstrId i, std::int32_t lane, std::uint32_t value) {
    history_.made_[history_.first_made_[i] + static_cast<std::size_t>(lane)] = value;
  }

 private:
  History& history_;
  InstrId last_ = kNone;
  std::size_t next_ = 0;  // into history_.reads_
};

History::History(const Loaded& loaded, const ExecutionOrder& order, const Origins& origins)
    : loaded_(loaded),
      origins_(origins),
      values_(1, static_cast<int>(origins.size())),
      first_read_(loaded.instrs.size() + 1, 0),
      first_made_(loaded.instrs.size() + 1, 0),
      last_write_(loaded.num_cells()) {
  for (InstrId i = 0; i < loaded.instrs.size(); ++i) {
    const auto lanes = static_cast<std::uint64_t>(loaded.instrs[i].count);
    first_made_[i + 1] = first_made_[i] + lanes;
    first_read_[i + 1] = first_read_[i] + lanes * reads_of(i);
  }
  reads_.resize(first_read_.back());
  made_.resize(first_made_.back());
  std::vector<ValueId> cells(loaded.num_cells(), kNothing);
  for (const Origins::Start& s : origins.starts()) {
    cells[s.cell] = values_.origin({0, static_cast<std::int32_t>(s.number)});
  }
  Recorder recorder(*this);
  Interpreter<Recorder>(loaded, recorder, cells).run(order);
}

std::size_t History::reads_of(InstrId i) const {
  const OpInfo& info = op_info(loaded_.instrs[i].op);
  return (info.reads_src ? 1U : 0U) + (info.accumulates ? 1U : 0U) + loaded_.sources_of(i).size();
}

std::vector<History::Part> History::parts_of(Made made) const {
  const std::size_t reads = reads_of(made.by);
  const std::size_t first = first_read_[made.by] + static_cast<std::size_t>(made.lane) * reads;
  std::vector<Part> parts(reads_.begin() + static_cast<std::ptrdiff_t>(first),
                          reads_.begin() + static_cast<std::ptrdiff_t>(first + reads));
  const InstrId sender = loaded_.instrs[made.by].partner;
  if (sender != kNone) {
    parts.push_back(
        {{sender, made.lane}, made_[first_made_[sender] + static_cast<std::size_t>(made.lane)]});
  }
  return parts;
}

std::vector<InstrId> History::trail(CellId cell, std::optional<Origin> wanted,
                                    std::size_t most) const {
  std::vector<InstrId> steps;
  std::optional<std::uint32_t> number;
  if (wanted) number = origins_.number(*wanted);
  std::int64_t searched = 0;
  const auto holds_wanted = [&](const Part& part) {
    if (!number || part.value == kNothing || searched > kMostSearched) return false;
    const std::vector<Contribution> all = values_.contributions(part.value);
    searched += static_cast<std::int64_t>(all.size());
    return std::any_of(all.begin(), all.end(), [&](const Contribution& c) {
      return c.origin.index == static_cast<std::int32_t>(*number);
    });
  };
  const auto weight = [&](const Part& part) {
    return part.value == kNothing ? ~std::uint64_t{0} : values_.count(part.value);
  };
  for (Made made = last_write_[cell]; made.by != kNone && steps.size() < kMostBack;) {
    steps.push_back(made.by);
    if (searched_in_all_ > kAllSearched) break;
    const std::vector<Part> parts = parts_of(made);
    auto next = std::find_if(parts.begin(), parts.end(), holds_wanted);
    if (next == parts.end()) {
      // Of equal parts the message, which comes last: it has the longer way behind it.
      for (auto part = parts.begin(); part != parts.end(); ++part) {
        if (next == parts.end() || weight(*part) >= weight(*next)) next = part;
      }
    }
    if (next == parts.end()) break;
    made = next->by;
  }
  searched_in_all_ += searched + static_cast<std::int64_t>(steps.size());
  std::reverse(steps.begin(), steps.end());
  if (steps.size() > most) {
    const auto half = static_cast<std::ptrdiff_t>(most / 2);
    steps.erase(steps.begin() + half, steps.end() - static_cast<std::ptrdiff_t>(most) + half);
  }
  return steps;
}

}  // namespace hocket::verifying
