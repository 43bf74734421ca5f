// From the names that users give to canonical places: ranges, in-place aliasing, scratch buffers.
#include <fmt/format.h>

#include "lang/program_state.h"

namespace hocket {
namespace {

bool is_user(const Buffer& buffer) { return buffer.kind() != BufferKind::scratch; }

}  // namespace

std::string ProgramState::describe(int rank, const Buffer& buffer, std::int64_t index,
                                   std::int64_t size) const {
  const std::string name =
      is_user(buffer) ? buffer.name() : fmt::format("scratch \"{}\"", buffer.name());
  if (size <= 1) return fmt::format("rank {} {}[{}]", rank, name, index);
  return fmt::format("rank {} {}[{}..{}]", rank, name, index, index + size - 1);
}

namespace {

constexpr const char* kNotFromTheEnd = "a negative index does not count from the end";
constexpr const char* kNoChunks = "leave the call out where there is nothing to move";

// "input" in quotes is a scratch buffer like any other, and seldom what was meant.
std::string unwritten_hint(const Buffer& scratch) {
  for (const Buffer& user : {Buffer::input, Buffer::output}) {
    if (scratch.name() != user.name()) continue;
    return fmt::format(
        "\"{0}\" in quotes is a scratch buffer; the collective's is Buffer::{0}, in "
        "Python Buffer.{0}",
        user.name());
  }
  return "a scratch buffer comes into being, rank by rank, with the first copy into it";
}

}  // namespace

std::string ProgramState::describe(const Place& place) const {
  return describe(place.rank, buffers_[place.buffer], place.index, place.size);
}

void ProgramState::check_rank(int rank, std::string_view doing, CallSite at) const {
  const int n = trace_.num_ranks();
  if (rank >= 0 && rank < n) return;
  throw Error(Code::RankOutOfRange,
              fmt::format("{} rank {}, but the program has {} rank{} (0 to {})", doing, rank, n,
                          n == 1 ? "" : "s", n - 1),
              at, fmt::format("ranks are numbered from 0; round a ring, take (r + 1) % {}", n));
}

void ProgramState::check_user_index(std::string_view doing, int rank, const Buffer& buffer,
                                    int index, int size, CallSite at) const {
  const int chunks = trace_.collective.chunks(rank, buffer.kind());
  if (index >= 0 && std::int64_t{index} + size <= chunks) return;
  const std::string what = describe(rank, buffer, index, size);
  if (chunks == 0) {
    throw Error(Code::IndexOutOfRange,
                fmt::format("{} {}, but rank {} has no {} in collective {}", doing, what, rank,
                            buffer.name(), trace_.collective.name()),
                at,
                has_root(trace_.collective.kind())
                    ? fmt::format("only the root, rank {}, has one", trace_.collective.root())
                    : "a custom collective has the buffers that it was declared with");
  }
  throw Error(Code::IndexOutOfRange,
              fmt::format("{} {}, but that buffer has {} chunk{} (0 to {})", doing, what, chunks,
                          chunks == 1 ? "" : "s", chunks - 1),
              at,
              index < 0 ? std::string(kNotFromTheEnd)
                        : fmt::format("{} over {} ranks with chunk factor {} has no more; only "
                                      "scratch buffers grow",
                                      trace_.collective.name(), trace_.num_ranks(),
                                      trace_.collective.chunk_factor()));
}

void ProgramState::check_place(const Place& place, CallSite at) const {
  check_rank(place.rank, "a place on", at);
  HOCKET_CHECK(place.buffer < buffers_.size(), "a place names a buffer that has a number");
  if (place.size < 1) {
    throw Error(Code::BadSize,
                fmt::format("a place of {} chunks, but there must be at least 1", place.size), at,
                kNoChunks);
  }
  if (place.buffer >= kFirstScratch) {
    if (place.index >= 0 && std::int64_t{place.index} + place.size <= kMaxScratchChunks) return;
  } else if (place.index >= 0 &&
             std::int64_t{place.index} + place.size <= slots_.size(place.rank, place.buffer)) {
    return;
  }
  throw Error(Code::IndexOutOfRange, fmt::format("{} is not inside its buffer", describe(place)),
              at,
              place.index < 0 ? std::string(kNotFromTheEnd)
                              : fmt::format("it has {} chunks", length(place.rank, place.buffer)));
}

Place ProgramState::canonical(int naming_rank, int rank, const Buffer& buffer, int index,
                              int size) const {
  const Slot slot = trace_.collective.alias(naming_rank, {buffer.kind(), index});
  return {rank, slot.buffer == BufferKind::input ? kInputBuffer : kOutputBuffer, slot.index, size};
}

std::optional<std::uint32_t> ProgramState::find_buffer_number(const Buffer& buffer) const {
  if (buffer.kind() == BufferKind::input) return kInputBuffer;
  if (buffer.kind() == BufferKind::output) return kOutputBuffer;
  const auto found = scratch_numbers_.find(buffer.name());
  if (found == scratch_numbers_.end()) return std::nullopt;
  return found->second;
}

std::uint32_t ProgramState::buffer_number(const Buffer& buffer, CallSite at) {
  if (const auto known = find_buffer_number(buffer)) return *known;
  if (buffer.name().empty()) {
    throw Error(Code::BadBufferName, "a scratch buffer without a name", at,
                "name it, for example \"s\"");
  }
  const auto number = static_cast<std::uint32_t>(buffers_.size());
  scratch_numbers_.emplace(buffer.name(), number);
  trace_.scratch_names.push_back(buffer.name());
  buffers_.push_back(buffer);
  return number;
}

int ProgramState::length(int rank, std::uint32_t buffer) const {
  if (rank < 0 || rank >= trace_.num_ranks() || buffer >= buffers_.size()) return 0;
  if (buffer < kFirstScratch) return trace_.collective.chunks(rank, buffers_[buffer].kind());
  return slots_.size(rank, buffer);
}

std::optional<Place> ProgramState::find_place(int rank, const Buffer& buffer, int index, int size,
                                              CallSite at) const {
  check_rank(rank, "a chunk of", at);
  if (size < 1) {
    throw Error(Code::BadSize,
                fmt::format("{} chunks of rank {} {}, but there must be at least 1", size, rank,
                            buffer.name()),
                at, kNoChunks);
  }
  Place p;
  if (is_user(buffer)) {
    check_user_index("a chunk at", rank, buffer, index, size, at);
    p = canonical(rank, rank, buffer, index, size);
  } else {
    if (buffer.name().empty()) {
      throw Error(Code::BadBufferName, "a scratch buffer without a name", at,
                  "name it, for example \"s\"");
    }
    const auto what = [&] { return describe(rank, buffer, index, size); };
    if (index < 0) {
      throw Error(Code::IndexOutOfRange,
                  fmt::format("a chunk at {}, but chunks are numbered from 0", what()), at,
                  kNotFromTheEnd);
    }
    const auto number = find_buffer_number(buffer);
    const int written = number ? slots_.size(rank, *number) : 0;
    if (written == 0) {
      throw Error(Code::UninitialisedChunk,
                  fmt::format("a chunk at {}, but nobody has written scratch \"{}\" of rank {}",
                              what(), buffer.name(), rank),
                  at, unwritten_hint(buffer));
    }
    if (std::int64_t{index} + size > written) {
      throw Error(Code::UninitialisedChunk,
                  fmt::format("a chunk at {}, but only {} chunk{} of it {} been written", what(),
                              written, written == 1 ? "" : "s", written == 1 ? "has" : "have"),
                  at, "a scratch buffer grows as it is written");
    }
    p = {rank, *number, index, size};
  }
  for (std::int32_t i = 0; i < size; ++i) {
    if (slots_.at(p.rank, p.buffer, p.index + i).value != kNothing) continue;
    if (i == 0) return std::nullopt;
    throw Error(
        Code::UninitialisedChunk,
        fmt::format("a chunk at {}, but nobody has written {}", describe(rank, buffer, index, size),
                    describe(rank, buffer, index + i, 1)),
        at, "copy something there first, or take fewer chunks");
  }
  return p;
}

Place ProgramState::place(int rank, const Buffer& buffer, int index, int size, CallSite at) const {
  if (const auto found = find_place(rank, buffer, index, size, at)) return *found;
  const bool idle_input = buffer.kind() == BufferKind::input;
  throw Error(
      Code::UninitialisedChunk,
      fmt::format("a chunk at {}, but nobody has written it", describe(rank, buffer, index, size)),
      at,
      idle_input ? fmt::format("collective {} starts with nothing there", trace_.collective.name())
                 : "copy something there first");
}

Place ProgramState::destination(const Place& src, int dst, CallSite at) const {
  check_rank(dst, "copy to", at);
  if (src.buffer >= kFirstScratch) return {dst, src.buffer, src.index, src.size};
  const Buffer& buffer = buffers_[src.buffer];
  check_user_index("copy to", dst, buffer, src.index, src.size, at);
  // The same index may have another canonical name there: the root's input in an in-place gather.
  return canonical(dst, dst, buffer, src.index, src.size);
}

Place ProgramState::destination(const Place& src, int dst, const Buffer& buffer, int index,
                                CallSite at) {
  check_rank(dst, "copy to", at);
  if (is_user(buffer)) {
    check_user_index("copy to", dst, buffer, index, src.size, at);
    // In an in-place allgather, "your input" means the sender's part of the receiver's output: the
    // published all-pairs programs are written that way. Everywhere else a name is the receiver's.
    const bool by_source = trace_.collective.kind() == CollectiveKind::allgather;
    return canonical(by_source ? src.rank : dst, dst, buffer, index, src.size);
  }
  if (index < 0) {
    throw Error(Code::IndexOutOfRange,
                fmt::format("copy to {}, but chunks are numbered from 0",
                            describe(dst, buffer, index, src.size)),
                at, "leave the index out to append");
  }
  if (std::int64_t{index} + src.size > kMaxScratchChunks) {
    throw Error(Code::IndexOutOfRange,
                fmt::format("copy to {}, but a scratch buffer has at most {} chunks",
                            describe(dst, buffer, index, src.size), kMaxScratchChunks),
                at, "number its chunks from 0: it keeps a slot for every index below the highest");
  }
  return {dst, buffer_number(buffer, at), index, src.size};
}

Place ProgramState::destination(const Place& src, int dst, const Buffer& buffer, CallSite at) {
  check_rank(dst, "copy to", at);
  if (is_user(buffer)) {
    throw Error(Code::MissingIndex,
                fmt::format("copy to {} of rank {} without an index", buffer.name(), dst), at,
                "only a scratch buffer can be appended to; say which chunk is meant");
  }
  const std::uint32_t number = buffer_number(buffer, at);
  return destination(src, dst, buffer, slots_.size(dst, number), at);
}

}  // namespace hocket
