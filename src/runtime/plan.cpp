// Validation and numbering. The algorithm may come from a file: nothing in it is taken for granted.
#include "runtime/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "hocket/diagnostic.h"

namespace hocket::runtime {
namespace {

constexpr int kNumBuffers = 3;

// One end of a connection.
struct End {
  std::int32_t sender;
  std::int32_t receiver;
  std::int32_t channel;
  std::uint32_t tb;

  auto connection() const { return std::tie(sender, receiver, channel); }
  bool operator<(const End& other) const {
    return std::tie(sender, receiver, channel, tb) <
           std::tie(other.sender, other.receiver, other.channel, other.tb);
  }
};

class Planner {
 public:
  explicit Planner(Algorithm&& algorithm) : algorithm_(plan_.algorithm) {
    algorithm_ = std::move(algorithm);
  }

  Plan make() {
    check_ranks();
    for (std::int32_t rank = 0; rank < algorithm_.num_ranks(); ++rank) add_rank(rank);
    plan_.first_threadblock.push_back(static_cast<std::uint32_t>(plan_.threadblocks.size()));
    for (const PlanThreadBlock& tb : plan_.threadblocks) check_steps(tb);
    connect();
    return std::move(plan_);
  }

 private:
  [[noreturn]] static void refuse(const std::string& message, Location where = {}) {
    throw Error(Code::BadAlgorithm, message, std::move(where));
  }
  [[noreturn]] void refuse_step(const PlanThreadBlock& tb, std::uint32_t i,
                                const std::string& message) const {
    const Step& step = plan_.step(tb, i);
    refuse(fmt::format("{} step {} ({}) {}", plan_.name(tb), i, op_info(step.op).name, message),
           algorithm_.location_of(tb.first_step + i));
  }
  const RankProgram& program(std::int32_t rank) const {
    return algorithm_.ranks[static_cast<std::size_t>(rank)];
  }

  void check_ranks() const {
    const int ranks = algorithm_.num_ranks();
    if (ranks == 0) refuse("an algorithm of no ranks, expected at least 1");
    if (algorithm_.collective.num_ranks() != ranks) {
      refuse(fmt::format("the algorithm has {} ranks, but its collective {} has {}", ranks,
                         algorithm_.collective.name(), algorithm_.collective.num_ranks()));
    }
    if (algorithm_.collective.chunk_factor() < 1) {
      refuse(fmt::format("the collective's chunk factor is {}, expected at least 1",
                         algorithm_.collective.chunk_factor()));
    }
    if (!algorithm_.step_locations.empty()) {
      if (algorithm_.step_locations.size() != algorithm_.steps.size()) {
        refuse(fmt::format("{} source locations for {} steps, expected one a step or none",
                           algorithm_.step_locations.size(), algorithm_.steps.size()));
      }
      for (const std::uint32_t location : algorithm_.step_locations) {
        if (location >= algorithm_.locations.size()) {
          refuse(fmt::format("source location {} of {}", location, algorithm_.locations.size()));
        }
      }
    }
  }

  void check_peer(std::int32_t rank, std::int32_t peer, const PlanThreadBlock& tb,
                  std::string_view what) const {
    if (peer >= -1 && peer < algorithm_.num_ranks() && peer != rank) return;
    refuse(fmt::format("{} {} rank {}, expected another rank of {} (0 to {}) or -1 for none",
                       plan_.name(tb), what, peer, algorithm_.num_ranks(),
                       algorithm_.num_ranks() - 1));
  }

  void add_rank(std::int32_t rank) {
    const RankProgram& program_of_rank = program(rank);
    if (program_of_rank.scratch_chunks < 0) {
      refuse(fmt::format("rank {} has {} scratch chunks, expected 0 or more", rank,
                         program_of_rank.scratch_chunks));
    }
    plan_.first_threadblock.push_back(static_cast<std::uint32_t>(plan_.threadblocks.size()));
    plan_.touches.push_back({false, false});
    std::int32_t id = 0;
    for (const ThreadBlock& source : program_of_rank.threadblocks) {
      const PlanThreadBlock tb{rank, id++, source.first_step, source.num_steps, kNone, kNone};
      if (std::uint64_t{source.first_step} + source.num_steps > algorithm_.steps.size()) {
        refuse(fmt::format("{} has steps {} to {}, but the algorithm has {}", plan_.name(tb),
                           source.first_step, std::uint64_t{source.first_step} + source.num_steps,
                           algorithm_.steps.size()));
      }
      check_peer(rank, source.send, tb, "sends to");
      check_peer(rank, source.recv, tb, "receives from");
      if (source.channel < 0) {
        refuse(
            fmt::format("{} is on channel {}, expected 0 or more", plan_.name(tb), source.channel));
      }
      const auto number = static_cast<std::uint32_t>(plan_.threadblocks.size());
      if (source.send >= 0) senders_.push_back({rank, source.send, source.channel, number});
      if (source.recv >= 0) receivers_.push_back({source.recv, rank, source.channel, number});
      plan_.threadblocks.push_back(tb);
    }
  }

