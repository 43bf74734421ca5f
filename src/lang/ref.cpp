// Ref: places that operations are called on.
#include <fmt/format.h>

#include <algorithm>

#include "lang/program_state.h"

namespace hocket {
namespace {

void check_same_program(bool same, std::string_view doing, CallSite at) {
  if (!same) {
    throw Error(Code::ForeignRef, fmt::format("{} with a reference of another program", doing), at,
                "both must come from the same Program object");
  }
}

}  // namespace

const Buffer& Ref::buffer() const { return state_->buffer(buffer_); }

std::string Ref::str() const { return state_->describe(operand().place); }

Operand Ref::operand() const { return {{rank_, buffer_, index_, size_}, born_, site_}; }

Ref Ref::copy_to(const Place& dst, const Via& via, CallSite at) const {
  state_->copy(operand(), dst, via, at);
  return Ref(state_, dst, at);
}

Ref::Ref(ProgramState* state, const Place& place, CallSite at)
    : state_(state),
      rank_(place.rank),
      buffer_(place.buffer),
      index_(place.index),
      size_(place.size),
      born_(state->version()),
      site_(state->site_number(at)) {}

Ref Ref::copy(int dst, Via via, CallSite at) const {
  return copy_to(state_->destination(operand().place, dst, at), via, at);
}

Ref Ref::copy(int dst, const Buffer& buffer, int index, Via via, CallSite at) const {
  return copy_to(state_->destination(operand().place, dst, buffer, index, at), via, at);
}

Ref Ref::copy(int dst, const Buffer& buffer, Via via, CallSite at) const {
  return copy_to(state_->destination(operand().place, dst, buffer, at), via, at);
}

Ref Ref::reduce(const Ref& other, Via via, CallSite at) {
  check_same_program(state_ == other.state_, "reduce", at);
  state_->reduce(operand(), other.operand(), via, at);
  born_ = state_->version();
  site_ = state_->site_number(at);
  return *this;
}

std::vector<Ref> Ref::split(int parts, CallSite at) const {
  if (parts < 1 || size_ % parts != 0) {
    throw Error(Code::SplitUneven,
                fmt::format("split of {} ({} chunk{}) into {} parts, but {}", str(), size_,
                            size_ == 1 ? "" : "s", parts,
                            parts < 1 ? "there must be at least 1"
                                      : "every part must have equally many chunks"),
                at,
                parts < 1 ? std::string("1 part is the place itself")
                          : fmt::format("choose a number that divides {}, or a collective with a "
                                        "larger chunk factor",
                                        size_));
  }
  std::vector<Ref> result;
  result.reserve(static_cast<std::size_t>(parts));
  for (int i = 0; i < parts; ++i) {
    Ref part = *this;
    part.size_ = size_ / parts;
    part.index_ = index_ + i * part.size_;
    result.push_back(part);
  }
  return result;
}

Ref Ref::group(const Ref& other, CallSite at) const {
  check_same_program(state_ == other.state_, "group", at);
  if (rank_ != other.rank_ || buffer_ != other.buffer_) {
    throw Error(Code::GroupMismatch,
                fmt::format("group of {} and {}, but both must be of one buffer of one rank", str(),
                            other.str()),
                at, "copy one of them beside the other first");
  }
  const Ref& low = index_ <= other.index_ ? *this : other;
  const int end = std::max(index_ + size_, other.index_ + other.size_);
  const int gap = std::max(index_, other.index_);
  if (gap > low.index_ + low.size_) {
    throw Error(Code::GroupGap,
                fmt::format("group of {} and {}, but between them lies {}", str(), other.str(),
                            state_->describe({rank_, buffer_, low.index_ + low.size_,
                                              gap - (low.index_ + low.size_)})),
                at, "group places that touch or overlap");
  }
  state_->check_fresh(operand(), at);
  state_->check_fresh(other.operand(), at);
  return Ref(state_, Place{rank_, buffer_, low.index_, end - low.index_}, at);
}

Origin Ref::origin(int i, CallSite at) const {
  if (i < 0 || i >= size_) {
    throw Error(Code::IndexOutOfRange,
                fmt::format("chunk {} of {}, but it has {} chunk{} (0 to {})", i, str(), size_,
                            size_ == 1 ? "" : "s", size_ - 1),
                at, "it counts from the first chunk of this place");
  }
  const Place place{rank_, buffer_, index_ + i, 1};
  const ValueId value = state_->slot(place).value;
  const ChunkValues& values = state_->values();
  if (value == kNothing || !values.is_origin(value)) {
    throw Error(Code::UninitialisedChunk,
                value == kNothing ? fmt::format("the origin of {}, but nobody has written it",
                                                state_->describe(place))
                                  : fmt::format("the origin of {}, but it holds a sum of {} chunks",
                                                state_->describe(place), values.count(value)),
                at, "only a chunk that was copied and never reduced has one origin");
  }
  return values.origin_of(value);
}

int Ref::dst_rank(int i, CallSite at) const {
  return state_->collective().destination(origin(i, at)).rank;
}

int Ref::dst_index(int i, CallSite at) const {
  return state_->collective().destination(origin(i, at)).index;
}

}  // namespace hocket
