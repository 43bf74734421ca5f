// Collectives against the table of shapes in collective.h, written here a second time as literals.
#include "hocket/collective.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "hocket/diagnostic.h"
#include "unit/lang/rejection.h"

namespace hocket {
namespace {

using Kind = CollectiveKind;

constexpr Kind kBuiltIn[] = {Kind::allreduce,
                             Kind::allgather,
                             Kind::reduce_scatter,
                             Kind::alltoall,
                             Kind::broadcast,
                             Kind::reduce,
                             Kind::gather,
                             Kind::scatter,
                             Kind::all_to_next_forward,
                             Kind::all_to_next_backward};

bool rooted(Kind kind) {
  return kind == Kind::broadcast || kind == Kind::reduce || kind == Kind::gather ||
         kind == Kind::scatter;
}

// One character a slot's requirement: "." any, "r.i" one origin, "*i" every rank's chunk i.
std::string requirement(const Collective& c, int rank, Slot slot) {
  const Expected e = c.expected(rank, slot);
  switch (e.kind) {
    case Expected::Kind::any:
      return ".";
    case Expected::Kind::one:
      return std::to_string(e.origin.rank) + "." + std::to_string(e.origin.index);
    case Expected::Kind::all_ranks:
      return "*" + std::to_string(e.origin.index);
    case Expected::Kind::list: {
      std::string text;
      for (const Origin& o : e.list) {
        text += (text.empty() ? "" : "+") + std::to_string(o.rank) + "." + std::to_string(o.index);
      }
      return text;
    }
  }
  return "?";
}

// "0.0 0.1 | . . 1.0": the slots of a buffer.
std::string requirements(const Collective& c, int rank, BufferKind buffer) {
  std::string text;
  for (int k = 0; k < c.chunks(rank, buffer); ++k) {
    text += (k ? " " : "") + requirement(c, rank, {buffer, k});
  }
  return text;
}

std::string holdings(const Collective& c, int rank, BufferKind buffer) {
  std::string text;
  for (int k = 0; k < c.chunks(rank, buffer); ++k) {
    const auto o = c.initial(rank, {buffer, k});
    text += (k ? " " : "") +
            (o ? std::to_string(o->rank) + "." + std::to_string(o->index) : std::string("-"));
  }
  return text;
}

struct Row {
  Kind kind;
  int rank;
  std::string input;     // what lies there before
  std::string output;    // what must lie there after
  std::string in_input;  // in place: before, input and output; after, input and output
  std::string in_output;
  std::string out_input;
  std::string out_output;
};

// Two ranks, chunk factor 2, root 1.
const std::vector<Row> kTable = {
    {Kind::allreduce, 0, "0.0 0.1", "*0 *1", "0.0 0.1", "0.0 0.1", "*0 *1", "*0 *1"},
    {Kind::allreduce, 1, "1.0 1.1", "*0 *1", "1.0 1.1", "1.0 1.1", "*0 *1", "*0 *1"},
    {Kind::allgather, 0, "0.0 0.1", "0.0 0.1 1.0 1.1", "0.0 0.1", "0.0 0.1 - -", "0.0 0.1",
     "0.0 0.1 1.0 1.1"},
    {Kind::allgather, 1, "1.0 1.1", "0.0 0.1 1.0 1.1", "1.0 1.1", "- - 1.0 1.1", "1.0 1.1",
     "0.0 0.1 1.0 1.1"},
    {Kind::reduce_scatter, 0, "0.0 0.1 0.2 0.3", "*0 *1", "0.0 0.1 0.2 0.3", "0.0 0.1", "*0 *1 . .",
     "*0 *1"},
    {Kind::reduce_scatter, 1, "1.0 1.1 1.2 1.3", "*2 *3", "1.0 1.1 1.2 1.3", "1.2 1.3", ". . *2 *3",
     "*2 *3"},
    {Kind::alltoall, 0, "0.0 0.1 0.2 0.3", "0.0 0.1 1.0 1.1", "0.0 0.1 0.2 0.3", "0.0 0.1 0.2 0.3",
     "0.0 0.1 1.0 1.1", "0.0 0.1 1.0 1.1"},
    {Kind::alltoall, 1, "1.0 1.1 1.2 1.3", "0.2 0.3 1.2 1.3", "1.0 1.1 1.2 1.3", "1.0 1.1 1.2 1.3",
     "0.2 0.3 1.2 1.3", "0.2 0.3 1.2 1.3"},
    {Kind::broadcast, 0, "- -", "1.0 1.1", "- -", "- -", "1.0 1.1", "1.0 1.1"},
    {Kind::broadcast, 1, "1.0 1.1", "1.0 1.1", "1.0 1.1", "1.0 1.1", "1.0 1.1", "1.0 1.1"},
    {Kind::reduce, 0, "0.0 0.1", ". .", "0.0 0.1", "0.0 0.1", ". .", ". ."},
    {Kind::reduce, 1, "1.0 1.1", "*0 *1", "1.0 1.1", "1.0 1.1", "*0 *1", "*0 *1"},
    {Kind::gather, 0, "0.0 0.1", "", "0.0 0.1", "", ". .", ""},
    {Kind::gather, 1, "1.0 1.1", "0.0 0.1 1.0 1.1", "1.0 1.1", "- - 1.0 1.1", "1.0 1.1",
     "0.0 0.1 1.0 1.1"},
    {Kind::scatter, 0, "", "1.0 1.1", "", "- -", "", "1.0 1.1"},
    {Kind::scatter, 1, "1.0 1.1 1.2 1.3", "1.2 1.3", "1.0 1.1 1.2 1.3", "1.2 1.3", ". . 1.2 1.3",
     "1.2 1.3"},
    {Kind::all_to_next_forward, 0, "0.0 0.1", ". .", "0.0 0.1", "0.0 0.1", ". .", ". ."},
    {Kind::all_to_next_forward, 1, "1.0 1.1", "0.0 0.1", "1.0 1.1", "1.0 1.1", "0.0 0.1",
     "0.0 0.1"},
    {Kind::all_to_next_backward, 0, "0.0 0.1", "1.0 1.1", "0.0 0.1", "0.0 0.1", "1.0 1.1",
     "1.0 1.1"},
    {Kind::all_to_next_backward, 1, "1.0 1.1", ". .", "1.0 1.1", "1.0 1.1", ". .", ". ."},
};

TEST(Collective, built_in_ones_are_as_the_table_says) {
  for (const Row& row : kTable) {
    SCOPED_TRACE(std::string(collective_kind_name(row.kind)) + " on rank " +
                 std::to_string(row.rank));
    const int root = rooted(row.kind) ? 1 : 0;
    const Collective out = Collective::make(row.kind, 2, 2, false, root);
    EXPECT_EQ(holdings(out, row.rank, BufferKind::input), row.input);
    EXPECT_EQ(holdings(out, row.rank, BufferKind::output).find_first_of("0123456789"),
              std::string::npos);
    EXPECT_EQ(requirements(out, row.rank, BufferKind::output), row.output);
    EXPECT_EQ(requirements(out, row.rank, BufferKind::input).find_first_not_of(". "),
              std::string::npos);
    const Collective in = Collective::make(row.kind, 2, 2, true, root);
    EXPECT_EQ(holdings(in, row.rank, BufferKind::input), row.in_input);
    EXPECT_EQ(holdings(in, row.rank, BufferKind::output), row.in_output);
    EXPECT_EQ(requirements(in, row.rank, BufferKind::input), row.out_input);
    EXPECT_EQ(requirements(in, row.rank, BufferKind::output), row.out_output);
  }
}

TEST(Collective, sizes) {
  struct Size {
    Kind kind;
    int input, output, other_input, other_output, per_loop;  // on the root, on another rank
  };
  for (const Size& s :
       {Size{Kind::allreduce, 2, 2, 2, 2, 2}, Size{Kind::allgather, 2, 10, 2, 10, 10},
        Size{Kind::reduce_scatter, 10, 2, 10, 2, 10}, Size{Kind::alltoall, 10, 10, 10, 10, 10},
        Size{Kind::broadcast, 2, 2, 2, 2, 2}, Size{Kind::reduce, 2, 2, 2, 2, 2},
        Size{Kind::gather, 2, 10, 2, 0, 10}, Size{Kind::scatter, 10, 2, 0, 2, 10},
        Size{Kind::all_to_next_forward, 2, 2, 2, 2, 2},
        Size{Kind::all_to_next_backward, 2, 2, 2, 2, 2}}) {
    SCOPED_TRACE(collective_kind_name(s.kind));
    const int root = rooted(s.kind) ? 3 : 0;
    const int other = rooted(s.kind) ? 0 : 4;
    const Collective c = Collective::make(s.kind, 5, 2, false, root);
    EXPECT_EQ(c.input_chunks(root), s.input);
    EXPECT_EQ(c.output_chunks(root), s.output);
    EXPECT_EQ(c.input_chunks(other), s.other_input);
    EXPECT_EQ(c.output_chunks(other), s.other_output);
    EXPECT_EQ(c.chunks(root, BufferKind::scratch), 0);
    EXPECT_EQ(c.chunks_per_loop(), s.per_loop);
    for (const int nobody : {-1, 5}) {
      EXPECT_EQ(c.input_chunks(nobody), 0);
      EXPECT_EQ(c.output_chunks(nobody), 0);
    }
    EXPECT_EQ(c.root(), root);
    EXPECT_EQ(c.name(), collective_kind_name(s.kind));
    EXPECT_TRUE(c.has_postcondition());
    EXPECT_EQ(c.custom(), nullptr);
  }
}

TEST(Collective, names_and_kinds) {
  for (int k = 0; k <= static_cast<int>(Kind::custom); ++k) {
    const auto kind = static_cast<Kind>(k);
    EXPECT_EQ(collective_kind_from_name(collective_kind_name(kind)), kind);
  }
  EXPECT_EQ(collective_kind_name(Kind::reduce_scatter), "reduce_scatter");
  EXPECT_EQ(collective_kind_from_name("all-to-next"), std::nullopt);
  EXPECT_EQ(buffer_kind_name(BufferKind::scratch), "scratch");
  EXPECT_EQ(buffer_kind_letter(BufferKind::output), 'o');
}

// Every built-in collective, small sizes, in and out of place, every root.
template <typename Visit>
void for_each_built_in(Visit&& visit) {
  for (const Kind kind : kBuiltIn) {
    for (int n = 1; n <= 4; ++n) {
      for (int c = 1; c <= 3; ++c) {
        for (const bool in_place : {false, true}) {
          for (int root = 0; root < (rooted(kind) ? n : 1); ++root) {
            SCOPED_TRACE(std::string(collective_kind_name(kind)) + " n=" + std::to_string(n) +
                         " c=" + std::to_string(c) + (in_place ? " in place" : "") +
                         " root=" + std::to_string(root));
            visit(Collective::make(kind, n, c, in_place, root));
          }
        }
      }
    }
  }
}

template <typename Visit>
void for_each_slot(const Collective& c, Visit&& visit) {
  for (int r = 0; r < c.num_ranks(); ++r) {
    for (const BufferKind kind : {BufferKind::input, BufferKind::output}) {
      for (int k = 0; k < c.chunks(r, kind); ++k) visit(r, Slot{kind, k});
    }
  }
}

bool same(const Expected& a, const Expected& b) {
  return a.kind == b.kind && a.origin == b.origin &&
         std::vector<Origin>(a.list.begin(), a.list.end()) ==
             std::vector<Origin>(b.list.begin(), b.list.end());
}

TEST(Collective, aliases_are_canonical_and_agree) {
  for_each_built_in([](const Collective& c) {
    for_each_slot(c, [&](int r, Slot slot) {
      const Slot canonical = c.alias(r, slot);
      EXPECT_EQ(c.alias(r, canonical), canonical);
      EXPECT_LT(canonical.index, c.chunks(r, canonical.buffer));
      EXPECT_EQ(c.initial(r, slot), c.initial(r, canonical));
      EXPECT_TRUE(same(c.expected(r, slot), c.expected(r, canonical)));
      if (!c.in_place()) {
        EXPECT_EQ(canonical, slot);
      }
    });
    // Two different names of one buffer are never one memory.
    for (int r = 0; r < c.num_ranks(); ++r) {
      for (const BufferKind kind : {BufferKind::input, BufferKind::output}) {
        std::set<Slot> seen;
        for (int k = 0; k < c.chunks(r, kind); ++k) {
          EXPECT_TRUE(seen.insert(c.alias(r, {kind, k})).second);
        }
      }
    }
  });
}

// destination() and expected() tell the same story from both ends.
TEST(Collective, destinations_are_where_the_postcondition_wants_them) {
  for_each_built_in([](const Collective& c) {
    for_each_slot(c, [&](int r, Slot slot) {
      if (slot.buffer == BufferKind::output) {
        const Expected e = c.expected(r, slot);
        for (int q = 0; q < c.num_ranks(); ++q) {
          const bool wanted = e.kind == Expected::Kind::all_ranks ||
                              (e.kind == Expected::Kind::one && e.origin.rank == q);
          if (!wanted) continue;
          const Destination d = c.destination({q, e.origin.index});
          EXPECT_TRUE(d.rank == r || d.rank == -1);
          EXPECT_EQ(d.index, slot.index);
        }
        return;
      }
      const auto origin = c.initial(r, slot);
      if (!origin) return;
      const Destination d = c.destination(*origin);
      for (int q = 0; q < c.num_ranks() && d.index >= 0; ++q) {
        if (d.rank != -1 && d.rank != q) continue;
        const Expected e = c.expected(q, {BufferKind::output, d.index});
        EXPECT_EQ(e.origin.index, origin->index);
        EXPECT_NE(e.kind, Expected::Kind::any);
      }
    });
  });
  EXPECT_EQ(alltoall(3, 2).destination({1, 5}), (Destination{2, 3}));
  EXPECT_EQ(all_to_next_backward(3, 2).destination({0, 1}), (Destination{-1, -1}));
  EXPECT_EQ(all_to_next_forward(3, 2).destination({2, 1}), (Destination{-1, -1}));
  EXPECT_EQ(broadcast(3, 2, 1).destination({0, 1}), (Destination{-1, -1}));
  EXPECT_EQ(allreduce(3, 2).destination({0, 1}), (Destination{-1, 1}));
  EXPECT_EQ(allgather(3, 2).destination({2, 1}), (Destination{-1, 5}));
  EXPECT_EQ(allreduce(3, 2).destination({3, 0}), (Destination{-1, -1}));
  EXPECT_EQ(allreduce(3, 2).destination({0, 2}), (Destination{-1, -1}));
}

TEST(Collective, a_refined_built_in_one_has_more_and_smaller_chunks) {
  for_each_built_in([](const Collective& c) {
    for (int parts = 1; parts <= 3; ++parts) {
      const Collective fine = c.refined(parts);
      EXPECT_EQ(fine, Collective::make(c.kind(), c.num_ranks(), c.chunk_factor() * parts,
                                       c.in_place(), c.root()));
      // Part p of chunk k is chunk k*parts+p, of slots and of origins alike.
      for_each_slot(c, [&](int r, Slot slot) {
        for (int p = 0; p < parts; ++p) {
          const Slot cut{slot.buffer, slot.index * parts + p};
          const Slot alias = c.alias(r, slot);
          EXPECT_EQ(fine.alias(r, cut), (Slot{alias.buffer, alias.index * parts + p}));
          const auto before = c.initial(r, slot);
          const auto after = fine.initial(r, cut);
          ASSERT_EQ(before.has_value(), after.has_value());
          if (before) {
            EXPECT_EQ(*after, (Origin{before->rank, before->index * parts + p}));
          }
          const Expected coarse = c.expected(r, slot);
          const Expected e = fine.expected(r, cut);
          ASSERT_EQ(coarse.kind, e.kind);
          if (e.kind != Expected::Kind::any) {
            EXPECT_EQ(e.origin, (Origin{coarse.origin.rank, coarse.origin.index * parts + p}));
          }
        }
      });
    }
  });
}

TEST(Collective, equality_is_of_all_that_matters) {
  std::vector<Collective> all;
  for_each_built_in([&](const Collective& c) { all.push_back(c); });
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t j = 0; j < all.size(); ++j) EXPECT_EQ(all[i] == all[j], i == j);
  }
  EXPECT_EQ(Collective(), Collective());
}

