// The built-in collectives: shapes, aliasing, what lies where before and after. Custom ones are
// answered from their declaration.
#include "hocket/collective.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "hocket/diagnostic.h"

namespace hocket {
namespace {

constexpr std::array<std::string_view, 11> kKindNames = {
    "allreduce",
    "allgather",
    "reduce_scatter",
    "alltoall",
    "broadcast",
    "reduce",
    "gather",
    "scatter",
    "all_to_next_forward",
    "all_to_next_backward",
    "custom",
};

// Whether the larger buffer has chunks for every rank.
constexpr bool has_large_buffer(CollectiveKind kind) {
  return kind == CollectiveKind::allgather || kind == CollectiveKind::reduce_scatter ||
         kind == CollectiveKind::alltoall || kind == CollectiveKind::gather ||
         kind == CollectiveKind::scatter;
}

}  // namespace

std::string_view buffer_kind_name(BufferKind kind) {
  switch (kind) {
    case BufferKind::input:
      return "input";
    case BufferKind::output:
      return "output";
    case BufferKind::scratch:
      return "scratch";
  }
  return "scratch";
}

char buffer_kind_letter(BufferKind kind) { return buffer_kind_name(kind)[0]; }

std::string_view collective_kind_name(CollectiveKind kind) {
  return kKindNames[static_cast<std::size_t>(kind)];
}

std::optional<CollectiveKind> collective_kind_from_name(std::string_view name) {
  const auto* found = std::find(kKindNames.begin(), kKindNames.end(), name);
  if (found == kKindNames.end()) return std::nullopt;
  return static_cast<CollectiveKind>(found - kKindNames.begin());
}

bool has_root(CollectiveKind kind) {
  return kind == CollectiveKind::broadcast || kind == CollectiveKind::reduce ||
         kind == CollectiveKind::gather || kind == CollectiveKind::scatter;
}

Collective Collective::make(CollectiveKind kind, int ranks, int chunk_factor, bool in_place,
                            int root, CallSite at) {
  const std::string_view name = collective_kind_name(kind);
  if (kind == CollectiveKind::custom) {
    throw Error(Code::BadCollective, "a custom collective is not built in", at,
                "declare it with CustomCollective");
  }
  if (ranks < 1) {
    throw Error(Code::BadCollective,
                fmt::format("{} over {} ranks, but a collective has at least 1", name, ranks), at,
                "a collective of 1 rank is allowed");
  }
  if (chunk_factor < 1) {
    throw Error(
        Code::BadCollective,
        fmt::format("{} with chunk factor {}, but it must be at least 1", name, chunk_factor), at,
        "1 leaves every chunk whole");
  }
  // Kept, it would make two collectives that mean the same unequal, and no form has a place for it.
  if (root != 0 && !has_root(kind)) {
    throw Error(Code::BadCollective, fmt::format("{} with root {}, but it has no root", name, root),
                at, "broadcast, reduce, gather and scatter have one; leave it out here");
  }
  if (root < 0 || root >= ranks) {
    throw Error(
        Code::BadCollective,
        fmt::format("{} with root {}, but it has {} ranks (0 to {})", name, root, ranks, ranks - 1),
        at, "ranks are numbered from 0");
  }
  const std::int64_t largest =
      std::int64_t{chunk_factor} * (has_large_buffer(kind) ? std::int64_t{ranks} : 1);
  if (largest > std::numeric_limits<std::int32_t>::max()) {
    throw Error(
        Code::BadCollective,
        fmt::format("{} over {} ranks with chunk factor {} has a buffer of {} chunks, but "
                    "chunks are numbered up to {}",
                    name, ranks, chunk_factor, largest, std::numeric_limits<std::int32_t>::max()),
        at, "use a smaller chunk factor");
  }
  Collective c;
  c.kind_ = kind;
  c.name_ = std::string(name);
  c.num_ranks_ = ranks;
  c.chunk_factor_ = chunk_factor;
  c.in_place_ = in_place;
  c.root_ = root;
  c.has_postcondition_ = true;
  return c;
}

int Collective::input_chunks(int rank) const {
  if (rank < 0 || rank >= num_ranks_) return 0;
  switch (kind_) {
    case CollectiveKind::custom:
      return refined_->rank(rank).input_chunks;
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::alltoall:
      return num_ranks_ * chunk_factor_;
    case CollectiveKind::scatter:
      return rank == root_ ? num_ranks_ * chunk_factor_ : 0;
    default:
      return chunk_factor_;
  }
}

int Collective::output_chunks(int rank) const {
  if (rank < 0 || rank >= num_ranks_) return 0;
  switch (kind_) {
    case CollectiveKind::custom:
      return refined_->rank(rank).output_chunks;
    case CollectiveKind::allgather:
    case CollectiveKind::alltoall:
      return num_ranks_ * chunk_factor_;
    case CollectiveKind::gather:
      return rank == root_ ? num_ranks_ * chunk_factor_ : 0;
    default:
      return chunk_factor_;
  }
}

int Collective::chunks(int rank, BufferKind buffer) const {
  switch (buffer) {
    case BufferKind::input:
      return input_chunks(rank);
    case BufferKind::output:
      return output_chunks(rank);
    case BufferKind::scratch:
      return 0;
  }
  return 0;
}

int Collective::chunks_per_loop() const {
  if (kind_ != CollectiveKind::custom) {
    if (num_ranks_ == 0) return 0;
    return std::max(input_chunks(root_), output_chunks(root_));
  }
  int most = 0;
  for (int r = 0; r < num_ranks_; ++r) {
    most = std::max({most, input_chunks(r), output_chunks(r)});
  }
  return most;
}

Slot Collective::alias(int rank, Slot slot) const {
  if (!in_place_ || slot.index < 0 || slot.index >= chunks(rank, slot.buffer)) return slot;
  const std::int32_t own = rank * chunk_factor_;
  switch (kind_) {
    case CollectiveKind::allgather:
      return slot.buffer == BufferKind::input ? Slot{BufferKind::output, own + slot.index} : slot;
    case CollectiveKind::gather:
      return slot.buffer == BufferKind::input && rank == root_
                 ? Slot{BufferKind::output, own + slot.index}
                 : slot;
    case CollectiveKind::reduce_scatter:
      return slot.buffer == BufferKind::output ? Slot{BufferKind::input, own + slot.index} : slot;
    case CollectiveKind::scatter:
      return slot.buffer == BufferKind::output && rank == root_
                 ? Slot{BufferKind::input, own + slot.index}
                 : slot;
    case CollectiveKind::custom:
      return refined_->canonical(rank, slot);
    default:
      return {BufferKind::input, slot.index};
  }
}

std::optional<Origin> Collective::initial(int rank, Slot slot) const {
  if (slot.index < 0 || slot.index >= chunks(rank, slot.buffer)) return std::nullopt;
  slot = alias(rank, slot);
  if (kind_ == CollectiveKind::custom) {
    return refined_->rank(rank)
        .initial[static_cast<std::size_t>(slot.buffer)][static_cast<std::size_t>(slot.index)];
  }
  if (slot.buffer == BufferKind::input) {
    if (kind_ == CollectiveKind::broadcast && rank != root_) return std::nullopt;
    return Origin{rank, slot.index};
  }
  // The input of an in-place allgather or gather lies inside the output.
  if (!in_place_) return std::nullopt;
  if (kind_ == CollectiveKind::allgather || kind_ == CollectiveKind::gather) {
    const std::int32_t index = slot.index - rank * chunk_factor_;
    if (index >= 0 && index < chunk_factor_) return Origin{rank, index};
  }
  return std::nullopt;
}

Expected Collective::expected(int rank, Slot slot) const {
  using Kind = Expected::Kind;
  if (!has_postcondition_ || slot.index < 0 || slot.index >= chunks(rank, slot.buffer)) return {};
  const std::int32_t c = chunk_factor_;
  if (kind_ == CollectiveKind::custom) {
    slot = alias(rank, slot);
    const auto& list =
        refined_->rank(rank)
            .expected[static_cast<std::size_t>(slot.buffer)][static_cast<std::size_t>(slot.index)];
    if (!list) return {};
    if (list->size() == 1) return {Kind::one, list->front(), {}};
    return {Kind::list, {}, *list};
  }
  // Turn the slot into an output index, or find that no output lies there.
  std::int32_t k = slot.index;
  if (slot.buffer == BufferKind::input) {
    if (!in_place_) return {};
    switch (kind_) {
      case CollectiveKind::allgather:
        k += rank * c;
        break;
      case CollectiveKind::gather:
        if (rank != root_) return {};
        k += rank * c;
        break;
      case CollectiveKind::scatter:
      case CollectiveKind::reduce_scatter:
        k -= rank * c;
        if (k < 0 || k >= c) return {};
        break;
      default:
        break;
    }
  }
  switch (kind_) {
    case CollectiveKind::allreduce:
      return {Kind::all_ranks, {0, k}, {}};
    case CollectiveKind::reduce:
      return rank == root_ ? Expected{Kind::all_ranks, {0, k}, {}} : Expected{};
    case CollectiveKind::reduce_scatter:
      return {Kind::all_ranks, {0, rank * c + k}, {}};
    case CollectiveKind::allgather:
    case CollectiveKind::gather:
      return {Kind::one, {k / c, k % c}, {}};
    case CollectiveKind::alltoall:
      return {Kind::one, {k / c, rank * c + k % c}, {}};
    case CollectiveKind::broadcast:
      return {Kind::one, {root_, k}, {}};
    case CollectiveKind::scatter:
      return {Kind::one, {root_, rank * c + k}, {}};
    case CollectiveKind::all_to_next_forward:
      return rank == 0 ? Expected{} : Expected{Kind::one, {rank - 1, k}, {}};
    case CollectiveKind::all_to_next_backward:
      return rank == num_ranks_ - 1 ? Expected{} : Expected{Kind::one, {rank + 1, k}, {}};
    case CollectiveKind::custom:
      break;
  }
  return {};
}

Destination Collective::destination(Origin o) const {
  const std::int32_t c = chunk_factor_;
  if (kind_ == CollectiveKind::custom) {
    if (!refined_) return {};
    const auto& wanted = refined_->wanted_;
    const auto found =
        std::lower_bound(wanted.begin(), wanted.end(), o,
                         [](const auto& w, const Origin& origin) { return w.origin < origin; });
    return found != wanted.end() && found->origin == o ? found->where : Destination{};
  }
  if (o.index < 0 || o.index >= input_chunks(o.rank)) return {};
  switch (kind_) {
    case CollectiveKind::allreduce:
      return {-1, o.index};
    case CollectiveKind::allgather:
      return {-1, o.rank * c + o.index};
    case CollectiveKind::reduce_scatter:
      return {o.index / c, o.index % c};
    case CollectiveKind::alltoall:
      return {o.index / c, o.rank * c + o.index % c};
    case CollectiveKind::broadcast:
      return o.rank == root_ ? Destination{-1, o.index} : Destination{};
    case CollectiveKind::reduce:
      return {root_, o.index};
    case CollectiveKind::gather:
      return {root_, o.rank * c + o.index};
    case CollectiveKind::scatter:
      return {o.index / c, o.index % c};
    case CollectiveKind::all_to_next_forward:
      return o.rank + 1 < num_ranks_ ? Destination{o.rank + 1, o.index} : Destination{};
    case CollectiveKind::all_to_next_backward:
      return o.rank > 0 ? Destination{o.rank - 1, o.index} : Destination{};
    case CollectiveKind::custom:
      break;
  }
  return {};
}

Collective Collective::refined(int parts) const {
  HOCKET_CHECK(parts >= 1, "a collective is cut into at least one part");
  HOCKET_CHECK(std::int64_t{chunks_per_loop()} * parts <= std::numeric_limits<std::int32_t>::max(),
               "the parts of a collective can be numbered");
  Collective c = *this;
  c.chunk_factor_ *= parts;
  if (kind_ == CollectiveKind::custom && parts > 1) {
    c.split_ *= parts;
    if (refined_) c.refined_ = std::make_shared<const CustomCollective>(refined_->cut(parts));
  }
  return c;
}

bool operator==(const Collective& a, const Collective& b) {
  if (a.kind_ != b.kind_ || a.name_ != b.name_ || a.num_ranks_ != b.num_ranks_ ||
      a.chunk_factor_ != b.chunk_factor_ || a.in_place_ != b.in_place_ || a.root_ != b.root_ ||
      a.has_postcondition_ != b.has_postcondition_) {
    return false;
  }
  if (a.refined_ == b.refined_) return true;
  return a.refined_ && b.refined_ && a.refined_->ranks_ == b.refined_->ranks_;
}

}  // namespace hocket
