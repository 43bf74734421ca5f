// Backward search, pruned by one order of everything; and reachability of many at once, in bits.
#include "verify/paths.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace hocket::verifying {
namespace {

// Nodes of one search and of all of them together, and searches given up, before questions are left
// to be answered many at a time.
constexpr std::int64_t kSearch = 1000;
constexpr std::int64_t kAllSearches = 10'000'000;
constexpr int kMostVain = 500;
constexpr std::int64_t kAllWrites = 50'000'000;  // of wrote_before()
// Instructions that answer() may pass in all, and those of one batch (128 bytes each).
constexpr std::size_t kAllPassed = 100'000'000;
constexpr std::size_t kMostKept = 4'000'000;

// Which of the instructions followed are before a moment: a bit each.
struct Bits {
  static constexpr std::size_t kFollowed = 128;
  std::array<std::uint64_t, kFollowed / 64> words{};
  void join(const Bits& other) {
    for (std::size_t w = 0; w < words.size(); ++w) words[w] |= other.words[w];
  }
};

// How many instructions of each of the blocks followed are, counted from the first of all blocks.
struct Clock {
  static constexpr std::size_t kFollowed = 16;
  std::array<std::int32_t, kFollowed> count{};  // signed: SSE2 compares those
  void join(const Clock& other) {
    for (std::size_t b = 0; b < kFollowed; ++b) count[b] = std::max(count[b], other.count[b]);
  }
};

}  // namespace

Paths::Paths(const Loaded& loaded, const ExecutionOrder& order, bool lagging)
    : loaded_(loaded), order_(order), lagging_(lagging) {
  if (!lagging) return;
  read_until_.resize(loaded.instrs.size());
  for (const Block& block : loaded.blocks) {
    InstrId until = kNone;
    for (InstrId i = block.first + block.num; i-- > block.first;) {
      if (!lags(i)) until = i;
      read_until_[i] = until;
    }
  }
}

bool Paths::on_one_chain(InstrId x, InstrId y) {
  if (chain_head_.empty()) {
    chain_head_.resize(loaded_.instrs.size());
    for (const InstrId i : order_.order) {
      const InstrId sender = loaded_.instrs[i].partner;
      chain_head_[i] = sender == kNone ? i : chain_head_[sender];
    }
  }
  return chain_head_[x] == chain_head_[y];
}

void Paths::push_end(InstrId z) {
  if (order_.position[z] < oldest_ || seen_[2 * std::size_t{z}] == round_) return;
  seen_[2 * std::size_t{z}] = round_;
  if (loaded_.instrs[z].block == loaded_.instrs[x_].block && z >= end_hit_) hit_ = true;
  queue_.push_back(2 * std::uint64_t{z});
}

void Paths::push_mid(InstrId z) {
  if (order_.position[z] < oldest_ || seen_[2 * std::size_t{z} + 1] == round_) return;
  seen_[2 * std::size_t{z} + 1] = round_;
  if (z == x_ ? x_mid_hits_
              : loaded_.instrs[z].block == loaded_.instrs[x_].block && z >= mid_hit_) {
    hit_ = true;
  }
  queue_.push_back(2 * std::uint64_t{z} + 1);
}

void Paths::push_before_start(InstrId z) {
  for (const InstrId w : loaded_.waits_of(z)) push_end(w);
  if (z > loaded_.blocks[loaded_.instrs[z].block].first) push_end(z - 1);
}

