// Threadblock after threadblock, each as far as it gets.
#include "verify/greedy_run.h"

#include <algorithm>
#include <limits>

namespace hocket::verifying {

GreedyRun::GreedyRun(const Loaded& loaded, std::optional<int> slots, int cut)
    : loaded_(loaded),
      slots_(slots ? static_cast<std::uint32_t>(*slots)
                   : std::numeric_limits<std::uint32_t>::max()),
      hands_over_(slots == 0),
      cut_(static_cast<std::uint32_t>(cut)),
      at_(loaded.blocks.size(), 0),
      pieces_(loaded.blocks.size(), 0),
      waited_(loaded.blocks.size(), 0),
      used_(loaded.connections.size(), 0),
      queued_(loaded.blocks.size(), true),
      first_waiter_(loaded.blocks.size(), kNone),
      next_waiter_(loaded.blocks.size(), kNone),
      listed_(loaded.blocks.size(), false),
      reached_(hands_over_ ? loaded.blocks.size() : 0, kNone),
      offered_(hands_over_ ? loaded.blocks.size() : 0, false) {}

bool GreedyRun::run() {
  ready_.reserve(loaded_.blocks.size());
  for (auto b = static_cast<BlockId>(loaded_.blocks.size()); b-- > 0;) ready_.push_back(b);
  std::size_t done = 0;
  while (!ready_.empty()) {
    const BlockId b = ready_.back();
    ready_.pop_back();
    queued_[b] = false;
    while (!finished(b) && (hands_over_ ? hand_over(b) : step(b))) {
    }
  }
  for (BlockId b = 0; b < loaded_.blocks.size(); ++b) done += finished(b) ? 1 : 0;
  if (done == loaded_.blocks.size()) return true;
  if (hands_over_) find_offers();
  return false;
}

void GreedyRun::wake(BlockId b) {
  if (queued_[b] || finished(b)) return;
  queued_[b] = true;
  ready_.push_back(b);
}

void GreedyRun::wake_waiters_of(BlockId b) {
  while (first_waiter_[b] != kNone) {
    const BlockId waiter = first_waiter_[b];
    first_waiter_[b] = next_waiter_[waiter];
    listed_[waiter] = false;
    wake(waiter);
  }
}

void GreedyRun::wait_for(BlockId b, BlockId of) {
  if (listed_[b]) return;
  listed_[b] = true;
  next_waiter_[b] = first_waiter_[of];
  first_waiter_[of] = b;
}

// The first instruction that the next one of `b` waits for and that has not completed. What has
// completed is not looked at again.
InstrId GreedyRun::open_wait(BlockId b) {
  const InstrId w = first_open(b, waited_[b]);
  const std::span<const InstrId> waits = loaded_.waits_of(next_of(b));
  while (waited_[b] < waits.size() && waits[waited_[b]] != w) ++waited_[b];
  return w;
}

InstrId GreedyRun::first_open(BlockId b, std::uint32_t from) const {
  const std::span<const InstrId> waits = loaded_.waits_of(next_of(b));
  for (std::size_t k = from; k < waits.size(); ++k) {
    const BlockId of = loaded_.instrs[waits[k]].block;
    if (at_[of] <= waits[k] - loaded_.blocks[of].first) return waits[k];
  }
  return kNone;
}

void GreedyRun::complete(BlockId b) {
  pieces_[b] = 0;
  waited_[b] = 0;
  ++at_[b];
  wake_waiters_of(b);
}

// As many transfers of the next instruction as there are slots and messages for. False: it cannot
// go on; whoever changes that wakes it.
bool GreedyRun::step(BlockId b) {
  const Block& block = loaded_.blocks[b];
  const InstrId i = next_of(b);
  if (pieces_[b] == 0) {
    if (const InstrId w = open_wait(b); w != kNone) {
      wait_for(b, loaded_.instrs[w].block);
      return false;
    }
  }
  const OpInfo& info = op_info(loaded_.instrs[i].op);
  if (!info.receives && !info.sends) {
    complete(b);
    return true;
  }
  const std::uint32_t all = transfers(i);
  std::uint32_t now = all - pieces_[b];
  if (info.receives) now = std::min(now, used_[block.in]);
  if (info.sends) now = std::min(now, slots_ - used_[block.out]);
  if (now == 0) return false;
  if (info.receives) {
    used_[block.in] -= now;
    wake(loaded_.connections[block.in].sender);
  }
  if (info.sends) {
    used_[block.out] += now;
    most_used_ = std::max(most_used_, static_cast<int>(used_[block.out]));
    wake(loaded_.connections[block.out].receiver);
  }
  pieces_[b] += now;
  if (pieces_[b] == all) complete(b);
  return true;
}

// Whether the receiver of what `b` sends next stands at the matching receive.
bool GreedyRun::meets(BlockId b) const {
  const BlockId next = loaded_.connections[loaded_.blocks[b].out].receiver;
  return !finished(next) && next_of(next) == loaded_.receiver_of[next_of(b)];
}

// Without slots: a local step, or a send together with everything downstream.
bool GreedyRun::hand_over(BlockId b) {
  const auto sends = [&](BlockId at) { return op_info(loaded_.instrs[next_of(at)].op).sends; };
  const auto receiver = [&](BlockId at) {
    return loaded_.connections[loaded_.blocks[at].out].receiver;
  };
  if (reached_[b] == kNone) reached_[b] = b;
  BlockId& at = reached_[b];
  for (;; at = receiver(at)) {
    if (const InstrId w = open_wait(at); w != kNone) {
      wait_for(b, loaded_.instrs[w].block);
      return false;
    }
    if (at == b && op_info(loaded_.instrs[next_of(b)].op).receives) return false;  // it is fetched
    if (!sends(at)) break;
    if (!meets(at)) {
      // A line that comes back to `b` finds it at its send: that is a deadlock.
      if (receiver(at) != b) wait_for(b, receiver(at));
      return false;
    }
  }
  chain_.assign(1, b);
  while (chain_.back() != at) chain_.push_back(receiver(chain_.back()));
  at = kNone;
  for (const BlockId member : chain_) complete(member);
  for (const BlockId member : chain_) wake(member);
  return true;
}

void GreedyRun::find_offers() {
  for (BlockId b = 0; b < loaded_.blocks.size(); ++b) {
    if (finished(b)) continue;
    const OpInfo& head = op_info(loaded_.instrs[next_of(b)].op);
    if (!head.sends || head.receives) continue;
    for (BlockId at = b; first_open(at, waited_[at]) == kNone && meets(at);) {
      at = loaded_.connections[loaded_.blocks[at].out].receiver;
      offered_[at] = true;
      if (!op_info(loaded_.instrs[next_of(at)].op).sends) break;
    }
  }
}

GreedyRun::Reason GreedyRun::reason(BlockId b) const {
  if (pieces_[b] == 0) {
    if (const InstrId w = first_open(b, waited_[b]); w != kNone) {
      return {Lack::wait, loaded_.instrs[w].block, w};
    }
  }
  const Block& block = loaded_.blocks[b];
  const OpInfo& info = op_info(loaded_.instrs[next_of(b)].op);
  if (info.receives && (hands_over_ ? !offered_[b] : used_[block.in] == 0)) {
    return {Lack::message, loaded_.connections[block.in].sender, kNone};
  }
  return {Lack::slot, loaded_.connections[block.out].receiver, kNone};
}

}  // namespace hocket::verifying
