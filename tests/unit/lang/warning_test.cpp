// What is said but stops nothing: stale references, copies of a place onto itself.
#include <gtest/gtest.h>

#include "hocket/program.h"
#include "ir/trace.h"

namespace hocket {
namespace {

class Warnings : public ::testing::Test {
 protected:
  Program p{"p", fully_connected(3), allreduce(3, 4)};
  static std::uint32_t here(CallSite at = CallSite::current()) { return at.line(); }
};

TEST_F(Warnings, a_stale_source_names_both_lines) {
  const Ref kept = p.chunk(0, Buffer::input, 0).copy(1, "s", 0);
  p.chunk(0, Buffer::input, 1).copy(1, "s", 0);
  kept.copy(2, "s", 0);
  const std::uint32_t line = here() - 1;

  ASSERT_EQ(p.warnings().size(), 1u);
  const Diagnostic& d = p.warnings()[0];
  EXPECT_EQ(d.severity, Severity::warning);
  EXPECT_EQ(code_text(d.code), "HK0119");
  EXPECT_EQ(d.message,
            "rank 1 scratch \"s\"[0] was overwritten after this reference to it was made; what is "
            "used is the new content");
  EXPECT_EQ(d.where.line, line);
  ASSERT_EQ(d.notes.size(), 2u);
  EXPECT_EQ(d.notes[0].message, "the reference was made here");
  EXPECT_EQ(d.notes[0].where.line, line - 2);
  EXPECT_EQ(d.notes[1].message, "the place was overwritten here");
  EXPECT_EQ(d.notes[1].where.line, line - 1);
  // It means the new content all the same.
  EXPECT_EQ(p.chunk(2, "s", 0).origin(), (Origin{0, 1}));
}

TEST_F(Warnings, one_slot_of_several_is_enough) {
  const Ref all = p.chunk(0, Buffer::input, 0, 4);
  p.chunk(1, Buffer::input, 2).copy(0, Buffer::input, 2);
  all.copy(1, "s", 0);
  ASSERT_EQ(p.warnings().size(), 1u);
  EXPECT_EQ(p.warnings()[0].message.substr(0, 15), "rank 0 input[2]");
}

TEST_F(Warnings, an_operand_and_a_destination_of_reduce_are_uses) {
  Ref a = p.chunk(0, Buffer::input, 0);
  const Ref b = p.chunk(1, Buffer::input, 0);
  p.chunk(2, Buffer::input, 0).copy(0, Buffer::input, 0);
  p.chunk(2, Buffer::input, 0).copy(1, Buffer::input, 0);
  a.reduce(b);
  EXPECT_EQ(p.warnings().size(), 2u);
}

TEST_F(Warnings, a_group_is_a_use_and_makes_a_new_reference) {
  const Ref a = p.chunk(0, Buffer::input, 0);
  const Ref b = p.chunk(0, Buffer::input, 1);
  p.chunk(2, Buffer::input, 0).copy(0, Buffer::input, 0);
  const Ref both = a.group(b);
  EXPECT_EQ(p.warnings().size(), 1u);
  both.copy(1);
  EXPECT_EQ(p.warnings().size(), 1u);
}

TEST_F(Warnings, a_split_part_is_as_old_as_the_whole) {
  const std::vector<Ref> halves = p.chunk(0, Buffer::input, 0, 4).split(2);
  p.chunk(2, Buffer::input, 0).copy(0, Buffer::input, 3);
  halves[0].copy(1);
  EXPECT_TRUE(p.warnings().empty());
  halves[1].copy(1);
  EXPECT_EQ(p.warnings().size(), 1u);
}

TEST_F(Warnings, a_pair_of_lines_is_named_once) {
  for (int i = 0; i < 4; ++i) {
    const Ref c = p.chunk(0, Buffer::input, i);
    p.chunk(1, Buffer::input, i).copy(0, Buffer::input, i);
    c.copy(2, "s");
  }
  EXPECT_EQ(p.warnings().size(), 1u);
}

TEST_F(Warnings, ordinary_programs_are_silent) {
  Ref sum = p.chunk(0, Buffer::input, 0);
  // Its own reduce refreshes a reference.
  sum.reduce(p.chunk(1, Buffer::input, 0));
  sum.reduce(p.chunk(2, Buffer::input, 0));
  const Ref out = sum.copy(0, Buffer::output, 0);
  out.copy(1);
  out.copy(2);
  // Writing to a place that was read is no use of a reference.
  p.chunk(2, Buffer::input, 1).copy(0, Buffer::input, 0);
  // A new reference means the new content.
  p.chunk(0, Buffer::input, 0).copy(1, "t");
  EXPECT_TRUE(p.warnings().empty());
}

TEST_F(Warnings, a_copy_onto_itself_emits_nothing_and_can_be_chained) {
  const Ref c = p.chunk(0, Buffer::input, 0, 2);
  const Ref same = c.copy(0, Buffer::input, 0);
  const std::uint32_t line = here() - 1;
  EXPECT_EQ(same, c);
  EXPECT_TRUE(p.trace().ops.empty());
  ASSERT_EQ(p.warnings().size(), 1u);
  EXPECT_EQ(code_text(p.warnings()[0].code), "HK0124");
  EXPECT_EQ(p.warnings()[0].message,
            "rank 0 input[0..1] is copied onto itself, which does nothing");
  EXPECT_EQ(p.warnings()[0].where.line, line);
  c.copy(0).copy(1);
  EXPECT_EQ(p.trace().ops.size(), 1u);
}

}  // namespace
}  // namespace hocket