TEST(Collective, refuses_what_cannot_be) {
  expect_rejected(Code::BadCollective, "allreduce over 0 ranks, but a collective has at least 1",
                  [](Guilty& guilty) {
                    guilty.next_line();
                    allreduce(0, 1);
                  });
  expect_rejected(Code::BadCollective, "allgather with chunk factor -1, but it must be at least 1",
                  [](Guilty& guilty) {
                    guilty.next_line();
                    allgather(2, -1);
                  });
  for (const int root : {-1, 2}) {
    expect_rejected(Code::BadCollective,
                    "broadcast with root " + std::to_string(root) + ", but it has 2 ranks (0 to 1)",
                    [&](Guilty& guilty) {
                      guilty.next_line();
                      broadcast(2, 1, root);
                    });
  }
  expect_rejected(Code::BadCollective,
                  "alltoall over 65536 ranks with chunk factor 65536 has a buffer of 4294967296 "
                  "chunks, but chunks are numbered up to 2147483647",
                  [](Guilty& guilty) {
                    guilty.next_line();
                    alltoall(65536, 65536);
                  });
  const Diagnostic d = expect_rejected(Code::BadCollective, "a custom collective is not built in",
                                       [](Guilty& guilty) {
                                         guilty.next_line();
                                         Collective::make(Kind::custom, 2, 1);
                                       });
  EXPECT_EQ(d.hint, "declare it with CustomCollective");
}

