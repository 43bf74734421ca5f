// In place, two names are one memory: what the names of each collective become, and where copies
// land.
#include <gtest/gtest.h>

#include "hocket/program.h"

namespace hocket {
namespace {

using Origins = std::vector<Origin>;

Program in_place(const Collective& collective) {
  return Program("p", fully_connected(collective.num_ranks()), collective);
}

TEST(InPlace, allreduce_has_its_output_in_its_input) {
  Program p = in_place(allreduce(2, 2, true));
  EXPECT_EQ(p.chunk(1, Buffer::output, 1).str(), "rank 1 input[1]");
  EXPECT_EQ(p.chunk(0, Buffer::input, 0).copy(1, Buffer::output, 1).str(), "rank 1 input[1]");
  EXPECT_EQ(p.content(1, Buffer::input, 1), (Origins{{0, 0}}));
  EXPECT_EQ(p.content(1, Buffer::output, 1), (Origins{{0, 0}}));
}

TEST(InPlace, allgather_has_its_input_in_its_output) {
  Program p = in_place(allgather(3, 2, true));
  EXPECT_EQ(p.chunk(1, Buffer::input, 0, 2).str(), "rank 1 output[2..3]");
  EXPECT_EQ(p.chunk(2, Buffer::output, 5).origin(), (Origin{2, 1}));
  EXPECT_EQ(p.buffer_size(1, Buffer::input), 2);
  EXPECT_EQ(p.buffer_size(1, Buffer::output), 6);
}

// The published all-pairs programs rely on it: "your input" of another rank is my part of its
// output.
TEST(InPlace, a_copy_to_the_input_in_an_allgather_lands_at_the_senders_part) {
  Program p = in_place(allgather(3, 1, true));
  for (int r = 0; r < 3; ++r) {
    const Ref c = p.chunk(r, Buffer::input, 0);
    for (int other = 0; other < 3; ++other) {
      if (other == r) continue;
      const Ref d = c.copy(other, Buffer::input, 0);
      EXPECT_EQ(d.index(), r);
      EXPECT_EQ(d.buffer(), Buffer::output);
      EXPECT_EQ(d.rank(), other);
    }
  }
  EXPECT_TRUE(p.check());
}

TEST(InPlace, a_copy_without_a_buffer_keeps_the_place_in_an_allgather) {
  Program p = in_place(allgather(3, 2, true));
  EXPECT_EQ(p.chunk(1, Buffer::input, 1).copy(2).str(), "rank 2 output[3]");
}

TEST(InPlace, reduce_scatter_has_its_output_in_its_part_of_the_input) {
  Program p = in_place(reduce_scatter(3, 2, true));
  EXPECT_EQ(p.chunk(2, Buffer::output, 1).str(), "rank 2 input[5]");
  // The receiver's output is meant, whoever sends.
  EXPECT_EQ(p.chunk(0, Buffer::input, 5).copy(2, Buffer::output, 1).str(), "rank 2 input[5]");
}

TEST(InPlace, reduce_scatter_by_direct_sums) {
  const int n = 4;
  Program p = in_place(reduce_scatter(n, 1, true));
  for (int r = 0; r < n; ++r) {
    Ref mine = p.chunk(r, Buffer::output, 0);
    for (int other = 0; other < n; ++other) {
      if (other != r) mine.reduce(p.chunk(other, Buffer::input, r));
    }
  }
  EXPECT_TRUE(p.check()) << p.check().str();
  EXPECT_EQ(p.check().checked, n) << "an aliased slot counts once";
}

TEST(InPlace, alltoall_has_its_output_in_its_input) {
  Program p = in_place(alltoall(2, 1, true));
  // Swap through scratch: the two names are one memory.
  const Ref kept = p.chunk(0, Buffer::input, 1).copy(0, "kept");
  p.chunk(1, Buffer::input, 0).copy(0, Buffer::output, 1);
  kept.copy(1, Buffer::output, 0);
  EXPECT_TRUE(p.check()) << p.check().str();
}

TEST(InPlace, gather_has_the_roots_input_in_its_output) {
  Program p = in_place(gather(3, 2, /*root=*/1, true));
  EXPECT_EQ(p.chunk(1, Buffer::input, 0).str(), "rank 1 output[2]");
  EXPECT_EQ(p.chunk(2, Buffer::input, 0).str(), "rank 2 input[0]");
  EXPECT_EQ(p.buffer_size(0, Buffer::output), 0);
  // By name, the root's own part; also when no buffer is named.
  EXPECT_EQ(p.chunk(2, Buffer::input, 1).copy(1).str(), "rank 1 output[3]");
  EXPECT_EQ(p.chunk(2, Buffer::input, 1).copy(1, Buffer::input, 1).str(), "rank 1 output[3]");
  EXPECT_EQ(p.chunk(2, Buffer::input, 1).copy(1, Buffer::output, 5).str(), "rank 1 output[5]");
}

TEST(InPlace, scatter_has_the_roots_output_in_its_input) {
  Program p = in_place(scatter(3, 2, /*root=*/1, true));
  EXPECT_EQ(p.chunk(1, Buffer::output, 1).str(), "rank 1 input[3]");
  EXPECT_EQ(p.chunk(1, Buffer::input, 0, 2).copy(0, Buffer::output, 0).str(),
            "rank 0 output[0..1]");
  p.chunk(1, Buffer::input, 4, 2).copy(2, Buffer::output, 0);
  EXPECT_TRUE(p.check()) << p.check().str();
}

TEST(InPlace, broadcast_and_reduce_have_their_output_in_their_input) {
  Program b = in_place(broadcast(2, 1, 0, true));
  EXPECT_FALSE(b.find_chunk(1, Buffer::input, 0)) << "only the root starts with data";
  EXPECT_EQ(b.chunk(0, Buffer::input, 0).copy(1, Buffer::output, 0).str(), "rank 1 input[0]");
  EXPECT_TRUE(b.check());
  Program r = in_place(reduce(2, 1, 1, true));
  Ref out = r.chunk(1, Buffer::output, 0);
  out.reduce(r.chunk(0, Buffer::input, 0));
  EXPECT_TRUE(r.check());
}

TEST(InPlace, a_custom_collective_names_its_larger_buffer) {
  CustomCollective c("mine", 1, 1, /*in_place=*/true);
  c.buffers(0, 1, 3).holds(0, {BufferKind::input, 0}, {0, 0});
  c.requires_(0, {BufferKind::output, 2}, {{0, 0}});
  Program p = in_place(c.build());
  EXPECT_EQ(p.chunk(0, Buffer::input, 0).str(), "rank 0 output[0]");
  p.chunk(0, Buffer::output, 0).copy(0, Buffer::output, 2);
  EXPECT_TRUE(p.check());
}

}  // namespace
}  // namespace hocket
