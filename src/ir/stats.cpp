// Counts, and the critical path by running the algorithm once with connections that hold any number
// of messages. Execution is confluent, so any order of running threadblocks gives the same depths;
// each threadblock runs until it must wait and is put back on the worklist by whoever it waits for.
// A step is run once and wakes the waiters of that step only, so the whole is linear in steps.
#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "hocket/algorithm.h"

namespace hocket {
namespace {

constexpr std::uint32_t kNobody = UINT32_MAX;
constexpr std::uint32_t kNotRun = UINT32_MAX;

// A directed (sender, receiver, channel) with what is under way on it.
struct Connection {
  std::vector<std::uint32_t> depths;  // of the sending steps, in order
  std::size_t taken = 0;
  std::uint32_t waiting = kNobody;  // head of the list of threadblocks that wait for a message
};

class CriticalPath {
 public:
  explicit CriticalPath(const Algorithm& algorithm) : a_(algorithm) {
    std::map<std::tuple<std::int32_t, std::int32_t, std::int32_t>, std::uint32_t> numbers;
    const auto connect = [&](std::int32_t from, std::int32_t to, std::int32_t channel) {
      const auto [found, added] =
          numbers.try_emplace({from, to, channel}, static_cast<std::uint32_t>(connections_.size()));
      if (added) connections_.emplace_back();
      return found->second;
    };
    for (std::size_t r = 0; r < a_.ranks.size(); ++r) {
      const auto rank = static_cast<std::int32_t>(r);
      for (const ThreadBlock& tb : a_.ranks[r].threadblocks) {
        tbs_.push_back({&tb, static_cast<std::uint32_t>(r),
                        tb.send < 0 ? kNobody : connect(rank, tb.send, tb.channel),
                        tb.recv < 0 ? kNobody : connect(tb.recv, rank, tb.channel)});
      }
    }
    depth_.assign(a_.steps.size(), kNotRun);
    waiting_for_step_.assign(a_.steps.size(), kNobody);
  }

  // -1 when some threadblock waits for ever.
  std::int64_t length() {
    for (std::uint32_t t = 0; t < tbs_.size(); ++t) ready_.push_back(t);
    while (!ready_.empty()) {
      const std::uint32_t t = ready_.back();
      ready_.pop_back();
      run(t);
    }
    std::int64_t longest = 0;
    for (const Tb& tb : tbs_) {
      if (tb.next != tb.block->num_steps) return -1;
      longest = std::max<std::int64_t>(longest, tb.depth);
    }
    return longest;
  }

 private:
  struct Tb {
    const ThreadBlock* block;
    std::uint32_t rank;
    std::uint32_t out;  // connections
    std::uint32_t in;
    std::uint32_t next = 0;          // step
    std::uint32_t depth = 0;         // of the last step that ran
    std::uint32_t waiter = kNobody;  // the next in the list that it waits in
  };

  // The step that `step` of `tb` waits for; kNobody when there is no such step at all.
  std::uint32_t awaited(const Tb& tb, const Step& step) const {
    const auto& blocks = a_.ranks[tb.rank].threadblocks;
    if (static_cast<std::size_t>(step.depend_tb) >= blocks.size()) return kNobody;
    const ThreadBlock& other = blocks[static_cast<std::size_t>(step.depend_tb)];
    if (step.depend_step < 0 || static_cast<std::uint32_t>(step.depend_step) >= other.num_steps) {
      return kNobody;
    }
    return other.first_step + static_cast<std::uint32_t>(step.depend_step);
  }

  void run(std::uint32_t t) {
    Tb& tb = tbs_[t];
    for (; tb.next < tb.block->num_steps; ++tb.next) {
      const std::uint32_t number = tb.block->first_step + tb.next;
      const Step& step = a_.steps[number];
      const OpInfo& info = op_info(step.op);
      std::uint32_t depth = tb.depth;
      if (step.depend_tb >= 0) {
        const std::uint32_t other = awaited(tb, step);
        if (other == kNobody) return;
        if (depth_[other] == kNotRun) {
          tb.waiter = waiting_for_step_[other];
          waiting_for_step_[other] = t;
          return;
        }
        depth = std::max(depth, depth_[other]);
      }
      if (info.receives) {
        if (tb.in == kNobody) return;
        Connection& in = connections_[tb.in];
        if (in.taken == in.depths.size()) {
          tb.waiter = in.waiting;
          in.waiting = t;
          return;
        }
        depth = std::max(depth, in.depths[in.taken++]);
      }
      if (info.sends && tb.out == kNobody) return;
      if (step.op != OpCode::nop) ++depth;
      tb.depth = depth;
      depth_[number] = depth;
      if (info.sends) {
        connections_[tb.out].depths.push_back(depth);
        wake(connections_[tb.out].waiting);
      }
      wake(waiting_for_step_[number]);
    }
  }

  void wake(std::uint32_t& head) {
    for (std::uint32_t t = head; t != kNobody;) {
      ready_.push_back(t);
      const std::uint32_t next = tbs_[t].waiter;
      tbs_[t].waiter = kNobody;
      t = next;
    }
    head = kNobody;
  }

  const Algorithm& a_;
  std::vector<Connection> connections_;
  std::vector<Tb> tbs_;
  std::vector<std::uint32_t> depth_;  // of a step
  std::vector<std::uint32_t> waiting_for_step_;
  std::vector<std::uint32_t> ready_;
};

}  // namespace

AlgorithmStats stats(const Algorithm& algorithm) {
  AlgorithmStats s;
  s.ranks = algorithm.num_ranks();
  std::int64_t highest_channel = -1;
  for (const RankProgram& rank : algorithm.ranks) {
    const auto blocks = static_cast<std::int64_t>(rank.threadblocks.size());
    s.threadblocks += blocks;
    s.max_threadblocks_of_rank = std::max(s.max_threadblocks_of_rank, blocks);
    s.max_scratch_chunks = std::max<std::int64_t>(s.max_scratch_chunks, rank.scratch_chunks);
    for (const ThreadBlock& tb : rank.threadblocks) {
      highest_channel = std::max<std::int64_t>(highest_channel, tb.channel);
      s.steps += tb.num_steps;
      s.max_steps_of_threadblock = std::max<std::int64_t>(s.max_steps_of_threadblock, tb.num_steps);
      for (const Step& step : algorithm.steps_of(tb)) {
        ++s.steps_by_op[static_cast<std::size_t>(step.op)];
        if (step.depend_tb >= 0) ++s.dependences;
      }
    }
  }
  s.nops = s.steps_by_op[static_cast<std::size_t>(OpCode::nop)];
  s.channels = highest_channel + 1;
  s.critical_path = CriticalPath(algorithm).length();
  return s;
}

}  // namespace hocket