CustomCollective swap_of(bool in_place) {
  CustomCollective swap("swap", 2, 1, in_place);
  for (const int r : {0, 1}) {
    swap.buffers(r, /*input_chunks=*/1, /*output_chunks=*/2)
        .holds(r, {BufferKind::input, 0}, {r, 0})
        .requires_(r, {BufferKind::output, 1}, {{1 - r, 0}, {r, 0}})
        .requires_(r, {BufferKind::output, 0}, {{1 - r, 0}});
  }
  return swap;
}

TEST(CustomCollective, is_as_declared) {
  const Collective c = swap_of(false).build();
  EXPECT_EQ(c.kind(), Kind::custom);
  EXPECT_EQ(c.name(), "swap");
  EXPECT_EQ(c.input_chunks(1), 1);
  EXPECT_EQ(c.output_chunks(1), 2);
  EXPECT_EQ(c.chunks_per_loop(), 2);
  EXPECT_EQ(holdings(c, 1, BufferKind::input), "1.0");
  EXPECT_EQ(holdings(c, 1, BufferKind::output), "- -");
  EXPECT_EQ(requirements(c, 1, BufferKind::output), "0.0 0.0+1.0");
  EXPECT_EQ(requirements(c, 1, BufferKind::input), ".");
  EXPECT_TRUE(c.has_postcondition());
  EXPECT_EQ(c.custom()->name(), "swap");
  EXPECT_EQ(c.split(), 1);
}

