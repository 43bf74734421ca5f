#include "verify/races.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "verify/paths.h"
#include "verify/words.h"

namespace hocket::verifying {
namespace {

// Threadblocks of a rank that are followed at a time: a clock has that many parts.
constexpr std::uint32_t kFollowed = 128;
constexpr std::uint32_t kFewestFollowed = 16;
// Parts of clocks (4 bytes each) that are kept for those that wait.
constexpr std::uint32_t kMostKept = 32'000'000;
// Open questions about paths that are kept (16 bytes each); beyond, the property is undecided.
constexpr std::size_t kMostQuestions = 4'000'000;
// Reads of a chunk that a new one looks at for some to forget, where there may be more than one a
// threadblock.
constexpr int kMostPruned = 8;
// Conflicts after which such questions are not worth asking any more.
constexpr std::int64_t kMostConflicts = 1000;

// A chunk as one instruction accesses it.
struct Access {
  InstrId by = kNone;
  std::int32_t lane = 0;
};

struct Conflict {
  InstrId first = kNone;  // in the order of execution
  InstrId second = kNone;
  BufferKind buffer = BufferKind::input;  // the chunk, as `second` names it
  std::int32_t index = 0;
  bool first_writes = false;
  bool second_writes = false;
};

class RaceFinder {
 public:
  RaceFinder(const Loaded& loaded, const ExecutionOrder& order, const VerifyOptions& options)
      : loaded_(loaded),
        order_(order),
        options_(options),
        lagging_(options.target == Target::rccl && loaded.algorithm->protocol == Protocol::ll),
        paths_(loaded, order, lagging_),
        last_write_(loaded.num_cells(), kNone),
        first_read_(loaded.num_cells(), kNone),
        waiters_(loaded.instrs.size(), 0),
        kept_clock_(loaded.instrs.size(), kNone) {
    for (const InstrId w : loaded.waits) ++waiters_[w];
    sort_by_rank();
  }

  PropertyRuling run() {
    for (int r = 0; r < loaded_.num_ranks(); ++r) {
      const BlockId begin = loaded_.first_block[static_cast<std::size_t>(r)];
      const BlockId end = loaded_.first_block[static_cast<std::size_t>(r) + 1];
      // One threadblock conflicts with nobody, unless its sends lag.
      if (end - begin < 2 && !lagging_) continue;
      const std::uint32_t size = followed_at_a_time(r);
      for (BlockId b = begin; b < end; b += size) follow(r, b, std::min(size, end - b));
    }
    answer_questions();
    return ruling();
  }

 private:
  void sort_by_rank() {
    first_of_rank_.assign(static_cast<std::size_t>(loaded_.num_ranks()) + 1, 0);
    for (const Block& b : loaded_.blocks)
      first_of_rank_[static_cast<std::size_t>(b.rank) + 1] += b.num;
    for (std::size_t r = 1; r < first_of_rank_.size(); ++r) {
      first_of_rank_[r] += first_of_rank_[r - 1];
    }
    by_rank_.resize(order_.order.size());
    std::vector<std::uint32_t> next = first_of_rank_;
    for (const InstrId i : order_.order) {
      by_rank_[next[static_cast<std::size_t>(loaded_.rank_of(i))]++] = i;
    }
  }

  // Fewer where so many instructions are waited for that their clocks would not fit.
  std::uint32_t followed_at_a_time(int rank) const {
    const auto r = static_cast<std::size_t>(rank);
    std::uint32_t awaited = 1;
    for (std::uint32_t k = first_of_rank_[r]; k < first_of_rank_[r + 1]; ++k) {
      awaited += waiters_[by_rank_[k]] > 0 ? 1 : 0;
    }
    return std::clamp(kMostKept / awaited, kFewestFollowed, kFollowed);
  }

  // Looks for conflicts of which the earlier access is by one of the blocks followed.
  void follow(int rank, BlockId first, std::uint32_t size) {
    const auto r = static_cast<std::size_t>(rank);
    const BlockId rank_begin = loaded_.first_block[r];
    const BlockId rank_end = loaded_.first_block[r + 1];
    first_followed_ = first;
    num_followed_ = size;
    clocks_.assign(std::size_t{rank_end - rank_begin} * size, 0);
    kept_.clear();
    free_kept_.clear();
    std::fill(last_write_.begin() + loaded_.first_cell[r],
              last_write_.begin() + loaded_.first_cell[r + 1], kNone);
    std::fill(first_read_.begin() + loaded_.first_cell[r],
              first_read_.begin() + loaded_.first_cell[r + 1], kNone);
    reads_.clear();
    free_read_ = kNone;
    for (std::uint32_t k = first_of_rank_[r]; k < first_of_rank_[r + 1]; ++k) {
      const InstrId i = by_rank_[k];
      const Instr& instr = loaded_.instrs[i];
      clock_ = clocks_.data() + std::size_t{instr.block - rank_begin} * size;
      begin(i);
      accesses(rank, i, instr);
      finish(i, instr);
    }
    // Waits in another pass start again with all their waiters.
    for (std::uint32_t k = first_of_rank_[r]; k < first_of_rank_[r + 1]; ++k) {
      for (const InstrId w : loaded_.waits_of(by_rank_[k])) ++waiters_[w];
    }
  }

