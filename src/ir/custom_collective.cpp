// Collectives that a program declares slot by slot.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <tuple>

#include "hocket/collective.h"
#include "hocket/diagnostic.h"

namespace hocket {
namespace {

std::string slot_text(int rank, Slot slot) {
  return fmt::format("rank {} {}[{}]", rank, buffer_kind_name(slot.buffer), slot.index);
}

std::size_t at_index(std::int32_t i) { return static_cast<std::size_t>(i); }

}  // namespace

CustomCollective::CustomCollective(std::string name, int ranks, int chunk_factor, bool in_place,
                                   CallSite at)
    : name_(std::move(name)), num_ranks_(ranks), chunk_factor_(chunk_factor), in_place_(in_place) {
  if (ranks < 1) {
    throw Error(
        Code::BadCollective,
        fmt::format("collective {} over {} ranks, but a collective has at least 1", name_, ranks),
        at);
  }
  if (chunk_factor < 1) {
    throw Error(Code::BadCollective,
                fmt::format("collective {} with chunk factor {}, but it must be at least 1", name_,
                            chunk_factor),
                at);
  }
  ranks_.resize(at_index(ranks));
}

CustomCollective::RankSlots& CustomCollective::slots_of(int rank, CallSite at) {
  if (rank < 0 || rank >= num_ranks_) {
    throw Error(Code::BadCollective,
                fmt::format("collective {}: rank {}, but it has {} ranks (0 to {})", name_, rank,
                            num_ranks_, num_ranks_ - 1),
                at);
  }
  return ranks_[at_index(rank)];
}

// The canonical name of `slot`, which must be there.
Slot CustomCollective::checked_slot(int rank, Slot slot, CallSite at) const {
  const RankSlots& slots = ranks_[at_index(rank)];
  if (slot.buffer == BufferKind::scratch) {
    throw Error(Code::BadCollective,
                fmt::format("collective {}: {}, but a collective speaks of input and output only",
                            name_, slot_text(rank, slot)),
                at);
  }
  const int size = slot.buffer == BufferKind::input ? slots.input_chunks : slots.output_chunks;
  if (slot.index < 0 || slot.index >= size) {
    throw Error(Code::BadCollective,
                fmt::format("collective {}: {}, but that buffer has {} chunks", name_,
                            slot_text(rank, slot), size),
                at, "say buffers() of the rank first");
  }
  return canonical(rank, slot);
}

Slot CustomCollective::canonical(int rank, Slot slot) const {
  const RankSlots& slots = ranks_[at_index(rank)];
  if (!in_place_ || slot.index >= std::min(slots.input_chunks, slots.output_chunks)) return slot;
  const bool output_is_larger = slots.output_chunks > slots.input_chunks;
  return {output_is_larger ? BufferKind::output : BufferKind::input, slot.index};
}

void CustomCollective::check_origin(Origin origin, CallSite at) const {
  // One more than an index must be a number too: the chunks that a rank starts with are counted.
  constexpr std::int32_t kMostIndex = std::numeric_limits<std::int32_t>::max() - 1;
  if (origin.rank < 0 || origin.rank >= num_ranks_ || origin.index < 0 ||
      origin.index > kMostIndex) {
    throw Error(Code::BadCollective,
                fmt::format("collective {}: origin r{}.c{}, but ranks are 0 to {} and chunks are "
                            "numbered from 0 to {}",
                            name_, origin.rank, origin.index, num_ranks_ - 1, kMostIndex),
                at);
  }
}

CustomCollective& CustomCollective::buffers(int rank, int input_chunks, int output_chunks,
                                            CallSite at) {
  RankSlots& slots = slots_of(rank, at);
  if (input_chunks < 0 || output_chunks < 0) {
    throw Error(Code::BadCollective,
                fmt::format("collective {}: rank {} with {} input and {} output chunks, but there "
                            "cannot be fewer than 0",
                            name_, rank, input_chunks, output_chunks),
                at);
  }
  const bool said = slots.input_chunks + slots.output_chunks > 0;
  if (said && (input_chunks != slots.input_chunks || output_chunks != slots.output_chunks)) {
    throw Error(
        Code::BadCollective,
        fmt::format("collective {}: rank {} with {} input and {} output chunks, but earlier "
                    "with {} and {}",
                    name_, rank, input_chunks, output_chunks, slots.input_chunks,
                    slots.output_chunks),
        at);
  }
  slots.input_chunks = input_chunks;
  slots.output_chunks = output_chunks;
  slots.initial[0].resize(at_index(input_chunks));
  slots.initial[1].resize(at_index(output_chunks));
  slots.expected[0].resize(at_index(input_chunks));
  slots.expected[1].resize(at_index(output_chunks));
  return *this;
}

CustomCollective& CustomCollective::holds(int rank, Slot slot, Origin origin, CallSite at) {
  RankSlots& slots = slots_of(rank, at);
  const Slot s = checked_slot(rank, slot, at);
  check_origin(origin, at);
  auto& held = slots.initial[static_cast<std::size_t>(s.buffer)][at_index(s.index)];
  if (held && *held != origin) {
    throw Error(
        Code::BadCollective,
        fmt::format("collective {}: {} holds r{}.c{} and r{}.c{}, but a slot starts with one chunk",
                    name_, slot_text(rank, slot), held->rank, held->index, origin.rank,
                    origin.index),
        at);
  }
  held = origin;
  return *this;
}

CustomCollective& CustomCollective::requires_(int rank, Slot slot, std::vector<Origin> origins,
                                              CallSite at) {
  RankSlots& slots = slots_of(rank, at);
  const Slot s = checked_slot(rank, slot, at);
  if (origins.empty()) {
    throw Error(Code::BadCollective,
                fmt::format("collective {}: {} requires no origin, but a requirement names at "
                            "least one",
                            name_, slot_text(rank, slot)),
                at, "leave the slot out: it is then \"don't care\"");
  }
  for (const Origin& origin : origins) check_origin(origin, at);
  std::sort(origins.begin(), origins.end());
  auto& required = slots.expected[static_cast<std::size_t>(s.buffer)][at_index(s.index)];
  if (required && *required != origins) {
    throw Error(Code::BadCollective,
                fmt::format("collective {}: the content of {} is required twice, differently",
                            name_, slot_text(rank, slot)),
                at);
  }
  required = std::move(origins);
  return *this;
}

CustomCollective& CustomCollective::without_postcondition() {
  has_postcondition_ = false;
  for (RankSlots& slots : ranks_) {
    for (auto& side : slots.expected) {
      for (auto& required : side) required.reset();
    }
  }
  return *this;
}

Collective CustomCollective::build() const {
  auto declared = std::make_shared<CustomCollective>(*this);
  declared->index_destinations();
  Collective c;
  c.kind_ = CollectiveKind::custom;
  c.name_ = name_;
  c.num_ranks_ = num_ranks_;
  c.chunk_factor_ = chunk_factor_;
  c.in_place_ = in_place_;
  c.has_postcondition_ = has_postcondition_;
  c.custom_ = declared;
  c.refined_ = declared;
  return c;
}

CustomCollective CustomCollective::cut(int parts) const {
  const auto part = [parts](Origin o, int p) {
    HOCKET_CHECK(std::int64_t{o.index} * parts + p <= std::numeric_limits<std::int32_t>::max(),
                 "the parts of an origin can be numbered");
    return Origin{o.rank, o.index * parts + p};
  };
  CustomCollective result = *this;
  result.chunk_factor_ *= parts;
  for (RankSlots& slots : result.ranks_) {
    slots.input_chunks *= parts;
    slots.output_chunks *= parts;
    for (std::size_t side = 0; side < 2; ++side) {
      std::vector<std::optional<Origin>> initial;
      initial.reserve(slots.initial[side].size() * at_index(parts));
      for (const auto& held : slots.initial[side]) {
        for (int p = 0; p < parts; ++p) {
          initial.push_back(held ? std::optional(part(*held, p)) : std::nullopt);
        }
      }
      slots.initial[side] = std::move(initial);
      std::vector<std::optional<std::vector<Origin>>> expected;
      expected.reserve(slots.expected[side].size() * at_index(parts));
      for (const auto& required : slots.expected[side]) {
        for (int p = 0; p < parts; ++p) {
          if (!required) {
            expected.emplace_back();
            continue;
          }
          std::vector<Origin> origins;  // stays sorted: parts keep the order of indices
          origins.reserve(required->size());
          for (const Origin& o : *required) origins.push_back(part(o, p));
          expected.emplace_back(std::move(origins));
        }
      }
      slots.expected[side] = std::move(expected);
    }
  }
  result.index_destinations();
  return result;
}

void CustomCollective::index_destinations() {
  // Every (origin, rank, output index) that is required, an origin once a slot.
  struct Entry {
    Origin origin;
    std::int32_t rank;
    std::int32_t index;
    bool operator<(const Entry& other) const {
      return std::tie(origin, rank, index) < std::tie(other.origin, other.rank, other.index);
    }
  };
  std::vector<Entry> entries;
  for (int r = 0; r < num_ranks_; ++r) {
    const RankSlots& slots = ranks_[at_index(r)];
    for (int k = 0; k < slots.output_chunks; ++k) {
      const Slot s = canonical(r, {BufferKind::output, k});
      const auto& required = slots.expected[static_cast<std::size_t>(s.buffer)][at_index(k)];
      if (!required) continue;
      for (std::size_t i = 0; i < required->size(); ++i) {
        if (i > 0 && (*required)[i] == (*required)[i - 1]) continue;
        entries.push_back({(*required)[i], r, k});
      }
    }
  }
  std::sort(entries.begin(), entries.end());
  wanted_.clear();
  for (std::size_t i = 0; i < entries.size();) {
    std::size_t end = i;
    bool same_index = true;
    bool one_a_rank = true;
    for (; end < entries.size() && entries[end].origin == entries[i].origin; ++end) {
      same_index = same_index && entries[end].index == entries[i].index;
      one_a_rank = one_a_rank && (end == i || entries[end].rank != entries[end - 1].rank);
    }
    if (end - i == 1) {
      wanted_.push_back({entries[i].origin, {entries[i].rank, entries[i].index}});
    } else if (same_index && one_a_rank && end - i == at_index(num_ranks_)) {
      wanted_.push_back({entries[i].origin, {-1, entries[i].index}});
    }
    i = end;
  }
}

}  // namespace hocket
