// What a warning of waste says can be done is done, and the algorithm must still be right, for the
// verifier and for the judge that shares no code with it. See docs/testing.md for the long form:
//
//     HOCKET_MUTATION_COUNT=20000 HOCKET_MUTATION_SEED=7 hocket_waste_test
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <map>

#include "hocket/format.h"
#include "mutation/apply_waste.h"
#include "mutation/base.h"
#include "mutation/draft.h"
#include "mutation/mutate.h"
#include "support/judge.h"

namespace hocket::mutation {
namespace {

using fmt::format;

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t kAlgorithms = 300;
#else
constexpr std::uint64_t kAlgorithms = 2'000;
#endif

Step made(OpCode op, BufferKind src, int src_offset, BufferKind dst, int dst_offset, int count) {
  Step s;
  s.op = op;
  s.src_buffer = src;
  s.src_offset = src_offset;
  s.dst_buffer = dst;
  s.dst_offset = dst_offset;
  s.count = count;
  return s;
}

// Ways to waste. Each may make the algorithm wrong; then nothing is said about it.

StepAt any_step(const Draft& draft, Dice& dice) {
  StepAt at;
  at.rank = dice.below(draft.ranks.size());
  const DraftRank& rank = draft.ranks[at.rank];
  if (rank.tbs.empty()) return at;
  at.tb = dice.below(rank.tbs.size());
  at.step = dice.below(rank.tbs[at.tb].steps.size() + 1);
  return at;
}

// Not between a nop and the step that it belongs to.
bool may_insert(const Draft& draft, StepAt at) {
  if (draft.ranks[at.rank].tbs.empty()) return false;
  const auto& steps = draft.ranks[at.rank].tbs[at.tb].steps;
  return at.step == 0 || steps[at.step - 1].op != OpCode::nop;
}

int new_scratch(DraftRank& rank, int count) {
  rank.sizes.scratch_chunks += count;
  return rank.sizes.scratch_chunks - count;
}

void copy_in_vain(Draft& draft, Dice& dice) {
  StepAt at = any_step(draft, dice);
  DraftRank& rank = draft.ranks[at.rank];
  if (!may_insert(draft, at) || rank.sizes.input_chunks == 0) return;
  int from = dice.between(0, rank.sizes.input_chunks - 1);
  BufferKind buffer = BufferKind::input;
  for (int times = dice.between(1, 3); times > 0; --times) {
    const int to = new_scratch(rank, 1);
    insert_step(draft, at, made(OpCode::copy, buffer, from, BufferKind::scratch, to, 1));
    ++at.step;
    buffer = BufferKind::scratch;
    from = to;
  }
}

void send_in_vain(Draft& draft, Dice& dice) {
  const StepAt at = any_step(draft, dice);
  DraftRank& rank = draft.ranks[at.rank];
  if (!may_insert(draft, at) || rank.sizes.input_chunks == 0) return;
  const DraftTb& tb = rank.tbs[at.tb];
  if (tb.send < 0) return;
  // Before the next send of the threadblock, and before what that meets.
  StepAt there;
  bool found = false;
  for (std::size_t k = at.step; k < tb.steps.size() && !found; ++k) {
    if (!op_info(tb.steps[k].op).sends) continue;
    const auto partner = partner_of(draft, {at.rank, at.tb, k}, true);
    if (!partner) return;
    there = *partner;
    found = true;
  }
  if (!found) return;
  while (there.step > 0 &&
         draft.ranks[there.rank].tbs[there.tb].steps[there.step - 1].op == OpCode::nop) {
    --there.step;
  }
  const int chunk = dice.between(0, rank.sizes.input_chunks - 1);
  const int to = new_scratch(draft.ranks[there.rank], 1);
  insert_step(draft, at, made(OpCode::send, BufferKind::input, chunk, BufferKind::input, chunk, 1));
  insert_step(draft, there,
              made(OpCode::recv, BufferKind::scratch, to, BufferKind::scratch, to, 1));
}

void add_twice(Draft& draft, Dice& dice) {
  StepAt at = any_step(draft, dice);
  DraftRank& rank = draft.ranks[at.rank];
  if (!may_insert(draft, at) || rank.sizes.input_chunks == 0) return;
  const int a = dice.between(0, rank.sizes.input_chunks - 1);
  const int b = dice.between(0, rank.sizes.input_chunks - 1);
  const int to = new_scratch(rank, 2);
  for (const int k : {0, 1}) {
    const bool swap = dice.chance(50);
    insert_step(
        draft, at,
        made(OpCode::copy, BufferKind::input, swap ? a : b, BufferKind::scratch, to + k, 1));
    ++at.step;
    insert_step(
        draft, at,
        made(OpCode::reduce, BufferKind::input, swap ? b : a, BufferKind::scratch, to + k, 1));
    ++at.step;
  }
}

void split_fused(Draft& draft, Dice& dice) {
  for (std::size_t r = 0; r < draft.ranks.size(); ++r) {
    for (std::size_t t = 0; t < draft.ranks[r].tbs.size(); ++t) {
      for (std::size_t k = 0; k < draft.ranks[r].tbs[t].steps.size(); ++k) {
        Step& step = draft.ranks[r].tbs[t].steps[k];
        const OpInfo& info = op_info(step.op);
        if (!info.receives || !info.sends || !dice.chance(60)) continue;
        if (step.op == OpCode::recv_reduce_send) {
          step.dst_buffer = BufferKind::scratch;
          step.dst_offset = new_scratch(draft.ranks[r], step.count);
        }
        Step send = made(OpCode::send, step.dst_buffer, step.dst_offset, step.dst_buffer,
                         step.dst_offset, step.count);
        step.op = info.reads_src ? OpCode::recv_reduce_copy : OpCode::recv;
        send.has_dependent = step.has_dependent;
        step.has_dependent = false;
        insert_step(draft, {r, t, k + 1}, send);
        for (DraftTb& tb : draft.ranks[r].tbs) {
          for (Step& s : tb.steps) {
            if (s.depend_tb == static_cast<int>(t) && s.depend_step == static_cast<int>(k)) {
              ++s.depend_step;
            }
          }
        }
      }
    }
  }
}

void wait_more(Draft& draft, Dice& dice) {
  for (int times = dice.between(1, 6); times > 0; --times) {
    const StepAt at = any_step(draft, dice);
    DraftRank& rank = draft.ranks[at.rank];
    if (rank.tbs.empty() || at.step >= rank.tbs[at.tb].steps.size()) continue;
    const std::size_t other = dice.below(rank.tbs.size());
    if (rank.tbs[other].steps.empty()) continue;
    const std::size_t step = dice.below(rank.tbs[other].steps.size());
    Step& awaited = rank.tbs[other].steps[step];
    if (awaited.op == OpCode::nop) continue;
    awaited.has_dependent = true;
    Step& waiter = rank.tbs[at.tb].steps[at.step];
    if (waiter.depend_tb < 0) {
      waiter.depend_tb = static_cast<int>(other);
      waiter.depend_step = static_cast<int>(step);
    } else {
      Step nop;
      nop.depend_tb = static_cast<int>(other);
      nop.depend_step = static_cast<int>(step);
      insert_step(draft, at, nop);
      // Where it moved what it waits for itself.
      if (other == at.tb && step >= at.step) rank.tbs[at.tb].steps[at.step].depend_step++;
    }
  }
}

void flag_and_declare(Draft& draft, Dice& dice) {
  const StepAt at = any_step(draft, dice);
  DraftRank& rank = draft.ranks[at.rank];
  if (rank.tbs.empty()) return;
  if (at.step < rank.tbs[at.tb].steps.size()) {
    rank.tbs[at.tb].steps[at.step].has_dependent = true;
  }
  if (dice.chance(50)) new_scratch(rank, dice.between(1, 3));
  if (dice.chance(50)) rank.tbs.emplace_back();
}

bool all_proved(const VerifyReport& report) {
  for (const PlacementReport& placement : report.placements) {
    for (int k = 0; k < kNumProperties; ++k) {
      const auto p = static_cast<Property>(k);
      if (p != Property::same_bits && placement.of(p).ruling != Ruling::proved) return false;
    }
  }
  return true;
}

class WasteTest : public testing::TestWithParam<int> {
 protected:
  // Which of the properties that held does not hold any more; empty: none.
  std::string broken(const Algorithm& now, const VerifyReport& before, bool judged) {
    VerifyOptions options;
    options.waste = false;
    const VerifyReport after = verify(now, options);
    for (std::size_t p = 0; p < before.placements.size(); ++p) {
      for (int k = 0; k < kNumProperties; ++k) {
        const auto property = static_cast<Property>(k);
        const PropertyRuling& ruling = after.placements[p].of(property);
        if (before.placements[p].of(property).ruling == Ruling::proved &&
            ruling.ruling != Ruling::proved) {
          std::string text = format("{}: {}", property_name(property), ruling.summary);
          for (const Finding& f : ruling.findings) text += "\n" + render(f.diagnostic);
          return text;
        }
      }
    }
    if (judged) {
      if (const auto verdict = oracle::judge(now); !verdict.clean()) {
        return "the judge: " + oracle::str(verdict.findings);
      }
    }
    return {};
  }

