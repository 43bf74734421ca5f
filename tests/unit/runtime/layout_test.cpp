// Chunks of any count cover a buffer without gap or overlap, at floor(i * count / factor).
#include "runtime/layout.h"

#include <gtest/gtest.h>

#include "hocket/runtime.h"

namespace hocket::runtime {
namespace {

TEST(Layout, CutsAtFloorOfICountOverFactor) {
  for (int factor = 1; factor <= 12; ++factor) {
    for (std::int64_t count = 0; count <= 40; ++count) {
      const Layout layout(alltoall(3, factor), count);
      std::int64_t longest = 0;
      for (int j = 0; j < 3 * factor; ++j) {
        const std::int64_t part = j / factor;
        const std::int64_t i = j % factor;
        ASSERT_EQ(layout.offset(j), part * count + i * count / factor);
        ASSERT_EQ(layout.offset(j) + layout.length(j), layout.offset(j + 1));
        longest = std::max(longest, layout.length(j));
      }
      ASSERT_EQ(layout.chunk_elements(), longest);
      ASSERT_EQ(layout.ragged(), count % factor != 0);
    }
  }
}

TEST(Layout, BuffersOfEveryCollective) {
  const std::int64_t count = 10;
  const auto sizes = [&](const Collective& c, int rank) {
    return std::pair(input_elements(c, rank, count), output_elements(c, rank, count));
  };
  using Sizes = std::pair<std::int64_t, std::int64_t>;
  EXPECT_EQ(sizes(allreduce(4, 3), 0), Sizes(10, 10));
  EXPECT_EQ(sizes(allgather(4, 3), 1), Sizes(10, 40));
  EXPECT_EQ(sizes(reduce_scatter(4, 3), 1), Sizes(40, 10));
  EXPECT_EQ(sizes(alltoall(4, 3), 3), Sizes(40, 40));
  EXPECT_EQ(sizes(broadcast(4, 3, 1), 0), Sizes(10, 10));
  EXPECT_EQ(sizes(reduce(4, 3, 1), 0), Sizes(10, 10));
  EXPECT_EQ(sizes(gather(4, 3, 1), 1), Sizes(10, 40));
  EXPECT_EQ(sizes(gather(4, 3, 1), 0), Sizes(10, 0));
  EXPECT_EQ(sizes(scatter(4, 3, 1), 1), Sizes(40, 10));
  EXPECT_EQ(sizes(scatter(4, 3, 1), 0), Sizes(0, 10));
  EXPECT_EQ(sizes(all_to_next_forward(4, 3), 0), Sizes(10, 10));
}

TEST(Layout, RefiningACollectiveLeavesItsBuffersAsTheyAre) {
  for (const Collective& c : {allreduce(4, 3), alltoall(4, 1), gather(4, 2, 1)}) {
    for (int parts = 1; parts <= 4; ++parts) {
      for (int rank = 0; rank < 4; ++rank) {
        EXPECT_EQ(input_elements(c.refined(parts), rank, 10), input_elements(c, rank, 10));
        EXPECT_EQ(output_elements(c.refined(parts), rank, 10), output_elements(c, rank, 10));
      }
    }
  }
}

// Rank 0 has two and a half parts of 4 chunks; refined, the same.
TEST(Layout, ACustomBufferMayEndInAPieceOfAPart) {
  CustomCollective custom("odd", 2, 4);
  custom.buffers(0, 10, 4).buffers(1, 0, 3);
  for (const int parts : {1, 2, 3}) {
    const Collective c = custom.build().refined(parts);
    EXPECT_EQ(input_elements(c, 0, 11), 11 + 11 + 5);
    EXPECT_EQ(output_elements(c, 0, 11), 11);
    EXPECT_EQ(input_elements(c, 1, 11), 0);
    EXPECT_EQ(output_elements(c, 1, 11), 8);
  }
}

TEST(Layout, NegativeAndHugeCountsAreRefused) {
  try {
    input_elements(allreduce(2, 1), 0, -1);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::BadBuffers);
    EXPECT_EQ(error.diagnostic().message, "a count of -1 elements, expected 0 or more");
  }
  EXPECT_THROW(output_elements(allgather(16, 1), 0, std::int64_t{1} << 60), Error);
  EXPECT_EQ(output_elements(allgather(16, 3), 0, std::int64_t{1} << 50), std::int64_t{1} << 54);
}

}  // namespace
}  // namespace hocket::runtime
