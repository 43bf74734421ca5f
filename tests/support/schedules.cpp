#include "support/schedules.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>

#include "support/machine.h"

namespace hocket::oracle {
namespace {

using fmt::format;

enum class Phase : std::uint8_t { read, message, write };

// An instruction as the loaders make it: a chain of merged `re` is one.
struct Code {
  const Instruction* first = nullptr;
  bool publishes = false;
  int shown = 0;             // the number its flag shows
  std::vector<int> sources;  // offsets of srcbuf; of a merged chain, all
  std::vector<Phase> phases;
  std::vector<int> message_in;  // by lane; ids of messages
  std::vector<int> message_out;
  std::vector<int> contested;  // by lane and phase: number of the move, -1 where nothing conflicts

  const Step& step() const { return first->what; }
  int lanes() const { return first->what.count; }
  std::size_t at(int lane, std::size_t phase) const {
    return static_cast<std::size_t>(lane) * phases.size() + phase;
  }
};

struct Program {
  std::vector<TbRef> tbs;
  std::map<TbRef, int> index;
  std::vector<std::vector<Code>> codes;  // by threadblock
  int messages = 0;
};

struct Move {
  int tb = 0;
  int code = 0;
  int lane = 0;
  int phase = 0;
};

bool merges(const Step& before, const Step& now) {
  return before.op == OpCode::reduce && now.op == OpCode::reduce &&
         before.dst_buffer == now.dst_buffer && before.dst_offset == now.dst_offset &&
         before.src_buffer == now.src_buffer && now.depend_tb < 0 && !before.has_dependent;
}

Program program_of(const View& view) {
  Program p;
  p.tbs = view.threadblocks();
  std::map<ConnectionKey, std::vector<std::vector<int>>> sent;  // ids by transfer and lane
  for (std::size_t t = 0; t < p.tbs.size(); ++t) {
    const TbRef at = p.tbs[t];
    p.index[at] = static_cast<int>(t);
    auto& list = p.codes.emplace_back();
    const Step* before = nullptr;
    int reduces = 0;  // so far
    for (const Instruction& i : view.of(at)) {
      const bool sixteen = reduces == 16;
      reduces += i.what.op == OpCode::reduce ? 1 : 0;
      if (before != nullptr && !sixteen && merges(*before, i.what)) {
        list.back().sources.push_back(i.what.src_offset);
      } else {
        Code& c = list.emplace_back();
        c.first = &i;
        c.sources.push_back(i.what.src_offset);
        const OpInfo& info = op_info(i.what.op);
        if (info.reads_src || info.accumulates) c.phases.push_back(Phase::read);
        if (info.receives || info.sends) c.phases.push_back(Phase::message);
        if (info.writes_dst) c.phases.push_back(Phase::write);
        if (info.sends) {
          for (int lane = 0; lane < c.lanes(); ++lane) c.message_out.push_back(p.messages++);
          sent[out_of(view, at)].push_back(c.message_out);
        }
      }
      list.back().publishes = i.what.has_dependent;
      list.back().shown = i.step;
      before = &i.what;
    }
  }
  for (std::size_t t = 0; t < p.tbs.size(); ++t) {
    std::size_t received = 0;
    for (Code& c : p.codes[t]) {
      c.contested.assign(static_cast<std::size_t>(c.lanes()) * c.phases.size(), -1);
      if (receives(c.step())) c.message_in = sent.at(into(view, p.tbs[t]))[received++];
    }
  }
  return p;
}

// What a move touches.
struct Touched {
  std::vector<Slot> reads;
  std::vector<Slot> writes;
};

Touched touched_by(const View& view, const Program& p, const Move& m) {
  const Code& c = p.codes[static_cast<std::size_t>(m.tb)][static_cast<std::size_t>(m.code)];
  const int rank = p.tbs[static_cast<std::size_t>(m.tb)].rank;
  const OpInfo& info = op_info(c.step().op);
  Touched touched;
  switch (c.phases[static_cast<std::size_t>(m.phase)]) {
    case Phase::read:
      if (info.reads_src) {
        for (const int offset : c.sources) {
          touched.reads.push_back(view.canonical(rank, c.step().src_buffer, offset + m.lane));
        }
      }
      if (info.accumulates) {
        touched.reads.push_back(
            view.canonical(rank, c.step().dst_buffer, c.step().dst_offset + m.lane));
      }
      break;
    case Phase::message:
      break;
    case Phase::write:
      touched.writes.push_back(
          view.canonical(rank, c.step().dst_buffer, c.step().dst_offset + m.lane));
      break;
  }
  return touched;
}

// Conflicting pairs of moves of different threadblocks; numbers the moves in `contested`. Where
// sends lag, also those of a send and another instruction of its threadblock.
struct Contest {
  std::vector<Move> moves;
  std::vector<std::vector<int>> against;  // by move
  std::map<std::pair<int, int>, Slot> where;