  void check(const Algorithm& algorithm, const std::string& what) {
    VerifyOptions options;
    options.max_findings = 1000;
    const VerifyReport before = verify(algorithm, options);
    if (!all_proved(before)) return;
    ++right;
    const bool judged = oracle::judge(algorithm).clean();
    std::map<Code, std::vector<Finding>> by_code;
    for (const Finding& f : before.waste) by_code[f.diagnostic.code].push_back(f);
    EXPECT_EQ(before.num_waste, static_cast<std::int64_t>(before.waste.size()));
    for (const auto& [code, findings] : by_code) {
      std::vector<std::vector<Finding>> sets = {findings};
      // Of dead steps all go together; of others any may.
      if (code != Code::DeadStep && findings.size() > 1) {
        for (const Finding& f : findings) sets.push_back({f});
      }
      claims[code] += findings.size();
      for (const auto& set : sets) {
        Algorithm now;
        std::string why;
        try {
          now = apply_waste(algorithm, set);
          why = broken(now, before, judged);
        } catch (const std::exception& e) {
          why = e.what();
        }
        if (why.empty()) {
          why = promise_kept(code, algorithm, now, set);
        }
        if (why.empty()) continue;
        if (failures++ > 3) continue;
        std::string list;
        for (const Finding& f : set) list += render(f.diagnostic) + "\n";
        ADD_FAILURE() << what << ": " << why << "\n"
                      << list << to_text(algorithm) << "\nbecame\n"
                      << to_text(now);
      }
    }
  }

