// Values are multisets: ids, counts and listings against std::map.
#include "ir/chunk_values.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <random>
#include <set>

namespace hocket {
namespace {

using Multiset = std::map<Origin, std::uint64_t>;

Multiset listed(const ChunkValues& values, ValueId value) {
  Multiset result;
  for (const Contribution& c : values.contributions(value)) result[c.origin] += c.times;
  return result;
}

TEST(ChunkValues, an_origin_is_itself) {
  const ChunkValues values(4, 3);
  std::set<ValueId> ids;
  for (int r = 0; r < 4; ++r) {
    for (int i = 0; i < 3; ++i) {
      const ValueId v = values.origin({r, i});
      EXPECT_NE(v, kNothing);
      EXPECT_TRUE(values.is_origin(v));
      EXPECT_EQ(values.origin_of(v), (Origin{r, i}));
      EXPECT_EQ(values.count(v), 1u);
      EXPECT_EQ(values.contributions(v), (std::vector<Contribution>{{{r, i}, 1}}));
      ids.insert(v);
    }
  }
  EXPECT_EQ(ids.size(), 12u);
}

TEST(ChunkValues, a_sum_forgets_order_and_grouping) {
  ChunkValues values(3, 1);
  const ValueId a = values.origin({0, 0});
  const ValueId b = values.origin({1, 0});
  const ValueId c = values.origin({2, 0});
  const ValueId left = values.sum(values.sum(a, b), c);
  EXPECT_EQ(left, values.sum(a, values.sum(c, b)));
  EXPECT_EQ(left, values.sum(values.sum(c, a), b));
  EXPECT_EQ(values.count(left), 3u);
  EXPECT_FALSE(values.is_origin(left));
}

TEST(ChunkValues, a_contribution_counted_twice_is_another_value) {
  ChunkValues values(2, 1);
  const ValueId a = values.origin({0, 0});
  const ValueId b = values.origin({1, 0});
  const ValueId ab = values.sum(a, b);
  const ValueId aab = values.sum(a, ab);
  EXPECT_NE(aab, ab);
  EXPECT_NE(aab, values.sum(b, ab));
  EXPECT_NE(values.sum(a, a), a);
  EXPECT_EQ(values.contributions(aab), (std::vector<Contribution>{{{0, 0}, 2}, {{1, 0}, 1}}));
}

TEST(ChunkValues, ids_are_equal_exactly_when_multisets_are) {
  std::mt19937 random(20240607);
  const auto below = [&](std::size_t n) { return static_cast<int>(random() % n); };
  for (int round = 0; round < 200; ++round) {
    // Few origins and many sums, so that equal multisets are met often, by different ways.
    const int ranks = 1 + below(4);
    const int indices = 1 + below(3);
    ChunkValues values(ranks, indices);
    std::vector<std::pair<ValueId, Multiset>> made;
    for (int r = 0; r < ranks; ++r) {
      for (int i = 0; i < indices; ++i) made.push_back({values.origin({r, i}), {{{r, i}, 1}}});
    }
    for (int k = 0; k < 60; ++k) {
      // Prefer the first values: small sums coincide.
      const auto& [a, in_a] = made[static_cast<std::size_t>(below(1 + made.size() / 2))];
      const auto& [b, in_b] = made[static_cast<std::size_t>(below(made.size()))];
      Multiset both = in_a;
      for (const auto& [origin, times] : in_b) both[origin] += times;
      made.push_back({values.sum(a, b), both});
    }
    std::map<Multiset, ValueId> id_of;
    std::map<ValueId, Multiset> multiset_of;
    for (const auto& [id, multiset] : made) {
      EXPECT_EQ(id_of.emplace(multiset, id).first->second, id);
      EXPECT_EQ(multiset_of.emplace(id, multiset).first->second, multiset);
      std::uint64_t count = 0;
      Fingerprint sum;
      for (const auto& [origin, times] : multiset) {
        count += times;
        for (std::uint64_t t = 0; t < times && times < 1000; ++t) sum += origin_fingerprint(origin);
      }
      if (count < 1000) {
        EXPECT_EQ(values.fingerprint(id), sum);
        EXPECT_EQ(values.count(id), count);
      }
      EXPECT_EQ(listed(values, id), multiset);
    }
    EXPECT_LE(values.num_sums(), id_of.size());
  }
}

TEST(ChunkValues, fingerprints_do_not_depend_on_the_run) {
  // Fixed for ever: contents are compared across processes by those who store them.
  EXPECT_EQ(origin_fingerprint({0, 0}).low, origin_fingerprint({0, 0}).low);
  std::set<std::pair<std::uint64_t, std::uint64_t>> seen;
  std::set<std::uint64_t> low;
  std::set<std::uint64_t> high;
  for (int r = 0; r < 300; ++r) {
    for (int i = 0; i < 300; ++i) {
      const Fingerprint f = origin_fingerprint({r, i});
      low.insert(f.low);
      high.insert(f.high);
      seen.insert({f.low, f.high});
    }
  }
  // Each lane alone tells 90,000 origins apart, and the lanes differ.
  EXPECT_EQ(low.size(), 90000u);
  EXPECT_EQ(high.size(), 90000u);
  for (const std::uint64_t f : low) EXPECT_EQ(high.count(f), 0u);
}

TEST(ChunkValues, a_long_chain_is_walked_without_recursion) {
  const int n = 1'000'000;
  ChunkValues values(n, 1);
  ValueId sum = values.origin({0, 0});
  for (int r = 1; r < n; ++r) sum = values.sum(values.origin({r, 0}), sum);
  EXPECT_EQ(values.count(sum), static_cast<std::uint64_t>(n));
  const auto all = values.contributions(sum);
  ASSERT_EQ(all.size(), static_cast<std::size_t>(n));
  for (int r = 0; r < n; ++r) ASSERT_EQ(all[static_cast<std::size_t>(r)].origin, (Origin{r, 0}));
}

TEST(ChunkValues, doubling_again_and_again_stops_at_the_largest_count) {
  ChunkValues values(1, 1);
  ValueId v = values.origin({0, 0});
  std::set<ValueId> ids = {v};
  for (int k = 1; k < 64; ++k) {
    v = values.sum(v, v);
    EXPECT_TRUE(ids.insert(v).second);
    EXPECT_EQ(values.contributions(v),
              (std::vector<Contribution>{{{0, 0}, std::uint64_t{1} << k}}));
  }
  v = values.sum(v, v);
  EXPECT_EQ(values.count(v), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(values.contributions(v)[0].times, std::numeric_limits<std::uint64_t>::max());
}

// 2^64 times this and 2^64 times that are equal modulo 2^64.
TEST(ChunkValues, sums_beyond_counting_are_not_taken_for_each_other) {
  ChunkValues values(2, 1);
  ValueId sums[2];
  for (int r = 0; r < 2; ++r) {
    ValueId v = values.origin({r, 0});
    for (int k = 0; k < 64; ++k) v = values.sum(v, v);
    sums[r] = values.sum(v, values.origin({0, 0}));
  }
  EXPECT_NE(sums[0], sums[1]);
  EXPECT_EQ(values.contributions(sums[0]).size(), 1U);
  EXPECT_EQ(values.contributions(sums[1]).size(), 2U);
  // The table still finds what can be counted, however often it has grown.
  const ValueId small = values.sum(values.origin({0, 0}), values.origin({1, 0}));
  for (int k = 0; k < 200; ++k) sums[0] = values.sum(sums[0], values.origin({1, 0}));
  EXPECT_EQ(values.sum(values.origin({1, 0}), values.origin({0, 0})), small);
}

}  // namespace
}  // namespace hocket
