// Which property may speak when another has failed, and what the whole is then.
#include "hocket/verify.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "hocket/diagnostic.h"
#include "support/build.h"

namespace hocket {
namespace {

using oracle::Build;
using oracle::kIn;
using oracle::kOut;

std::string rulings(const PlacementReport& placement) {
  std::string text;
  for (int k = 0; k < kNumProperties; ++k) {
    text += ruling_name(placement.of(static_cast<Property>(k)).ruling)[0];
  }
  return text;
}

Build copies(bool in_place = false) {
  Build b(allreduce(1, 2, in_place));
  if (!in_place) b.tb(0).copy(kIn, 0, kOut, 0, 2);
  return b;
}

TEST(Verify, a_right_one) {
  const VerifyReport report = verify(copies().done());
  ASSERT_EQ(report.placements.size(), 1U);
  EXPECT_EQ(rulings(report.placements[0]), "pppppp");
  EXPECT_EQ(report.ruling(), Ruling::proved);
  EXPECT_EQ(report.name, "by_hand");
}

TEST(Verify, nothing_is_proved_on_a_wrong_structure) {
  Build b = copies();
  b.tb(0).copy(kIn, 5, kOut, 0);
  const VerifyReport report = verify(b.done());
  EXPECT_EQ(rulings(report.placements[0]), "ruuuuu");
  EXPECT_EQ(report.placements[0].of(Property::structure).summary, "1 thing is wrong");
  EXPECT_EQ(report.placements[0].of(Property::races).summary, "its structure is not right");
  EXPECT_EQ(report.ruling(), Ruling::refuted);
  EXPECT_FALSE(report.placements[0].least_slots);
}

TEST(Verify, the_result_needs_an_end) {
  Build b = copies();
  b.tb(0).copy(kIn, 0, kOut, 0).on(2, 0).flag();
  b.tb(0).copy(kIn, 0, kOut, 0).on(1, 0).flag();
  const VerifyReport report = verify(b.done());
  EXPECT_EQ(rulings(report.placements[0]), "pruuuu");
  EXPECT_EQ(report.placements[0].of(Property::postcondition).summary,
            "it does not end with any number of slots");
}

// A deadlock of too few slots leaves the rest to be decided: with more slots it would run.
TEST(Verify, too_few_slots_say_nothing_of_the_result) {
  Build b(alltoall(2, 1));
  for (int r = 0; r < 2; ++r) {
    b.tb(r, 1 - r, 1 - r).send(kIn, 1 - r).recv(kOut, 1 - r);
    b.tb(r).copy(kIn, r, kOut, r);
  }
  VerifyOptions options;
  options.slots = 0;
  const VerifyReport report = verify(b.done(), options);
  EXPECT_EQ(rulings(report.placements[0]), "prpppp");
  EXPECT_EQ(report.ruling(), Ruling::refuted);
  EXPECT_EQ(report.placements[0].least_slots, 1);
}

TEST(Verify, a_result_that_a_race_may_spoil_is_open) {
  Build b = copies();
  b.tb(0).copy(kIn, 0, kOut, 0);
  const VerifyReport report = verify(b.done());
  EXPECT_EQ(rulings(report.placements[0]), "ppruuu");
  EXPECT_TRUE(report.waste.empty());
}

TEST(Verify, every_placement_that_the_file_allows) {
  Algorithm a = copies().done();
  a.in_place = a.out_of_place = true;
  VerifyReport report = verify(a);
  ASSERT_EQ(report.placements.size(), 2U);
  EXPECT_FALSE(report.placements[0].in_place);
  EXPECT_TRUE(report.placements[1].in_place);
  EXPECT_EQ(report.ruling(), Ruling::proved);

  // In place there would be nothing to do; out of place nobody writes the output.
  a = copies(true).done();
  a.in_place = a.out_of_place = true;
  report = verify(a);
  ASSERT_EQ(report.placements.size(), 2U);
  EXPECT_EQ(report.placements[0].ruling, Ruling::refuted);
  EXPECT_EQ(report.placements[1].ruling, Ruling::proved);
  EXPECT_EQ(report.ruling(), Ruling::refuted);

  VerifyOptions options;
  options.in_place = true;
  EXPECT_EQ(verify(a, options).ruling(), Ruling::proved);
}

TEST(Verify, bits_count_when_they_are_required) {
  // Three ranks; each adds to its own value what the next two send.
  Build b(allreduce(3, 1));
  for (int r = 0; r < 3; ++r) {
    b.tb(r, (r + 1) % 3, (r + 2) % 3, 0).send(kIn, 0).rrc(kIn, 0, kOut, 0).flag();
    b.scratch(r, 1);
    b.tb(r, (r + 2) % 3, (r + 1) % 3, 1).send(kIn, 0).recv(oracle::kScratch, 0);
    b.tb(r).nop(0, 1).reduce(oracle::kScratch, 0, kOut, 0).on(1, 1);
  }
  Algorithm a = b.done();
  for (Step& s : a.steps) {
    if (s.op == OpCode::recv) s.has_dependent = true;
  }
  EXPECT_EQ(rulings(verify(a).placements[0]), "pppppr");
  EXPECT_EQ(verify(a).ruling(), Ruling::proved);
  VerifyOptions options;
  options.require_same_bits = true;
  EXPECT_EQ(verify(a, options).ruling(), Ruling::refuted);
}

TEST(Verify, another_collective) {
  Algorithm a = copies().done();
  VerifyOptions options;
  options.collective = alltoall(1, 2);
  EXPECT_EQ(verify(a, options).ruling(), Ruling::proved);
  options.collective = alltoall(1, 3);
  try {
    verify(a, options);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::BadCollective);
  }
}

// What every slot of two ranks ends with, as "rank buffer index: origins".
std::string everything(const FinalContents& contents) {
  std::string text;
  for (int r = 0; r < contents.collective().num_ranks(); ++r) {
    for (const BufferKind kind : {BufferKind::input, BufferKind::output}) {
      for (int i = 0; i < 3; ++i) {
        text += fmt::format("{} {}[{}]:", r, buffer_kind_letter(kind), i);
        for (const Origin& o : contents.origins(r, {kind, i})) {
          text += fmt::format(" {}:{}", o.rank, o.index);
        }
        text += contents.value(r, {kind, i}) == 0 ? " nothing; " : "; ";
      }
    }
  }
  return text;
}

TEST(Verify, a_check_of_the_users_sees_the_end) {
  Build b(allreduce(2, 2));
  for (int r = 0; r < 2; ++r) {
    b.tb(r, 1 - r, 1 - r).send(kIn, 0).rrc(kIn, 0, kOut, 0);
  }
  std::string seen;
  VerifyOptions options;
  options.check = [&](const FinalContents& contents) {
    EXPECT_FALSE(contents.in_place());
    EXPECT_EQ(contents.value(0, {BufferKind::output, 0}),
              contents.value(1, {BufferKind::output, 0}));
    EXPECT_EQ(contents.value(2, {BufferKind::output, 0}), 0U);
    seen = everything(contents);
    return std::string();
  };
  const VerifyReport report = verify(b.done(), options);
  EXPECT_EQ(seen,
            "0 i[0]: 0:0; 0 i[1]: 0:1; 0 i[2]: nothing; "
            "0 o[0]: 0:0 1:0; 0 o[1]: nothing; 0 o[2]: nothing; "
            "1 i[0]: 1:0; 1 i[1]: 1:1; 1 i[2]: nothing; "
            "1 o[0]: 0:0 1:0; 1 o[1]: nothing; 1 o[2]: nothing; ");
  // Its approval does not excuse what the collective misses.
  EXPECT_EQ(report.placements[0].of(Property::postcondition).ruling, Ruling::refuted);
}

TEST(Verify, a_check_of_the_users_in_place_sees_one_memory_under_two_names) {
  VerifyOptions options;
  options.check = [](const FinalContents& contents) {
    EXPECT_TRUE(contents.in_place());
    for (const int i : {0, 1}) {
      EXPECT_EQ(contents.value(0, {BufferKind::input, i}),
                contents.value(0, {BufferKind::output, i}));
      EXPECT_EQ(contents.origins(0, {BufferKind::output, i}), std::vector<Origin>({{0, i}}));
    }
    return std::string();
  };
  EXPECT_EQ(verify(copies(true).done(), options).ruling(), Ruling::proved);
}

TEST(Verify, a_check_of_the_users_decides_where_the_collective_does_not) {
  Algorithm a = copies().done();
  CustomCollective open("open", 1, 2);
  open.buffers(0, 2, 2);
  for (const int i : {0, 1}) open.holds(0, {BufferKind::input, i}, {0, i});
  a.collective = open.without_postcondition().build();
  const auto ruled = [&](const std::optional<std::string>& answer, Algorithm& algorithm) {
    VerifyOptions options;
    options.check = [&](const FinalContents&) { return answer; };
    return verify(algorithm, options).placements[0].of(Property::postcondition);
  };
  EXPECT_EQ(verify(a).ruling(), Ruling::undecided);
  EXPECT_EQ(ruled(std::nullopt, a).ruling, Ruling::undecided);
  EXPECT_EQ(ruled("", a).ruling, Ruling::proved);
  EXPECT_EQ(ruled("", a).summary, "as its check wants");
  const PropertyRuling refuted = ruled("the sun does not shine", a);
  EXPECT_EQ(refuted.ruling, Ruling::refuted);
  EXPECT_EQ(refuted.summary, "the sun does not shine");
  ASSERT_EQ(refuted.findings.size(), 1U);
  EXPECT_EQ(refuted.findings[0].diagnostic.code, Code::WrongContent);
  // It can be asked for more than the collective says.
  Algorithm whole = copies().done();
  EXPECT_EQ(ruled("", whole).summary, "2 chunks as allreduce wants");
  EXPECT_EQ(ruled("no", whole).ruling, Ruling::refuted);
}

// Of a file that only says `custom` nothing is known: neither that it is right nor that it is
// wrong.
TEST(Verify, a_custom_collective_of_which_only_the_name_is_known) {
  Algorithm a = copies().done();
  CustomCollective name_only("custom", 1, 2);
  name_only.buffers(0, 2, 2);
  a.collective = name_only.without_postcondition().build();
  VerifyReport report = verify(a);
  EXPECT_EQ(rulings(report.placements[0]), "ppppup");
  EXPECT_EQ(report.ruling(), Ruling::undecided);
  // In place the whole buffer is the caller's, the input's name for it or the output's.
  Build b(allreduce(1, 2, true));
  b.tb(0).copy(kOut, 1, kOut, 0);
  a = b.done();
  CustomCollective in_place("custom", 1, 2, true);
  in_place.buffers(0, 1, 2);
  a.collective = in_place.without_postcondition().build();
  a.ranks[0].input_chunks = 1;
  report = verify(a);
  ASSERT_EQ(report.placements.size(), 1U);
  EXPECT_EQ(rulings(report.placements[0]), "ppppup");
  // Out of place the output is nobody's until it is written.
  a.collective = name_only.without_postcondition().build();
  a.ranks[0].input_chunks = 2;
  a.in_place = false;
  a.out_of_place = true;
  EXPECT_EQ(rulings(verify(a).placements[0]), "ppprup");
}

// A check that approves what one schedule leaves proves nothing of the others.
TEST(Verify, a_check_of_the_users_proves_nothing_where_steps_race) {
  Build b = copies();
  b.tb(0).copy(kIn, 0, kOut, 0);
  VerifyOptions options;
  options.check = [](const FinalContents&) { return std::string(); };
  EXPECT_EQ(rulings(verify(b.done(), options).placements[0]), "ppruuu");
}

TEST(Verify, steps_that_are_not_there) {
  for (const std::uint32_t first : {1U, 0xffffffffU}) {
    Algorithm a = copies().done();
    a.ranks[0].threadblocks[0].first_step = first;
    const VerifyReport report = verify(a);
    EXPECT_EQ(rulings(report.placements[0]), "ruuuuu");
    ASSERT_EQ(report.placements[0].of(Property::structure).findings.size(), 1U);
    const Finding& finding = report.placements[0].of(Property::structure).findings[0];
    EXPECT_EQ(finding.at, (StepPlace{0, 0, -1}));
    EXPECT_EQ(finding.diagnostic.code, Code::VerifyStructure);
    EXPECT_EQ(report.ruling(), Ruling::refuted);
    for (const TargetRuling& target : report.targets) {
      EXPECT_EQ(target.ruling.ruling, Ruling::refuted);
    }
    EXPECT_FALSE(report.str().empty());
    EXPECT_FALSE(to_json(report).empty());
  }
}

TEST(Verify, sizes_that_are_no_range) {
  const Algorithm a = copies().done();
  for (const auto& [min, max] : {std::pair{-1, 5}, std::pair{6, 5}}) {
    VerifyOptions options;
    options.min_bytes = min;
    options.max_bytes = max;
    try {
      verify(a, options);
      FAIL();
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Code::BadSizeRange);
    }
  }
}