  Contest(const View& view, Program& p, bool lagging_sends) {
    struct Access {
      Move move;
      bool write;
    };
    std::map<std::pair<int, Slot>, std::vector<Access>> by_slot;
    for (int t = 0; t < static_cast<int>(p.tbs.size()); ++t) {
      auto& list = p.codes[static_cast<std::size_t>(t)];
      for (int k = 0; k < static_cast<int>(list.size()); ++k) {
        Code& c = list[static_cast<std::size_t>(k)];
        for (int lane = 0; lane < c.lanes(); ++lane) {
          for (int phase = 0; phase < static_cast<int>(c.phases.size()); ++phase) {
            const Move move{t, k, lane, phase};
            const Touched touched = touched_by(view, p, move);
            const int rank = p.tbs[static_cast<std::size_t>(t)].rank;
            for (const Slot& s : touched.reads) by_slot[{rank, s}].push_back({move, false});
            for (const Slot& s : touched.writes) by_slot[{rank, s}].push_back({move, true});
          }
        }
      }
    }
    const auto number = [&](const Move& m) {
      Code& c = p.codes[static_cast<std::size_t>(m.tb)][static_cast<std::size_t>(m.code)];
      int& n = c.contested[c.at(m.lane, static_cast<std::size_t>(m.phase))];
      if (n < 0) {
        n = static_cast<int>(moves.size());
        moves.push_back(m);
        against.emplace_back();
      }
      return n;
    };
    const auto apart = [&](const Move& a, const Move& b) {
      const auto sent = [&](const Move& m) {
        return p.codes[static_cast<std::size_t>(m.tb)][static_cast<std::size_t>(m.code)]
                   .step()
                   .op == OpCode::send;
      };
      return a.tb != b.tb || (lagging_sends && a.code != b.code && (sent(a) || sent(b)));
    };
    for (const auto& [at, list] : by_slot) {
      for (std::size_t i = 0; i < list.size(); ++i) {
        for (std::size_t k = i + 1; k < list.size(); ++k) {
          if (!apart(list[i].move, list[k].move) || !(list[i].write || list[k].write)) continue;
          const int a = number(list[i].move);
          const int b = number(list[k].move);
          if (!where.emplace(std::pair(std::min(a, b), std::max(a, b)), at.second).second) continue;
          against[static_cast<std::size_t>(a)].push_back(b);
          against[static_cast<std::size_t>(b)].push_back(a);
        }
      }
    }
  }
};

struct State {
  std::vector<int> next;                         // by threadblock
  std::vector<int> flags;                        // by threadblock
  std::vector<std::vector<std::uint8_t>> lanes;  // by threadblock: phases made of the instruction
  std::vector<int> late;  // by threadblock: first `s` whose lanes lag; next if none
  std::vector<std::vector<std::uint8_t>> late_lanes;  // of those, one after another
  std::vector<int> messages;                          // ids of sums, -1 not sent
  std::vector<int> operands;  // by threadblock, lane after lane of all instructions
  std::vector<std::map<Slot, int>> memory;
  std::string done;  // contested moves made, '0' or '1'
  bool reads_nothing = false;
};

// `alone`: a single rank, to which every message comes at any time.
class Runner {
 public:
  Runner(const View& view, const Program& program, std::size_t contested, Sums& sums,
         const ScheduleOptions& options, int alone)
      : view_(view),
        p_(program),
        contested_(contested),
        sums_(sums),
        options_(options),
        alone_(alone) {
    for (const auto& list : p_.codes) {
      auto& bases = first_lane_.emplace_back();
      for (const Code& c : list) {
        bases.push_back(lanes_);
        lanes_ += static_cast<std::size_t>(c.lanes());
      }
    }
  }