Found Paths::search(InstrId x, From from, InstrId y, bool to_mid, std::int64_t most) {
  seen_.resize(2 * loaded_.instrs.size(), 0);
  if (++round_ == 0) {
    std::fill(seen_.begin(), seen_.end(), 0);
    round_ = 1;
  }
  queue_.clear();
  hit_ = false;
  x_ = x;
  oldest_ = order_.position[x];
  end_hit_ = from == From::end ? x : read_until(x);
  mid_hit_ = end_hit_ == kNone ? kNone : end_hit_ + 1;
  x_mid_hits_ = from == From::mid;

  push_before_start(y);
  // Along the messages that y passes on, starts count, not the lanes themselves.
  std::int64_t hops = 0;
  if (to_mid) {
    for (InstrId z = loaded_.instrs[y].partner; z != kNone && order_.position[z] >= oldest_;
         z = loaded_.instrs[z].partner) {
      push_before_start(z);
      if (++hops > most) break;
    }
  }
  searched_ += hops;
  if (hops > most && !hit_) return Found::gave_up;
  std::size_t next = 0;
  for (; next < queue_.size() && !hit_; ++next) {
    if (static_cast<std::int64_t>(next) >= most) {
      searched_ += static_cast<std::int64_t>(next);
      return Found::gave_up;
    }
    const auto z = static_cast<InstrId>(queue_[next] / 2);
    const bool mid = queue_[next] % 2 != 0;
    if (mid || lags(z)) {
      push_before_start(z);
      if (mid && loaded_.instrs[z].partner != kNone) push_mid(loaded_.instrs[z].partner);
    } else {
      push_mid(z);
    }
  }
  searched_ += static_cast<std::int64_t>(next);
  return hit_ ? Found::yes : Found::no;
}

Found Paths::crosses(InstrId x, InstrId y) {
  if (searched_ > kAllSearches || vain_ > kMostVain) return Found::gave_up;
  const Found found = search(x, From::mid, y, true, kSearch);
  if (found == Found::gave_up) ++vain_;
  return found;
}

bool Paths::wrote_before(InstrId x, InstrId y, bool y_writes) {
  if (searched_writes_ > kAllWrites) return false;
  const std::int64_t before = searched_;
  const Found found =
      search(x, From::end, y, y_writes, static_cast<std::int64_t>(2 * loaded_.instrs.size()) + 1);
  searched_writes_ += searched_ - before;
  searched_ = before;
  return found == Found::yes;
}

// Batches of questions about at most `most` instructions x, or blocks of them, those that come
// first in the order together.
std::vector<Paths::Batch> Paths::batches(const std::vector<Question>& questions, bool by_block,
                                         std::size_t most) const {
  const auto at = [&](InstrId i) { return order_.position[i]; };
  const auto key = [&](const Question& q) {
    return by_block ? loaded_.instrs[q.x].block : at(q.x);
  };
  std::vector<std::uint32_t> sorted(questions.size());
  std::iota(sorted.begin(), sorted.end(), 0U);
  std::stable_sort(sorted.begin(), sorted.end(), [&](std::uint32_t a, std::uint32_t b) {
    return key(questions[a]) < key(questions[b]);
  });
  std::vector<Batch> result;
  for (const std::uint32_t i : sorted) {
    const Question& q = questions[i];
    const std::uint32_t what = by_block ? loaded_.instrs[q.x].block : q.x;
    const bool known = !result.empty() && result.back().followed.back() == what;
    if (result.empty() || (!known && result.back().followed.size() == most)) {
      result.emplace_back();
      result.back().first = at(q.x);
      result.back().last = at(q.y);
    }
    Batch& batch = result.back();
    if (batch.followed.empty() || !known) batch.followed.push_back(what);
    batch.questions.push_back(i);
    batch.first = std::min(batch.first, at(q.x));
    batch.last = std::max(batch.last, at(q.y));
  }
  return result;
}

// What is marked before the moments of each instruction of a batch; kept from batch to batch.
template <typename Mark>
struct Paths::Marks {
  std::vector<Mark> crossed;  // before all lanes
  std::vector<Mark> mids;     // before any lane, messages of the same lane included
  std::vector<Mark> ends;     // where sends lag; else the same as mids
};