  // The number of instructions of each followed block that ended before the current one starts.
  bool ended(InstrId i) const {
    const BlockId b = loaded_.instrs[i].block - first_followed_;
    return clock_[b] > loaded_.position(i);
  }
  bool followed(BlockId b) const { return b - first_followed_ < num_followed_; }

  void begin(InstrId i) {
    for (const InstrId w : loaded_.waits_of(i)) {
      const BlockId b = loaded_.instrs[w].block;
      const std::uint32_t slot = kept_clock_[w];
      if (!followed(b) || !ended(w)) {
        const std::uint32_t* other = kept_.data() + std::size_t{slot} * num_followed_;
        for (std::uint32_t p = 0; p < num_followed_; ++p) clock_[p] = std::max(clock_[p], other[p]);
      }
      if (--waiters_[w] == 0) free_kept_.push_back(slot);
    }
  }

  void finish(InstrId i, const Instr& instr) {
    if (followed(instr.block)) clock_[instr.block - first_followed_] = loaded_.position(i) + 1;
    if (waiters_[i] == 0) return;
    std::uint32_t slot = 0;
    if (free_kept_.empty()) {
      slot = static_cast<std::uint32_t>(kept_.size() / num_followed_);
      kept_.resize(kept_.size() + num_followed_);
    } else {
      slot = free_kept_.back();
      free_kept_.pop_back();
    }
    kept_clock_[i] = slot;
    std::copy_n(clock_, num_followed_, kept_.begin() + std::ptrdiff_t{slot} * num_followed_);
  }

  // Reads come first: what an instruction writes does not disturb what it reads.
  void accesses(int rank, InstrId i, const Instr& instr) {
    const OpInfo& info = op_info(instr.op);
    for (std::int32_t lane = 0; lane < instr.count; ++lane) {
      if (info.reads_src) {
        read(rank, {i, lane}, instr.src_buffer, instr.src_offset + lane);
        for (const std::int32_t source : loaded_.sources_of(i)) {
          read(rank, {i, lane}, instr.src_buffer, source + lane);
        }
      }
    }
    if (!info.writes_dst) return;
    for (std::int32_t lane = 0; lane < instr.count; ++lane) {
      if (info.accumulates) read(rank, {i, lane}, instr.dst_buffer, instr.dst_offset + lane);
      write(rank, {i, lane}, instr.dst_buffer, instr.dst_offset + lane);
    }
  }

  // Is the read over when the current instruction, of another access, starts, as far as its own
  // rank says?
  bool read_ended(InstrId read, InstrId current) const {
    const InstrId until = paths_.read_until(read);
    if (until == kNone) return false;
    if (loaded_.instrs[read].block == loaded_.instrs[current].block) return until < current;
    return ended(until);
  }

  void check_last_write(CellId cell, InstrId by, BufferKind buffer, std::int32_t index,
                        bool writes) {
    const InstrId w = last_write_[cell];
    if (w == kNone || loaded_.instrs[w].block == loaded_.instrs[by].block || ended(w)) return;
    report({w, by, buffer, index, true, writes});
  }

  void read(int rank, Access access, BufferKind buffer, std::int32_t index) {
    const CellId cell = loaded_.cell(rank, buffer, index);
    check_last_write(cell, access.by, buffer, index, false);
    // A read that was over when this one began needs no watching any more: whatever is after this
    // one is after it too.
    std::uint32_t* link = &first_read_[cell];
    for (int looked = 0; *link != kNone && (!lagging_ || looked < kMostPruned); ++looked) {
      Read& r = reads_[*link];
      if (r.access.by == access.by ? !lagging_ : read_ended(r.access.by, access.by)) {
        const std::uint32_t gone = *link;
        *link = r.next;
        r.next = free_read_;
        free_read_ = gone;
      } else {
        link = &r.next;
      }
    }
    if (!followed(loaded_.instrs[access.by].block)) return;
    std::uint32_t slot = free_read_;
    if (slot == kNone) {
      slot = static_cast<std::uint32_t>(reads_.size());
      reads_.emplace_back();
    } else {
      free_read_ = reads_[slot].next;
    }
    reads_[slot] = {access, first_read_[cell]};
    first_read_[cell] = slot;
  }

