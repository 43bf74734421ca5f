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
      used_(loaded.connections.size(), 0),
      queued_(loaded.blocks.size(), true),
      first_waiter_(loaded.blocks.size(), kNone),
      next_waiter_(loaded.blocks.size(), kNone),
      listed_(loaded.blocks.size(), false) {}

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
  return done == loaded_.blocks.size();
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

// The first instruction that `i` waits for and that has not completed.
InstrId GreedyRun::open_wait(InstrId i) const {
  for (const InstrId w : loaded_.waits_of(i)) {
    const BlockId b = loaded_.instrs[w].block;
    if (at_[b] <= w - loaded_.blocks[b].first) return w;
  }
  return kNone;
}

void GreedyRun::complete(BlockId b) {
  pieces_[b] = 0;
  ++at_[b];
  wake_waiters_of(b);
}

// As many transfers of the next instruction as there are slots and messages for. False: it cannot
// go on; whoever changes that wakes it.
bool GreedyRun::step(BlockId b) {
  const Block& block = loaded_.blocks[b];
  const InstrId i = next_of(b);
  if (pieces_[b] == 0) {
    if (const InstrId w = open_wait(i); w != kNone) {
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

// Without slots: a local step, or a send together with everything downstream.
bool GreedyRun::hand_over(BlockId b) {
  chain_.clear();
  for (BlockId at = b;;) {
    const InstrId i = next_of(at);
    if (const InstrId w = open_wait(i); w != kNone) {
      wait_for(b, loaded_.instrs[w].block);
      return false;
    }
    const OpInfo& info = op_info(loaded_.instrs[i].op);
    if (at == b && info.receives) return false;  // its sender comes for it
    chain_.push_back(at);
    if (!info.sends) break;
    const BlockId next = loaded_.connections[loaded_.blocks[at].out].receiver;
    // Where the chain comes back to `b`, that is where it is: at its send, not at the receive.
    if (finished(next) || next_of(next) != loaded_.receiver_of[i]) {
      if (next != b) wait_for(b, next);
      return false;
    }
    at = next;
  }
  for (const BlockId member : chain_) complete(member);
  for (const BlockId member : chain_) wake(member);
  return true;
}

GreedyRun::Reason GreedyRun::reason(BlockId b) const {
  const InstrId i = next_of(b);
  if (pieces_[b] == 0) {
    if (const InstrId w = open_wait(i); w != kNone) {
      return {Lack::wait, loaded_.instrs[w].block, w};
    }
  }
  const Block& block = loaded_.blocks[b];
  const OpInfo& info = op_info(loaded_.instrs[i].op);
  if (info.receives && used_[block.in] == 0) {
    return {Lack::message, loaded_.connections[block.in].sender, kNone};
  }
  return {Lack::slot, loaded_.connections[block.out].receiver, kNone};
}

}  // namespace hocket::verifying
