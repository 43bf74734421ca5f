// parallelize(): which operations belong to a fragment.
#include <gtest/gtest.h>

#include "hocket/program.h"
#include "ir/trace.h"
#include "unit/lang/rejection.h"

namespace hocket {
namespace {

TEST(Fragment, lasts_as_long_as_the_object) {
  Program p("p", fully_connected(2), allgather(2, 4));
  const Ref c = p.chunk(0, Buffer::input, 0);
  c.copy(1, "before", 0);
  {
    const auto fast = p.parallelize(4);
    c.copy(1, "inside", 0);
    c.copy(1, "inside", 1);
  }
  c.copy(1, "between", 0);
  {
    const auto fast = p.parallelize(2);
    c.copy(1, "second", 0);
  }
  c.copy(1, "after", 0);
  EXPECT_EQ(p.trace().fragments, (std::vector<std::int32_t>{1, 4, 2}));
  std::vector<std::uint32_t> fragments;
  for (const TraceOp& op : p.trace().ops) fragments.push_back(op.fragment);
  EXPECT_EQ(fragments, (std::vector<std::uint32_t>{0, 1, 1, 0, 2, 0}));
}

TEST(Fragment, of_equally_many_instances_are_alike_and_of_one_is_none) {
  Program p("p", fully_connected(2), allgather(2, 4));
  const Ref c = p.chunk(0, Buffer::input, 0);
  for (const int n : {4, 1, 4}) {
    const auto fast = p.parallelize(n);
    c.copy(1, "s");
    EXPECT_THROW(static_cast<void>(p.parallelize(2)), Error) << "not even in a fragment of one";
  }
  EXPECT_EQ(p.trace().fragments, (std::vector<std::int32_t>{1, 4}));
  EXPECT_EQ(p.trace().ops[0].fragment, 1u);
  EXPECT_EQ(p.trace().ops[1].fragment, 0u);
  EXPECT_EQ(p.trace().ops[2].fragment, 1u);
}

TEST(Fragment, can_be_handed_on) {
  Program p("p", fully_connected(2), allgather(2, 4));
  const Ref c = p.chunk(0, Buffer::input, 0);
  {
    Fragment first = p.parallelize(3);
    const Fragment second = std::move(first);
    c.copy(1, "s");
  }
  c.copy(1, "s");
  EXPECT_EQ(p.trace().ops[0].fragment, 1u);
  EXPECT_EQ(p.trace().ops[1].fragment, 0u);
}

TEST(Fragment, does_not_nest) {
  Program p("p", fully_connected(2), allgather(2, 4));
  const std::uint32_t outer_line = CallSite::current().line() + 1;
  const auto outer = p.parallelize(2);
  const Diagnostic d = expect_rejected(Code::NestedFragment, "a parallel fragment inside another",
                                       [&](Guilty& guilty) {
                                         guilty.next_line();
                                         const auto inner = p.parallelize(2);
                                       });
  ASSERT_EQ(d.notes.size(), 1u);
  EXPECT_EQ(d.notes[0].message, "the outer one begins here");
  EXPECT_EQ(d.notes[0].where.line, outer_line);
}

TEST(Fragment, needs_an_instance) {
  Program p("p", fully_connected(2), allgather(2, 4));
  for (const int n : {0, -2}) {
    expect_rejected(Code::BadInstances,
                    n == 0 ? "parallelize(0), but there must be at least 1 instance"
                           : "parallelize(-2), but there must be at least 1 instance",
                    [&](Guilty& guilty) {
                      guilty.next_line();
                      const auto fast = p.parallelize(n);
                    });
  }
  expect_rejected(Code::TooLarge, "parallelize(1000000000) makes more chunks than can be numbered",
                  [&](Guilty& guilty) {
                    guilty.next_line();
                    const auto fast = p.parallelize(1'000'000'000);
                  });
  EXPECT_EQ(p.trace().fragments.size(), 1u);
}

}  // namespace
}  // namespace hocket
