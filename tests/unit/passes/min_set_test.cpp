// The set that gives its smallest, against std::set.
#include "passes/min_set.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace hocket::passes {
namespace {

TEST(MinSet, agrees_with_std_set) {
  std::mt19937 dice(7);
  for (const std::uint32_t n : {1u, 2u, 63u, 64u, 65u, 4096u, 4097u, 300000u}) {
    MinSet set(n);
    std::set<std::uint32_t> model;
    for (int i = 0; i < 5000; ++i) {
      if (dice() % 3 != 0 || model.empty()) {
        const std::uint32_t x = static_cast<std::uint32_t>(dice()) % n;
        set.insert(x);
        model.insert(x);
      } else {
        ASSERT_EQ(set.take_min(), *model.begin());
        model.erase(model.begin());
      }
      ASSERT_EQ(set.empty(), model.empty());
    }
  }
}

}  // namespace
}  // namespace hocket::passes
