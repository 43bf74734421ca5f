// check(): what it says of wrong programs.
#include <gtest/gtest.h>

#include "hocket/program.h"
#include "ir/trace.h"
#include "unit/lang/rejection.h"

namespace hocket {
namespace {

using Origins = std::vector<Origin>;
constexpr CallSite kRing{"ring.cpp", 12};

TEST(Check, names_missing_and_surplus_origins_and_the_last_write) {
  Program p("bad", fully_connected(3), allreduce(3, 1));
  p.chunk(0, Buffer::input, 0).copy(0, Buffer::output, 0);
  Ref out = p.chunk(0, Buffer::output, 0);
  out.reduce(p.chunk(1, Buffer::input, 0));
  out.reduce(p.chunk(1, Buffer::input, 0), {}, kRing);
  out.copy(1, {}, kRing);

  const CheckReport report = p.check();
  EXPECT_FALSE(report);
  EXPECT_EQ(report.checked, 3);
  EXPECT_EQ(report.wrong, 3);
  ASSERT_EQ(report.list.size(), 3u);
  const WrongChunk& w = report.list[0];
  EXPECT_EQ(w.rank, 0);
  EXPECT_EQ(w.buffer, BufferKind::output);
  EXPECT_EQ(w.index, 0);
  EXPECT_EQ(w.expected, (Origins{{0, 0}, {1, 0}, {2, 0}}));
  EXPECT_EQ(w.found, (Origins{{0, 0}, {1, 0}, {1, 0}}));
  EXPECT_EQ(w.missing, (Origins{{2, 0}}));
  EXPECT_EQ(w.surplus, (Origins{{1, 0}}));
  EXPECT_TRUE(w.written);
  EXPECT_EQ(w.last_write, Location("ring.cpp", 12));
  EXPECT_EQ(report.str(),
            "rank 0 output[0]: expected {r0.c0 + r1.c0 + r2.c0}, found {r0.c0 + r1.c0 + r1.c0}; "
            "missing r2.c0; surplus r1.c0 (last written at ring.cpp:12)\n"
            "rank 1 output[0]: expected {r0.c0 + r1.c0 + r2.c0}, found {r0.c0 + r1.c0 + r1.c0}; "
            "missing r2.c0; surplus r1.c0 (last written at ring.cpp:12)\n"
            "rank 2 output[0]: expected {r0.c0 + r1.c0 + r2.c0}, found nothing (never written)\n"
            "program bad does not implement allreduce: 3 of 3 chunks wrong");
}

TEST(Check, says_where_the_content_is_there_from_the_start) {
  Program p("idle", fully_connected(2), allreduce(2, 1, true));
  EXPECT_EQ(p.check(1).str(),
            "rank 0 input[0]: expected {r0.c0 + r1.c0}, found {r0.c0}; missing r1.c0 (there from "
            "the start)\n"
            "... and 1 more\n"
            "program idle does not implement allreduce: 2 of 2 chunks wrong");
}

TEST(Check, lists_a_few_origins_and_counts_the_rest) {
  Program p("idle", fully_connected(20), allreduce(20, 1, true));
  const CheckReport report = p.check(1);
  EXPECT_EQ(report.wrong, 20);
  ASSERT_EQ(report.list.size(), 1u);
  EXPECT_EQ(report.list[0].expected.size(), 8u);
  EXPECT_EQ(
      report.list[0].message,
      "rank 0 input[0]: expected {r0.c0 + r1.c0 + r2.c0 + r3.c0 + r4.c0 + r5.c0 + r6.c0 + r7.c0 "
      "+ ... (20 in all)}, found {r0.c0}; missing r1.c0, r2.c0, r3.c0, r4.c0, r5.c0, r6.c0, "
      "r7.c0, r8.c0, ... (19 in all) (there from the start)");
}

TEST(Check, a_chunk_in_the_wrong_place) {
  Program p("swapped", fully_connected(2), allgather(2, 1));
  p.chunk(0, Buffer::input, 0).copy(0, Buffer::output, 1, {}, kRing);
  EXPECT_EQ(p.check(2).list[1].message,
            "rank 0 output[1]: expected {r1.c0}, found {r0.c0} (last written at ring.cpp:12)");
}

TEST(Check, does_not_list_what_may_be_astronomic) {
  Program p("doubling", fully_connected(2), allreduce(2, 1, true));
  Ref c = p.chunk(0, Buffer::input, 0);
  for (int i = 0; i < 80; ++i) c.reduce(c.copy(1, "s", 0));
  const CheckReport report = p.check(1);
  EXPECT_EQ(report.list[0].found, Origins(8, Origin{0, 0}));
  EXPECT_NE(report.list[0].message.find("(18446744073709551615 in all)"), std::string::npos);
  EXPECT_THROW(p.content(0, Buffer::input, 0), Error);
}

TEST(Check, dont_care_is_not_counted) {
  Program p("reduce", fully_connected(2), reduce(2, 3, 1));
  Ref out = p.chunk(1, Buffer::input, 0, 3).copy(1, Buffer::output, 0);
  out.reduce(p.chunk(0, Buffer::input, 0, 3));
  EXPECT_EQ(p.check().checked, 3);
  EXPECT_TRUE(p.check());
}

TEST(Check, require_throws_at_the_caller_and_names_the_writes) {
  Program p("bad", fully_connected(2), allgather(2, 1));
  p.chunk(0, Buffer::input, 0).copy(0, Buffer::output, 1, {}, kRing);
  const Diagnostic d = expect_rejected(
      Code::WrongResult, "program bad does not implement allgather: 4 of 4 chunks wrong",
      [&](Guilty& guilty) {
        guilty.next_line();
        p.check().require();
      });
  ASSERT_EQ(d.notes.size(), 4u);
  EXPECT_EQ(d.notes[1].where, Location("ring.cpp", 12));
  EXPECT_EQ(p.check().list[1].message,
            "rank 0 output[1]: expected {r1.c0}, found {r0.c0} (last written at ring.cpp:12)");
  EXPECT_EQ(d.notes[1].message,
            "rank 0 output[1]: expected {r1.c0}, found {r0.c0} (last written here)");
}

TEST(Check, require_says_how_many_it_left_out) {
  Program p("bad", fully_connected(4), allgather(4, 1));
  const Diagnostic d = expect_rejected(
      Code::WrongResult, "program bad does not implement allgather: 16 of 16 chunks wrong",
      [&](Guilty& guilty) {
        guilty.next_line();
        p.check().require();
      });
  ASSERT_EQ(d.notes.size(), 9u);
  EXPECT_EQ(d.notes[7].message,
            "rank 1 output[3]: expected {r3.c0}, found nothing (never written)");
  EXPECT_EQ(d.notes[8].message, "and 8 more");
}

TEST(Check, require_passes_when_right) {
  Program p("right", fully_connected(1), allgather(1, 1, true));
  EXPECT_NO_THROW(p.check().require());
}

TEST(Check, a_collective_that_is_only_a_name_cannot_be_checked) {
  CustomCollective c("theirs", 2);
  c.buffers(0, 1, 1).holds(0, {BufferKind::input, 0}, {0, 0}).without_postcondition();
  Program p("p", fully_connected(2), c.build());
  EXPECT_FALSE(p.check());
  EXPECT_EQ(p.check().str(), "program p: the postcondition of collective theirs is not known");
  expect_rejected(Code::NoPostcondition,
                  "program p: the postcondition of collective theirs is not known",
                  [&](Guilty& guilty) {
                    guilty.next_line();
                    p.check().require();
                  });
}

// What the seed program of all-to-next computes, declared by hand.
TEST(Check, a_custom_collective_is_checked_as_declared) {
  const int n = 3;
  CustomCollective c("to the left", n, 2);
  for (int r = 0; r < n; ++r) {
    c.buffers(r, 2, 2);
    for (int k = 0; k < 2; ++k) {
      if (r > 0) c.holds(r, {BufferKind::input, k}, {r, k});
      if (r + 1 < n) c.requires_(r, {BufferKind::output, k}, {{r + 1, k}});
    }
  }
  Program p("p", line(n), c.build());
  EXPECT_FALSE(p.find_chunk(0, Buffer::input, 0));
  for (int r = 1; r < n; ++r) {
    const Ref in = p.chunk(r, Buffer::input, 0, 2);
    EXPECT_EQ(in.dst_rank(), r - 1);
    EXPECT_EQ(in.dst_index(1), 1);
    in.copy(r - 1, Buffer::output, 0);
  }
  EXPECT_TRUE(p.check()) << p.check().str();
  EXPECT_EQ(p.check().checked, 4);
}

TEST(Check, a_custom_sum_counts_repeats) {
  CustomCollective c("double", 1);
  c.buffers(0, 1, 1).holds(0, {BufferKind::input, 0}, {0, 0});
  c.requires_(0, {BufferKind::output, 0}, {{0, 0}, {0, 0}});
  Program p("p", ring(1), c.build());
  Ref out = p.chunk(0, Buffer::input, 0).copy(0, Buffer::output, 0);
  EXPECT_FALSE(p.check());
  EXPECT_EQ(p.check().list[0].missing, (Origins{{0, 0}}));
  out.reduce(p.chunk(0, Buffer::input, 0));
  EXPECT_TRUE(p.check());
}

}  // namespace
}  // namespace hocket
