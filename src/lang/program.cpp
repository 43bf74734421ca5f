// Program: the face of ProgramState.
#include "hocket/program.h"

#include <fmt/format.h>

#include "lang/program_state.h"

namespace hocket {

Program::Program(std::string name, Topology topology, Collective collective, ProgramOptions options,
                 CallSite at)
    : state_(std::make_unique<ProgramState>(std::move(name), std::move(topology),
                                            std::move(collective), options, at)) {}
Program::Program(Program&&) noexcept = default;
Program& Program::operator=(Program&&) noexcept = default;
Program::~Program() = default;

Ref Program::chunk(int rank, const Buffer& buffer, int index, int size, CallSite at) {
  return Ref(state_.get(), state_->place(rank, buffer, index, size, at), at);
}

std::optional<Ref> Program::find_chunk(int rank, const Buffer& buffer, int index, int size,
                                       CallSite at) {
  const auto place = state_->find_place(rank, buffer, index, size, at);
  if (!place) return std::nullopt;
  return Ref(state_.get(), *place, at);
}

Fragment Program::parallelize(int n, CallSite at) {
  state_->begin_fragment(n, at);
  return Fragment(state_.get());
}

Fragment::~Fragment() {
  if (state_ != nullptr) state_->end_fragment();
}

CheckReport Program::check(int max_listed) const { return state_->check(max_listed); }

const std::string& Program::name() const { return trace().name; }
const Topology& Program::topology() const { return state_->topology(); }
const Collective& Program::collective() const { return state_->collective(); }
int Program::num_ranks() const { return trace().num_ranks(); }
const std::vector<Diagnostic>& Program::warnings() const { return state_->warnings(); }
const Trace& Program::trace() const { return state_->trace(); }

int Program::buffer_size(int rank, const Buffer& buffer) const {
  const auto number = state_->find_buffer_number(buffer);
  return number ? state_->length(rank, *number) : 0;
}

std::optional<std::vector<Origin>> Program::content(int rank, const Buffer& buffer,
                                                    int index) const {
  if (index < 0 || index >= buffer_size(rank, buffer)) return std::nullopt;
  Place place{rank, *state_->find_buffer_number(buffer), index, 1};
  if (buffer.kind() != BufferKind::scratch) {
    const Slot slot = collective().alias(rank, {buffer.kind(), index});
    place.buffer = slot.buffer == BufferKind::input ? kInputBuffer : kOutputBuffer;
    place.index = slot.index;
  }
  const ValueId value = state_->slot(place).value;
  if (value == kNothing) return std::nullopt;
  // Adding a place to itself through a copy doubles its count each time, so this can be astronomic.
  constexpr std::uint64_t kMostListed = std::uint64_t{1} << 27;
  if (state_->values().count(value) > kMostListed) {
    throw Error(Code::TooLarge,
                fmt::format("{} holds {} contributions, more than can be listed",
                            state_->describe(place), state_->values().count(value)));
  }
  std::vector<Origin> origins;
  for (const Contribution& c : state_->values().contributions(value)) {
    origins.insert(origins.end(), static_cast<std::size_t>(c.times), c.origin);
  }
  return origins;
}

}  // namespace hocket
