// Every schedule of a small algorithm: which orders of two accesses can happen, whether it can get
// stuck, and what it leaves behind. The brute force against which the verifier is held.
//
// Moves. A chunk ("lane") of an instruction makes up to three: it reads its local operands, it
// passes its message (takes what arrives, hands on what leaves), it writes. The lanes of an
// instruction move independently, as the threads of a block do; an instruction begins when its
// waits are over, ends when all its lanes are through, and then shows its flag. Messages have any
// number of slots: free slots order nothing.
//
// Reduction. A move once enabled stays enabled until it is made, and no move disables another. So a
// move that touches nothing that another threadblock touches may be made at once: that allows more
// and excludes no order of the others. What is left to choose between are the contested moves,
// those that access a cell which another threadblock of the rank also accesses, one of them
// writing. A state is the set of contested moves made so far.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "support/content.h"
#include "support/view.h"

namespace hocket::oracle {

// Sums by the order in which they were added; a + b and b + a are one. Equal ids: equal bits.
class Sums {
 public:
  static constexpr int kNothing = 0;

  Sums();
  int leaf(const Origin& origin);
  int add(int a, int b);  // of nothing and anything: nothing
  const Content& content(int id) const { return nodes_[static_cast<std::size_t>(id)].content; }
  std::string str(int id) const;  // "(r0[1] + r1[1]) + r2[1]"

 private:
  struct Node {
    int a = -1;
    int b = -1;
    Content content;
  };
  std::vector<Node> nodes_;
  std::map<Origin, int> leaves_;
  std::map<std::pair<int, int>, int> sums_;
};

// What a chain of merged `re` adds first: large pieces of Simple start with the sources.
enum class ChainOrder { destination_first, sources_first };

struct Conflict {
  TbRef first;  // in no particular order
  TbRef second;
  int first_step = 0;
  int second_step = 0;
  Slot slot;
};
std::string str(const Conflict& conflict);

struct ScheduleOptions {
  std::size_t max_states = 6'000;
  // Runtimes that finish an `s` before all of its threads have read (RCCL with LL): its lanes may
  // lag behind until the next other instruction of the threadblock ends.
  bool lagging_sends = false;
  ChainOrder chains = ChainOrder::destination_first;
};

struct Schedules {
  bool ends = true;      // with any number of slots
  bool complete = true;  // all states were seen; false: the orders come from confluence alone
  std::size_t states = 0;
  std::vector<Conflict> races;          // both orders happen
  std::vector<Conflict> through_ranks;  // a write is first, but nothing on its own rank says so
  // Empty, or how exploration contradicts what the reduction rests on: a fault of this file.
  std::string contradiction;

  // Where it ends and nothing races: what every schedule leaves, by rank and canonical slot, and
  // whether a step reads what nobody wrote.
  std::vector<std::map<Slot, int>> memory;  // ids of `sums`
  Sums sums;
  bool reads_nothing = false;
};

// The structure and the connections must be right.
Schedules all_schedules(const View& view, const ScheduleOptions& options = {});

struct Ending {
  bool ends = true;
  bool complete = true;   // every interleaving was tried; false: one
  bool confluent = true;  // all of them end, or none
  std::size_t states = 0;
};
// With `slots` transfers a connection (none: any number; 0: a sender waits for its receiver, and
// what a chain of fused steps passes on moves at once), `cut` chunks a transfer.
Ending all_endings(const View& view, std::optional<int> slots, int cut,
                   std::size_t max_states = 3'000);

}  // namespace hocket::oracle