  // Did it save what it said?
  static std::string promise_kept(Code code, const Algorithm& before, const Algorithm& after,
                                  const std::vector<Finding>& set) {
    std::int64_t said = 0;
    for (const Finding& f : set) said += f.saves;
    const AlgorithmStats a = stats(before);
    const AlgorithmStats b = stats(after);
    std::int64_t saved = said;
    if (code == Code::ImpliedDependence) saved = a.dependences - b.dependences;
    if (code == Code::NeedlessNop) saved = a.nops - b.nops;
    if (code == Code::MissedFusion) saved = a.steps - b.steps;
    if (code == Code::IdleThreadblock) saved = a.threadblocks - b.threadblocks;
    return saved == said ? "" : format("saves {}, not {}", saved, said);
  }

  int right = 0;
  int failures = 0;
  std::map<Code, std::size_t> claims;
};

constexpr int kShards = 2;

TEST_P(WasteTest, WhatIsWastedCanGo) {
  const std::uint64_t first = number_from("HOCKET_MUTATION_SEED", 1);
  const std::uint64_t count = number_from("HOCKET_MUTATION_COUNT", kAlgorithms) / kShards;
  const std::vector<void (*)(Draft&, Dice&)> wasters = {
      copy_in_vain, send_in_vain, add_twice, split_fused, wait_more, flag_and_declare};
  std::uint64_t tried = 0;
  for (std::uint64_t k = 0; tried < count; ++k) {
    const std::uint64_t seed = first + k * kShards + static_cast<std::uint64_t>(GetParam());
    const std::optional<Base> base = base_of(seed);
    if (!base) continue;
    check(base->algorithm, format("seed {}", seed));
    Dice dice(seed ^ 0x5851F42D4C957F2DU);
    for (int variant = 0; variant < 6; ++variant) {
      Draft draft(base->algorithm);
      for (int times = dice.between(1, 4); times > 0; --times) dice.pick(wasters)(draft, dice);
      check(draft.done(), format("seed {}, wasteful variant {}", seed, variant));
    }
    for (int mutant = 0; mutant < 3; ++mutant) {
      Draft draft(base->algorithm);
      if (dice.chance(50)) dice.pick(wasters)(draft, dice);
      if (dice.pick(operators()).apply(draft, dice)) {
        check(draft.done(), format("seed {}, mutant {}", seed, mutant));
      }
    }
    tried += 10;
  }
  std::cout << tried << " algorithms, " << right << " right, " << failures << " false claims\n";
  for (const auto& [code, times] : claims) {
    std::cout << "  " << code_text(code) << " " << times << " " << code_about(code) << "\n";
  }
  EXPECT_EQ(failures, 0);
  if (tried < kAlgorithms / kShards) return;
  for (auto code = static_cast<int>(Code::ImpliedDependence);
       code <= static_cast<int>(Code::MissedFusion); ++code) {
    EXPECT_GE(claims[static_cast<Code>(code)], 5U) << code_text(static_cast<Code>(code));
  }
}

INSTANTIATE_TEST_SUITE_P(Shard, WasteTest, testing::Range(0, kShards));

}  // namespace
}  // namespace hocket::mutation
