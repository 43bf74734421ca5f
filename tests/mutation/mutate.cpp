#include "mutation/mutate.h"

#include <algorithm>
#include <functional>
#include <set>

namespace hocket::mutation {
namespace {

using StepTest = bool (*)(const Step&);

Step& step_at(Draft& d, StepAt at) { return d.ranks[at.rank].tbs[at.tb].steps[at.step]; }
DraftTb& tb_at(Draft& d, StepAt at) { return d.ranks[at.rank].tbs[at.tb]; }

std::vector<StepAt> steps_where(const Draft& d, const std::function<bool(const Step&)>& test) {
  std::vector<StepAt> list;
  for (std::size_t r = 0; r < d.ranks.size(); ++r) {
    for (std::size_t t = 0; t < d.ranks[r].tbs.size(); ++t) {
      const auto& steps = d.ranks[r].tbs[t].steps;
      for (std::size_t i = 0; i < steps.size(); ++i) {
        if (test(steps[i])) list.push_back({r, t, i});
      }
    }
  }
  return list;
}

std::vector<StepAt> all_tbs(const Draft& d) {
  std::vector<StepAt> list;
  for (std::size_t r = 0; r < d.ranks.size(); ++r) {
    for (std::size_t t = 0; t < d.ranks[r].tbs.size(); ++t) list.push_back({r, t, 0});
  }
  return list;
}

// A step that passes `test`, at random.
bool choose(const Draft& d, Dice& dice, const std::function<bool(const Step&)>& test, StepAt& at) {
  const auto list = steps_where(d, test);
  if (list.empty()) return false;
  at = dice.pick(list);
  return true;
}

bool is_real(const Step& s) { return s.op != OpCode::nop; }
bool is_nop(const Step& s) { return s.op == OpCode::nop; }
bool is_send(const Step& s) { return op_info(s.op).sends; }
bool is_receive(const Step& s) { return op_info(s.op).receives; }
bool waits(const Step& s) { return s.depend_tb >= 0; }
bool adds(const Step& s) {
  return s.op == OpCode::reduce || (op_info(s.op).receives && op_info(s.op).reads_src);
}

int chunks_of(const Draft& d, std::size_t rank, BufferKind buffer) {
  return d.ranks[rank].sizes.chunks(buffer);
}

// A step of a rank that does something, other than in `tb`.
bool choose_other(Draft& d, Dice& dice, std::size_t rank, std::size_t tb, StepAt& at) {
  std::vector<StepAt> list;
  const auto& tbs = d.ranks[rank].tbs;
  for (std::size_t t = 0; t < tbs.size(); ++t) {
    if (t == tb) continue;
    for (std::size_t i = 0; i < tbs[t].steps.size(); ++i) {
      if (is_real(tbs[t].steps[i])) list.push_back({rank, t, i});
    }
  }
  if (list.empty()) return false;
  at = dice.pick(list);
  return true;
}

void wait_for(Draft& d, Step& waiter, StepAt at) {
  waiter.depend_tb = static_cast<int>(at.tb);
  waiter.depend_step = static_cast<int>(at.step);
  step_at(d, at).has_dependent = true;
}

// --- steps

bool drop_step(Draft& d, Dice& dice) {
  StepAt at;
  if (!choose(d, dice, is_real, at)) return false;
  erase_step(d, at);
  return true;
}

// The send and the receive: what is left still fits together.
bool drop_message(Draft& d, Dice& dice) {
  StepAt at;
  if (!choose(
          d, dice, [](const Step& s) { return s.op == OpCode::send; }, at))
    return false;
  const auto to = partner_of(d, at, true);
  if (!to || is_send(step_at(d, *to))) return false;
  erase_step(d, at);
  erase_step(d, *to);
  return true;
}

bool drop_local_step(Draft& d, Dice& dice) {
  StepAt at;
  const auto local = [](const Step& s) { return s.op == OpCode::copy || s.op == OpCode::reduce; };
  if (!choose(d, dice, local, at)) return false;
  erase_step(d, at);
  return true;
}

bool duplicate_step(Draft& d, Dice& dice) {
  StepAt at;
  if (!choose(d, dice, is_real, at)) return false;
  Step again = step_at(d, at);
  again.depend_tb = again.depend_step = -1;
  again.has_dependent = false;
  insert_step(d, {at.rank, at.tb, at.step + 1}, again);
  return true;
}

bool swap_steps(Draft& d, Dice& dice) {
  std::vector<StepAt> list = all_tbs(d);
  list.erase(std::remove_if(list.begin(), list.end(),
                            [&](StepAt at) { return tb_at(d, at).steps.size() < 2; }),
             list.end());
  if (list.empty()) return false;
  const StepAt at = dice.pick(list);
  auto& steps = tb_at(d, at).steps;
  const std::size_t i = dice.below(steps.size() - 1);
  if (steps[i] == steps[i + 1]) return false;
  std::swap(steps[i], steps[i + 1]);
  return true;
}

bool move_step(Draft& d, Dice& dice) {
  StepAt at;
  if (!choose(d, dice, is_real, at)) return false;
  auto& tbs = d.ranks[at.rank].tbs;
  if (tbs.size() < 2) return false;
  const std::size_t to = (at.tb + 1 + dice.below(tbs.size() - 1)) % tbs.size();
  const Step step = step_at(d, at);
  erase_step(d, at);
  insert_step(d, {at.rank, to, dice.below(tbs[to].steps.size() + 1)}, step);
  return true;
}

bool change_op(Draft& d, Dice& dice) {
  StepAt at;
  if (!choose(d, dice, is_real, at)) return false;
  Step& s = step_at(d, at);
  const auto op = static_cast<OpCode>(dice.below(kNumOps - 1));
  if (op == s.op || op == OpCode::nop) return false;
  s.op = op;
  return true;
}

// Between operations that do the same to connections: the hardest to see.
bool change_op_quietly(Draft& d, Dice& dice) {
  StepAt at;
  if (!choose(d, dice, is_real, at)) return false;
  Step& s = step_at(d, at);
  std::vector<OpCode> like;
  for (int k = 0; k < kNumOps; ++k) {
    const auto op = static_cast<OpCode>(k);
    if (op != s.op && op != OpCode::nop && op_info(op).sends == op_info(s.op).sends &&
        op_info(op).receives == op_info(s.op).receives) {
      like.push_back(op);
    }
  }
  if (like.empty()) return false;
  s.op = dice.pick(like);
  const auto valid = [&](BufferKind buffer, int offset) {
    return offset >= 0 && offset + s.count <= chunks_of(d, at.rank, buffer);
  };
  // The operand that was unused may be anything; take the other one for it.
  if (!valid(s.src_buffer, s.src_offset)) {
    s.src_buffer = s.dst_buffer;
    s.src_offset = s.dst_offset;
  }
  if (!valid(s.dst_buffer, s.dst_offset)) {
    s.dst_buffer = s.src_buffer;
    s.dst_offset = s.src_offset;
  }
  return true;
}

bool missing_reduce(Draft& d, Dice& dice) {
  StepAt at;
  if (!choose(d, dice, adds, at)) return false;
  Step& s = step_at(d, at);
  switch (s.op) {
    case OpCode::reduce:
      s.op = OpCode::copy;
      break;
    case OpCode::recv_reduce_copy:
      s.op = OpCode::recv;
      break;
    default:
      s.op = OpCode::recv_copy_send;
      if (s.dst_offset < 0) {
        s.dst_buffer = s.src_buffer;
        s.dst_offset = s.src_offset;
      }
  }
  return true;
}

bool double_reduce(Draft& d, Dice& dice) {
  StepAt at;
  if (!choose(
          d, dice, [](const Step& s) { return adds(s) && op_info(s.op).writes_dst; }, at)) {
    return false;
  }
  Step again = step_at(d, at);
  again.op = OpCode::reduce;
  again.depend_tb = again.depend_step = -1;
  again.has_dependent = step_at(d, at).has_dependent;
  insert_step(d, {at.rank, at.tb, at.step + 1}, again);
  // Whoever waited for the sum waits for both.
  for (DraftTb& tb : d.ranks[at.rank].tbs) {
    for (Step& s : tb.steps) {
      if (s.depend_tb == static_cast<int>(at.tb) && s.depend_step == static_cast<int>(at.step)) {
        ++s.depend_step;
      }
    }
  }
  return true;
}

bool split_step(Draft& d, StepAt at) {
  Step first = step_at(d, at);
  Step second = first;
  first.count = 1;
  first.has_dependent = false;
  second.count -= 1;
  second.src_offset += 1;
  second.dst_offset += 1;
  second.depend_tb = second.depend_step = -1;
  insert_step(d, at, first);
  step_at(d, {at.rank, at.tb, at.step + 1}) = second;
  return true;
}

bool split_one_end(Draft& d, Dice& dice) {
  StepAt at;
  if (!choose(
          d, dice, [](const Step& s) { return is_real(s) && s.count > 1; }, at))
    return false;
  return split_step(d, at);
}

bool split_both_ends(Draft& d, Dice& dice) {
  StepAt at;
  if (!choose(
          d, dice, [](const Step& s) { return s.op == OpCode::send && s.count > 1; }, at)) {
    return false;
  }
  const auto to = partner_of(d, at, true);
  if (!to || is_send(step_at(d, *to))) return false;
  return split_step(d, at) && split_step(d, *to);
}

// --- operands

// Mostly inside the buffer, where there is another place for it.
int other_offset(const Draft& d, Dice& dice, std::size_t rank, BufferKind buffer, int offset,
                 int count) {
  std::vector<int> inside;
  for (int k = 0; k + count <= chunks_of(d, rank, buffer); ++k) {
    if (k != offset) inside.push_back(k);
  }
  if (!inside.empty() && dice.chance(85)) return dice.pick(inside);
  return offset + (dice.chance(50) ? 1 : -1);
}

bool wrong_src_offset(Draft& d, Dice& dice) {
  StepAt at;
  if (!choose(
          d, dice, [](const Step& s) { return op_info(s.op).reads_src; }, at))
    return false;
  Step& s = step_at(d, at);
  s.src_offset = other_offset(d, dice, at.rank, s.src_buffer, s.src_offset, s.count);
  return true;
}

bool wrong_dst_offset(Draft& d, Dice& dice) {
  StepAt at;
  if (!choose(
          d, dice, [](const Step& s) { return op_info(s.op).writes_dst; }, at))
    return false;
  Step& s = step_at(d, at);
  s.dst_offset = other_offset(d, dice, at.rank, s.dst_buffer, s.dst_offset, s.count);
  return true;
}

bool wrong_unused_operand(Draft& d, Dice& dice) {
  StepAt at;
  const auto has_unused = [](const Step& s) {
    return is_real(s) && !(op_info(s.op).reads_src && op_info(s.op).writes_dst);
  };
  if (!choose(d, dice, has_unused, at)) return false;
  Step& s = step_at(d, at);
  if (op_info(s.op).reads_src) {
    s.dst_offset = dice.between(-1, 40);
    s.dst_buffer = static_cast<BufferKind>(dice.below(3));
  } else {
    s.src_offset = dice.between(-1, 40);
    s.src_buffer = static_cast<BufferKind>(dice.below(3));
  }
  return true;
}

bool wrong_buffer(Draft& d, Dice& dice) {
  StepAt at;
  if (!choose(d, dice, is_real, at)) return false;
  Step& s = step_at(d, at);
  const auto buffer = static_cast<BufferKind>(dice.below(3));
  const OpInfo& info = op_info(s.op);
  const bool src = info.reads_src && (!info.writes_dst || dice.chance(50));
  BufferKind& changed = src ? s.src_buffer : s.dst_buffer;
  if (changed == buffer) return false;
  changed = buffer;
  int& offset = src ? s.src_offset : s.dst_offset;
  const int last = chunks_of(d, at.rank, buffer) - s.count;
  if (offset > last && last >= 0 && dice.chance(70)) offset = dice.between(0, last);
  return true;
}

bool wrong_count(Draft& d, Dice& dice) {
  StepAt at;
  if (!choose(d, dice, is_real, at)) return false;
  Step& s = step_at(d, at);
  s.count += s.count > 1 && dice.chance(60) ? -1 : 1;
  return true;
}

bool wrong_count_both_ends(Draft& d, Dice& dice) {
  StepAt at;
  if (!choose(d, dice, is_send, at)) return false;
  const auto to = partner_of(d, at, true);
  if (!to) return false;
  const int by = step_at(d, at).count > 1 ? -1 : 1;
  step_at(d, at).count += by;
  step_at(d, *to).count += by;
  return true;
}

bool zero_count(Draft& d, Dice& dice) {
  StepAt at;
  if (!choose(d, dice, is_real, at)) return false;
  step_at(d, at).count = 0;
  return true;
}

bool swap_operands(Draft& d, Dice& dice, StepTest test, bool src) {
  const auto list = steps_where(d, test);
  if (list.empty()) return false;
  const StepAt a = dice.pick(list);
  std::vector<StepAt> others;
  for (const StepAt b : list) {
    if (b.rank == a.rank && b.tb == a.tb && b.step != a.step) others.push_back(b);
  }
  if (others.empty()) return false;
  Step& x = step_at(d, a);
  Step& y = step_at(d, dice.pick(others));
  if (x.count != y.count) return false;
  if (src) {
    std::swap(x.src_buffer, y.src_buffer);
    std::swap(x.src_offset, y.src_offset);
  } else {
    std::swap(x.dst_buffer, y.dst_buffer);
    std::swap(x.dst_offset, y.dst_offset);
  }
  return true;
}

bool swapped_sends(Draft& d, Dice& dice) {
  return swap_operands(
      d, dice, [](const Step& s) { return s.op == OpCode::send; }, true);
}

bool swapped_receives(Draft& d, Dice& dice) {
  const auto test = [](const Step& s) { return is_receive(s) && op_info(s.op).writes_dst; };
  return swap_operands(d, dice, test, false);
}

bool scratch_too_small(Draft& d, Dice& dice) {
  const std::size_t r = dice.below(d.ranks.size());
  if (d.ranks[r].sizes.scratch_chunks == 0) return false;
  --d.ranks[r].sizes.scratch_chunks;
  return true;
}

bool scratch_larger(Draft& d, Dice& dice) {
  d.ranks[dice.below(d.ranks.size())].sizes.scratch_chunks += dice.between(1, 5);
  return true;
}

bool wrong_buffer_size(Draft& d, Dice& dice) {
  RankProgram& sizes = d.ranks[dice.below(d.ranks.size())].sizes;
  (dice.chance(50) ? sizes.input_chunks : sizes.output_chunks) += dice.chance(50) ? 1 : -1;
  return true;
}

// --- dependences

bool drop_dependence(Draft& d, Dice& dice) {
  StepAt at;
  if (!choose(
          d, dice, [](const Step& s) { return waits(s) && is_real(s); }, at))
    return false;
  auto& steps = tb_at(d, at).steps;
  // A nop before it takes its place: what is left stays well formed.
  if (at.step > 0 && is_nop(steps[at.step - 1])) {
    steps[at.step].depend_tb = steps[at.step - 1].depend_tb;
    steps[at.step].depend_step = steps[at.step - 1].depend_step;
    erase_step(d, {at.rank, at.tb, at.step - 1});
  } else {
    steps[at.step].depend_tb = steps[at.step].depend_step = -1;
  }
  return true;
}

bool add_dependence(Draft& d, Dice& dice) {
  StepAt at;
  StepAt on;
  if (!choose(
          d, dice, [](const Step& s) { return is_real(s) && !waits(s); }, at))
    return false;
  if (!choose_other(d, dice, at.rank, at.tb, on)) return false;
  wait_for(d, step_at(d, at), on);
  return true;
}

bool add_nop(Draft& d, Dice& dice) {
  StepAt at;
  StepAt on;
  if (!choose(d, dice, waits, at) || !choose_other(d, dice, at.rank, at.tb, on)) return false;
  Step nop;
  wait_for(d, nop, on);
  insert_step(d, at, nop);
  return true;
}

bool redirect_dependence(Draft& d, Dice& dice) {
  StepAt at;
  StepAt on;
  if (!choose(d, dice, waits, at) || !choose_other(d, dice, at.rank, at.tb, on)) return false;
  wait_for(d, step_at(d, at), on);
  return true;
}

bool earlier_dependence(Draft& d, Dice& dice) {
  StepAt at;
  if (!choose(
          d, dice, [](const Step& s) { return waits(s) && s.depend_step > 0; }, at)) {
    return false;
  }
  Step& s = step_at(d, at);
  --s.depend_step;
  if (dice.chance(70)) {
    Step& on = step_at(d, {at.rank, static_cast<std::size_t>(s.depend_tb),
                           static_cast<std::size_t>(s.depend_step)});
    if (is_real(on)) on.has_dependent = true;
  }
  return true;
}

bool dependence_out_of_range(Draft& d, Dice& dice) {
  StepAt at;
  if (!choose(d, dice, waits, at)) return false;
  Step& s = step_at(d, at);
  (dice.chance(50) ? s.depend_tb : s.depend_step) += 100;
  return true;
}

bool wait_on_self(Draft& d, Dice& dice) {
  StepAt at;
  if (!choose(
          d, dice, [](const Step& s) { return is_real(s) && !waits(s); }, at))
    return false;
  const auto& steps = tb_at(d, at).steps;
  const StepAt on{at.rank, at.tb, dice.below(steps.size())};
  if (is_nop(step_at(d, on))) return false;
  wait_for(d, step_at(d, at), on);
  return true;
}

// Two steps of two threadblocks that wait for each other, or each for one behind the other.
bool cyclic_dependence(Draft& d, Dice& dice) {
  StepAt a;
  StepAt b;
  if (!choose(
          d, dice, [](const Step& s) { return is_real(s) && !waits(s); }, a))
    return false;
  if (!choose_other(d, dice, a.rank, a.tb, b) || waits(step_at(d, b))) return false;
  const auto behind = [&](StepAt at) {
    const auto& steps = tb_at(d, at).steps;
    std::size_t i = at.step + dice.below(steps.size() - at.step);
    while (is_nop(steps[i])) --i;
    return StepAt{at.rank, at.tb, i};
  };
  wait_for(d, step_at(d, a), behind(b));
  wait_for(d, step_at(d, b), behind(a));
  return true;
}

bool stale_hasdep(Draft& d, Dice& dice) {
  StepAt at;
  if (!choose(
          d, dice, [](const Step& s) { return s.has_dependent; }, at))
    return false;
  step_at(d, at).has_dependent = false;
  return true;
}

bool hasdep_later(Draft& d, Dice& dice) {
  StepAt at;
  if (!choose(
          d, dice, [](const Step& s) { return s.has_dependent; }, at))
    return false;
  auto& steps = tb_at(d, at).steps;
  if (at.step + 1 == steps.size() || is_nop(steps[at.step + 1])) return false;
  steps[at.step].has_dependent = false;
  steps[at.step + 1].has_dependent = true;
  return true;
}

bool extra_hasdep(Draft& d, Dice& dice) {
  StepAt at;
  const auto quiet = [](const Step& s) { return is_real(s) && !s.has_dependent; };
  if (!choose(d, dice, quiet, at)) return false;
  step_at(d, at).has_dependent = true;
  return true;
}

bool remove_nop(Draft& d, Dice& dice) {
  StepAt at;
  if (!choose(d, dice, is_nop, at)) return false;
  erase_step(d, at);
  return true;
}

bool nop_without_dependence(Draft& d, Dice& dice) {
  StepAt at;
  if (!choose(d, dice, is_nop, at)) {
    const auto list = all_tbs(d);
    if (list.empty()) return false;
    at = dice.pick(list);
    at.step = dice.below(tb_at(d, at).steps.size() + 1);
    insert_step(d, at, {});
    return true;
  }
  step_at(d, at).depend_tb = step_at(d, at).depend_step = -1;
  return true;
}

// --- merging of `re`

bool is_reduce(const Step& s) { return s.op == OpCode::reduce; }

bool chain_of_two_counts(Draft& d, Dice& dice) {
  StepAt at;
  if (!choose(d, dice, is_reduce, at)) return false;
  Step& s = step_at(d, at);
  Step next = s;
  next.depend_tb = next.depend_step = -1;
  s.has_dependent = false;
  next.count = s.count > 1 ? s.count - 1 : s.count + 1;
  insert_step(d, {at.rank, at.tb, at.step + 1}, next);
  return true;
}

bool chain_with_nop(Draft& d, Dice& dice) {
  StepAt at;
  StepAt on;
  if (!choose(d, dice, is_reduce, at) || !choose_other(d, dice, at.rank, at.tb, on)) return false;
  Step& s = step_at(d, at);
  Step next = s;
  next.depend_tb = next.depend_step = -1;
  s.has_dependent = false;
  Step nop;
  wait_for(d, nop, on);
  insert_step(d, {at.rank, at.tb, at.step + 1}, next);
  insert_step(d, {at.rank, at.tb, at.step + 1}, nop);
  return true;
}

// The destination as one of the sources of the chain.
bool chain_over_itself(Draft& d, Dice& dice) {
  StepAt at;
  if (!choose(d, dice, is_reduce, at)) return false;
  Step next = step_at(d, at);
  next.depend_tb = next.depend_step = -1;
  next.src_offset = next.dst_offset + dice.between(-1, 1);
  next.src_buffer = next.dst_buffer;
  insert_step(d, {at.rank, at.tb, at.step + 1}, next);
  return true;
}

bool swap_chain(Draft& d, Dice& dice) {
  std::vector<StepAt> list;
  for (const StepAt at : steps_where(d, is_reduce)) {
    const auto& steps = tb_at(d, at).steps;
    if (at.step + 1 < steps.size() && is_reduce(steps[at.step + 1])) list.push_back(at);
  }
  if (list.empty()) return false;
  const StepAt at = dice.pick(list);
  auto& steps = tb_at(d, at).steps;
  std::swap(steps[at.step].src_buffer, steps[at.step + 1].src_buffer);
  std::swap(steps[at.step].src_offset, steps[at.step + 1].src_offset);
  return true;
}

// The sources of two steps that add to the same place: the sum is the same, its bits may not be.
bool swapped_terms(Draft& d, Dice& dice) {
  std::vector<std::pair<StepAt, StepAt>> pairs;
  const auto list = steps_where(d, [](const Step& s) {
    return s.op == OpCode::copy || s.op == OpCode::reduce || s.op == OpCode::recv_reduce_copy;
  });
  for (const StepAt a : list) {
    for (const StepAt b : list) {
      const Step& x = step_at(d, a);
      const Step& y = step_at(d, b);
      if (a.rank == b.rank && a.tb == b.tb && a.step < b.step && x.dst_buffer == y.dst_buffer &&
          x.dst_offset == y.dst_offset && x.count == y.count) {
        pairs.emplace_back(a, b);
      }
    }
  }
  if (pairs.empty()) return false;
  const auto& [a, b] = dice.pick(pairs);
  std::swap(step_at(d, a).src_buffer, step_at(d, b).src_buffer);
  std::swap(step_at(d, a).src_offset, step_at(d, b).src_offset);
  return true;
}

// --- threadblocks and connections

bool wrong_peer(Draft& d, Dice& dice) {
  const auto list = all_tbs(d);
  if (list.empty() || d.ranks.size() < 2) return false;
  DraftTb& tb = tb_at(d, dice.pick(list));
  int& peer = tb.send >= 0 && (tb.recv < 0 || dice.chance(50)) ? tb.send : tb.recv;
  const int now = dice.between(-1, static_cast<int>(d.ranks.size()) - 1);
  if (now == peer) return false;
  peer = now;
  return true;
}

bool wrong_channel(Draft& d, Dice& dice) {
  const auto list = all_tbs(d);
  if (list.empty()) return false;
  tb_at(d, dice.pick(list)).channel += dice.chance(50) ? 1 : -1;
  return true;
}

// One end moves to a channel that is there for it: the other end must notice.
bool wrong_existing_channel(Draft& d, Dice& dice) {
  const auto list = all_tbs(d);
  if (list.empty()) return false;
  ++d.header.num_channels;
  tb_at(d, dice.pick(list)).channel = d.header.num_channels - 1;
  return true;
}

bool duplicate_threadblock(Draft& d, Dice& dice) {
  const auto list = all_tbs(d);
  if (list.empty()) return false;
  const StepAt at = dice.pick(list);
  d.ranks[at.rank].tbs.push_back(DraftTb(tb_at(d, at)));
  return true;
}

bool drop_threadblock(Draft& d, Dice& dice) {
  const auto list = all_tbs(d);
  if (list.empty()) return false;
  const StepAt at = dice.pick(list);
  tb_at(d, at).steps.clear();
  if (dice.chance(50)) tb_at(d, at).send = tb_at(d, at).recv = -1;
  return true;
}

void swap_numbers(Draft& d, std::size_t rank, std::size_t a, std::size_t b, bool everywhere) {
  auto& tbs = d.ranks[rank].tbs;
  std::swap(tbs[a], tbs[b]);
  if (!everywhere) return;
  for (DraftTb& tb : tbs) {
    for (Step& s : tb.steps) {
      if (s.depend_tb == static_cast<int>(a)) {
        s.depend_tb = static_cast<int>(b);
      } else if (s.depend_tb == static_cast<int>(b)) {
        s.depend_tb = static_cast<int>(a);
      }
    }
  }
}

bool swap_two_threadblocks(Draft& d, Dice& dice, bool everywhere) {
  const std::size_t r = dice.below(d.ranks.size());
  const std::size_t n = d.ranks[r].tbs.size();
  if (n < 2) return false;
  const std::size_t a = dice.below(n);
  swap_numbers(d, r, a, (a + 1 + dice.below(n - 1)) % n, everywhere);
  return true;
}

bool swapped_threadblocks(Draft& d, Dice& dice) { return swap_two_threadblocks(d, dice, false); }
bool renumbered_threadblocks(Draft& d, Dice& dice) { return swap_two_threadblocks(d, dice, true); }

bool swapped_ranks(Draft& d, Dice& dice) {
  if (d.ranks.size() < 2) return false;
  const std::size_t a = dice.below(d.ranks.size());
  const std::size_t b = (a + 1 + dice.below(d.ranks.size() - 1)) % d.ranks.size();
  std::swap(d.ranks[a].tbs, d.ranks[b].tbs);
  return true;
}

// A chunk of the input that holds something and that no step writes.
bool unwritten_input(const Draft& d, std::size_t rank, int& index) {
  const Collective& c = d.header.collective;
  const int r = static_cast<int>(rank);
  std::set<Slot> written;
  for (const DraftTb& tb : d.ranks[rank].tbs) {
    for (const Step& s : tb.steps) {
      if (!op_info(s.op).writes_dst || s.dst_buffer == BufferKind::scratch) continue;
      for (int k = 0; k < s.count; ++k) {
        written.insert(c.alias(r, {s.dst_buffer, s.dst_offset + k}));
      }
    }
  }
  for (index = 0; index < d.ranks[rank].sizes.input_chunks; ++index) {
    const Slot slot{BufferKind::input, index};
    if (c.initial(r, slot) && written.count(c.alias(r, slot)) == 0) return true;
  }
  return false;
}

// One more threadblock on each of two ranks, for both directions between them: sends before it
// receives, perhaps more than the slots hold.
bool slot_starvation(Draft& d, Dice& dice) {
  if (d.ranks.size() < 2) return false;
  const std::size_t a = dice.below(d.ranks.size());
  const std::size_t b = (a + 1 + dice.below(d.ranks.size() - 1)) % d.ranks.size();
  int from[2] = {};
  for (const std::size_t r : {a, b}) {
    if (!unwritten_input(d, r, from[r == b])) return false;
  }
  // In steps of several chunks, which a size limit may keep in one transfer.
  const bool wide = dice.chance(40);
  const int channel = d.header.num_channels++;
  const int transfers = dice.between(1, wide ? 3 : 9);
  const int count = wide ? dice.between(2, 9) : 1;
  for (const std::size_t r : {a, b}) {
    RankProgram& sizes = d.ranks[r].sizes;
    const int peer = static_cast<int>(r == a ? b : a);
    DraftTb tb{peer, peer, channel, {}};
    const int source = sizes.scratch_chunks;
    sizes.scratch_chunks += 2 * count;
    for (int k = 0; k < count; ++k) {
      Step s;
      s.op = OpCode::copy;
      s.src_buffer = BufferKind::input;
      s.src_offset = from[r == b];
      s.dst_buffer = BufferKind::scratch;
      s.dst_offset = source + k;
      s.count = 1;
      tb.steps.push_back(s);
    }
    for (int k = 0; k < transfers; ++k) {
      Step s;
      s.op = OpCode::send;
      s.src_buffer = s.dst_buffer = BufferKind::scratch;
      s.src_offset = s.dst_offset = source;
      s.count = count;
      tb.steps.push_back(s);
    }
    for (int k = 0; k < transfers; ++k) {
      Step s;
      s.op = OpCode::recv;
      s.src_buffer = s.dst_buffer = BufferKind::scratch;
      s.src_offset = s.dst_offset = source + count;
      s.count = count;
      tb.steps.push_back(s);
    }
    d.ranks[r].tbs.push_back(tb);
  }
  return true;
}

// --- the whole

bool wrong_root(Draft& d, Dice& dice) {
  const Collective& c = d.header.collective;
  switch (c.kind()) {
    case CollectiveKind::broadcast:
    case CollectiveKind::reduce:
    case CollectiveKind::gather:
    case CollectiveKind::scatter:
      break;
    default:
      return false;
  }
  if (c.num_ranks() < 2) return false;
  const int root = (c.root() + dice.between(1, c.num_ranks() - 1)) % c.num_ranks();
  d.header.collective =
      Collective::make(c.kind(), c.num_ranks(), c.chunk_factor(), c.in_place(), root);
  return true;
}

bool other_protocol(Draft& d, Dice& dice) {
  const auto now = static_cast<Protocol>(dice.below(3));
  if (now == d.header.protocol) return false;
  d.header.protocol = now;
  return true;
}

bool other_sizes(Draft& d, Dice& dice) {
  if (d.header.max_bytes && dice.chance(50)) {
    d.header.max_bytes.reset();
  } else {
    d.header.max_bytes = std::int64_t{1} << dice.between(0, 30);
  }
  return true;
}

bool wrong_chunks_per_loop(Draft& d, Dice& dice) {
  d.header.chunks_per_loop += dice.chance(50) ? 1 : -1;
  return true;
}

// The same with one more threadblock that copies what is there to where nobody looks.
bool idle_copy(Draft& d, Dice& dice) {
  StepAt at;
  if (!choose(
          d, dice, [](const Step& s) { return op_info(s.op).reads_src; }, at))
    return false;
  const Step read = step_at(d, at);
  RankProgram& sizes = d.ranks[at.rank].sizes;
  Step s;
  s.op = OpCode::copy;
  s.src_buffer = read.src_buffer;
  s.src_offset = read.src_offset;
  s.dst_buffer = BufferKind::scratch;
  s.dst_offset = sizes.scratch_chunks;
  s.count = read.count;
  s.depend_tb = static_cast<int>(at.tb);
  s.depend_step = static_cast<int>(at.step);
  step_at(d, at).has_dependent = true;
  sizes.scratch_chunks += read.count;
  d.ranks[at.rank].tbs.push_back({-1, -1, 0, {s}});
  return true;
}

}  // namespace

const std::vector<Operator>& operators() {
#define HOCKET_OPERATOR(name) \
  { #name, name }
  static const std::vector<Operator> all = {
      HOCKET_OPERATOR(drop_step),
      HOCKET_OPERATOR(drop_message),
      HOCKET_OPERATOR(drop_local_step),
      HOCKET_OPERATOR(duplicate_step),
      HOCKET_OPERATOR(swap_steps),
      HOCKET_OPERATOR(move_step),
      HOCKET_OPERATOR(change_op),
      HOCKET_OPERATOR(change_op_quietly),
      HOCKET_OPERATOR(missing_reduce),
      HOCKET_OPERATOR(double_reduce),
      HOCKET_OPERATOR(split_one_end),
      HOCKET_OPERATOR(split_both_ends),
      HOCKET_OPERATOR(wrong_src_offset),
      HOCKET_OPERATOR(wrong_dst_offset),
      HOCKET_OPERATOR(wrong_unused_operand),
      HOCKET_OPERATOR(wrong_buffer),
      HOCKET_OPERATOR(wrong_count),
      HOCKET_OPERATOR(wrong_count_both_ends),
      HOCKET_OPERATOR(zero_count),
      HOCKET_OPERATOR(swapped_sends),
      HOCKET_OPERATOR(swapped_receives),
      HOCKET_OPERATOR(scratch_too_small),
      HOCKET_OPERATOR(scratch_larger),
      HOCKET_OPERATOR(wrong_buffer_size),
      HOCKET_OPERATOR(drop_dependence),
      HOCKET_OPERATOR(add_dependence),
      HOCKET_OPERATOR(add_nop),
      HOCKET_OPERATOR(redirect_dependence),
      HOCKET_OPERATOR(earlier_dependence),
      HOCKET_OPERATOR(dependence_out_of_range),
      HOCKET_OPERATOR(wait_on_self),
      HOCKET_OPERATOR(cyclic_dependence),
      HOCKET_OPERATOR(stale_hasdep),
      HOCKET_OPERATOR(hasdep_later),
      HOCKET_OPERATOR(extra_hasdep),
      HOCKET_OPERATOR(remove_nop),
      HOCKET_OPERATOR(nop_without_dependence),
      HOCKET_OPERATOR(chain_of_two_counts),
      HOCKET_OPERATOR(chain_with_nop),
      HOCKET_OPERATOR(chain_over_itself),
      HOCKET_OPERATOR(swap_chain),
      HOCKET_OPERATOR(swapped_terms),
      HOCKET_OPERATOR(wrong_peer),
      HOCKET_OPERATOR(wrong_channel),
      HOCKET_OPERATOR(wrong_existing_channel),
      HOCKET_OPERATOR(duplicate_threadblock),
      HOCKET_OPERATOR(drop_threadblock),
      HOCKET_OPERATOR(swapped_threadblocks),
      HOCKET_OPERATOR(renumbered_threadblocks),
      HOCKET_OPERATOR(swapped_ranks),
      HOCKET_OPERATOR(slot_starvation),
      HOCKET_OPERATOR(wrong_root),
      HOCKET_OPERATOR(other_protocol),
      HOCKET_OPERATOR(other_sizes),
      HOCKET_OPERATOR(wrong_chunks_per_loop),
      HOCKET_OPERATOR(idle_copy),
  };
#undef HOCKET_OPERATOR
  return all;
}

}  // namespace hocket::mutation
