#include "support/explore.h"

#include <deque>
#include <map>
#include <vector>

#include "support/content.h"
#include "support/machine.h"

namespace hocket::oracle {
namespace {

struct TbState {
  std::size_t next = 0;
  int lane = 0;
  int half = 0;
  int published = -1;
  MaybeContent operand;
};

struct State {
  std::map<TbRef, TbState> tbs;
  std::map<ConnectionKey, std::deque<MaybeContent>> queues;
  std::vector<Memory> memory;
};

std::string print(const State& state) {
  std::string text;
  for (const auto& [at, tb] : state.tbs) {
    text += std::to_string(tb.next) + "," + std::to_string(tb.lane) + "," +
            std::to_string(tb.half) + "," + std::to_string(tb.published) + "," + str(tb.operand) +
            ";";
  }
  for (const auto& [key, queue] : state.queues) {
    text += "|";
    for (const MaybeContent& content : queue) text += str(content) + ",";
  }
  return text + memory_text(state.memory);
}

State initial_state(const View& view) {
  State state;
  state.memory = initial_memory(view);
  for (const TbRef at : view.threadblocks()) state.tbs[at] = {};
  return state;
}

bool finished(const View& view, const State& state, TbRef at) {
  return state.tbs.at(at).next == view.of(at).size();
}

Move next_move(const State& state, TbRef at) {
  const TbState& tb = state.tbs.at(at);
  return {at, static_cast<int>(tb.next), tb.lane, tb.half};
}

bool enabled(const View& view, State& state, TbRef at, std::optional<int> slots) {
  if (finished(view, state, at)) return false;
  const TbState& tb = state.tbs.at(at);
  const Instruction& i = view.of(at)[tb.next];
  if (tb.half == 0) {
    if (tb.lane > 0) return true;
    for (const Wait& wait : i.waits) {
      if (state.tbs.at({at.rank, wait.tb}).published < wait.step) return false;
    }
    return true;
  }
  if (receives(i.what) && state.queues[into(view, at)].empty()) return false;
  return !sends(i.what) || !slots ||
         static_cast<int>(state.queues[out_of(view, at)].size()) < *slots;
}

MaybeContent add(const MaybeContent& a, const MaybeContent& b) {
  if (!a || !b) return std::nullopt;
  return sum(*a, *b);
}

void advance(const View& view, State& state, TbRef at) {
  TbState& tb = state.tbs.at(at);
  const Instruction& i = view.of(at)[tb.next];
  const OpInfo& info = op_info(i.what.op);
  Memory& memory = state.memory[static_cast<std::size_t>(at.rank)];
  const auto read = [&](BufferKind buffer, int offset) -> MaybeContent {
    const auto found = memory.find(view.canonical(at.rank, buffer, offset + tb.lane));
    return found == memory.end() ? std::nullopt : MaybeContent(found->second);
  };
  if (tb.half == 0) {
    tb.operand = info.reads_src ? read(i.what.src_buffer, i.what.src_offset) : std::nullopt;
    if (info.accumulates) {
      tb.operand = add(tb.operand, read(i.what.dst_buffer, i.what.dst_offset));
    }
    tb.half = 1;
    return;
  }
  MaybeContent value = tb.operand;
  if (info.receives) {
    auto& queue = state.queues[into(view, at)];
    value = info.reads_src ? add(value, queue.front()) : queue.front();
    queue.pop_front();
  }
  if (info.writes_dst) {
    const Slot slot = view.canonical(at.rank, i.what.dst_buffer, i.what.dst_offset + tb.lane);
    if (value) {
      memory[slot] = *value;
    } else {
      memory.erase(slot);
    }
  }
  if (info.sends) state.queues[out_of(view, at)].push_back(value);
  tb.operand.reset();
  tb.half = 0;
  if (++tb.lane == i.what.count) {
    if (i.what.has_dependent) tb.published = i.step;
    tb.lane = 0;
    ++tb.next;
  }
}

}  // namespace

std::string memory_text(const std::vector<Memory>& memory) {
  std::string text;
  for (std::size_t r = 0; r < memory.size(); ++r) {
    for (const auto& [slot, content] : memory[r]) {
      text += std::to_string(r) + buffer_kind_letter(slot.buffer) + std::to_string(slot.index) +
              "=" + str(MaybeContent(content)) + ";";
    }
  }
  return text;
}

Exploration explore(const View& view, std::optional<int> slots, std::size_t max_states) {
  Exploration result;
  std::set<std::string> seen;
  std::vector<State> open = {initial_state(view)};
  while (!open.empty()) {
    State state = std::move(open.back());
    open.pop_back();
    if (!seen.insert(print(state)).second) continue;
    if (seen.size() > max_states) {
      result.complete = false;
      break;
    }
    bool moved = false;
    bool all_finished = true;
    for (const TbRef at : view.threadblocks()) {
      all_finished = all_finished && finished(view, state, at);
      if (!enabled(view, state, at, slots)) continue;
      moved = true;
      State after = state;
      advance(view, after, at);
      open.push_back(std::move(after));
    }
    if (moved) continue;
    if (all_finished) {
      result.some_finished = true;
      result.outcomes.insert(memory_text(state.memory));
    } else {
      result.some_stuck = true;
    }
  }
  result.states = seen.size();
  return result;
}

bool can_precede(const View& view, const Move& b, const Move& a) {
  State state = initial_state(view);
  for (bool moved = true; moved;) {
    moved = false;
    for (const TbRef at : view.threadblocks()) {
      while (enabled(view, state, at, std::nullopt)) {
        const Move move = next_move(state, at);
        if (move == a) break;
        if (move == b) return true;
        advance(view, state, at);
        moved = true;
      }
    }
  }
  return false;
}

}  // namespace hocket::oracle
