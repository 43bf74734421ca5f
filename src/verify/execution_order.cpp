#include "verify/execution_order.h"

#include <deque>

namespace hocket::verifying {
namespace {

// Instructions that a threadblock runs before the next one has its turn: few, so that what waits
// stands close to what it waits for; several, so that neighbours are run together.
constexpr int kTurn = 16;

class Orderer {
 public:
  explicit Orderer(const Loaded& loaded)
      : loaded_(loaded),
        next_(loaded.blocks.size()),
        blocked_on_(loaded.instrs.size(), kNone),
        also_blocked_(loaded.blocks.size(), kNone) {
    for (std::size_t b = 0; b < next_.size(); ++b) next_[b] = loaded.blocks[b].first;
  }

  ExecutionOrder run() {
    result_.order.reserve(loaded_.instrs.size());
    result_.position.assign(loaded_.instrs.size(), kNone);
    for (BlockId b = 0; b < next_.size(); ++b) ready_.push_back(b);
    while (!ready_.empty()) {
      const BlockId b = ready_.front();
      ready_.pop_front();
      run_block(b);
    }
    return std::move(result_);
  }

 private:
  bool done(InstrId i) const { return next_[loaded_.instrs[i].block] > i; }

  // What still has to happen before `i`; kNone: nothing.
  InstrId missing(InstrId i) const {
    for (const InstrId w : loaded_.waits_of(i)) {
      if (!done(w)) return w;
    }
    const InstrId sender = loaded_.instrs[i].partner;
    return sender != kNone && !done(sender) ? sender : kNone;
  }

  void run_block(BlockId b) {
    const Block& block = loaded_.blocks[b];
    const InstrId end = block.first + block.num;
    for (int turn = 0; next_[b] < end; ++turn) {
      const InstrId i = next_[b];
      const InstrId what = missing(i);
      if (what != kNone) {
        also_blocked_[b] = blocked_on_[what];
        blocked_on_[what] = b;
        return;
      }
      if (turn == kTurn) {
        ready_.push_back(b);
        return;
      }
      result_.position[i] = static_cast<std::uint32_t>(result_.order.size());
      result_.order.push_back(i);
      ++next_[b];
      for (BlockId other = blocked_on_[i]; other != kNone; other = also_blocked_[other]) {
        ready_.push_back(other);
      }
    }
  }

  const Loaded& loaded_;
  ExecutionOrder result_;
  std::vector<InstrId> next_;          // of each block
  std::vector<BlockId> blocked_on_;    // by instruction: the first block that waits for it
  std::vector<BlockId> also_blocked_;  // by block: the next that waits for the same
  std::deque<BlockId> ready_;
};

}  // namespace

ExecutionOrder find_order(const Loaded& loaded) { return Orderer(loaded).run(); }

}  // namespace hocket::verifying
