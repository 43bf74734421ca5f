// When does every schedule end, with how many slots, up to which size, and who waits for whom.
#include "verify/deadlock.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "hocket/format.h"
#include "support/build.h"
#include "support/machine.h"
#include "support/structure.h"
#include "tiny_algorithm.h"

namespace hocket::verifying {
namespace {

using oracle::Build;
using oracle::kIn;
using oracle::kOut;
using oracle::TbBuild;

PlacementReport decide(const Algorithm& a, const VerifyOptions& options = {}) {
  Loaded loaded;
  PlacementReport report;
  PropertyRuling& structure = report.of(Property::structure);
  EXPECT_TRUE(load(a, a.collective, a.in_place, 1 << 22, loaded, structure));
  EXPECT_TRUE(structure.findings.empty()) << structure.findings[0].diagnostic.message;
  check_deadlock(loaded, options, report);
  return report;
}

// Each of two ranks sends `n` messages of `count` chunks, then receives as many.
Algorithm both_send_first(int n, int count, Protocol protocol) {
  Build b(alltoall(2, 16), protocol);
  for (int r = 0; r < 2; ++r) {
    TbBuild& tb = b.tb(r, 1 - r, 1 - r);
    for (int k = 0; k < n; ++k) tb.send(kIn, 0, count);
    for (int k = 0; k < n; ++k) tb.recv(kOut, 0, count);
  }
  return b.done();
}

TEST(Deadlock, a_sender_may_be_ahead_by_the_slots) {
  for (const Protocol protocol : {Protocol::simple, Protocol::ll, Protocol::ll128}) {
    const int slots = protocol_slots(protocol);
    const PlacementReport safe = decide(both_send_first(slots, 1, protocol));
    EXPECT_EQ(safe.of(Property::deadlock).ruling, Ruling::proved);
    EXPECT_EQ(safe.least_slots, slots);
    EXPECT_FALSE(safe.largest_safe_bytes);
    const PlacementReport stuck = decide(both_send_first(slots + 1, 1, protocol));
    EXPECT_EQ(stuck.of(Property::deadlock).ruling, Ruling::refuted);
    EXPECT_EQ(stuck.least_slots, slots + 1);
    EXPECT_FALSE(stuck.largest_safe_bytes);
    VerifyOptions more;
    more.slots = slots + 1;
    EXPECT_EQ(decide(both_send_first(slots + 1, 1, protocol), more).of(Property::deadlock).ruling,
              Ruling::proved);
  }
}

TEST(Deadlock, says_who_waits_for_whom) {
  const PlacementReport report = decide(both_send_first(3, 1, Protocol::simple));
  const PropertyRuling& deadlock = report.of(Property::deadlock);
  EXPECT_EQ(deadlock.summary,
            "2 threadblocks never finish, at any size; needs 3 slots (Simple has 2)");
  ASSERT_EQ(deadlock.findings.size(), 1U);
  const Finding& f = deadlock.findings[0];
  EXPECT_EQ(f.diagnostic.code, Code::VerifyDeadlock);
  EXPECT_EQ(f.at, (StepPlace{0, 0, 2}));
  EXPECT_EQ(f.chain, (std::vector<StepPlace>{{0, 0, 2}, {1, 0, 2}}));
  ASSERT_EQ(f.diagnostic.notes.size(), 2U);
  EXPECT_EQ(f.diagnostic.notes[0].message,
            "rank 0 tb 0 step 2 (s): waits for a free slot to rank 1 tb 0");
  EXPECT_EQ(f.diagnostic.hint, "it would end with 3 slots");
}

TEST(Deadlock, the_largest_message_decides) {
  // 8 chunks of 32 in two slots: a transfer must carry 4, so a chunk has at most 2 MiB / 4.
  Algorithm a = both_send_first(1, 8, Protocol::simple);
  const std::int64_t most = std::int64_t{32} * (2 << 20) / 4;
  {
    const PlacementReport report = decide(a);
    EXPECT_EQ(report.of(Property::deadlock).summary,
              fmt::format("2 threadblocks never finish for messages above {} bytes; needs 8 slots "
                          "(Simple has 2)",
                          most));
    EXPECT_EQ(report.largest_safe_bytes, most);
    EXPECT_EQ(report.of(Property::deadlock).findings[0].diagnostic.hint,
              fmt::format("it ends for messages of up to {} bytes (--max-bytes)", most));
    // A size that the file's range leaves out is no advice.
    a.min_bytes = most + 1;
    EXPECT_EQ(decide(a).of(Property::deadlock).findings[0].diagnostic.hint,
              "it would end with 8 slots");
    a.min_bytes = 0;
  }
  VerifyOptions options;
  options.max_bytes = most;
  EXPECT_EQ(decide(a, options).of(Property::deadlock).ruling, Ruling::proved);
  EXPECT_EQ(decide(a, options).least_slots, 2);
  options.max_bytes = most + 1;
  EXPECT_EQ(decide(a, options).of(Property::deadlock).ruling, Ruling::refuted);
  a.max_bytes = most;
  EXPECT_EQ(
      decide(a).of(Property::deadlock).summary,
      fmt::format("every schedule ends, for messages of up to {} bytes; needs 2 slots (Simple "
                  "has 2)",
                  most));
  // RCCL's transfers are smaller only with LL and LL128.
  options.max_bytes = most;
  options.target = Target::rccl;
  EXPECT_EQ(decide(a, options).of(Property::deadlock).ruling, Ruling::proved);
}

TEST(Deadlock, transfers_of_targets) {
  Algorithm a = both_send_first(1, 16, Protocol::ll);
  // 16 chunks in 8 slots: 2 a transfer. 32 KiB a transfer, 16 KiB on RCCL.
  VerifyOptions options;
  options.max_bytes = std::int64_t{32} * (16 << 10);
  EXPECT_EQ(decide(a, options).of(Property::deadlock).ruling, Ruling::proved);
  options.target = Target::rccl;
  EXPECT_EQ(decide(a, options).of(Property::deadlock).ruling, Ruling::refuted);
  EXPECT_EQ(decide(a, options).largest_safe_bytes, std::int64_t{32} * (8 << 10));
}

TEST(Deadlock, cuts) {
  const Algorithm a = both_send_first(1, 1, Protocol::ll);  // 32 chunks a loop
  Loaded loaded;
  PropertyRuling structure;
  load(a, a.collective, false, 1 << 20, loaded, structure);
  EXPECT_EQ(worst_cut(loaded, Target::hocket, std::nullopt), 1);
  EXPECT_EQ(worst_cut(loaded, Target::hocket, 0), 71);
  EXPECT_EQ(worst_cut(loaded, Target::hocket, 32 * 1024), 32);
  EXPECT_EQ(worst_cut(loaded, Target::hocket, 32 * 1024 + 1), 31);
  EXPECT_EQ(worst_cut(loaded, Target::rccl, 32 * 1024), 16);
  EXPECT_EQ(worst_cut(loaded, Target::hocket, std::numeric_limits<std::int64_t>::max()), 1);
}

TEST(Deadlock, waits_in_a_circle) {
  Build b(allreduce(1, 3));
  b.tb(0).copy(kIn, 0, kOut, 0).on(1, 0).flag();
  b.tb(0).copy(kIn, 1, kOut, 1).on(2, 0).flag();
  b.tb(0).copy(kIn, 2, kOut, 2).on(0, 0).flag();
  b.tb(0).copy(kIn, 2, kOut, 2).on(0, 0);  // stuck, but not part of it
  const PlacementReport report = decide(b.done());
  const PropertyRuling& deadlock = report.of(Property::deadlock);
  EXPECT_FALSE(report.least_slots);
  EXPECT_EQ(
      deadlock.summary,
      "4 threadblocks never finish, at any size; no number of slots is enough (Simple has 2)");
  ASSERT_EQ(deadlock.findings.size(), 1U);
  EXPECT_EQ(deadlock.findings[0].chain, (std::vector<StepPlace>{{0, 0, 0}, {0, 1, 0}, {0, 2, 0}}));
  EXPECT_EQ(deadlock.findings[0].diagnostic.message,
            "4 threadblocks never finish with 2 slots: 3 threadblocks wait for each other in a "
            "circle");
  EXPECT_EQ(deadlock.findings[0].diagnostic.notes[0].message,
            "rank 0 tb 0 step 0 (cpy): waits for the flag of tb 1 step 0");
}

TEST(Deadlock, everybody_receives_first) {
  Build b(allreduce(3, 1));
  for (int r = 0; r < 3; ++r) b.tb(r, (r + 1) % 3, (r + 2) % 3).rcs(kOut, 0);
  const PlacementReport report = decide(b.done());
  EXPECT_FALSE(report.least_slots);
  ASSERT_EQ(report.of(Property::deadlock).findings.size(), 1U);
  EXPECT_EQ(report.of(Property::deadlock).findings[0].chain.size(), 3U);
  EXPECT_EQ(report.of(Property::deadlock).findings[0].diagnostic.notes[0].message,
            "rank 0 tb 0 step 0 (rcs): waits for a message of rank 2 tb 0");
}

// s -> rcs -> rcs -> r, all in lock step; the last one first waits for something.
Build line(bool circle) {
  Build b(allreduce(4, 2));
  b.tb(0, 1).send(kIn, 0);
  b.tb(1, 2, 0).rcs(kOut, 0);
  b.tb(2, 3, 1).rcs(kOut, 0);
  TbBuild& last = b.tb(3, -1, 2);
  if (circle) {
    // The last rank receives only after what the first rank sends afterwards.
    b.tb(3, -1, 0, 1).recv(kOut, 1).flag();
    last.recv(kOut, 0).on(1, 0);
    b.tb(0, 3, -1, 1).send(kIn, 1).on(0, 0);
  } else {
    last.recv(kOut, 0);
  }
  return b;
}

TEST(Deadlock, a_line_hands_over_at_once) {
  EXPECT_EQ(decide(line(false).done()).least_slots, 0);
  Build b = line(true);
  Algorithm a = b.done();
  a.steps[0].has_dependent = true;
  EXPECT_EQ(decide(a).least_slots, 1);
  VerifyOptions none;
  none.slots = 0;
  const PlacementReport report = decide(a, none);
  const PropertyRuling& deadlock = report.of(Property::deadlock);
  ASSERT_EQ(deadlock.findings.size(), 1U);
  // Those that stand ready wait for the one that does not, not for each other.
  std::string notes;
  for (const Note& n : deadlock.findings[0].diagnostic.notes) notes += n.message + "\n";
  EXPECT_EQ(notes,
            "rank 0 tb 0 step 0 (s): waits for rank 1 tb 0 to receive\n"
            "rank 1 tb 0 step 0 (rcs): waits for rank 2 tb 0 to receive\n"
            "rank 2 tb 0 step 0 (rcs): waits for rank 3 tb 0 to receive\n"
            "rank 3 tb 0 step 0 (r): waits for the flag of tb 1 step 0\n"
            "rank 3 tb 1 step 0 (r): waits for a message of rank 0 tb 1\n"
            "rank 0 tb 1 step 0 (s): waits for the flag of tb 0 step 0\n");
}

TEST(Deadlock, a_negative_number_of_slots_is_none) {
  VerifyOptions options;
  options.slots = -5;
  EXPECT_EQ(decide(both_send_first(1, 1, Protocol::simple), options).of(Property::deadlock).ruling,
            Ruling::refuted);
}

// 20,000 ranks in a line, the last of which comes to its receive after as many steps of its own:
// the sender is not to look through the line again for each of them.
TEST(Deadlock, long_lines_that_wait_long) {
  constexpr int kRanks = 20'000;
  Build b(allreduce(kRanks, 1));
  b.tb(0, 1).send(kIn, 0);
  for (int r = 1; r + 1 < kRanks; ++r) b.tb(r, r + 1, r - 1).rcs(kOut, 0);
  TbBuild& last = b.tb(kRanks - 1, -1, kRanks - 2);
  TbBuild& other = b.tb(kRanks - 1);
  for (int k = 0; k < kRanks; ++k) {
    last.copy(kIn, 0, kOut, 0).flag();
    other.copy(kIn, 0, kOut, 0).on(0, k).flag();
    last.steps.back().depend_tb = k == 0 ? -1 : 1;
    last.steps.back().depend_step = k - 1;
  }
  last.recv(kOut, 0);
  EXPECT_EQ(decide(b.done()).least_slots, 0);
}

// The greedy machine of the tests, which knows no batches of transfers and no lists of waiters.
TEST(Deadlock, agrees_with_the_slow_machine) {
  std::map<bool, int> seen;
  for (std::uint64_t seed = 0; seed < 12'000; ++seed) {
    Algorithm a = tiny_algorithm(seed);
    // Messages of more chunks, in buffers that have them.
    std::mt19937_64 random(seed);
    for (RankProgram& rank : a.ranks) rank.scratch_chunks = 8;
    const oracle::View before = oracle::view_of(a, a.in_place);
    if (!oracle::check_steps(before).empty() || !oracle::check_connections(before).empty() ||
        !oracle::check_merges(before, {}).empty()) {
      continue;
    }
    Loaded loaded;
    PropertyRuling structure;
    load(a, a.collective, a.in_place, 1 << 20, loaded, structure);
    ASSERT_EQ(structure.ruling, Ruling::proved) << seed;
    for (InstrId i = 0; i < loaded.instrs.size(); ++i) {
      const InstrId to = loaded.receiver_of[i];
      if (to == kNone) continue;
      const auto widen = [&](InstrId at, int count) {
        const Block& block = loaded.blocks[loaded.instrs[at].block];
        const ThreadBlock& tb = a.ranks[static_cast<std::size_t>(block.rank)]
                                    .threadblocks[static_cast<std::size_t>(block.tb)];
        Step& s = a.steps[tb.first_step + static_cast<std::uint32_t>(loaded.instrs[at].step)];
        s.count = count;
        s.src_buffer = s.dst_buffer = BufferKind::scratch;
        s.src_offset = s.dst_offset = 0;
      };
      // A step that receives as well has the count of its own partner.
      if (op_info(loaded.instrs[i].op).receives || op_info(loaded.instrs[to].op).sends) continue;
      const int count = 1 + static_cast<int>(random() % 5);
      widen(i, count);
      widen(to, count);
    }
    load(a, a.collective, a.in_place, 1 << 20, loaded, structure = {});
    ASSERT_EQ(structure.ruling, Ruling::proved) << seed << '\n' << to_text(a);
    const oracle::View view = oracle::view_of(a, a.in_place);
    for (const int slots : {1, 2, 3}) {
      for (const int cut : {1, 2, 4}) {
        const bool ends_here = ends(loaded, slots, cut);
        ASSERT_EQ(ends_here, oracle::run_machine(view, {slots, cut}).finished)
            << seed << ' ' << slots << ' ' << cut << '\n'
            << to_text(a);
        ++seen[ends_here];
      }
    }
    ASSERT_EQ(ends(loaded, std::nullopt, 1), oracle::run_machine(view, {std::nullopt, 1}).finished);
  }
  EXPECT_GT(seen[true], 1000);
  EXPECT_GT(seen[false], 1000);
}

}  // namespace
}  // namespace hocket::verifying