// Of no message at all everything holds.
TEST(Verify, sizes_that_leave_nothing_of_the_algorithms_own) {
  Algorithm a = copies().done();
  a.min_bytes = 100;
  a.max_bytes = 1000;
  VerifyOptions above;
  above.min_bytes = 1001;
  VerifyOptions below;
  below.max_bytes = 99;
  for (const VerifyOptions& options : {above, below}) {
    try {
      verify(a, options);
      ADD_FAILURE() << "taken";
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Code::BadSizeRange);
    }
  }
  above.min_bytes = 1000;
  EXPECT_EQ(verify(a, above).ruling(), Ruling::proved);
  below.max_bytes = 100;
  EXPECT_EQ(verify(a, below).ruling(), Ruling::proved);
  a.max_bytes = 99;
  const VerifyReport report = verify(a);
  EXPECT_EQ(rulings(report.placements[0]), "ruuuuu");
  EXPECT_EQ(report.placements[0].of(Property::structure).findings[0].diagnostic.message,
            "it is for messages of 100 to 99 bytes, which none is");
  above.min_bytes = 5;
  above.max_bytes = 5;
  EXPECT_EQ(verify(a, above).ruling(), Ruling::proved);
}

TEST(Verify, one_that_may_not_be_called) {
  Algorithm a = copies().done();
  a.out_of_place = false;
  EXPECT_EQ(verify(a).ruling(), Ruling::refuted);
  VerifyOptions options;
  options.in_place = false;
  EXPECT_EQ(verify(a, options).ruling(), Ruling::proved);
}

