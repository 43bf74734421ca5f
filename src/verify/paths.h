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
  Paths(const Loaded& loaded, const ExecutionOrder& order, bool lagging);

  // The instruction at whose end the reads of `x` are over for certain: itself, or where it lags
  // the next of its block that is no plain send; kNone: none.
  InstrId read_until(InstrId x) const { return lagging_ ? read_until_[x] : x; }

  // Is there a chain of messages from `x` to `y`, or the other way round? Then a lane of the one is
  // ordered with the same lane of the other.
  bool on_one_chain(InstrId x, InstrId y);

  // Is mid(x, any lane) before mid(y, any lane)? `x` is earlier in the order. Looks at no more than
  // a few thousand instructions.
  Found crosses(InstrId x, InstrId y);

  // end(x) < start(y), or, where y writes, end(x) < mid(y, any lane)? After very many steps of
  // searching for such questions: no.
  bool wrote_before(InstrId x, InstrId y, bool y_writes);

  struct Question {
    InstrId x = kNone;
    InstrId y = kNone;
  };
  // Answers what crosses() gave up on, many at a time: `answer[i]` of questions[i]. Gives up on
  // those for which the work would be too much. Two methods, by which is less work: a bit for each
  // x, or a clock for each threadblock of an x (not where sends lag).
  enum class Method : std::uint8_t { cheaper, bits, clocks };
  std::vector<Found> answer(const std::vector<Question>& questions,
                            Method method = Method::cheaper) const;

 private:
  enum class From : std::uint8_t { mid, end };
  bool lags(InstrId i) const { return lagging_ && loaded_.instrs[i].op == OpCode::send; }
  Found search(InstrId x, From from, InstrId y, bool to_mid, std::int64_t most);
  // Some questions of one batch, by index, and the part of the order that they are about.
  struct Batch {
    std::vector<std::uint32_t> questions;
    std::vector<std::uint32_t> followed;  // instructions x, or their blocks
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    std::size_t window() const { return std::size_t{last} - first + 1; }
  };
  std::vector<Batch> batches(const std::vector<Question>& questions, bool by_block,
                             std::size_t most) const;
  template <typename Mark>
  struct Marks;
  template <typename Mark, typename Follow, typename Hit>
  void sweep(const Batch& batch, const std::vector<Question>& questions, Follow follow, Hit hit,
             Marks<Mark>& marks, std::vector<Found>& answers) const;
  void push_end(InstrId z);
  void push_mid(InstrId z);
  void push_before_start(InstrId z);

  const Loaded& loaded_;
  const ExecutionOrder& order_;
  const bool lagging_;
  std::int64_t searched_ = 0;  // nodes, of all limited searches
  int vain_ = 0;               // searches given up
  std::int64_t searched_writes_ = 0;
  std::vector<InstrId> read_until_;  // where sends lag
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
