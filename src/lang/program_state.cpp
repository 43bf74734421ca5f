// The trace and the rules of its operations.
#include "lang/program_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "hocket/target.h"

namespace hocket {
namespace {

// One more than the largest index of an origin that the collective starts with.
int origin_indices(const Collective& collective) {
  int indices = 0;
  for (int r = 0; r < collective.num_ranks(); ++r) {
    if (!collective.custom()) {
      indices = std::max(indices, collective.input_chunks(r));
      continue;
    }
    for (const BufferKind kind : {BufferKind::input, BufferKind::output}) {
      for (int i = 0; i < collective.chunks(r, kind); ++i) {
        const auto origin = collective.initial(r, {kind, i});
        if (origin) indices = std::max(indices, origin->index + 1);
      }
    }
  }
  return indices;
}

// Checks what a program is made of before anything is built from it; returns origin_indices().
int checked_indices(const std::string& name, const Topology& topology, const Collective& collective,
                    const ProgramOptions& options, CallSite at) {
  const int ranks = collective.num_ranks();
  if (topology.num_ranks() != ranks) {
    throw Error(Code::TopologyMismatch,
                fmt::format("program {}: topology {} has {} ranks, but collective {} has {}", name,
                            topology.name(), topology.num_ranks(), collective.name(), ranks),
                at);
  }
  if (options.instances < 1) {
    throw Error(Code::BadInstances,
                fmt::format("program {}: {} instances, but there must be at least 1", name,
                            options.instances),
                at);
  }
  // Nothing could be made of them, and the first thing to be made is their buffers.
  if (ranks > kMaxFormatRanks) {
    throw Error(Code::TooLarge,
                fmt::format("program {}: {} ranks are more than the {} that a file can name", name,
                            ranks, kMaxFormatRanks),
                at);
  }
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  const int indices = origin_indices(collective);
  if (std::int64_t{collective.chunks_per_loop()} * options.instances > kMost ||
      std::int64_t{ranks} * indices > kMost) {
    throw Error(Code::TooLarge,
                fmt::format("program {}: {} ranks with {} chunks each in {} instances are more "
                            "chunks than can be numbered",
                            name, ranks, collective.chunks_per_loop(), options.instances),
                at);
  }
  return indices;
}

bool overlap(const Place& a, const Place& b) {
  return a.rank == b.rank && a.buffer == b.buffer &&
         std::int64_t{a.index} < std::int64_t{b.index} + b.size &&
         std::int64_t{b.index} < std::int64_t{a.index} + a.size;
}

}  // namespace

ProgramState::ProgramState(std::string name, Topology topology, Collective collective,
                           const ProgramOptions& options, CallSite at)
    : topology_(std::move(topology)),
      values_(collective.num_ranks(), checked_indices(name, topology_, collective, options, at)),
      slots_(collective, values_),
      buffers_{Buffer::input, Buffer::output} {
  trace_.name = std::move(name);
  trace_.collective = std::move(collective);
  trace_.protocol = options.protocol;
  trace_.instances = options.instances;
  trace_.replication = options.replication;
  trace_.placement = options.placement;
  trace_.fuse = options.fuse;
  trace_.hoist_dependences = options.dependence_nop;
  trace_.lenient_placement = options.lenient_placement;
  trace_.where = at;
}

bool ProgramState::copy(const Operand& src, const Place& dst, const Via& via, CallSite at) {
  const Place& from = src.place;
  const bool local = from.rank == dst.rank;
  check_place(from, at);
  check_place(dst, at);
  HOCKET_CHECK(from.size == dst.size, "a copy moves as many chunks as it writes");
  check_via(via, local, at);
  if (!local) check_link(from.rank, dst.rank, "copy", at);
  if (local && overlap(from, dst)) {
    if (from == dst) {
      if (self_copies_.insert(site_number(at)).second) {
        warnings_.push_back(
            {Severity::warning,
             Code::SelfCopy,
             fmt::format("{} is copied onto itself, which does nothing", describe(from)),
             at,
             "leave the copy out, or say where it should go",
             {}});
      }
      return false;
    }
    throw Error(Code::OverlappingCopy,
                fmt::format("local copy of {} to {}, which overlap", describe(from), describe(dst)),
                at, "copy through a scratch buffer, or in pieces that do not overlap");
  }
  const SlotRecord* in = slots_.view(from.rank, from.buffer).slots + from.index;
  if (check_written(from, in, Code::UninitialisedChunk, "copy of", at) > src.born) {
    warn_stale(src, at);
  }
  SlotRecord* out = slots_.grow(dst.rank, dst.buffer, dst.index + dst.size).slots + dst.index;
  in = slots_.view(from.rank, from.buffer).slots + from.index;  // growing may have moved it
  record(TraceOp::Kind::copy, from, dst, via, at);
  const std::uint32_t writer = version();
  for (std::int32_t i = 0; i < from.size; ++i) out[i] = {in[i].value, writer};
  return true;
}

void ProgramState::reduce(const Operand& dst, const Operand& src, const Via& via, CallSite at) {
  const Place& into = dst.place;
  const Place& from = src.place;
  const bool local = from.rank == into.rank;
  check_place(into, at);
  check_place(from, at);
  check_via(via, local, at);
  if (from.size != into.size) {
    throw Error(Code::ReduceSizeMismatch,
                fmt::format("reduce of {} ({} chunk{}) into {} ({} chunk{}), but both must have "
                            "equally many",
                            describe(from), from.size, from.size == 1 ? "" : "s", describe(into),
                            into.size, into.size == 1 ? "" : "s"),
                at, "split() the larger one");
  }
  if (overlap(into, from)) {
    throw Error(Code::SelfReduce,
                into == from ? fmt::format("{} is reduced with itself", describe(into))
                             : fmt::format("reduce of {} into {}, which overlap", describe(from),
                                           describe(into)),
                at, "a reduce adds another place to this one; copy the chunk elsewhere first");
  }
  if (!local) check_link(from.rank, into.rank, "reduce", at);
  const SlotRecord* in = slots_.view(from.rank, from.buffer).slots + from.index;
  SlotRecord* out = slots_.view(into.rank, into.buffer).slots + into.index;
  const auto newest_in = check_written(from, in, Code::ReduceUninitialised, "reduce from", at);
  const auto newest_out = check_written(into, out, Code::ReduceUninitialised, "reduce into", at);
  if (newest_in > src.born) warn_stale(src, at);
  if (newest_out > dst.born) warn_stale(dst, at);
  record(TraceOp::Kind::reduce, from, into, via, at);
  const std::uint32_t writer = version();
  for (std::int32_t i = 0; i < into.size; ++i) {
    out[i] = {values_.sum(out[i].value, in[i].value), writer};
  }
}

void ProgramState::record(TraceOp::Kind kind, const Place& src, const Place& dst, const Via& via,
                          CallSite at) {
  // One number is kept for "before all of them".
  if (trace_.ops.size() >= Operand::kNeverStale - 1) {
    throw Error(Code::TooLarge, "more operations than can be numbered", at);
  }
  TraceOp op;
  op.kind = kind;
  op.src_rank = src.rank;
  op.src_buffer = src.buffer;
  op.src_index = src.index;
  op.dst_rank = dst.rank;
  op.dst_buffer = dst.buffer;
  op.dst_index = dst.index;
  op.count = src.size;
  op.send_tb = via.send_tb;
  op.recv_tb = src.rank == dst.rank ? -1 : via.recv_tb;
  op.channel = via.channel;
  op.fragment = fragment_;
  op.site = site_number(at);
  trace_.ops.push_back(op);
}

void ProgramState::check_via(const Via& via, bool local, CallSite at) const {
  if (via.channel < -1 || via.channel > kMaxChannel) {
    throw Error(Code::BadChannel,
                fmt::format("channel {}, but channels are 0 to {}, or -1 for the compiler's choice",
                            via.channel, kMaxChannel),
                at);
  }
  for (const int tb : {via.send_tb, via.recv_tb}) {
    if (tb < -1 || tb > kMaxThreadblock) {
      throw Error(Code::BadThreadblock,
                  fmt::format("threadblock {}, but threadblocks are 0 to {}, or -1 for not said",
                              tb, kMaxThreadblock),
                  at);
    }
  }
  if (trace_.lenient_placement) return;
  const bool send_said = via.send_tb >= 0;
  const bool recv_said = via.recv_tb >= 0;
  if (trace_.placement == Placement::manual) {
    if (send_said && (local || recv_said)) return;
    throw Error(Code::MixedPlacement,
                fmt::format("no {}, but program {} has manual placement",
                            send_said ? "recv_tb" : "send_tb", trace_.name),
                at,
                local ? "say send_tb: the threadblock of the rank that copies"
                      : "say send_tb and recv_tb of every copy and reduce between ranks");
  }
  if (!send_said && (local || !recv_said)) return;
  throw Error(Code::MixedPlacement,
              fmt::format("{} {}, but program {} has automatic placement",
                          send_said ? "send_tb" : "recv_tb", send_said ? via.send_tb : via.recv_tb,
                          trace_.name),
              at, "leave it out, or make the program with Placement::manual");
}

void ProgramState::check_link(int src, int dst, std::string_view doing, CallSite at) const {
  if (topology_.has_link(src, dst)) return;
  const std::vector<int> reached = topology_.destinations(src);
  std::string hint;
  if (reached.empty()) {
    hint = fmt::format("rank {} has no link to any rank", src);
  } else {
    constexpr std::size_t kShown = 8;
    hint = fmt::format(
        "rank {} has links to {}{}", src,
        fmt::join(reached.begin(),
                  reached.begin() + static_cast<std::ptrdiff_t>(std::min(kShown, reached.size())),
                  ", "),
        reached.size() > kShown ? fmt::format(" and {} more", reached.size() - kShown)
                                : std::string());
  }
  throw Error(Code::NoLink,
              fmt::format("{} from rank {} to rank {}, but topology {} has no link from {} to {}",
                          doing, src, dst, topology_.name(), src, dst),
              at, std::move(hint));
}

// Returns the latest writer of the place's slots.
std::uint32_t ProgramState::check_written(const Place& place, const SlotRecord* slots, Code code,
                                          std::string_view doing, CallSite at) const {
  std::uint32_t newest = 0;
  for (std::int32_t i = 0; i < place.size; ++i) {
    if (slots[i].value == kNothing) {
      throw Error(
          code,
          fmt::format(
              "{} {}, but nobody has written {}", doing, describe(place),
              place.size == 1 ? "it" : describe({place.rank, place.buffer, place.index + i, 1})),
          at, "copy something there first");
    }
    newest = std::max(newest, slots[i].writer);
  }
  return newest;
}

void ProgramState::check_fresh(const Operand& operand, CallSite at) {
  const Place& p = operand.place;
  const SlotRecord* slots = slots_.view(p.rank, p.buffer).slots + p.index;
  for (std::int32_t i = 0; i < p.size; ++i) {
    if (slots[i].writer > operand.born) {
      warn_stale(operand, at);
      return;
    }
  }
}

void ProgramState::warn_stale(const Operand& operand, CallSite at) {
  const std::uint64_t pair = std::uint64_t{operand.site} << 32 | site_number(at);
  if (!stale_pairs_.insert(pair).second) return;
  const Place& p = operand.place;
  const SlotRecord* slots = slots_.view(p.rank, p.buffer).slots + p.index;
  std::int32_t latest = 0;
  for (std::int32_t i = 1; i < p.size; ++i) {
    if (slots[i].writer > slots[latest].writer) latest = i;
  }
  warnings_.push_back(
      {Severity::warning,
       Code::StaleRef,
       fmt::format(
           "{} was overwritten after this reference to it was made; what is used is the new "
           "content",
           describe({p.rank, p.buffer, p.index + latest, 1})),
       at,
       "take a new reference with chunk() where the new content is meant",
       {{"the reference was made here", site(operand.site)},
        {"the place was overwritten here", last_write(slots[latest])}}});
}

Location ProgramState::last_write(const SlotRecord& slot) const {
  return slot.writer == 0 ? Location() : site(trace_.ops[slot.writer - 1].site);
}

void ProgramState::begin_fragment(int instances, CallSite at) {
  if (instances < 1) {
    throw Error(Code::BadInstances,
                fmt::format("parallelize({}), but there must be at least 1 instance", instances),
                at);
  }
  if (in_fragment_) {
    throw Error(
        Code::NestedFragment, "a parallel fragment inside another", at,
        "end the outer one first: it lasts as long as the object that parallelize() returned",
        {{"the outer one begins here", fragment_site_}});
  }
  if (std::int64_t{trace_.collective.chunks_per_loop()} * trace_.instances * instances >
      std::numeric_limits<std::int32_t>::max()) {
    throw Error(Code::TooLarge,
                fmt::format("parallelize({}) makes more chunks than can be numbered", instances),
                at);
  }
  // Fragments of equally many instances are one entry; that of 1 is the same as none.
  const auto same = std::find(trace_.fragments.begin(), trace_.fragments.end(), instances);
  const auto number = static_cast<std::size_t>(same - trace_.fragments.begin());
  if (number > std::numeric_limits<std::uint16_t>::max()) {
    throw Error(Code::TooLarge, "more than 65,535 different numbers of parallel instances", at);
  }
  if (same == trace_.fragments.end()) trace_.fragments.push_back(instances);
  fragment_ = static_cast<std::uint16_t>(number);
  in_fragment_ = true;
  fragment_site_ = at;
}

}  // namespace hocket
