// Backward search, pruned by one order of everything; and reachability of many at once, in bits.
#include "verify/paths.h"

#include <algorithm>
#include <array>

namespace hocket::verifying {
namespace {

// Nodes of one search, and of all of them together, before questions are left to be answered many
// at a time.
constexpr std::int64_t kSearch = 2000;
constexpr std::int64_t kAllSearches = 40'000'000;
// Instructions that answer() may pass in all.
constexpr std::int64_t kAllPassed = 200'000'000;
// Instructions that it may keep in mind at once (48 bytes each).
constexpr std::size_t kMostKept = 4'000'000;

// Instructions x that are traced at a time, a bit each.
constexpr std::size_t kWords = 2;
using Bits = std::array<std::uint64_t, kWords>;
constexpr std::size_t kBits = 64 * kWords;

void join(Bits& to, const Bits& from) {
  for (std::size_t w = 0; w < kWords; ++w) to[w] |= from[w];
}

}  // namespace

InstrId Paths::read_until(InstrId x) const {
  if (!lags(x)) return x;
  const Block& block = loaded_.blocks[loaded_.instrs[x].block];
  for (InstrId i = x + 1; i < block.first + block.num; ++i) {
    if (!lags(i)) return i;
  }
  return kNone;
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
  if (searched_ > kAllSearches) return Found::gave_up;
  return search(x, From::mid, y, true, kSearch);
}

bool Paths::wrote_before(InstrId x, InstrId y, bool y_writes) {
  const std::int64_t before = searched_;
  const Found found =
      search(x, From::end, y, y_writes, static_cast<std::int64_t>(2 * loaded_.instrs.size()) + 1);
  searched_ = before;
  return found == Found::yes;
}

std::vector<Found> Paths::answer(const std::vector<Question>& questions) {
  std::vector<Found> answers(questions.size(), Found::gave_up);
  const auto at = [&](InstrId i) { return order_.position[i]; };
  std::vector<std::uint32_t> todo(questions.size());
  for (std::uint32_t q = 0; q < todo.size(); ++q) todo[q] = q;
  std::sort(todo.begin(), todo.end(), [&](std::uint32_t a, std::uint32_t b) {
    return at(questions[a].x) != at(questions[b].x) ? at(questions[a].x) < at(questions[b].x)
                                                    : a < b;
  });

  std::vector<Bits> ends;   // what is before the end of an instruction of the window
  std::vector<Bits> mids;   // before any of its lanes, messages of the same lane included
  std::vector<Bits> cross;  // before all of its lanes
  std::vector<InstrId> sources;
  std::int64_t passed = 0;
  for (std::size_t begin = 0; begin < todo.size();) {
    // The next questions about at most kBits instructions x.
    sources.clear();
    std::size_t end = begin;
    std::uint32_t last = 0;
    for (; end < todo.size(); ++end) {
      const Question& q = questions[todo[end]];
      if (sources.empty() || sources.back() != q.x) {
        if (sources.size() == kBits) break;
        sources.push_back(q.x);
      }
      last = std::max(last, at(q.y));
    }
    const std::uint32_t first = at(sources.front());
    const std::size_t window = std::size_t{last} - first + 1;
    passed += static_cast<std::int64_t>(window);
    if (passed > kAllPassed) break;
    if (window > kMostKept) {
      begin = end;
      continue;
    }
    ends.assign(window, {});
    mids.assign(window, {});
    cross.assign(window, {});
    const auto add = [&](Bits& to, const std::vector<Bits>& from, InstrId i) {
      if (at(i) >= first) join(to, from[at(i) - first]);
    };
    std::size_t source = 0;
    for (std::size_t k = 0; k < window; ++k) {
      const InstrId z = order_.order[first + k];
      const Instr& instr = loaded_.instrs[z];
      const InstrId block_start = loaded_.blocks[instr.block].first;
      Bits start{};
      if (z > block_start) add(start, ends, z - 1);
      for (const InstrId w : loaded_.waits_of(z)) add(start, ends, w);
      cross[k] = start;
      if (instr.partner != kNone) add(cross[k], cross, instr.partner);
      mids[k] = cross[k];
      if (instr.partner != kNone) add(mids[k], mids, instr.partner);
      if (source < sources.size() && sources[source] == z) {
        mids[k][source / 64] |= std::uint64_t{1} << (source % 64);
        ++source;
      }
      ends[k] = lags(z) ? start : mids[k];
      if (lagging_ && !lags(z)) {
        for (InstrId s = z; s > block_start && lags(s - 1); --s) add(ends[k], mids, s - 1);
      }
    }
    for (std::size_t i = begin; i < end; ++i) {
      const Question& q = questions[todo[i]];
      const auto bit = static_cast<std::size_t>(
          std::lower_bound(sources.begin(), sources.end(), q.x,
                           [&](InstrId a, InstrId b) { return at(a) < at(b); }) -
          sources.begin());
      const Bits& bits = cross[at(q.y) - first];
      answers[todo[i]] = (bits[bit / 64] >> (bit % 64) & 1) != 0 ? Found::yes : Found::no;
    }
    begin = end;
  }
  return answers;
}

}  // namespace hocket::verifying
