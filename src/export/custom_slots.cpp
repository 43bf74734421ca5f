// Runs of a custom collective's slots: found for the writers, expanded for the readers.
#include "export/custom_slots.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "hocket/diagnostic.h"

namespace hocket {
namespace {

constexpr BufferKind kSides[2] = {BufferKind::input, BufferKind::output};
// What any file may ask for, plus what its own size vouches for. A slot costs 44 bytes, an
// origin 8.
constexpr std::uint64_t kSlotAllowance = std::uint64_t{1} << 20;
constexpr std::uint64_t kOriginAllowance = std::uint64_t{1} << 23;
constexpr std::int32_t kMaxIndex = std::numeric_limits<std::int32_t>::max();

std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

std::vector<OriginRun> origin_runs(const std::vector<Origin>& origins) {
  // Sorted by (rank, index): group by index in order of appearance, so that the common "chunk k of
  // every rank" is one run. Runs are kept in the order of their first origin.
  std::vector<OriginRun> runs;
  std::vector<Origin> by_index = origins;
  std::stable_sort(by_index.begin(), by_index.end(),
                   [](const Origin& a, const Origin& b) { return a.index < b.index; });
  for (const Origin& o : by_index) {
    if (!runs.empty() && runs.back().index == o.index && runs.back().last_rank + 1 == o.rank) {
      ++runs.back().last_rank;
    } else {
      runs.push_back({o.rank, o.rank, o.index});
    }
  }
  return runs;
}

bool continues(const SlotRun& run, const std::vector<OriginRun>& origins) {
  return std::equal(run.origins.begin(), run.origins.end(), origins.begin(), origins.end(),
                    [&](const OriginRun& a, const OriginRun& b) {
                      return a.first_rank == b.first_rank && a.last_rank == b.last_rank &&
                             a.index + run.count == b.index;
                    });
}

// `origins_at(side, k)`: the runs of slot k, none where nothing is said.
template <typename OriginsAt>
std::vector<SlotRun> runs_of(const CustomCollective::RankSlots& slots, OriginsAt&& origins_at) {
  std::vector<SlotRun> runs;
  for (std::size_t side = 0; side < 2; ++side) {
    const std::int32_t size = side == 0 ? slots.input_chunks : slots.output_chunks;
    bool open = false;
    for (std::int32_t k = 0; k < size; ++k) {
      std::optional<std::vector<OriginRun>> origins = origins_at(side, at(k));
      if (!origins) {
        open = false;
      } else if (open && continues(runs.back(), *origins)) {
        ++runs.back().count;
      } else {
        runs.push_back({kSides[side], k, 1, std::move(*origins)});
        open = true;
      }
    }
  }
  return runs;
}

}  // namespace

std::vector<SlotRun> held_runs(const CustomCollective::RankSlots& slots) {
  return runs_of(slots, [&](std::size_t side, std::size_t k) {
    const std::optional<Origin>& held = slots.initial[side][k];
    return held ? std::optional(std::vector<OriginRun>{{held->rank, held->rank, held->index}})
                : std::nullopt;
  });
}

std::vector<SlotRun> wanted_runs(const CustomCollective::RankSlots& slots) {
  return runs_of(slots, [&](std::size_t side, std::size_t k) {
    const std::optional<std::vector<Origin>>& wanted = slots.expected[side][k];
    return wanted ? std::optional(origin_runs(*wanted)) : std::nullopt;
  });
}

CustomBuilder::CustomBuilder(std::string name, int ranks, int chunk_factor, bool in_place,
                             std::size_t text_bytes, const Fail&)
    : ranks_(ranks),
      chunk_factor_(chunk_factor),
      slots_left_(kSlotAllowance + text_bytes / 4),
      origins_left_(kOriginAllowance + text_bytes / 4),
      custom_(std::move(name), ranks, chunk_factor, in_place) {}

void CustomBuilder::buffers(int rank, std::int32_t input_chunks, std::int32_t output_chunks,
                            const Fail& fail) {
  if (rank < 0 || rank >= ranks_) {
    fail(false, fmt::format("rank {}, expected 0 to {}", rank, ranks_ - 1));
  }
  if (input_chunks < 0 || output_chunks < 0) {
    fail(false, fmt::format("buffers of {} and {} chunks, expected at least 0", input_chunks,
                            output_chunks));
  }
  const std::uint64_t slots =
      static_cast<std::uint64_t>(input_chunks) + static_cast<std::uint64_t>(output_chunks);
  if (slots > slots_left_) {
    fail(true, fmt::format("a custom collective of more than {} chunks, which a file of this size "
                           "does not describe",
                           slots_used_ + slots_left_));
  }
  const CustomCollective::RankSlots& before = custom_.rank(rank);
  if (before.input_chunks != 0 || before.output_chunks != 0) {
    fail(false, fmt::format("the buffers of rank {} a second time", rank));
  }
  slots_left_ -= slots;
  slots_used_ += slots;
  largest_ = std::max({largest_, input_chunks, output_chunks});
  custom_.buffers(rank, input_chunks, output_chunks);
}

void CustomBuilder::check_run(int rank, const SlotRun& run, const Fail& fail) const {
  if (rank < 0 || rank >= ranks_) {
    fail(false, fmt::format("rank {}, expected 0 to {}", rank, ranks_ - 1));
  }
  const CustomCollective::RankSlots& slots = custom_.rank(rank);
  if (run.buffer == BufferKind::scratch) {
    fail(false, "a scratch slot, but a collective speaks of input and output only");
  }
  const std::int32_t size =
      run.buffer == BufferKind::input ? slots.input_chunks : slots.output_chunks;
  if (run.first < 0 || run.count < 1 || run.first > size - run.count) {
    fail(false, fmt::format("{} slots from {}[{}] of rank {}, which has {}", run.count,
                            buffer_kind_name(run.buffer), run.first, rank, size));
  }
  for (const OriginRun& o : run.origins) {
    if (o.first_rank < 0 || o.last_rank < o.first_rank || o.last_rank >= ranks_) {
      fail(false, fmt::format("origins of ranks {} to {}, expected 0 to {}", o.first_rank,
                              o.last_rank, ranks_ - 1));
    }
    if (o.index < 0 || o.index > kMaxIndex - run.count) {
      fail(false, fmt::format("an origin of index {}, expected at least 0 and at most {}", o.index,
                              kMaxIndex - run.count));
    }
  }
}

void CustomBuilder::holds(int rank, const SlotRun& run, const Fail& fail) {
  check_run(rank, run, fail);
  if (run.origins.size() != 1 || run.origins[0].first_rank != run.origins[0].last_rank) {
    fail(false, "a slot that holds several origins, but it starts with one");
  }
  try {
    for (std::int32_t k = 0; k < run.count; ++k) {
      custom_.holds(rank, {run.buffer, run.first + k},
                    {run.origins[0].first_rank, run.origins[0].index + k});
    }
  } catch (const Error& error) {
    fail(false, error.diagnostic().message);
  }
}

void CustomBuilder::wants(int rank, const SlotRun& run, const Fail& fail) {
  check_run(rank, run, fail);
  std::uint64_t each = 0;
  for (const OriginRun& o : run.origins) {
    each += static_cast<std::uint64_t>(o.last_rank - o.first_rank) + 1;
  }
  if (each == 0) fail(false, "a slot that wants no origin, expected at least one");
  const std::uint64_t all = each * static_cast<std::uint64_t>(run.count);
  if (all > origins_left_) {
    fail(true, fmt::format("a custom collective of more than {} wanted origins, which a file of "
                           "this size does not describe",
                           origins_used_ + origins_left_));
  }
  origins_left_ -= all;
  origins_used_ += all;
  try {
    for (std::int32_t k = 0; k < run.count; ++k) {
      std::vector<Origin> origins;
      origins.reserve(each);
      for (const OriginRun& o : run.origins) {
        for (std::int32_t r = o.first_rank; r <= o.last_rank; ++r) {
          origins.push_back({r, o.index + k});
        }
      }
      custom_.requires_(rank, {run.buffer, run.first + k}, std::move(origins));
    }
  } catch (const Error& error) {
    fail(false, error.diagnostic().message);
  }
}

Collective CustomBuilder::build(int split, bool has_postcondition, const Fail& fail) {
  if (split < 1) fail(false, fmt::format("a split into {} parts, expected at least 1", split));
  if (split > 1) {
    const std::uint64_t parts = static_cast<std::uint64_t>(split);
    if (parts - 1 > slots_left_ / std::max<std::uint64_t>(slots_used_, 1) ||
        parts - 1 > origins_left_ / std::max<std::uint64_t>(origins_used_, 1)) {
      fail(true, fmt::format("a custom collective split into {} parts, more than a file of this "
                             "size describes",
                             split));
    }
    std::int32_t last_index = std::max(largest_, chunk_factor_);
    for (int r = 0; r < ranks_; ++r) {
      for (std::size_t side = 0; side < 2; ++side) {
        for (const auto& held : custom_.rank(r).initial[side]) {
          if (held) last_index = std::max(last_index, held->index);
        }
        for (const auto& wanted : custom_.rank(r).expected[side]) {
          if (!wanted) continue;
          for (const Origin& o : *wanted) last_index = std::max(last_index, o.index);
        }
      }
    }
    if (last_index >= kMaxIndex / split) {
      fail(false, fmt::format("a split into {} parts of chunks numbered up to {}, but chunks are "
                              "numbered up to {}",
                              split, last_index, kMaxIndex));
    }
  }
  if (!has_postcondition) custom_.without_postcondition();
  const Collective whole = custom_.build();
  return split == 1 ? whole : whole.refined(split);
}

}  // namespace hocket
