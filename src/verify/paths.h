// Does one moment come before another, over whatever path? The questions that vector clocks of one
// rank leave open (races.h states the order).
//
// Lanes matter only on a chain of messages that no instruction's end or start interrupts: it keeps
// its lane. Any other path passes the end of an instruction, which is after all its lanes, and from
// there on the start of another, which is before all of them. So a path to mid(Y, lane) is a chain
// of messages from the same lane, or one that "crosses": for these an instruction is three nodes
// however many lanes it has.
#pragma once

#include <vector>

#include "verify/execution_order.h"
#include "verify/loaded.h"

namespace hocket::verifying {

enum class Found : std::uint8_t { no, yes, gave_up };

class Paths {
 public:
  // `lagging`: plain sends end before they have read (races.h).
  Paths(const Loaded& loaded, const ExecutionOrder& order, bool lagging)
      : loaded_(loaded), order_(order), lagging_(lagging) {}

  // The instruction at whose end the reads of `x` are over for certain: itself, or where it lags
  // the next of its block that is no plain send; kNone: none.
  InstrId read_until(InstrId x) const;

  // Is there a chain of messages from `x` to `y`, or the other way round? Then a lane of the one is
  // ordered with the same lane of the other.
  bool on_one_chain(InstrId x, InstrId y);

  // Is mid(x, any lane) before mid(y, any lane)? `x` is earlier in the order. Looks at no more than
  // a few thousand instructions.
  Found crosses(InstrId x, InstrId y);

  // end(x) < start(y), or, where y writes, end(x) < mid(y, any lane)?
  bool wrote_before(InstrId x, InstrId y, bool y_writes);

  struct Question {
    InstrId x = kNone;
    InstrId y = kNone;
  };
  // Answers what crosses() gave up on, many at a time: `answer[i]` of questions[i]. Gives up on
  // those for which the work would be too much.
  std::vector<Found> answer(const std::vector<Question>& questions);

 private:
  enum class From : std::uint8_t { mid, end };
  bool lags(InstrId i) const { return lagging_ && loaded_.instrs[i].op == OpCode::send; }
  Found search(InstrId x, From from, InstrId y, bool to_mid, std::int64_t most);
  void push_end(InstrId z);
  void push_mid(InstrId z);
  void push_before_start(InstrId z);

  const Loaded& loaded_;
  const ExecutionOrder& order_;
  const bool lagging_;
  std::int64_t searched_ = 0;        // nodes, of all limited searches
  std::vector<InstrId> chain_head_;  // the first send of the chain of messages; made when needed

  // Of one search.
  std::vector<std::uint32_t> seen_;  // 2 * instruction + (1: mid): number of the last search
  std::uint32_t round_ = 0;
  std::vector<std::uint64_t> queue_;
  InstrId x_ = kNone;
  std::uint32_t oldest_ = 0;  // position of x in the order: nothing before it comes after it
  InstrId end_hit_ = 0;       // the end of this one or of a later one of the block is a hit
  InstrId mid_hit_ = 0;       // any lane of this one or a later one is a hit
  bool x_mid_hits_ = false;   // any lane of x is
  bool hit_ = false;
};

}  // namespace hocket::verifying