TEST(Verify, a_postcondition_that_wants_nothing_says_so) {
  CustomCollective c("idle", 1);
  c.buffers(0, 1, 1).holds(0, {BufferKind::input, 0}, {0, 0});
  Build b(c.build());
  b.tb(0).copy(kIn, 0, kOut, 0);
  const PropertyRuling ruling = verify(b.done()).placements[0].of(Property::postcondition);
  EXPECT_EQ(ruling.ruling, Ruling::proved);
  EXPECT_EQ(ruling.summary, "idle wants nothing of any chunk");
}

TEST(Verify, a_root_that_is_said_counts) {
  Build b(broadcast(2, 1, 0));
  b.tb(0, 1).copy(kIn, 0, kOut, 0).send(kOut, 0);
  b.tb(1, -1, 0).recv(kOut, 0);
  Algorithm a = b.done();
  ASSERT_EQ(verify(a).ruling(), Ruling::proved);
  EXPECT_EQ(verify(a).placements[0].of(Property::postcondition).summary,
            "2 chunks as broadcast with root 0 wants");
  a.collective = broadcast(2, 1, 1);
  EXPECT_EQ(infer_root(a), 1);
  EXPECT_EQ(verify(a).ruling(), Ruling::refuted);
  a.root_guessed = true;
  EXPECT_EQ(infer_root(a), 0);
}

TEST(Verify, too_large_is_not_fine) {
  Algorithm a = copies().done();
  a.ranks[0].scratch_chunks = 1'000'000'000;
  const VerifyReport report = verify(a);
  EXPECT_EQ(rulings(report.placements[0]), "uuuuuu");
  EXPECT_EQ(report.ruling(), Ruling::undecided);
}

TEST(Verify, names_of_places) {
  EXPECT_EQ(str(StepPlace{}), "");
  EXPECT_EQ(str(StepPlace{3}), "rank 3");
  EXPECT_EQ(str(StepPlace{3, 1, 2}), "rank 3 tb 1 step 2");
}

}  // namespace
}  // namespace hocket
