// Right algorithms must be proved; broken ones must get, property by property, the verdict that
// trying all schedules gives. See docs/testing.md for the long form:
//
//     HOCKET_MUTATION_COUNT=20000 HOCKET_MUTATION_SEED=7 hocket_mutation_test
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <map>
#include <numeric>

#include "mutation/base.h"
#include "mutation/compare.h"
#include "mutation/mutate.h"

namespace hocket::mutation {
namespace {

using fmt::format;

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

constexpr int kShards = 2;
constexpr std::size_t kMutantsOfBase = 6;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t kMutants = 400;
#else
constexpr std::uint64_t kMutants = 2'000;
#endif

// What became of the mutants of one operator.
struct Row {
  int made = 0;
  int right = 0;  // nothing fails: an equivalent mutant
  int fails[kNumProperties] = {};
};

class Mutants : public testing::TestWithParam<int> {
 protected:
  void check(const Algorithm& algorithm, const std::string& what, bool must_hold) {
    check_as(algorithm, what, must_hold, std::nullopt);
    // What runs LL otherwise than the rest.
    if (algorithm.protocol == Protocol::ll) {
      const Truth truth = last;
      check_as(algorithm, what + " on rccl", false, Target::rccl);
      lagging += last.of(Property::races).fact != truth.of(Property::races).fact ? 1 : 0;
      last = truth;
    }
  }

  void check_as(const Algorithm& algorithm, const std::string& what, bool must_hold,
                std::optional<Target> target) {
    const Comparison c = compare(algorithm, target);
    states += c.truth.states;
    inexhaustive += c.truth.exhaustive ? 0 : 1;
    last = c.truth;
    std::string differs = c.differs;
    for (int k = 0; must_hold && differs.empty() && k < kNumProperties; ++k) {
      // A compiled program may add in different orders on different ranks.
      if (static_cast<Property>(k) == Property::same_bits) continue;
      if (c.truth.properties[static_cast<std::size_t>(k)].fact == Fact::fails) {
        ADD_FAILURE() << what << ": a base is wrong\n" << report(algorithm, c);
        return;
      }
    }
    if (differs.empty()) return;
    ++disagreements;
    // One small example of each kind.
    if (kinds[differs]++ > 0) return;
    const Algorithm small = shrink(algorithm, target, differs);
    ADD_FAILURE() << what << ", shrunk:\n" << report(small, compare(small, target));
  }

  Truth last;
  std::size_t states = 0;
  int inexhaustive = 0;
  int lagging = 0;  // races only where RCCL runs LL
  int disagreements = 0;
  std::map<std::string, int> kinds;
};

TEST_P(Mutants, GetTheVerdictOfAllSchedules) {
  const std::uint64_t first = number_from("HOCKET_MUTATION_SEED", 1);
  const std::uint64_t count = number_from("HOCKET_MUTATION_COUNT", kMutants) / kShards;
  const std::uint64_t seconds = number_from("HOCKET_MUTATION_SECONDS", 0);
  const auto start = std::chrono::steady_clock::now();
  const auto& all = operators();
  std::vector<Row> rows(all.size());
  std::uint64_t made = 0;
  std::uint64_t bases = 0;
  for (std::uint64_t k = 0; made < count; ++k) {
    if (seconds != 0 && std::chrono::steady_clock::now() - start > std::chrono::seconds(seconds)) {
      break;
    }
    const std::uint64_t seed = first + k * kShards + static_cast<std::uint64_t>(GetParam());
    const std::optional<Base> base = base_of(seed);
    if (!base) continue;
    ++bases;
    check(base->algorithm, format("seed {}, not broken", seed), true);
    Dice dice(seed ^ 0x9E3779B97F4A7C15U);
    // The operators that found least to change so far come first.
    std::vector<std::size_t> order(all.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return rows[a].made < rows[b].made; });
    std::size_t of_base = 0;
    for (const std::size_t which : order) {
      if (of_base == kMutantsOfBase) break;
      Draft draft(base->algorithm);
      if (!all[which].apply(draft, dice)) continue;
      std::string name = all[which].name;
      if (dice.chance(15)) {
        const Operator& second = dice.pick(all);
        if (second.apply(draft, dice)) name += " and " + second.name;
      }
      const Algorithm mutant = draft.done();
      if (mutant == base->algorithm) continue;
      ++of_base;
      ++made;
      check(mutant, format("seed {}, {}", seed, name), false);
      Row& row = rows[which];
      ++row.made;
      bool right = true;
      for (int p = 0; p < kNumProperties; ++p) {
        const bool fails = last.properties[static_cast<std::size_t>(p)].fact == Fact::fails;
        row.fails[p] += fails ? 1 : 0;
        right = right && !fails;
      }
      row.right += right ? 1 : 0;
    }
  }
  std::cout << made << " mutants of " << bases << " programs from seed " << first << ", "
            << disagreements << " disagreements; " << states << " states, " << inexhaustive
            << " not exhausted, " << lagging << " race only with LL on rccl\n";
  std::cout << format("{:26}{:>7}{:>7}", "", "made", "right");
  for (int p = 0; p < kNumProperties; ++p) {
    std::cout << format("{:>14}", property_name(static_cast<Property>(p)));
  }
  std::cout << "\n";
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::cout << format("{:26}{:>7}{:>7}", all[i].name, rows[i].made, rows[i].right);
    for (const int n : rows[i].fails) std::cout << format("{:>14}", n);
    std::cout << "\n";
  }
  for (const auto& [kind, times] : kinds) std::cout << "  " << times << " x " << kind << "\n";
  EXPECT_EQ(disagreements, 0);
  // Nothing here is vacuous. (Short runs may miss what is rare, and so may other seeds.)
  if (made < kMutants / kShards || first != 1) return;
  Row sum;
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_GE(rows[i].made, 5) << all[i].name << " finds nothing to change";
    sum.right += rows[i].right;
    for (int p = 0; p < kNumProperties; ++p) sum.fails[p] += rows[i].fails[p];
  }
  EXPECT_GE(sum.right, 50);
  for (int p = 0; p < kNumProperties; ++p) {
    EXPECT_GE(sum.fails[p], 3) << property_name(static_cast<Property>(p)) << " never fails";
  }
}

INSTANTIATE_TEST_SUITE_P(Shard, Mutants, testing::Range(0, kShards));

}  // namespace
}  // namespace hocket::mutation