  State start() const {
    State s;
    const std::size_t n = p_.tbs.size();
    s.next.assign(n, 0);
    s.late.assign(n, 0);
    s.late_lanes.resize(n);
    s.flags.assign(n, -1);
    s.lanes.resize(n);
    for (std::size_t t = 0; t < n; ++t) begin(s, t);
    s.messages.assign(static_cast<std::size_t>(p_.messages), -1);
    s.operands.assign(lanes_, Sums::kNothing);
    s.done.assign(contested_, '0');
    for (const Memory& rank : initial_memory(view_)) {
      auto& cells = s.memory.emplace_back();
      for (const auto& [slot, content] : rank) cells[slot] = sums_.leaf(content.at(0));
    }
    return s;
  }

  bool takes_part(std::size_t t) const { return alone_ < 0 || p_.tbs[t].rank == alone_; }

  bool finished(const State& s) const {
    for (std::size_t t = 0; t < p_.tbs.size(); ++t) {
      if (takes_part(t) &&
          (s.next[t] < static_cast<int>(p_.codes[t].size()) || s.late[t] < s.next[t])) {
        return false;
      }
    }
    return true;
  }

  // Makes every move that nothing contests; with `but` >= -1 also the contested ones except `but`.
  // Returns the contested moves that could be next.
  std::vector<Move> saturate(State& s, std::optional<int> but = std::nullopt) const {
    std::vector<Move> open;
    for (bool moved = true; moved;) {
      moved = false;
      open.clear();
      for (std::size_t t = 0; t < p_.tbs.size(); ++t) {
        if (takes_part(t)) moved = advance(s, t, but, open) || moved;
      }
    }
    return open;
  }

  void make(State& s, const Move& m) const {
    const auto t = static_cast<std::size_t>(m.tb);
    const Code& c = p_.codes[t][static_cast<std::size_t>(m.code)];
    execute(s, t, m.code, m.lane, c.phases[static_cast<std::size_t>(m.phase)]);
    const int number = c.contested[c.at(m.lane, static_cast<std::size_t>(m.phase))];
    if (number >= 0) s.done[static_cast<std::size_t>(number)] = '1';
    ++progress(s, t, m.code, m.lane);
  }

 private:
  void begin(State& s, std::size_t t) const {
    const auto k = static_cast<std::size_t>(s.next[t]);
    s.lanes[t].assign(k < p_.codes[t].size() ? static_cast<std::size_t>(p_.codes[t][k].lanes()) : 0,
                      0);
  }

  // Where the phases of a lane of the current instruction, or of an `s` that lags, are counted.
  std::uint8_t& progress(State& s, std::size_t t, int code, int lane) const {
    if (code == s.next[t]) return s.lanes[t][static_cast<std::size_t>(lane)];
    const std::size_t base = first_lane_[t][static_cast<std::size_t>(code)] -
                             first_lane_[t][static_cast<std::size_t>(s.late[t])];
    return s.late_lanes[t][base + static_cast<std::size_t>(lane)];
  }