// Passes the marks of what is before each moment along the order. follow(z, mark) marks the lanes
// of z; hit(x, mark): is x in it?
template <typename Mark, typename Follow, typename Hit>
void Paths::sweep(const Batch& batch, const std::vector<Question>& questions, Follow follow,
                  Hit hit, Marks<Mark>& marks, std::vector<Found>& answers) const {
  const std::size_t window = batch.window();
  const auto at = [&](InstrId i) { return order_.position[i]; };
  auto& [crossed, mids, ends] = marks;
  if (crossed.size() < window) {
    crossed.resize(window);
    mids.resize(window);
    ends.resize(lagging_ ? window : 0);
  }
  const auto add = [&](Mark& to, const std::vector<Mark>& from, InstrId i) {
    if (at(i) >= batch.first) to.join(from[at(i) - batch.first]);
  };
  for (std::size_t k = 0; k < window; ++k) {
    const InstrId z = order_.order[batch.first + k];
    const Instr& instr = loaded_.instrs[z];
    const InstrId block_start = loaded_.blocks[instr.block].first;
    Mark start;
    if (z > block_start) add(start, lagging_ ? ends : mids, z - 1);
    for (const InstrId w : loaded_.waits_of(z)) add(start, lagging_ ? ends : mids, w);
    crossed[k] = mids[k] = start;
    if (instr.partner != kNone) {
      add(crossed[k], crossed, instr.partner);
      add(mids[k], mids, instr.partner);
    }
    follow(z, mids[k]);
    if (!lagging_) continue;
    ends[k] = lags(z) ? start : mids[k];
    if (lags(z)) continue;
    for (InstrId s = z; s > block_start && lags(s - 1); --s) add(ends[k], mids, s - 1);
  }
  for (const std::uint32_t i : batch.questions) {
    const Question& q = questions[i];
    answers[i] = hit(q.x, crossed[at(q.y) - batch.first]) ? Found::yes : Found::no;
  }
}

std::vector<Found> Paths::answer(const std::vector<Question>& questions, Method method) const {
  std::vector<Found> answers(questions.size(), Found::gave_up);
  if (questions.empty()) return answers;
  std::vector<Batch> by_bit = batches(questions, false, Bits::kFollowed);
  std::vector<Batch> by_clock;
  if (!lagging_) by_clock = batches(questions, true, Clock::kFollowed);
  const auto work = [](const std::vector<Batch>& list) {
    return std::accumulate(list.begin(), list.end(), std::size_t{0},
                           [](std::size_t sum, const Batch& b) { return sum + b.window(); });
  };
  if (method == Method::cheaper) {
    method = lagging_ || work(by_bit) <= work(by_clock) ? Method::bits : Method::clocks;
  }
  std::size_t passed = 0;
  Marks<Bits> bit_marks;
  Marks<Clock> clock_marks;
  for (const Batch& batch : method == Method::bits ? by_bit : by_clock) {
    if (batch.window() > kMostKept || passed + batch.window() > kAllPassed) continue;
    passed += batch.window();
    // The place of an instruction or block among those followed.
    const auto find = [&](std::uint32_t what) {
      return static_cast<std::size_t>(
          std::find(batch.followed.begin(), batch.followed.end(), what) - batch.followed.begin());
    };
    if (method == Method::bits) {
      // They are in the order in which they are passed.
      std::size_t next = 0;
      sweep<Bits>(
          batch, questions,
          [&](InstrId z, Bits& bits) {
            if (next == batch.followed.size() || batch.followed[next] != z) return;
            bits.words[next / 64] |= std::uint64_t{1} << (next % 64);
            ++next;
          },
          [&](InstrId x, const Bits& bits) {
            const std::size_t n = find(x);
            return (bits.words[n / 64] >> (n % 64) & 1) != 0;
          },
          bit_marks, answers);
    } else {
      sweep<Clock>(
          batch, questions,
          [&](InstrId z, Clock& clock) {
            const std::size_t n = find(loaded_.instrs[z].block);
            if (n < batch.followed.size()) clock.count[n] = static_cast<std::int32_t>(z) + 1;
          },
          [&](InstrId x, const Clock& clock) {
            return clock.count[find(loaded_.instrs[x].block)] > static_cast<std::int32_t>(x);
          },
          clock_marks, answers);
    }
  }
  return answers;
}

}  // namespace hocket::verifying
