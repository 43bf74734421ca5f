#include "support/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

namespace hocket::oracle {
namespace {

using fmt::format;

// One transfer: the contents of its chunks.
using Transfer = std::vector<MaybeContent>;

struct TbState {
  std::size_t next = 0;  // instruction
  int done = 0;          // chunks of it already moved
  int published = -1;    // the last step that completed and has a dependent
};

class Machine {
 public:
  Machine(const View& view, const MachineOptions& options)
      : view_(view), options_(options), tbs_(view.threadblocks()) {
    result_.memory = initial_memory(view);
    for (const TbRef at : tbs_) states_[at] = {};
  }

  MachineResult run() {
    for (bool moved = true; moved;) {
      moved = false;
      for (const TbRef at : tbs_) {
        while (what_blocks(at).empty() && states_[at].next < view_.of(at).size()) {
          execute_piece(at);
          moved = true;
        }
      }
    }
    result_.finished = true;
    for (const TbRef at : tbs_) {
      if (states_[at].next == view_.of(at).size()) continue;
      result_.finished = false;
      result_.deadlock.push_back({FindingKind::deadlock, at.rank, at.tb,
                                  view_.of(at)[states_[at].next].step,
                                  "never completes: " + what_blocks(at)});
    }
    return std::move(result_);
  }

 private:
  // What the next piece waits for; empty when it can run.
  std::string what_blocks(TbRef at) {
    const TbState& state = states_[at];
    if (state.next == view_.of(at).size()) return {};
    const Instruction& instruction = view_.of(at)[state.next];
    if (state.done == 0) {
      for (const Wait& wait : instruction.waits) {
        if (states_[{at.rank, wait.tb}].published < wait.step) {
          return format("waits for step {} of threadblock {}", wait.step, wait.tb);
        }
      }
    }
    if (receives(instruction.what) && queues_[into(view_, at)].empty()) {
      return format("waits for data from rank {} on channel {}", view_.tb(at).recv,
                    view_.tb(at).channel);
    }
    if (sends(instruction.what) && options_.slots &&
        static_cast<int>(queues_[out_of(view_, at)].size()) >= *options_.slots) {
      return format("waits for a free slot to rank {} on channel {}", view_.tb(at).send,
                    view_.tb(at).channel);
    }
    return {};
  }

  MaybeContent read(TbRef at, const Instruction& i, BufferKind buffer, int index) {
    const Memory& memory = result_.memory[static_cast<std::size_t>(at.rank)];
    const auto found = memory.find(view_.canonical(at.rank, buffer, index));
    if (found != memory.end()) return found->second;
    result_.uninitialised.push_back(
        {FindingKind::uninitialised, at.rank, at.tb, i.step,
         format("reads {}[{}], where nothing was written", buffer_kind_name(buffer), index)});
    return std::nullopt;
  }

  void write(TbRef at, BufferKind buffer, int index, const MaybeContent& value) {
    Memory& memory = result_.memory[static_cast<std::size_t>(at.rank)];
    const Slot slot = view_.canonical(at.rank, buffer, index);
    if (value) {
      memory[slot] = *value;
    } else {
      memory.erase(slot);
    }
  }

  static MaybeContent add(const MaybeContent& a, const MaybeContent& b) {
    if (!a || !b) return std::nullopt;
    return sum(*a, *b);
  }

  void execute_piece(TbRef at) {
    TbState& state = states_[at];
    const Instruction& instruction = view_.of(at)[state.next];
    const Step& step = instruction.what;
    const OpInfo& info = op_info(step.op);
    const int size = std::min(options_.cut, step.count - state.done);

    Transfer in;
    if (info.receives) {
      auto& queue = queues_[into(view_, at)];
      in = queue.front();
      queue.pop_front();
      in.resize(static_cast<std::size_t>(size));
    }
    Transfer out;
    for (int c = 0; c < size; ++c) {
      const int lane = state.done + c;
      MaybeContent value = info.receives ? in[static_cast<std::size_t>(c)] : std::nullopt;
      if (info.reads_src) {
        const auto src = read(at, instruction, step.src_buffer, step.src_offset + lane);
        value = info.receives ? add(value, src) : src;
      }
      if (info.accumulates) {
        value = add(read(at, instruction, step.dst_buffer, step.dst_offset + lane), value);
      }
      if (info.writes_dst) write(at, step.dst_buffer, step.dst_offset + lane, value);
      out.push_back(value);
    }
    if (info.sends) queues_[out_of(view_, at)].push_back(out);

    state.done += size;
    if (state.done == step.count) {
      if (step.has_dependent) state.published = instruction.step;
      state.done = 0;
      ++state.next;
    }
  }

  const View& view_;
  const MachineOptions options_;
  const std::vector<TbRef> tbs_;
  std::map<TbRef, TbState> states_;
  std::map<ConnectionKey, std::deque<Transfer>> queues_;
  MachineResult result_;
};

}  // namespace

std::vector<Memory> initial_memory(const View& view) {
  const Collective& collective = view.algorithm->collective;
  std::vector<Memory> memory(static_cast<std::size_t>(view.algorithm->num_ranks()));
  for (int r = 0; r < collective.num_ranks(); ++r) {
    for (const BufferKind kind : {BufferKind::input, BufferKind::output}) {
      for (int i = 0; i < collective.chunks(r, kind); ++i) {
        const auto origin = collective.initial(r, {kind, i});
        if (!origin) continue;
        const Slot slot = view.canonical(r, kind, i);
        memory[static_cast<std::size_t>(r)][slot] = {*origin};
      }
    }
  }
  return memory;
}

MachineResult run_machine(const View& view, const MachineOptions& options) {
  return Machine(view, options).run();
}

}  // namespace hocket::oracle