  void write(int rank, Access access, BufferKind buffer, std::int32_t index) {
    const CellId cell = loaded_.cell(rank, buffer, index);
    check_last_write(cell, access.by, buffer, index, true);
    for (std::uint32_t k = first_read_[cell]; k != kNone;) {
      const Access reader = reads_[k].access;
      if (reader.by != access.by && !read_ended(reader.by, access.by)) {
        ask({reader.by, access.by, buffer, index, false, true}, reader.lane, access.lane);
      }
      const std::uint32_t next = reads_[k].next;
      reads_[k].next = free_read_;
      free_read_ = k;
      k = next;
    }
    first_read_[cell] = kNone;
    last_write_[cell] = followed(loaded_.instrs[access.by].block) ? access.by : kNone;
  }

  // A read and a later write that only messages may order.
  void ask(const Conflict& conflict, std::int32_t read_lane, std::int32_t write_lane) {
    if (num_conflicts_ >= kMostConflicts) return;
    if (read_lane == write_lane && paths_.on_one_chain(conflict.first, conflict.second)) return;
    const std::uint64_t pair = pair_of(conflict);
    Answer& known = answers_[(pair * 0x9e3779b97f4a7c15u) >> (64 - kAnswerBits)];
    if (known.pair == pair) {
      if (known.found == Found::no) report(conflict);
      return;
    }
    known = {pair, paths_.crosses(conflict.first, conflict.second)};
    if (known.found == Found::yes) {
      ++through_messages_;
    } else if (known.found == Found::no) {
      report(conflict);
    } else if (questions_.size() < kMostQuestions) {
      questions_.push_back({conflict.first, conflict.second});
      asked_.push_back(conflict);
    } else {
      gave_up_ = conflict;
    }
  }

  void answer_questions() {
    if (questions_.empty()) return;
    const std::vector<Found> answers = paths_.answer(questions_);
    for (std::size_t q = 0; q < answers.size(); ++q) {
      const Conflict& conflict = asked_[q];
      if (answers[q] == Found::yes) {
        ++through_messages_;
      } else if (answers[q] == Found::no) {
        report(conflict);
      } else {
        gave_up_ = conflict;
      }
    }
  }

  static std::uint64_t pair_of(const Conflict& c) {
    return std::uint64_t{c.first} << 32 | c.second;
  }

  // Once for two instructions, whatever their chunks.
  void report(const Conflict& conflict) {
    const std::uint64_t pair = pair_of(conflict);
    if (pair == last_reported_) return;
    last_reported_ = pair;
    ++num_conflicts_;
    if (conflicts_.size() < static_cast<std::size_t>(std::max(options_.max_findings, 1)) &&
        listed_.insert(pair).second) {
      conflicts_.push_back(conflict);
    }
  }

  PropertyRuling ruling() {
    PropertyRuling result;
    result.num_findings = num_conflicts_;
    for (const Conflict& c : conflicts_) {
      if (static_cast<int>(result.findings.size()) < options_.max_findings) {
        result.findings.push_back(describe(c));
      }
    }
    if (num_conflicts_ > 0) {
      result.ruling = Ruling::refuted;
      result.summary =
          fmt::format("{} of instructions whose order nothing guarantees",
                      num_conflicts_ == 1 ? "a pair" : fmt::format("{} pairs", num_conflicts_));
    } else if (gave_up_.first != kNone) {
      result.ruling = Ruling::undecided;
      result.summary =
          fmt::format("whether messages order {} and {} would take too long to find out",
                      str(loaded_.place(gave_up_.first)), str(loaded_.place(gave_up_.second)));
    } else {
      result.ruling = Ruling::proved;
      result.summary = "every two conflicting accesses are ordered";
      if (through_messages_ > 0) {
        result.summary +=
            fmt::format(", {} of a read before a write by messages only", through_messages_);
      }
    }
    return result;
  }