  bool may_begin(const State& s, std::size_t t) const {
    const Code& c = p_.codes[t][static_cast<std::size_t>(s.next[t])];
    return std::all_of(c.first->waits.begin(), c.first->waits.end(), [&](const Wait& w) {
      return s.flags[static_cast<std::size_t>(p_.index.at({p_.tbs[t].rank, w.tb}))] >= w.step;
    });
  }

  bool move_lanes(State& s, std::size_t t, int code, std::optional<int> but,
                  std::vector<Move>& open) const {
    const Code& c = p_.codes[t][static_cast<std::size_t>(code)];
    bool moved = false;
    for (int lane = 0; lane < c.lanes(); ++lane) {
      for (;;) {
        const std::size_t phase = progress(s, t, code, lane);
        if (phase == c.phases.size()) break;
        const Move move{static_cast<int>(t), code, lane, static_cast<int>(phase)};
        const int number = c.contested[c.at(lane, phase)];
        if (number >= 0 && (!but || number == *but)) {
          open.push_back(move);
          break;
        }
        if (c.phases[phase] == Phase::message && receives(c.step()) && alone_ < 0 &&
            s.messages[static_cast<std::size_t>(c.message_in[static_cast<std::size_t>(lane)])] <
                0) {
          break;
        }
        make(s, move);
        moved = true;
      }
    }
    return moved;
  }

  bool advance(State& s, std::size_t t, std::optional<int> but, std::vector<Move>& open) const {
    bool moved = false;
    for (int code = s.late[t]; code < s.next[t]; ++code) {
      moved = move_lanes(s, t, code, but, open) || moved;
    }
    drop_late(s, t);
    while (s.next[t] < static_cast<int>(p_.codes[t].size()) && may_begin(s, t)) {
      const int code = s.next[t];
      const Code& c = p_.codes[t][static_cast<std::size_t>(code)];
      moved = move_lanes(s, t, code, but, open) || moved;
      const bool lags = options_.lagging_sends && c.step().op == OpCode::send;
      if (!lags && (s.late[t] < s.next[t] || !through(s.lanes[t], c))) break;
      if (lags) {
        s.late_lanes[t].insert(s.late_lanes[t].end(), s.lanes[t].begin(), s.lanes[t].end());
      }
      ++s.next[t];
      if (!lags) s.late[t] = s.next[t];
      if (c.publishes) s.flags[t] = c.shown;
      begin(s, t);
      drop_late(s, t);
      moved = true;
    }
    return moved;
  }

  static bool through(const std::vector<std::uint8_t>& lanes, const Code& c) {
    return std::all_of(lanes.begin(), lanes.end(),
                       [&](std::uint8_t done) { return done == c.phases.size(); });
  }

  // Forgets the `s` at the front that no longer lag.
  void drop_late(State& s, std::size_t t) const {
    while (s.late[t] < s.next[t]) {
      const Code& c = p_.codes[t][static_cast<std::size_t>(s.late[t])];
      const auto end = s.late_lanes[t].begin() + c.lanes();
      if (!std::all_of(s.late_lanes[t].begin(), end,
                       [&](std::uint8_t done) { return done == c.phases.size(); })) {
        return;
      }
      s.late_lanes[t].erase(s.late_lanes[t].begin(), end);
      ++s.late[t];
    }
  }

  int load(State& s, int rank, BufferKind buffer, int index) const {
    const auto& cells = s.memory[static_cast<std::size_t>(rank)];
    const auto found = cells.find(view_.canonical(rank, buffer, index));
    if (found != cells.end() && found->second != Sums::kNothing) return found->second;
    s.reads_nothing = true;
    return Sums::kNothing;
  }

