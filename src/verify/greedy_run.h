// One greedy execution of an algorithm on bounded connections: what deadlock.h decides by.
#pragma once

#include <optional>
#include <vector>

#include "verify/loaded.h"

namespace hocket::verifying {

class GreedyRun {
 public:
  // `slots` none: without limit. 0: hand over, see deadlock.h.
  GreedyRun(const Loaded& loaded, std::optional<int> slots, int cut);

  // True: all threadblocks have finished.
  bool run();

  // Of a stuck run: a threadblock that has not finished, and whom it waits for.
  bool finished(BlockId b) const { return at_[b] == loaded_.blocks[b].num; }
  InstrId next_of(BlockId b) const { return loaded_.blocks[b].first + at_[b]; }
  enum class Lack { wait, message, slot };  // slot: without slots, a receiver that takes it
  struct Reason {
    Lack lack = Lack::wait;
    BlockId of = kNone;       // who must go on first
    InstrId awaited = kNone;  // of a wait: the instruction
  };
  Reason reason(BlockId b) const;

  // Most transfers that any connection has held.
  int most_used() const { return most_used_; }

 private:
  void wake(BlockId b);
  void wake_waiters_of(BlockId b);
  void wait_for(BlockId b, BlockId of);
  InstrId open_wait(BlockId b);
  InstrId first_open(BlockId b, std::uint32_t from) const;
  bool step(BlockId b);
  bool hand_over(BlockId b);
  bool meets(BlockId b) const;
  void find_offers();
  std::uint32_t transfers(InstrId i) const {
    const auto count = static_cast<std::uint32_t>(loaded_.instrs[i].count);
    return (count + cut_ - 1) / cut_;
  }
  void complete(BlockId b);

  const Loaded& loaded_;
  std::uint32_t slots_;
  bool hands_over_;
  std::uint32_t cut_;
  std::vector<std::uint32_t> at_;      // instructions done, by block
  std::vector<std::uint32_t> pieces_;  // transfers of the next one done
  std::vector<std::uint32_t> waited_;  // waits of the next one done
  std::vector<std::uint32_t> used_;    // transfers in a connection
  std::vector<bool> queued_;
  std::vector<BlockId> ready_;
  // Lists of the blocks that wait for some block to go on; a block waits for one at a time.
  std::vector<BlockId> first_waiter_;
  std::vector<BlockId> next_waiter_;
  std::vector<bool> listed_;
  // Without slots. How far down the line of receivers a sender has found everybody in place: they
  // stay there until it hands over, so it goes on from there.
  std::vector<BlockId> reached_;
  std::vector<BlockId> chain_;
  std::vector<bool> offered_;  // of a stuck run: all senders before it are in place
  int most_used_ = 0;
};

}  // namespace hocket::verifying