TEST(CustomCollective, in_place_the_larger_buffer_names_the_slots) {
  const Collective c = swap_of(true).build();
  EXPECT_EQ(c.alias(0, {BufferKind::input, 0}), (Slot{BufferKind::output, 0}));
  EXPECT_EQ(c.alias(0, {BufferKind::output, 1}), (Slot{BufferKind::output, 1}));
  EXPECT_EQ(holdings(c, 1, BufferKind::output), "1.0 -");
  EXPECT_EQ(requirements(c, 1, BufferKind::input), "0.0");
}

TEST(CustomCollective, refined_cuts_slots_and_origins) {
  const Collective c = swap_of(false).build().refined(2);
  EXPECT_EQ(holdings(c, 1, BufferKind::input), "1.0 1.1");
  EXPECT_EQ(requirements(c, 1, BufferKind::output), "0.0 0.1 0.0+1.0 0.1+1.1");
  EXPECT_EQ(c.split(), 2);
  EXPECT_EQ(c.chunk_factor(), 2);
  EXPECT_EQ(c.custom()->rank(0).input_chunks, 1) << "as declared";
  EXPECT_EQ(c.refined(3), swap_of(false).build().refined(6));
  EXPECT_EQ(c.refined(3).split(), 6);
  EXPECT_NE(c, swap_of(false).build());
}