  void execute(State& s, std::size_t t, int code, int lane, Phase phase) const {
    const Code& c = p_.codes[t][static_cast<std::size_t>(code)];
    const Step& step = c.step();
    const OpInfo& info = op_info(step.op);
    const int rank = p_.tbs[t].rank;
    int& operand =
        s.operands[first_lane_[t][static_cast<std::size_t>(code)] + static_cast<std::size_t>(lane)];
    switch (phase) {
      case Phase::read: {
        std::vector<int> terms;
        if (info.reads_src) {
          for (const int offset : c.sources) {
            terms.push_back(load(s, rank, step.src_buffer, offset + lane));
          }
        }
        if (info.accumulates) {
          const int old = load(s, rank, step.dst_buffer, step.dst_offset + lane);
          const bool before = options_.chains == ChainOrder::destination_first;
          terms.insert(before ? terms.begin() : terms.end(), old);
        }
        operand = terms.at(0);
        for (std::size_t i = 1; i < terms.size(); ++i) operand = sums_.add(operand, terms[i]);
        break;
      }
      case Phase::message:
        if (info.receives) {
          const int in =
              s.messages[static_cast<std::size_t>(c.message_in[static_cast<std::size_t>(lane)])];
          const int value = std::max(in, Sums::kNothing);  // alone, nothing comes
          operand = info.reads_src ? sums_.add(operand, value) : value;
        }
        if (info.sends) {
          s.messages[static_cast<std::size_t>(c.message_out[static_cast<std::size_t>(lane)])] =
              operand;
        }
        break;
      case Phase::write:
        s.memory[static_cast<std::size_t>(rank)]
                [view_.canonical(rank, step.dst_buffer, step.dst_offset + lane)] = operand;
        break;
    }
  }