  // Of merged reduces the step that reads the cell.
  StepPlace place(InstrId i, CellId cell) const {
    StepPlace result = loaded_.place(i);
    const Instr& instr = loaded_.instrs[i];
    const auto sources = loaded_.sources_of(i);
    for (std::size_t k = 0; k < sources.size(); ++k) {
      for (std::int32_t lane = 0; lane < instr.count; ++lane) {
        if (loaded_.cell(result.rank, instr.src_buffer, sources[k] + lane) == cell &&
            instr.last_step - instr.step == static_cast<std::int32_t>(sources.size())) {
          result.step += static_cast<std::int32_t>(k) + 1;
          return result;
        }
      }
    }
    return result;
  }

  Finding describe(const Conflict& c) {
    const CellId cell = loaded_.cell(loaded_.rank_of(c.second), c.buffer, c.index);
    const StepPlace first = place(c.first, cell);
    const StepPlace second = place(c.second, cell);
    const bool through_ranks =
        c.first_writes && paths_.wrote_before(c.first, c.second, c.second_writes);
    Finding f;
    f.at = second;
    f.buffer = c.buffer;
    f.index = c.index;
    f.chain = {first};
    f.diagnostic.code = through_ranks ? Code::OrderedElsewhere : Code::Race;
    f.diagnostic.message =
        fmt::format("{} {} {}[{}], which tb {} step {} {}", str(second),
                    c.second_writes ? "writes" : "reads", buffer_kind_name(c.buffer), c.index,
                    first.tb, first.step, c.first_writes ? "writes" : "reads");
    if (through_ranks) {
      f.diagnostic.message += " before, but only messages through other ranks say so";
      f.diagnostic.hint = fmt::format(
          "no runtime promises that a write is visible that way: let tb {} step {} wait for tb {} "
          "step {} as well",
          second.tb, second.step, first.tb, first.step);
    } else if (first.tb == second.tb) {
      f.diagnostic.message += ": RCCL ends a send with LL while its threads may still be reading";
      f.diagnostic.hint = "put a step that is no plain send between them";
    } else {
      f.diagnostic.message += ", and nothing orders the two";
      f.diagnostic.hint = "let one of them wait for the other: depid and deps there, hasdep here";
      if (lagging_ && !c.first_writes && loaded_.instrs[c.first].op == OpCode::send) {
        f.diagnostic.hint +=
            "; on RCCL with LL a wait for a plain send does not wait for its reading, so name a "
            "later step";
      }
    }
    locate(loaded_, c.second, f.diagnostic);
    note_step(loaded_, c.first, "the other access", f.diagnostic);
    return f;
  }

  struct Read {
    Access access;
    std::uint32_t next = kNone;
  };
  struct Answer {
    std::uint64_t pair = 0;
    Found found = Found::gave_up;
  };
  static constexpr int kAnswerBits = 10;

  const Loaded& loaded_;
  const ExecutionOrder& order_;
  const VerifyOptions& options_;
  const bool lagging_;
  Paths paths_;

  std::vector<std::uint32_t> first_of_rank_;  // into by_rank_, and the end
  std::vector<InstrId> by_rank_;              // in the order of execution, rank after rank

  // Of the current pass.
  BlockId first_followed_ = 0;
  std::uint32_t num_followed_ = 0;
  std::vector<std::uint32_t> clocks_;  // of the blocks of the rank
  std::uint32_t* clock_ = nullptr;     // of the current block
  std::vector<std::uint32_t> kept_;    // clocks at the ends that somebody still waits for
  std::vector<std::uint32_t> free_kept_;
  std::vector<InstrId> last_write_;        // of each cell, by a followed block, if it was the last
  std::vector<std::uint32_t> first_read_;  // of each cell: reads since, by followed blocks
  std::vector<Read> reads_;
  std::uint32_t free_read_ = kNone;
  std::vector<std::uint32_t> waiters_;     // of each instruction, still to come
  std::vector<std::uint32_t> kept_clock_;  // of each instruction

  std::vector<Answer> answers_ = std::vector<Answer>(std::size_t{1} << kAnswerBits);
  std::vector<Paths::Question> questions_;
  std::vector<Conflict> asked_;
  std::int64_t through_messages_ = 0;
  Conflict gave_up_;
  std::int64_t num_conflicts_ = 0;
  std::uint64_t last_reported_ = 0;
  std::vector<Conflict> conflicts_;
  std::unordered_set<std::uint64_t> listed_;
};

}  // namespace

PropertyRuling find_races(const Loaded& loaded, const ExecutionOrder& order,
                          const VerifyOptions& options) {
  if (!order.complete()) {
    PropertyRuling result;
    result.summary = "some threadblocks wait for each other: they have no order to judge";
    return result;
  }
  return RaceFinder(loaded, order, options).run();
}

}  // namespace hocket::verifying