TEST(CustomCollective, equal_when_every_answer_is) {
  EXPECT_EQ(swap_of(false).build(), swap_of(false).build());
  EXPECT_FALSE(swap_of(false).build() == swap_of(true).build());
  CustomCollective more = swap_of(false);
  more.holds(0, {BufferKind::output, 1}, {0, 7});
  EXPECT_FALSE(more.build() == swap_of(false).build());
  EXPECT_FALSE(swap_of(false).without_postcondition().build() == swap_of(false).build());
  // Declared in parts, or declared whole and cut: the same collective.
  CustomCollective parts("c", 1, 2);
  parts.buffers(0, 2, 2);
  for (int k : {0, 1}) {
    parts.holds(0, {BufferKind::input, k}, {0, k}).requires_(0, {BufferKind::output, k}, {{0, k}});
  }
  CustomCollective whole("c", 1, 1);
  whole.buffers(0, 1, 1).holds(0, {BufferKind::input, 0}, {0, 0});
  whole.requires_(0, {BufferKind::output, 0}, {{0, 0}});
  EXPECT_EQ(whole.build().refined(2), parts.build());
}

TEST(CustomCollective, destination_is_the_one_place_that_wants_it) {
  CustomCollective c("c", 2);
  for (int r : {0, 1}) c.buffers(r, 2, 3).requires_(r, {BufferKind::output, 2}, {{0, 0}});
  c.requires_(1, {BufferKind::output, 0}, {{0, 1}, {1, 1}});
  c.requires_(0, {BufferKind::output, 0}, {{1, 0}});
  c.requires_(0, {BufferKind::output, 1}, {{1, 0}});
  const Collective built = c.build();
  EXPECT_EQ(built.destination({0, 0}), (Destination{-1, 2}));
  EXPECT_EQ(built.destination({0, 1}), (Destination{1, 0}));
  EXPECT_EQ(built.destination({1, 0}), (Destination{-1, -1})) << "two places of one rank";
  EXPECT_EQ(built.destination({1, 5}), (Destination{-1, -1}));
  EXPECT_EQ(built.refined(2).destination({0, 3}), (Destination{1, 1}));
}