  void check_steps(const PlanThreadBlock& tb) {
    const RankProgram& ranks_program = program(tb.rank);
    const ThreadBlock& source = ranks_program.threadblocks[static_cast<std::size_t>(tb.id)];
    for (std::uint32_t i = 0; i < tb.num_steps; ++i) {
      const Step& step = plan_.step(tb, i);
      if (static_cast<int>(step.op) >= kNumOps) {
        refuse(fmt::format("{} step {} has operation number {}, expected 0 to {}", plan_.name(tb),
                           i, static_cast<int>(step.op), kNumOps - 1),
               algorithm_.location_of(tb.first_step + i));
      }
      check_dependence(tb, i);
      if (step.op == OpCode::nop) continue;
      const OpInfo& info = op_info(step.op);
      if (info.sends && source.send < 0) {
        refuse_step(tb, i, "sends, but its threadblock has no rank to send to");
      }
      if (info.receives && source.recv < 0) {
        refuse_step(tb, i, "receives, but its threadblock has no rank to receive from");
      }
      if (step.count < 1) {
        refuse_step(tb, i, fmt::format("moves {} chunks, expected at least 1", step.count));
      }
      if (info.reads_src) check_operand(tb, i, step.src_buffer, step.src_offset, "reads");
      if (info.writes_dst) check_operand(tb, i, step.dst_buffer, step.dst_offset, "writes");
      const std::int64_t apart = std::int64_t{step.src_offset} - step.dst_offset;
      if (info.reads_src && info.writes_dst && step.src_buffer == step.dst_buffer && apart != 0 &&
          std::abs(apart) < step.count) {
        refuse_step(
            tb, i,
            fmt::format("reads chunks {} to {} and writes {} to {} of its {}, expected the "
                        "same or none in common",
                        step.src_offset, step.src_offset + step.count - 1, step.dst_offset,
                        step.dst_offset + step.count - 1, buffer_kind_name(step.src_buffer)));
      }
    }
  }

  void check_dependence(const PlanThreadBlock& tb, std::uint32_t i) const {
    const Step& step = plan_.step(tb, i);
    if (step.depend_tb < 0) return;
    const auto& threadblocks = program(tb.rank).threadblocks;
    if (static_cast<std::size_t>(step.depend_tb) >= threadblocks.size()) {
      refuse_step(tb, i,
                  fmt::format("waits for threadblock {}, but the rank has {}", step.depend_tb,
                              threadblocks.size()));
    }
    const ThreadBlock& other = threadblocks[static_cast<std::size_t>(step.depend_tb)];
    if (step.depend_step < 0 || static_cast<std::uint32_t>(step.depend_step) >= other.num_steps) {
      refuse_step(tb, i,
                  fmt::format("waits for step {} of threadblock {}, which has {} steps",
                              step.depend_step, step.depend_tb, other.num_steps));
    }
  }

  // User buffers have the chunks that the collective says, whatever a file claims: that is what the
  // caller's memory holds.
  void check_operand(const PlanThreadBlock& tb, std::uint32_t i, BufferKind buffer,
                     std::int32_t offset, std::string_view verb) {
    if (static_cast<int>(buffer) >= kNumBuffers) {
      refuse_step(tb, i,
                  fmt::format("{} buffer number {}, expected 0 to {}", verb,
                              static_cast<int>(buffer), kNumBuffers - 1));
    }
    const bool scratch = buffer == BufferKind::scratch;
    const std::int32_t chunks =
        scratch ? program(tb.rank).scratch_chunks : algorithm_.collective.chunks(tb.rank, buffer);
    const std::int32_t count = plan_.step(tb, i).count;
    if (offset < 0 || std::int64_t{offset} + count > chunks) {
      refuse_step(tb, i,
                  fmt::format("{} {} chunks from {} of its {}, which has {}", verb, count, offset,
                              buffer_kind_name(buffer), chunks));
    }
    if (!scratch) {
      plan_.touches[static_cast<std::size_t>(tb.rank)][static_cast<std::size_t>(buffer)] = true;
    }
  }

