// The judge against every schedule of small algorithms, made at random: it says "deadlock" exactly
// when some schedule gets stuck, "race" exactly when both orders of two accesses can happen, and
// where it finds neither, all schedules end alike.
#include "support/explore.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "support/build.h"
#include "support/judge.h"
#include "support/races.h"

namespace hocket::oracle {
namespace {

using Random = std::mt19937;

int below(Random& random, int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); }

// Two or three ranks, every slot initialised, random steps, random flags, connections that match
// in number and count but in any order: deadlocks and races abound.
Algorithm random_algorithm(Random& random, int max_count) {
  const int ranks = 2 + below(random, 2);
  const int chunks = 2;
  CustomCollective c("random", ranks);
  for (int r = 0; r < ranks; ++r) {
    c.buffers(r, chunks, chunks);
    for (int i = 0; i < chunks; ++i) {
      c.holds(r, {kIn, i}, {r, i}).holds(r, {kOut, i}, {r, chunks + i});
    }
  }
  c.without_postcondition();

  struct Tb {
    int send = -1;
    int recv = -1;
    int sends = 0;
    int recvs = 0;
    int locals = 0;
  };
  std::vector<std::vector<Tb>> tbs(static_cast<std::size_t>(ranks));
  for (auto& list : tbs) list.resize(below(random, 2) == 0 ? 1 : 2);
  // Connections: distinct (src, dst), one threadblock each end.
  for (int src = 0; src < ranks; ++src) {
    for (int dst = 0; dst < ranks; ++dst) {
      if (src == dst || below(random, 3) == 0) continue;
      auto& from = tbs[static_cast<std::size_t>(src)];
      auto& to = tbs[static_cast<std::size_t>(dst)];
      Tb& a = from[static_cast<std::size_t>(below(random, static_cast<int>(from.size())))];
      Tb& b = to[static_cast<std::size_t>(below(random, static_cast<int>(to.size())))];
      if (a.send >= 0 || b.recv >= 0) continue;
      a.send = dst;
      b.recv = src;
      a.sends = b.recvs = 1 + below(random, 2);
    }
  }
  Build build(c.build());
  // The k-th transfer of every connection has this count.
  const auto count_of = [&](int k) { return max_count == 1 ? 1 : 1 + k % max_count; };
  for (int r = 0; r < ranks; ++r) {
    for (Tb& tb : tbs[static_cast<std::size_t>(r)]) {
      tb.locals = below(random, 2);
      TbBuild& out = build.tb(r, tb.send, tb.recv);
      int sent = 0;
      int received = 0;
      while (sent < tb.sends || received < tb.recvs || tb.locals > 0) {
        const int choice = below(random, 4);
        const bool can_send = sent < tb.sends;
        const bool can_receive = received < tb.recvs;
        const auto place = [&](int count) { return below(random, chunks - count + 1); };
        const auto buffer = [&] { return below(random, 2) == 0 ? kIn : kOut; };
        if (choice == 0 && can_send) {
          const int n = count_of(sent++);
          out.send(buffer(), place(n), n);
        } else if (choice == 1 && can_receive) {
          const int n = count_of(received++);
          if (below(random, 2) == 0) {
            out.recv(buffer(), place(n), n);
          } else {
            const BufferKind b = buffer();
            const int i = place(n);
            out.rrc(b, i, b, i, n);
          }
        } else if (choice == 2 && can_send && can_receive && sent == received) {
          const int n = count_of(sent++);
          ++received;
          const BufferKind b = buffer();
          const int i = place(n);
          switch (below(random, 3)) {
            case 0:
              out.rcs(b, i, n);
              break;
            case 1:
              out.rrcs(b, i, b, i, n);
              break;
            default:
              out.rrs(b, i, n);
          }
        } else if (choice == 3 && tb.locals > 0) {
          --tb.locals;
          if (below(random, 2) == 0) {
            out.copy(kIn, below(random, chunks), kOut, below(random, chunks));
          } else {
            out.reduce(kOut, below(random, chunks), kIn, below(random, chunks));
          }
        }
      }
    }
  }
  Algorithm a = build.done();
  // Flags between threadblocks, forwards and backwards.
  for (RankProgram& rank : a.ranks) {
    for (std::size_t t = 0; t < rank.threadblocks.size(); ++t) {
      for (Step& step : a.steps_of(rank.threadblocks[t])) {
        const std::size_t other = (t + 1) % rank.threadblocks.size();
        const ThreadBlock& on = rank.threadblocks[other];
        if (other == t || on.num_steps == 0 || below(random, 3) != 0) continue;
        step.depend_tb = static_cast<int>(other);
        step.depend_step = below(random, static_cast<int>(on.num_steps));
        a.steps_of(on)[static_cast<std::size_t>(step.depend_step)].has_dependent = true;
      }
    }
  }
  return a;
}

struct Touch {
  Move move;
  bool write = false;
};

std::map<Slot, std::vector<Touch>> touches_of(const View& view, int rank) {
  std::map<Slot, std::vector<Touch>> touches;
  for (const TbRef at : view.threadblocks()) {
    if (at.rank != rank) continue;
    const auto& list = view.of(at);
    for (std::size_t i = 0; i < list.size(); ++i) {
      const Step& s = list[i].what;
      const OpInfo& info = op_info(s.op);
      for (int lane = 0; lane < s.count; ++lane) {
        const Move read{at, static_cast<int>(i), lane, 0};
        const Move write{at, static_cast<int>(i), lane, 1};
        if (info.reads_src) {
          touches[view.canonical(rank, s.src_buffer, s.src_offset + lane)].push_back({read, false});
        }
        if (info.writes_dst) {
          const Slot slot = view.canonical(rank, s.dst_buffer, s.dst_offset + lane);
          if (info.accumulates) touches[slot].push_back({read, false});
          touches[slot].push_back({write, true});
        }
      }
    }
  }
  return touches;
}

// Some pair of accesses, one a write, that happen in both orders.
bool some_pair_in_both_orders(const View& view) {
  for (int r = 0; r < view.algorithm->num_ranks(); ++r) {
    for (const auto& [slot, list] : touches_of(view, r)) {
      for (const Touch& a : list) {
        for (const Touch& b : list) {
          if (a.move.at >= b.move.at || !(a.write || b.write)) continue;
          if (can_precede(view, a.move, b.move) && can_precede(view, b.move, a.move)) return true;
        }
      }
    }
  }
  return false;
}

TEST(Explore, TheJudgeSaysDeadlockExactlyWhenSomeScheduleGetsStuck) {
  Random random(1);
  int stuck = 0;
  int finished = 0;
  for (int n = 0; n < 900; ++n) {
    const Algorithm a = random_algorithm(random, 1 + n % 2);
    const View view = view_of(a, false);
    ASSERT_TRUE(check_steps(view).empty()) << str(check_steps(view));
    ASSERT_TRUE(check_connections(view).empty()) << str(check_connections(view));
    for (const int slots : {1, 2}) {
      const Exploration all = explore(view, slots, 4'000);
      if (!all.complete) continue;
      ASSERT_NE(all.some_stuck, all.some_finished) << "execution is confluent";
      const bool says_deadlock = !run_machine(view, {slots, 1}).finished;
      ASSERT_EQ(says_deadlock, all.some_stuck) << "algorithm " << n;
      ++(all.some_stuck ? stuck : finished);
    }
  }
  EXPECT_GT(stuck, 100);
  EXPECT_GT(finished, 100);
}

TEST(Explore, WithoutARaceAllSchedulesEndAlikeAndAsTheMachineSays) {
  Random random(2);
  int clean = 0;
  int many_outcomes = 0;
  for (int n = 0; n < 900; ++n) {
    const Algorithm a = random_algorithm(random, 1 + n % 2);
    const View view = view_of(a, false);
    const MachineResult machine = run_machine(view, {std::nullopt, 1});
    if (!machine.finished) continue;
    const Exploration all = explore(view, std::nullopt, 4'000);
    if (!all.complete) continue;
    const Findings races = find_races(view);
    if (has(races, FindingKind::race)) {
      many_outcomes += all.outcomes.size() > 1 ? 1 : 0;
      continue;
    }
    ++clean;
    ASSERT_EQ(all.outcomes, std::set{memory_text(machine.memory)}) << "algorithm " << n;
  }
  EXPECT_GT(clean, 100);
  EXPECT_GT(many_outcomes, 100);
}

TEST(Explore, TheJudgeSaysRaceExactlyWhenBothOrdersHappen) {
  Random random(3);
  int racy = 0;
  int clean = 0;
  for (int n = 0; n < 1500; ++n) {
    const int max_count = 1 + n % 2;
    const Algorithm a = random_algorithm(random, max_count);
    const View view = view_of(a, false);
    if (!run_machine(view, {std::nullopt, 1}).finished) continue;
    const bool says_race = has(find_races(view), FindingKind::race);
    const bool both_orders = some_pair_in_both_orders(view);
    // The moves run the chunks of a step one after another; a transfer of several chunks does not,
    // and the judge allows for it.
    if (max_count == 1) {
      ASSERT_EQ(says_race, both_orders) << "algorithm " << n << "\n" << str(find_races(view));
    } else if (both_orders) {
      ASSERT_TRUE(says_race) << "algorithm " << n;
    }
    ++(says_race ? racy : clean);
  }
  EXPECT_GT(racy, 100);
  EXPECT_GT(clean, 100);
}

}  // namespace
}  // namespace hocket::oracle
