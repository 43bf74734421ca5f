// An algorithm made ready to run: validated, threadblocks numbered over all ranks, connections
// paired. Independent of sizes, types and of the engine that runs it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "hocket/algorithm.h"

namespace hocket::runtime {

inline constexpr std::int32_t kNone = -1;

struct PlanThreadBlock {
  std::int32_t rank = 0;
  std::int32_t id = 0;  // within the rank
  std::uint32_t first_step = 0;
  std::uint32_t num_steps = 0;
  std::int32_t in = kNone;  // connections; none where no step uses one
  std::int32_t out = kNone;
};

struct PlanConnection {
  std::int32_t sender = 0;  // ranks
  std::int32_t receiver = 0;
  std::int32_t channel = 0;
  std::uint32_t sender_tb = 0;  // into Plan::threadblocks
  std::uint32_t receiver_tb = 0;
  std::int32_t max_count = 0;  // chunks of its largest step
};

struct Plan {
  Algorithm algorithm;
  std::vector<PlanThreadBlock> threadblocks;
  std::vector<std::uint32_t> first_threadblock;  // of each rank, and the end
  std::vector<PlanConnection> connections;       // ordered by sender, receiver, channel
  // Whether a step of the rank reads or writes its buffer: [rank][input, output].
  std::vector<std::array<bool, 2>> touches;
  std::int32_t max_count = 1;  // over all connections

  const Step& step(const PlanThreadBlock& tb, std::uint32_t i) const {
    return algorithm.steps[tb.first_step + i];
  }
  // "rank 3 threadblock 1"
  std::string name(const PlanThreadBlock& tb) const;
};

// Throws HK0703 for an algorithm that would read or write out of bounds, or whose connections do
// not pair up. Deadlocks and races are not looked for.
Plan make_plan(Algorithm algorithm);

}  // namespace hocket::runtime
