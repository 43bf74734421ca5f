// Vector clocks over the threadblocks of a rank, some at a time, as for races.
#include "verify/waste_waits.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace hocket::verifying {
namespace {

constexpr std::uint32_t kFollowed = 128;
constexpr std::uint32_t kFewestFollowed = 16;
constexpr std::uint32_t kMostKept = 32'000'000;  // parts of clocks, 4 bytes each

// What implies a wait, where it is no other wait of the same instruction.
constexpr InstrId kNeeded = kNone;
constexpr InstrId kBefore = kNone - 1;  // the threadblock has waited for it, or for later, before

class Finder {
 public:
  Finder(const Loaded& loaded, const ExecutionOrder& order)
      : loaded_(loaded),
        by_(loaded.waits.size(), kNeeded),
        waiters_(loaded.instrs.size(), 0),
        kept_clock_(loaded.instrs.size(), kNone) {
    sort_by_rank(order);
  }

  // By index into Loaded::waits: what implies it.
  std::vector<InstrId> run() {
    for (std::size_t r = 0; r + 1 < loaded_.first_block.size(); ++r) {
      if (!may_imply(r)) continue;
      const BlockId begin = loaded_.first_block[r];
      const BlockId end = loaded_.first_block[r + 1];
      const std::uint32_t size = followed_at_a_time(r);
      top_.assign(end - begin, kNone);
      for (BlockId b = begin; b < end; b += size) follow(r, b, std::min(size, end - b));
    }
    return std::move(by_);
  }

 private:
  void sort_by_rank(const ExecutionOrder& order) {
    first_.assign(loaded_.first_block.size(), 0);
    for (const Block& b : loaded_.blocks) first_[static_cast<std::size_t>(b.rank) + 1] += b.num;
    for (std::size_t r = 1; r < first_.size(); ++r) first_[r] += first_[r - 1];
    by_rank_.resize(order.order.size());
    std::vector<std::uint32_t> next = first_;
    for (const InstrId i : order.order) {
      by_rank_[next[static_cast<std::size_t>(loaded_.rank_of(i))]++] = i;
    }
  }

  // The last step of any other path leads into the same threadblock: by another wait.
  bool may_imply(std::size_t r) const {
    for (BlockId b = loaded_.first_block[r]; b < loaded_.first_block[r + 1]; ++b) {
      const Block& block = loaded_.blocks[b];
      if (loaded_.first_wait[block.first + block.num] - loaded_.first_wait[block.first] > 1) {
        return true;
      }
    }
    return false;
  }

  std::uint32_t followed_at_a_time(std::size_t r) {
    std::uint32_t awaited = 1;
    for (std::uint32_t k = first_[r]; k < first_[r + 1]; ++k) {
      for (const InstrId w : loaded_.waits_of(by_rank_[k])) awaited += waiters_[w]++ == 0 ? 1 : 0;
    }
    return std::clamp(kMostKept / awaited, kFewestFollowed, kFollowed);
  }

  void follow(std::size_t r, BlockId first, std::uint32_t size) {
    first_followed_ = first;
    num_followed_ = size;
    const BlockId rank_begin = loaded_.first_block[r];
    clocks_.assign(top_.size() * size, 0);
    kept_.clear();
    free_kept_.clear();
    for (std::uint32_t k = first_[r]; k < first_[r + 1]; ++k) {
      const InstrId i = by_rank_[k];
      const BlockId b = loaded_.instrs[i].block;
      std::uint32_t* clock = clocks_.data() + std::size_t{b - rank_begin} * size;
      begin(i, clock, rank_begin);
      if (followed(b)) clock[b - first] = loaded_.position(i) + 1;
      if (waiters_[i] > 0) keep(i, clock);
    }
    for (std::uint32_t k = first_[r]; k < first_[r + 1]; ++k) {
      for (const InstrId w : loaded_.waits_of(by_rank_[k])) ++waiters_[w];
    }
  }

  bool followed(BlockId b) const { return b - first_followed_ < num_followed_; }
  const std::uint32_t* kept(InstrId w) const {
    return kept_.data() + std::size_t{kept_clock_[w]} * num_followed_;
  }

  void begin(InstrId i, std::uint32_t* clock, BlockId rank_begin) {
    const std::span<const InstrId> waits = loaded_.waits_of(i);
    if (waits.empty()) return;
    const std::uint32_t at = loaded_.first_wait[i];
    // Of those for one threadblock the latest implies the others, the first of several equal ones.
    tops_.clear();
    for (std::uint32_t k = 0; k < waits.size(); ++k) {
      std::uint32_t& top = top_[loaded_.instrs[waits[k]].block - rank_begin];
      if (top == kNone || waits[k] > waits[top]) {
        if (top == kNone) tops_.push_back(loaded_.instrs[waits[k]].block);
        top = k;
      }
    }
    for (std::uint32_t k = 0; k < waits.size(); ++k) {
      const BlockId b = loaded_.instrs[waits[k]].block;
      if (!followed(b)) continue;
      const std::uint32_t top = top_[b - rank_begin];
      const std::uint32_t position = loaded_.position(waits[k]);
      if (clock[b - first_followed_] > position) {
        by_[at + k] = kBefore;
      } else if (top != k) {
        by_[at + k] = waits[top];
      } else {
        for (const BlockId other : tops_) {
          const InstrId w = waits[top_[other - rank_begin]];
          if (other != b && kept(w)[b - first_followed_] > position) {
            by_[at + k] = w;
            break;
          }
        }
      }
    }
    for (const BlockId other : tops_) {
      const InstrId w = waits[top_[other - rank_begin]];
      const std::uint32_t* theirs = kept(w);
      for (std::uint32_t p = 0; p < num_followed_; ++p) clock[p] = std::max(clock[p], theirs[p]);
      top_[other - rank_begin] = kNone;
    }
    for (const InstrId w : waits) {
      if (--waiters_[w] == 0) free_kept_.push_back(kept_clock_[w]);
    }
  }

