// Interleaved and batched shares, and when batched is right.
#include "passes/replicas.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "hocket/diagnostic.h"

namespace hocket::passes {

Replicas::Replicas(const Trace& trace) : trace_(trace), instances_(trace.instances) {
  std::int64_t common = 1;
  for (const std::int32_t n : trace.fragments) {
    common = std::lcm(common, static_cast<std::int64_t>(n));
    widest_fragment_ = std::max(widest_fragment_, n);
    if (common > std::numeric_limits<std::int32_t>::max()) break;
  }
  std::int64_t longest = trace.collective.chunks_per_loop();
  for (const TraceOp& op : trace.ops) {
    longest = std::max<std::int64_t>(
        {longest, std::int64_t{op.src_index} + op.count, std::int64_t{op.dst_index} + op.count});
  }
  const std::int64_t parts = common * instances_;
  constexpr std::int64_t kMostInstances = std::numeric_limits<std::uint16_t>::max();
  if (std::int64_t{instances_} * widest_fragment_ > kMostInstances) {
    throw Error(Code::TooLarge,
                fmt::format("{} instances, with fragments of up to {}, are more than the {} that "
                            "can be numbered",
                            instances_, widest_fragment_, kMostInstances),
                trace.where, "use fewer instances");
  }
  if (common > std::numeric_limits<std::int32_t>::max() ||
      parts * std::max<std::int64_t>(longest, 1) > std::numeric_limits<std::int32_t>::max() / 2) {
    throw Error(
        Code::TooLarge,
        fmt::format("{} instances of fragments cut each of {} chunks into {} parts, more than "
                    "can be numbered",
                    instances_, longest, parts),
        trace.where, "use fewer instances, or fragments whose sizes divide one another");
  }
  parts_ = static_cast<std::int32_t>(parts);
  num_instances_ =
      static_cast<std::uint32_t>(instances_) * static_cast<std::uint32_t>(widest_fragment_);
  if (trace.replication == Replication::batched && instances_ > 1) {
    for (const TraceOp& op : trace.ops) {
      const auto grow = [&](std::int32_t rank, std::uint32_t buffer, std::int32_t end) {
        if (buffer < kFirstScratch) return;
        std::int32_t& have = scratch_length_[(static_cast<std::uint64_t>(rank) << 32) | buffer];
        have = std::max(have, end);
      };
      grow(op.src_rank, op.src_buffer, op.src_index + op.count);
      grow(op.dst_rank, op.dst_buffer, op.dst_index + op.count);
    }
    check_batched();
  }
}

std::int32_t Replicas::length(std::int32_t rank, std::uint32_t buffer) const {
  if (buffer < kFirstScratch)
    return trace_.collective.chunks(rank, static_cast<BufferKind>(buffer));
  return scratch_length_.at((static_cast<std::uint64_t>(rank) << 32) | buffer);
}

Share Replicas::share(const TraceOp& op, int k) const {
  const std::int32_t n = trace_.fragments[op.fragment];
  const std::int32_t instance = k / n;
  const std::int32_t within = k % n;
  Share share;
  share.instance = static_cast<std::uint16_t>(instance * widest_fragment_ + within);
  if (trace_.replication == Replication::batched && instances_ > 1) {
    const std::int32_t fine = parts_ / instances_;  // parts of a chunk inside one instance's share
    share.count = op.count * fine / n;
    share.src_index = (instance * length(op.src_rank, op.src_buffer) + op.src_index) * fine +
                      within * share.count;
    share.dst_index = (instance * length(op.dst_rank, op.dst_buffer) + op.dst_index) * fine +
                      within * share.count;
  } else {
    share.count = op.count * (parts_ / (instances_ * n));
    share.src_index = op.src_index * parts_ + k * share.count;
    share.dst_index = op.dst_index * parts_ + k * share.count;
  }
  return share;
}

namespace {

// The origins of `expected`, moved to where batched instance `i` has them.
std::vector<Origin> shifted(const Collective& collective, const Expected& expected, int i) {
  const auto move = [&](Origin o) {
    return Origin{o.rank, i * collective.input_chunks(o.rank) + o.index};
  };
  std::vector<Origin> origins;
  switch (expected.kind) {
    case Expected::Kind::any:
      break;
    case Expected::Kind::one:
      origins.push_back(move(expected.origin));
      break;
    case Expected::Kind::all_ranks:
      for (int r = 0; r < collective.num_ranks(); ++r) {
        origins.push_back(move({r, expected.origin.index}));
      }
      break;
    case Expected::Kind::list:
      for (const Origin& o : expected.list) origins.push_back(move(o));
      break;
  }
  std::sort(origins.begin(), origins.end());
  return origins;
}

std::vector<Origin> plain(const Collective& collective, const Expected& expected) {
  std::vector<Origin> origins;
  if (expected.kind == Expected::Kind::one) {
    origins.push_back(expected.origin);
  } else if (expected.kind == Expected::Kind::all_ranks) {
    for (int r = 0; r < collective.num_ranks(); ++r) origins.push_back({r, expected.origin.index});
  } else {
    origins.assign(expected.list.begin(), expected.list.end());
  }
  std::sort(origins.begin(), origins.end());
  return origins;
}

}  // namespace

// Batched replication runs the program on each share as if the share were the whole. That computes
// the collective exactly when, for every slot and instance, what the collective wants (and has at
// the start) in the share's slot is what it wants in the whole's slot, moved into the share.
void Replicas::check_batched() const {
  const Collective& whole = trace_.collective;
  const Collective fine = whole.refined(instances_);
  for (int r = 0; r < whole.num_ranks(); ++r) {
    for (const BufferKind buffer : {BufferKind::input, BufferKind::output}) {
      const int length = whole.chunks(r, buffer);
      for (int k = 0; k < length; ++k) {
        const Expected want = whole.expected(r, {buffer, k});
        const std::optional<Origin> have = whole.initial(r, {buffer, k});
        for (int i = 0; i < instances_; ++i) {
          const Slot part{buffer, i * length + k};
          bool same = true;
          if (want.kind == Expected::Kind::all_ranks) {
            // Equal input lengths on every rank, so one comparison stands for all ranks.
            const Expected want_part = fine.expected(r, part);
            same = want_part.kind == Expected::Kind::all_ranks &&
                   want_part.origin.index == i * whole.input_chunks(0) + want.origin.index;
          } else if (whole.has_postcondition()) {
            same = shifted(whole, want, i) == plain(whole, fine.expected(r, part));
          }
          const std::optional<Origin> have_part = fine.initial(r, part);
          same = same && have.has_value() == have_part.has_value() &&
                 (!have || (have_part->rank == have->rank &&
                            have_part->index == i * whole.input_chunks(have->rank) + have->index));
          if (!same) {
            throw Error(
                Code::BatchedWrong,
                fmt::format("batched replication of {} would put the wrong data in {}[{}] of rank "
                            "{}: instance {} would treat its share of the buffers as a whole {}",
                            whole.name(), buffer_kind_name(buffer), part.index, r, i, whole.name()),
                trace_.where, "use interleaved replication");
          }
        }
      }
    }
  }
}

}  // namespace hocket::passes
