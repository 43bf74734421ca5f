// The verdicts on algorithms that nobody here wrote; docs/verification.md, "Public algorithms",
// lists them.
#include <gtest/gtest.h>

#include <map>

#include "hocket/format.h"
#include "hocket/verify.h"
#include "support/corpus.h"

namespace hocket::mutation {
namespace {

using test::corpus_files;
using test::read_file;

#define SKIP_WITHOUT_CORPUS(folder)                                                           \
  if (corpus_files(folder).empty()) {                                                         \
    GTEST_SKIP() << "SKIPPED: ../shared/corpus/" folder " is not there: nothing is verified"; \
  }

Algorithm corpus(const std::string& folder, const std::string& name) {
  for (const auto& file : corpus_files(folder)) {
    if (file.filename() == name) return from_xml(read_file(file), name);
  }
  ADD_FAILURE() << name << " is not in the corpus";
  return {};
}

TEST(PublicAlgorithms, AreProvedInTheirOwnSizeRange) {
  SKIP_WITHOUT_CORPUS("algorithms");
  std::map<std::string, std::string> refuted;
  int files = 0;
  for (const auto& file : corpus_files("algorithms")) {
    const std::string name = file.filename().string();
    const VerifyReport report = verify(from_xml(read_file(file), name));
    ++files;
    EXPECT_FALSE(report.placements.empty()) << name;
    EXPECT_EQ(report.ruling(), Ruling::proved) << name << "\n" << report.str();
    for (const PlacementReport& placement : report.placements) {
      EXPECT_EQ(placement.of(Property::same_bits).ruling, Ruling::proved) << name;
    }
  }
  EXPECT_GE(files, 7);
}

TEST(PublicAlgorithms, TheSimpleAllpairsFileHangsBeyondItsSizeRange) {
  SKIP_WITHOUT_CORPUS("algorithms");
  const Algorithm a = corpus("algorithms", "allreduce-allpairs-8n-simple.xml");
  VerifyOptions options;
  options.max_bytes = std::int64_t{1} << 40;
  const VerifyReport report = verify(a, options);
  EXPECT_EQ(report.ruling(), Ruling::refuted);
  for (const PlacementReport& placement : report.placements) {
    EXPECT_EQ(placement.of(Property::deadlock).ruling, Ruling::refuted) << report.str();
    EXPECT_EQ(placement.least_slots, 8) << report.str();
    ASSERT_TRUE(placement.largest_safe_bytes);
    // 512 chunks; with two slots, eight chunks need transfers of four.
    EXPECT_EQ(*placement.largest_safe_bytes, std::int64_t{512} * (2 << 20) / 4) << report.str();
  }
}

TEST(PublicAlgorithms, TheMadeUpCasesGetTheirVerdicts) {
  SKIP_WITHOUT_CORPUS("cases");
  EXPECT_EQ(verify(corpus("cases", "reduce-chain.xml")).ruling(), Ruling::proved);
  const VerifyReport race = verify(corpus("cases", "round-trip-race.xml"));
  EXPECT_EQ(race.placements.at(0).of(Property::races).ruling, Ruling::refuted) << race.str();
  const VerifyReport trip = verify(corpus("cases", "ordered-by-round-trip.xml"));
  ASSERT_EQ(trip.placements.at(0).of(Property::races).findings.size(), 1U) << trip.str();
  EXPECT_EQ(trip.placements.at(0).of(Property::races).findings[0].diagnostic.code,
            Code::OrderedElsewhere);
}

}  // namespace
}  // namespace hocket::mutation
