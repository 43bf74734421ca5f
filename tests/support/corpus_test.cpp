// The judge on algorithms that nobody here wrote.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "hocket/format.h"
#include "support/judge.h"

namespace hocket::oracle {
namespace {

const std::filesystem::path kCorpus = HOCKET_SOURCE_DIR "/../shared/corpus";

#define SKIP_WITHOUT_CORPUS()                                                               \
  if (!std::filesystem::exists(kCorpus)) {                                                  \
    GTEST_SKIP() << "SKIPPED: " << kCorpus << " is not there, so its files are not judged"; \
  }

Algorithm read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return from_xml(text, path.string());
}

TEST(Corpus, AWriteIsNotPublishedByAMessageThatComesBack) {
  SKIP_WITHOUT_CORPUS();
  const Findings findings = judge(read(kCorpus / "cases/ordered-by-round-trip.xml")).findings;
  EXPECT_FALSE(has(findings, FindingKind::race)) << str(findings);
  ASSERT_EQ(findings.size(), 1U) << str(findings);
  EXPECT_EQ(findings[0].kind, FindingKind::through_ranks) << str(findings);
}

TEST(Corpus, ItsTwinThatSendsFirstIsARace) {
  SKIP_WITHOUT_CORPUS();
  const Findings findings = judge(read(kCorpus / "cases/round-trip-race.xml")).findings;
  EXPECT_TRUE(has(findings, FindingKind::race)) << str(findings);
}

TEST(Corpus, TheReduceChainIsRight) {
  SKIP_WITHOUT_CORPUS();
  const Verdict verdict = judge(read(kCorpus / "cases/reduce-chain.xml"));
  EXPECT_TRUE(verdict.clean()) << str(verdict.findings);
  EXPECT_TRUE(verdict.compared);
}

TEST(Corpus, ShippedAlgorithmsAreRightInTheirSizeRange) {
  SKIP_WITHOUT_CORPUS();
  int judged = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kCorpus / "algorithms")) {
    SCOPED_TRACE(entry.path().filename());
    const Verdict verdict = judge(read(entry.path()), {.target = Target::rccl});
    EXPECT_TRUE(verdict.clean()) << str(verdict.findings);
    EXPECT_TRUE(verdict.compared);
    ++judged;
  }
  EXPECT_GE(judged, 7);
}

TEST(Corpus, TheSimpleAllpairsFileHangsBeyondItsSizeRange) {
  SKIP_WITHOUT_CORPUS();
  Algorithm a = read(kCorpus / "algorithms/allreduce-allpairs-8n-simple.xml");
  EXPECT_TRUE(judge(a).clean()) << str(judge(a).findings);
  a.max_bytes.reset();
  EXPECT_TRUE(has(judge(a).findings, FindingKind::deadlock));
}

}  // namespace
}  // namespace hocket::oracle
