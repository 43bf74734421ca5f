// A short seeded stand-in for the fuzzer of tests/fuzz, for every build: our seeds, damaged in all
// the usual ways, are either refused or read as something that can be written and read again.
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>

#include "fuzz/read_any.h"
#include "support/corpus.h"

namespace hocket {
namespace {

const std::vector<std::string> kPieces = {

    "-1",         "0",           "1",         "99999999999999999999",
    "2147483647", "-2147483648", "<",         ">",
    "\"",         "/>",          "<step ",    "</tb>",
    " id=\"0\"",  "nop",         "rrs",       "#",
    "\n",         "->",          "after=0:0", "i[0]",
    "rank 0\n",   "tb 0\n",      "custom",    "&#0;",
    "<!--",       "<![CDATA[",   "\xFF",      "cnt=",
    "= 0-9:0",    "split=3"};

class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : state_(seed) {}

  std::string damage(std::string text) {
    const std::uint64_t times = 1 + next() % 3;
    for (std::uint64_t i = 0; i < times && !text.empty(); ++i) damage_once(text);
    return text;
  }

 private:
  std::uint64_t next() {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return state_ >> 33;
  }

  void damage_once(std::string& text) {
    const std::size_t at = next() % text.size();
    switch (next() % 6) {
      case 0:
        text[at] = static_cast<char>(next());
        break;
      case 1:
        text.erase(at, next() % 40);
        break;
      case 2:
        text.insert(at, kPieces[next() % kPieces.size()]);
        break;
      case 3:
        text.insert(at, text.substr(next() % text.size(), next() % 200));
        break;
      case 4:
        text.resize(at);
        break;
      default: {
        // Another number for a number.
        const std::size_t digit = text.find_first_of("0123456789", at);
        if (digit != std::string::npos) text.replace(digit, 1, kPieces[next() % 6]);
      }
    }
  }

  std::uint64_t state_;
};

TEST(Mutation, DamagedSeedsAreRefusedOrUnderstood) {
  std::vector<std::string> seeds;
  for (const auto& entry :
       std::filesystem::directory_iterator(HOCKET_SOURCE_DIR "/tests/fuzz/corpus")) {
    seeds.push_back(test::read_file(entry.path()));
  }
  ASSERT_GE(seeds.size(), 8U);
  std::sort(seeds.begin(), seeds.end());
  int understood = 0;
  int refused = 0;
  constexpr int kRuns = 30000;
  for (std::uint64_t run = 0; run < kRuns; ++run) {
    const std::string text = Mutator(run).damage(seeds[run % seeds.size()]);
    SCOPED_TRACE(run);
    try {
      (fuzz::read_any(text) ? understood : refused) += 1;
    } catch (const std::exception& failure) {
      FAIL() << "run " << run << ": " << failure.what() << "\n" << text;
    }
  }
  // Both happen often, or the test tests nothing.
  EXPECT_GT(understood, kRuns / 50);
  EXPECT_GT(refused, kRuns / 5);
}

}  // namespace
}  // namespace hocket
