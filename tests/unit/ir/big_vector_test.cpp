// Arrays on huge pages are vectors like any other, at every size around the limits.
#include "support/big_vector.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <string>

namespace hocket {
namespace {

TEST(BigVector, keeps_its_elements_while_it_grows_past_every_limit) {
  BigVector<std::uint32_t> numbers;
  const std::size_t count = 3 * kHugeFrom / sizeof(std::uint32_t) + 1;
  for (std::uint32_t i = 0; i < count; ++i) numbers.push_back(i * 7);
  for (std::uint32_t i = 0; i < count; ++i) ASSERT_EQ(numbers[i], i * 7);
  numbers.shrink_to_fit();
  EXPECT_EQ(numbers.back(), (count - 1) * 7);
}

TEST(BigVector, works_at_the_limit_and_one_to_either_side) {
  for (const std::size_t bytes : {kHugeFrom - 1, kHugeFrom, kHugeFrom + 1, 2 * kHugePage + 4097}) {
    BigVector<std::uint8_t> a(bytes, 3);
    BigVector<std::uint8_t> b = a;
    EXPECT_EQ(std::accumulate(b.begin(), b.end(), std::size_t{0}), 3 * bytes);
    a = std::move(b);
    EXPECT_EQ(a.size(), bytes);
    EXPECT_EQ(a.back(), 3);
  }
}

TEST(BigVector, is_aligned_to_its_pages_when_large) {
  const BigVector<std::uint64_t> large(kHugeFrom / sizeof(std::uint64_t));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(large.data()) % kHugePage, 0u);
}

TEST(BigVector, reserve_big_is_reserve) {
  std::string text = "kept";
  reserve_big(text, 3 * kHugeFrom, 2 * kHugeFrom);
  EXPECT_GE(text.capacity(), 3 * kHugeFrom);
  EXPECT_EQ(text, "kept");
}

}  // namespace
}  // namespace hocket