TEST(CustomCollective, without_postcondition_knows_only_a_name) {
  const Collective c = swap_of(false).without_postcondition().build();
  EXPECT_FALSE(c.has_postcondition());
  EXPECT_EQ(requirements(c, 1, BufferKind::output), ". .");
  EXPECT_EQ(holdings(c, 1, BufferKind::input), "1.0");
  EXPECT_FALSE(c.refined(2).has_postcondition());
}

TEST(CustomCollective, refuses_what_cannot_be) {
  expect_rejected(Code::BadCollective, "collective c over 0 ranks, but a collective has at least 1",
                  [](Guilty& guilty) {
                    guilty.next_line();
                    CustomCollective("c", 0);
                  });
  expect_rejected(Code::BadCollective,
                  "collective c with chunk factor 0, but it must be at least 1",
                  [](Guilty& guilty) {
                    guilty.next_line();
                    CustomCollective("c", 2, 0);
                  });
  CustomCollective c("c", 2);
  c.buffers(0, 1, 1).holds(0, {BufferKind::input, 0}, {0, 0});
  c.requires_(0, {BufferKind::output, 0}, {{0, 0}});
  expect_rejected(Code::BadCollective, "collective c: rank 2, but it has 2 ranks (0 to 1)",
                  [&](Guilty& guilty) {
                    guilty.next_line();
                    c.buffers(2, 1, 1);
                  });
  expect_rejected(
      Code::BadCollective,
      "collective c: rank 1 with -1 input and 1 output chunks, but there cannot be fewer "
      "than 0",
      [&](Guilty& guilty) {
        guilty.next_line();
        c.buffers(1, -1, 1);
      });
  expect_rejected(Code::BadCollective,
                  "collective c: rank 0 with 2 input and 1 output chunks, but earlier with 1 and 1",
                  [&](Guilty& guilty) {
                    guilty.next_line();
                    c.buffers(0, 2, 1);
                  });
  Diagnostic d = expect_rejected(Code::BadCollective,
                                 "collective c: rank 1 input[0], but that buffer has 0 chunks",
                                 [&](Guilty& guilty) {
                                   guilty.next_line();
                                   c.holds(1, {BufferKind::input, 0}, {1, 0});
                                 });
  EXPECT_EQ(d.hint, "say buffers() of the rank first");
  expect_rejected(Code::BadCollective,
                  "collective c: rank 0 output[-1], but that buffer has 1 chunks",
                  [&](Guilty& guilty) {
                    guilty.next_line();
                    c.requires_(0, {BufferKind::output, -1}, {{0, 0}});
                  });
  expect_rejected(
      Code::BadCollective,
      "collective c: rank 0 scratch[0], but a collective speaks of input and output only",
      [&](Guilty& guilty) {
        guilty.next_line();
        c.holds(0, {BufferKind::scratch, 0}, {0, 0});
      });
  expect_rejected(Code::BadCollective,
                  "collective c: origin r2.c0, but ranks are 0 to 1 and chunks are numbered from 0 "
                  "to 2147483646",
                  [&](Guilty& guilty) {
                    guilty.next_line();
                    c.holds(0, {BufferKind::output, 0}, {2, 0});
                  });
  expect_rejected(
      Code::BadCollective,
      "collective c: origin r0.c-1, but ranks are 0 to 1 and chunks are numbered from 0 "
      "to 2147483646",
      [&](Guilty& guilty) {
        guilty.next_line();
        c.requires_(0, {BufferKind::output, 0}, {{0, -1}});
      });
  expect_rejected(
      Code::BadCollective,
      "collective c: origin r0.c2147483647, but ranks are 0 to 1 and chunks are numbered from 0 "
      "to 2147483646",
      [&](Guilty& guilty) {
        guilty.next_line();
        c.holds(0, {BufferKind::output, 0}, {0, 2147483647});
      });
  expect_rejected(
      Code::BadCollective,
      "collective c: rank 0 input[0] holds r0.c0 and r1.c0, but a slot starts with one chunk",
      [&](Guilty& guilty) {
        guilty.next_line();
        c.holds(0, {BufferKind::input, 0}, {1, 0});
      });
  expect_rejected(Code::BadCollective,
                  "collective c: the content of rank 0 output[0] is required twice, differently",
                  [&](Guilty& guilty) {
                    guilty.next_line();
                    c.requires_(0, {BufferKind::output, 0}, {{0, 0}, {0, 0}});
                  });
  d = expect_rejected(
      Code::BadCollective,
      "collective c: rank 0 output[0] requires no origin, but a requirement names at least one",
      [&](Guilty& guilty) {
        guilty.next_line();
        c.requires_(0, {BufferKind::output, 0}, {});
      });
  EXPECT_EQ(d.hint, "leave the slot out: it is then \"don't care\"");
}

}  // namespace
}  // namespace hocket