  static std::string name(const End& end) {
    return fmt::format("connection {} -> {} on channel {}", end.sender, end.receiver, end.channel);
  }

  void check_unique(const std::vector<End>& ends, std::string_view verb) const {
    for (std::size_t i = 1; i < ends.size(); ++i) {
      if (ends[i].connection() != ends[i - 1].connection()) continue;
      refuse(fmt::format("{} and threadblock {} both {} on {}, expected one",
                         plan_.name(plan_.threadblocks[ends[i - 1].tb]),
                         plan_.threadblocks[ends[i].tb].id, verb, name(ends[i])));
    }
  }

  // The next step from `i` on that sends (receives); num_steps if there is none.
  std::uint32_t next_transfer(const PlanThreadBlock& tb, std::uint32_t i,
                              bool OpInfo::*direction) const {
    while (i < tb.num_steps && !(op_info(plan_.step(tb, i).op).*direction)) ++i;
    return i;
  }
  bool has_transfer(const End& end, bool OpInfo::*direction) const {
    const PlanThreadBlock& tb = plan_.threadblocks[end.tb];
    return next_transfer(tb, 0, direction) < tb.num_steps;
  }

  // Ends that no step uses need no counterpart: nothing is set up for them.
  void connect() {
    std::sort(senders_.begin(), senders_.end());
    std::sort(receivers_.begin(), receivers_.end());
    check_unique(senders_, "send");
    check_unique(receivers_, "receive");
    std::size_t r = 0;
    for (const End& end : senders_) {
      while (r < receivers_.size() && receivers_[r].connection() < end.connection()) {
        check_unused_receiver(receivers_[r++]);
      }
      const bool paired = r < receivers_.size() && receivers_[r].connection() == end.connection();
      if (paired) {
        pair_up(end, receivers_[r++]);
      } else if (has_transfer(end, &OpInfo::sends)) {
        refuse(fmt::format("{} sends on {}, but no threadblock of rank {} receives there",
                           plan_.name(plan_.threadblocks[end.tb]), name(end), end.receiver));
      }
    }
    while (r < receivers_.size()) check_unused_receiver(receivers_[r++]);
  }

  void check_unused_receiver(const End& end) const {
    if (!has_transfer(end, &OpInfo::receives)) return;
    refuse(fmt::format("{} receives on {}, but no threadblock of rank {} sends there",
                       plan_.name(plan_.threadblocks[end.tb]), name(end), end.sender));
  }

  // The k-th sending step meets the k-th receiving one.
  void pair_up(const End& from, const End& to) {
    PlanThreadBlock& sender = plan_.threadblocks[from.tb];
    PlanThreadBlock& receiver = plan_.threadblocks[to.tb];
    PlanConnection connection{from.sender, from.receiver, from.channel, from.tb, to.tb, 0};
    std::uint32_t s = next_transfer(sender, 0, &OpInfo::sends);
    std::uint32_t r = next_transfer(receiver, 0, &OpInfo::receives);
    while (s < sender.num_steps && r < receiver.num_steps) {
      const std::int32_t count = plan_.step(sender, s).count;
      if (count != plan_.step(receiver, r).count) {
        refuse_step(sender, s,
                    fmt::format("sends {} chunks, but {} step {} receives {}", count,
                                plan_.name(receiver), r, plan_.step(receiver, r).count));
      }
      connection.max_count = std::max(connection.max_count, count);
      s = next_transfer(sender, s + 1, &OpInfo::sends);
      r = next_transfer(receiver, r + 1, &OpInfo::receives);
    }
    if (s < sender.num_steps) {
      refuse_step(sender, s,
                  fmt::format("sends on {}, but {} has no receive left for it", name(from),
                              plan_.name(receiver)));
    }
    if (r < receiver.num_steps) {
      refuse_step(receiver, r,
                  fmt::format("receives on {}, but {} has no send left for it", name(from),
                              plan_.name(sender)));
    }
    if (connection.max_count == 0) return;
    sender.out = static_cast<std::int32_t>(plan_.connections.size());
    receiver.in = sender.out;
    plan_.max_count = std::max(plan_.max_count, connection.max_count);
    plan_.connections.push_back(connection);
  }

  Plan plan_;
  Algorithm& algorithm_;
  std::vector<End> senders_;
  std::vector<End> receivers_;
};

}  // namespace

std::string Plan::name(const PlanThreadBlock& tb) const {
  return fmt::format("rank {} threadblock {}", tb.rank, tb.id);
}

Plan make_plan(Algorithm algorithm) { return Planner(std::move(algorithm)).make(); }

}  // namespace hocket::runtime
