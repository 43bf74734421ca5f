// all_endings(): the same threadblocks with few slots. A transfer of an instruction is one move.
#include <algorithm>
#include <deque>
#include <set>

#include "support/schedules.h"

namespace hocket::oracle {
namespace {

struct State {
  std::vector<int> next;
  std::vector<int> done;  // chunks of the current instruction
  std::vector<int> flags;
  std::map<ConnectionKey, int> held;  // transfers in the slots
  friend auto operator<=>(const State&, const State&) = default;
};

class Machine {
 public:
  Machine(const View& view, std::optional<int> slots, int cut)
      : view_(view), slots_(slots), cut_(cut), tbs_(view.threadblocks()) {
    for (std::size_t t = 0; t < tbs_.size(); ++t) {
      index_[tbs_[t]] = t;
      if (view.tb(tbs_[t]).recv >= 0) receiver_[into(view, tbs_[t])] = t;
    }
  }

  State start() const {
    State s;
    s.next.assign(tbs_.size(), 0);
    s.done.assign(tbs_.size(), 0);
    s.flags.assign(tbs_.size(), -1);
    return s;
  }
  std::size_t size() const { return tbs_.size(); }

  bool finished(const State& s, std::size_t t) const {
    return s.next[t] == static_cast<int>(view_.of(tbs_[t]).size());
  }
  bool finished(const State& s) const {
    for (std::size_t t = 0; t < tbs_.size(); ++t) {
      if (!finished(s, t)) return false;
    }
    return true;
  }

  // The threadblocks that make the next transfer of `t` together; empty where it cannot be made.
  std::vector<std::size_t> together(State& s, std::size_t t) const {
    if (!ready(s, t)) return {};
    if (slots_ != 0) {
      const Step& step = current(s, t);
      if (receives(step) && s.held[into(view_, tbs_[t])] == 0) return {};
      if (sends(step) && slots_ && s.held[out_of(view_, tbs_[t])] >= *slots_) return {};
      return {t};
    }
    // Without slots: from one that only sends, along what is passed on, to one that only receives.
    if (receives(current(s, t))) return {};
    std::vector<std::size_t> chain = {t};
    while (sends(current(s, chain.back()))) {
      const std::size_t to = receiver_.at(out_of(view_, tbs_[chain.back()]));
      if (!ready(s, to) || !receives(current(s, to))) return {};
      chain.push_back(to);
    }
    return chain;
  }

  void make(State& s, const std::vector<std::size_t>& chain) const {
    for (const std::size_t t : chain) {
      const Instruction& i = instruction(s, t);
      if (slots_ != 0) {
        if (receives(i.what)) --s.held[into(view_, tbs_[t])];
        if (sends(i.what)) ++s.held[out_of(view_, tbs_[t])];
      }
      s.done[t] += std::min(cut_, i.what.count - s.done[t]);
      if (s.done[t] < i.what.count) continue;
      s.done[t] = 0;
      ++s.next[t];
      if (i.what.has_dependent) s.flags[t] = i.step;
    }
  }

 private:
  const Instruction& instruction(const State& s, std::size_t t) const {
    return view_.of(tbs_[t])[static_cast<std::size_t>(s.next[t])];
  }
  const Step& current(const State& s, std::size_t t) const { return instruction(s, t).what; }

  // Its waits are over.
  bool ready(const State& s, std::size_t t) const {
    if (finished(s, t)) return false;
    const auto& waits = instruction(s, t).waits;
    return std::all_of(waits.begin(), waits.end(), [&](const Wait& w) {
      return s.flags[index_.at({tbs_[t].rank, w.tb})] >= w.step;
    });
  }

  const View& view_;
  const std::optional<int> slots_;
  const int cut_;
  const std::vector<TbRef> tbs_;
  std::map<TbRef, std::size_t> index_;
  std::map<ConnectionKey, std::size_t> receiver_;
};

}  // namespace

Ending all_endings(const View& view, std::optional<int> slots, int cut, std::size_t max_states) {
  const Machine machine(view, slots, cut);
  Ending result;
  State one = machine.start();
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t t = 0; t < machine.size(); ++t) {
      const auto chain = machine.together(one, t);
      if (chain.empty()) continue;
      machine.make(one, chain);
      moved = true;
    }
  }
  result.ends = machine.finished(one);

  std::set<State> seen;
  std::vector<State> open = {machine.start()};
  while (!open.empty()) {
    State state = std::move(open.back());
    open.pop_back();
    std::vector<std::vector<std::size_t>> moves;
    for (std::size_t t = 0; t < machine.size(); ++t) {
      auto chain = machine.together(state, t);
      if (!chain.empty()) moves.push_back(std::move(chain));
    }
    if (!seen.insert(state).second) continue;
    if (seen.size() > max_states) {
      result.complete = false;
      break;
    }
    if (moves.empty() && machine.finished(state) != result.ends) result.confluent = false;
    for (const auto& chain : moves) {
      State after = state;
      machine.make(after, chain);
      open.push_back(std::move(after));
    }
  }
  result.states = seen.size();
  return result;
}

}  // namespace hocket::oracle