  const View& view_;
  const Program& p_;
  const std::size_t contested_;
  Sums& sums_;
  const ScheduleOptions options_;
  const int alone_;
  std::vector<std::vector<std::size_t>> first_lane_;
  std::size_t lanes_ = 0;
};

// can[a][b]: move b happens, in some schedule, while a has not.
using Orders = std::vector<std::vector<bool>>;

Orders orders_of(const Contest& contest) {
  return Orders(contest.moves.size(), std::vector<bool>(contest.moves.size(), false));
}

// By trying all states.
struct Explored {
  Orders orders;
  bool complete = true;
  std::size_t states = 0;
  std::set<std::vector<std::map<Slot, int>>> outcomes;
  bool stuck = false;
  bool reads_nothing = false;
};

Explored explore_orders(const Runner& runner, const Contest& contest, std::size_t max_states) {
  Explored result;
  result.orders = orders_of(contest);
  std::set<std::string> seen;
  std::vector<State> open = {runner.start()};
  while (!open.empty()) {
    State state = std::move(open.back());
    open.pop_back();
    const std::vector<Move> moves = runner.saturate(state);
    if (!seen.insert(state.done).second) continue;
    if (seen.size() > max_states) {
      result.complete = false;
      break;
    }
    if (moves.empty()) {
      result.stuck = result.stuck || !runner.finished(state);
      result.outcomes.insert(state.memory);
      result.reads_nothing = result.reads_nothing || state.reads_nothing;
      continue;
    }
    for (const Move& m : moves) {
      State after = state;
      runner.make(after, m);
      std::size_t number = 0;
      while (after.done[number] == state.done[number]) ++number;
      for (const int other : contest.against[number]) {
        if (state.done[static_cast<std::size_t>(other)] == '0') {
          result.orders[static_cast<std::size_t>(other)][number] = true;
        }
      }
      open.push_back(std::move(after));
    }
  }
  result.states = seen.size();
  return result;
}

// By confluence: everything that can be made without `a` is.
Orders closed_orders(const Runner& runner, const Contest& contest) {
  Orders orders = orders_of(contest);
  for (std::size_t a = 0; a < contest.moves.size(); ++a) {
    State state = runner.start();
    runner.saturate(state, static_cast<int>(a));
    for (const int b : contest.against[a]) {
      orders[a][static_cast<std::size_t>(b)] = state.done[static_cast<std::size_t>(b)] == '1';
    }
  }
  return orders;
}

}  // namespace

Sums::Sums() { nodes_.emplace_back(); }

int Sums::leaf(const Origin& origin) {
  const auto [at, fresh] = leaves_.emplace(origin, static_cast<int>(nodes_.size()));
  if (fresh) nodes_.push_back({-1, -1, {origin}});
  return at->second;
}

int Sums::add(int a, int b) {
  if (a == kNothing || b == kNothing) return kNothing;
  const auto [at, fresh] = sums_.emplace(std::minmax(a, b), static_cast<int>(nodes_.size()));
  if (fresh) nodes_.push_back({std::min(a, b), std::max(a, b), sum(content(a), content(b))});
  return at->second;
}

std::string Sums::str(int id) const {
  const Node& n = nodes_[static_cast<std::size_t>(id)];
  if (n.a < 0) return oracle::str(id == kNothing ? std::nullopt : MaybeContent(n.content));
  return "(" + str(n.a) + " + " + str(n.b) + ")";
}

std::string str(const Conflict& c) {
  return format("rank {} {}[{}]: tb {} step {} and tb {} step {}", c.first.rank,
                buffer_kind_name(c.slot.buffer), c.slot.index, c.first.tb, c.first_step,
                c.second.tb, c.second_step);
}

Schedules all_schedules(const View& view, const ScheduleOptions& options) {
  Schedules result;
  Program program = program_of(view);
  const Contest contest(view, program, options.lagging_sends);
  const std::size_t n = contest.moves.size();
  const Runner runner(view, program, n, result.sums, options, -1);

  State end = runner.start();
  runner.saturate(end, -1);
  result.ends = runner.finished(end);
  if (!result.ends) return result;

  const Orders orders = closed_orders(runner, contest);
  const Explored explored = explore_orders(runner, contest, options.max_states);
  result.complete = explored.complete;
  result.states = explored.states;
  if (explored.complete && explored.orders != orders) {
    result.contradiction = "exploration and confluence find different orders";
  }
  if (explored.stuck) result.contradiction = "one schedule ends and another does not";

  std::vector<Orders> local(view.instructions.size());
  for (const auto& [pair, slot] : contest.where) {
    auto [first, second] = pair;
    const auto a = static_cast<std::size_t>(first);
    const auto b = static_cast<std::size_t>(second);
    const Move& x = contest.moves[a];
    const Move& y = contest.moves[b];
    const auto& code = [&](const Move& m) -> const Code& {
      return program.codes[static_cast<std::size_t>(m.tb)][static_cast<std::size_t>(m.code)];
    };
    const Conflict conflict{program.tbs[static_cast<std::size_t>(x.tb)],
                            program.tbs[static_cast<std::size_t>(y.tb)], code(x).first->step,
                            code(y).first->step, slot};
    if (orders[a][b] && orders[b][a]) {
      result.races.push_back(conflict);
      continue;
    }
    // The one that cannot come second is first.
    const std::size_t before = orders[b][a] ? a : b;
    const std::size_t after = orders[b][a] ? b : a;
    const Move& early = contest.moves[before];
    if (code(early).phases[static_cast<std::size_t>(early.phase)] != Phase::write) continue;
    const int rank = conflict.first.rank;
    Orders& of_rank = local[static_cast<std::size_t>(rank)];
    if (of_rank.empty()) {
      of_rank = closed_orders(Runner(view, program, n, result.sums, options, rank), contest);
    }
    if (of_rank[before][after]) result.through_ranks.push_back(conflict);
  }
  if (!result.races.empty()) return result;
  if (explored.complete && explored.outcomes.size() != 1) {
    result.contradiction = "no race, but several outcomes";
  }
  result.memory = end.memory;
  result.reads_nothing = end.reads_nothing;
  return result;
}

}  // namespace hocket::oracle
