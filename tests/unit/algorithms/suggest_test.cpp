// "Did you mean": what counts as near.
#include "support/suggest.h"

#include <gtest/gtest.h>

namespace hocket {
namespace {

const std::vector<std::string> kNames = {"check", "compile", "convert", "gen", "list", "run"};

TEST(Suggest, FindsTypingSlips) {
  EXPECT_EQ(did_you_mean("chekc", kNames), "did you mean check?") << "neighbours swapped";
  EXPECT_EQ(did_you_mean("compil", kNames), "did you mean compile?") << "a letter left out";
  EXPECT_EQ(did_you_mean("ggen", kNames), "did you mean gen?") << "a letter too many";
  EXPECT_EQ(did_you_mean("lost", kNames), "did you mean list?") << "a letter changed";
}

TEST(Suggest, IsSilentWhenNothingIsNear) {
  EXPECT_EQ(did_you_mean("frobnicate", kNames), "");
  EXPECT_EQ(did_you_mean("", kNames), "");
  EXPECT_EQ(did_you_mean(std::string(1000000, 'x'), kNames), "");
}

TEST(Suggest, FindsWhatANameContains) {
  EXPECT_EQ(nearest_names("ring", {"allgather_ring", "allreduce_ring", "alltoall_bruck"}),
            (std::vector<std::string>{"allgather_ring", "allreduce_ring"}));
}

TEST(Suggest, NamesTheNearestFirstAndNotTooMany) {
  EXPECT_EQ(did_you_mean("aa", {"ab", "ac", "ad", "aa1"}), "did you mean aa1, ab or ac?");
}

}  // namespace
}  // namespace hocket