  void keep(InstrId i, const std::uint32_t* clock) {
    std::uint32_t slot = 0;
    if (free_kept_.empty()) {
      slot = static_cast<std::uint32_t>(kept_.size() / num_followed_);
      kept_.resize(kept_.size() + num_followed_);
    } else {
      slot = free_kept_.back();
      free_kept_.pop_back();
    }
    kept_clock_[i] = slot;
    std::copy_n(clock, num_followed_, kept_.begin() + std::ptrdiff_t{slot} * num_followed_);
  }

  const Loaded& loaded_;
  std::vector<InstrId> by_;
  std::vector<std::uint32_t> first_;  // of each rank, into by_rank_
  std::vector<InstrId> by_rank_;      // in order
  std::vector<std::uint32_t> waiters_;
  std::vector<std::uint32_t> kept_clock_;  // of an awaited instruction, into kept_
  BlockId first_followed_ = 0;
  std::uint32_t num_followed_ = 0;
  std::vector<std::uint32_t> clocks_;  // of each block of the rank
  std::vector<std::uint32_t> kept_;
  std::vector<std::uint32_t> free_kept_;
  // Of one instruction: by block of the rank, the index of its latest wait; and those blocks.
  std::vector<std::uint32_t> top_;
  std::vector<BlockId> tops_;
};

class Reporter {
 public:
  Reporter(const Loaded& loaded, const std::vector<InstrId>& by, WasteList& list)
      : loaded_(loaded), a_(*loaded.algorithm), by_(by), list_(list) {}

  void run() {
    for (const Block& block : loaded_.blocks) {
      const ThreadBlock& tb = a_.ranks[static_cast<std::size_t>(block.rank)]
                                  .threadblocks[static_cast<std::size_t>(block.tb)];
      const std::span<const Step> steps = a_.steps_of(tb);
      std::int32_t at = 0;
      for (InstrId i = block.first; i < block.first + block.num; ++i) {
        const Instr& instr = loaded_.instrs[i];
        carried_.clear();
        std::uint32_t wait = loaded_.first_wait[i];
        for (; at <= instr.step; ++at) {
          const Step& step = steps[static_cast<std::size_t>(at)];
          if (step.depend_tb < 0) continue;
          const bool own = step.depend_tb == block.tb;
          carried_.push_back({at, own ? kBefore : by_[wait], own});
          wait += own ? 0 : 1;
        }
        at = instr.last_step + 1;
        report(block, i, steps);
      }
    }
  }

 private:
  struct Carried {
    std::int32_t step = 0;  // that carries it
    InstrId by = kNeeded;
    bool own = false;  // on its own threadblock
  };

  void report(const Block& block, InstrId i, std::span<const Step> steps) {
    auto implied =
        std::count_if(carried_.begin(), carried_.end(), [](auto& c) { return c.by != kNeeded; });
    if (implied == 0) return;
    // Without any dependence loaders could merge it into the reduce before it: one stays.
    std::size_t k = 0;
    if (implied == std::ssize(carried_) && i > block.first &&
        could_merge(loaded_.instrs[i - 1], loaded_.instrs[i])) {
      k = 1;
      --implied;
    }
    auto nops = std::ssize(carried_) - 1;
    for (; k < carried_.size(); ++k) {
      const Carried& c = carried_[k];
      if (c.by == kNeeded) continue;
      const bool saves_nop = nops-- > 0;
      const Step& step = steps[static_cast<std::size_t>(c.step)];
      const StepPlace at{block.rank, block.tb, c.step};
      list_.add(saves_nop ? Code::NeedlessNop : Code::ImpliedDependence, at, 1, [&] {
        WasteList::Text text;
        text.message =
            fmt::format("{} ({}) waits for tb {} step {}, which {}", str(at), op_info(step.op).name,
                        step.depend_tb, step.depend_step, why(c, text.chain));
        text.hint = !saves_nop               ? "drop the dependence; saves a wait"
                    : step.op == OpCode::nop ? "drop the nop; saves a step"
                                             : "let it wait for what the nop before it waits for, "
                                               "and drop the nop; saves a step";
        return text;
      });
    }
  }

  std::string why(const Carried& c, std::vector<StepPlace>& chain) const {
    if (c.own) return "is over before it anyway, in the same threadblock";
    if (c.by == kBefore) return "an earlier wait of the threadblock implies";
    chain.push_back(loaded_.place(c.by));
    chain.back().step = loaded_.instrs[c.by].last_step;
    return fmt::format("its wait for {} implies", here(chain.back()));
  }

  const Loaded& loaded_;
  const Algorithm& a_;
  const std::vector<InstrId>& by_;
  WasteList& list_;
  std::vector<Carried> carried_;
};

}  // namespace

void find_implied_waits(const Loaded& loaded, const ExecutionOrder& order, WasteList& list) {
  const std::vector<InstrId> by = Finder(loaded, order).run();
  Reporter(loaded, by, list).run();
}

}  // namespace hocket::verifying
