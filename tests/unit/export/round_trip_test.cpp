// What is written is read back as the same algorithm: the corpus, and arbitrary algorithms.
#include <gtest/gtest.h>

#include "hocket/format.h"
#include "support/corpus.h"
#include "support/random_algorithm.h"
#include "unit/export/samples.h"

namespace hocket {
namespace {

constexpr std::uint64_t kSeeds = 3000;

std::vector<std::filesystem::path> all_corpus_files() {
  std::vector<std::filesystem::path> files = test::corpus_files("algorithms");
  for (const auto& file : test::corpus_files("cases")) files.push_back(file);
  return files;
}

// Equality of algorithms leaves the source lines out; these must survive too.
void expect_same_locations(const Algorithm& a, const Algorithm& b, std::uint64_t seed) {
  for (std::uint32_t i = 0; i < a.steps.size(); ++i) {
    EXPECT_EQ(a.location_of(i), b.location_of(i)) << "seed " << seed << " step " << i;
  }
}

TEST(RoundTrip, CorpusThroughTheTextForm) {
  const auto files = all_corpus_files();
  if (files.empty()) GTEST_SKIP() << "../shared/corpus is absent";
  for (const auto& file : files) {
    const Algorithm a = from_any(test::read_file(file), file.string());
    EXPECT_TRUE(from_any(to_text(a)) == a) << file;
    EXPECT_EQ(to_text(from_text(to_text(a))), to_text(a)) << file;
  }
}

TEST(RoundTrip, CorpusThroughHocketsXml) {
  const auto files = all_corpus_files();
  if (files.empty()) GTEST_SKIP() << "../shared/corpus is absent";
  for (const auto& file : files) {
    const Algorithm a = from_any(test::read_file(file), file.string());
    EXPECT_TRUE(from_any(to_xml(a, {Target::hocket})) == a) << file;
  }
}

// The shipped files are written the way we write: what is read and written again is the same text
// but for attributes that no runtime reads.
TEST(RoundTrip, CorpusOfRcclToTheByte) {
  const auto files = test::corpus_files("algorithms");
  if (files.empty()) GTEST_SKIP() << "../shared/corpus is absent";
  int compared = 0;
  for (const auto& file : files) {
    const std::string text = test::read_file(file);
    if (text.find("outofplace") == std::string::npos) continue;
    const std::string ours = to_xml(from_any(text), {Target::rccl});
    const auto steps_of = [](const std::string& xml) {
      std::vector<std::string> steps;
      for (std::size_t at = xml.find("<step"); at != std::string::npos;
           at = xml.find("<step", at)) {
        const std::size_t end = xml.find("/>", at);
        steps.push_back(xml.substr(at, end - at));
        at = end;
      }
      return steps;
    };
    EXPECT_EQ(steps_of(ours), steps_of(text)) << file;
    ++compared;
  }
  EXPECT_EQ(compared, 6);
}

TEST(RoundTrip, TextOfArbitraryAlgorithms) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Algorithm a = test::random_algorithm(seed);
    const std::string text = to_text(a);
    const Algorithm b = from_text(text);
    ASSERT_TRUE(b == a) << "seed " << seed << "\n" << text;
    expect_same_locations(a, b, seed);
    ASSERT_EQ(to_text(b), text) << "seed " << seed;
  }
}

// The text form keeps what cannot run as well.
TEST(RoundTrip, TextOfNonsense) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Algorithm a = test::random_algorithm(seed, {.wild = true});
    const std::string text = to_text(a);
    ASSERT_TRUE(from_text(text) == a) << "seed " << seed << "\n" << text;
  }
}

TEST(RoundTrip, HocketsXmlOfArbitraryAlgorithms) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Algorithm a = test::random_algorithm(seed);
    const std::string xml = to_xml(a, {Target::hocket});
    const Algorithm b = from_xml(xml);
    ASSERT_TRUE(b == a) << "seed " << seed << "\n" << xml;
    expect_same_locations(a, b, seed);
    ASSERT_EQ(to_xml(b, {Target::hocket}), xml) << "seed " << seed;
  }
}

// What each runtime's dialect can hold comes back; what it cannot is listed here, and nowhere else.
TEST(RoundTrip, RuntimesXmlOfArbitraryAlgorithms) {
  int compared = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Algorithm a = test::random_algorithm(seed);
    for (const Target target : {Target::msccl, Target::msccl_executor, Target::rccl}) {
      a.name = "name";  // others are refused; see XmlWriter
      const CollectiveKind kind = a.collective.kind();
      if (!target_collective_name(target, kind)) continue;
      const std::string xml = to_xml(a, {target});
      const Algorithm b = from_xml(xml);
      Algorithm expected = a;
      if (target == Target::msccl) {
        expected.out_of_place = !a.in_place;
      } else {
        expected.num_threads.reset();
      }
      const bool known = *target_collective_name(target, kind) != "custom";
      ASSERT_EQ(b.collective.kind(), known ? kind : CollectiveKind::custom) << "seed " << seed;
      ASSERT_EQ(b.collective.num_ranks(), a.num_ranks());
      if (known) {
        // Aliasing follows the placement, and the root is guessed from the steps.
        ASSERT_EQ(b.collective.chunk_factor(), a.collective.chunk_factor()) << "seed " << seed;
        ASSERT_EQ(b.collective.in_place(), b.in_place && !b.out_of_place) << "seed " << seed;
      } else {
        ASSERT_FALSE(b.collective.has_postcondition()) << "seed " << seed;
      }
      expected.collective = b.collective;
      ASSERT_TRUE(b == expected) << target_name(target) << " seed " << seed << "\n" << xml;
      ++compared;
    }
  }
  EXPECT_GT(compared, 3000);
}

TEST(RoundTrip, ADefaultAlgorithmHasATextForm) {
  EXPECT_TRUE(from_text(to_text(Algorithm())) == Algorithm());
}

TEST(RoundTrip, EqualityAsksWhatIsSaidNotWhereItLies) {
  const Algorithm a = from_text(test::kPairText);
  Algorithm b = a;
  b.steps.insert(b.steps.begin(), 5, Step());
  for (RankProgram& rank : b.ranks) {
    for (ThreadBlock& tb : rank.threadblocks) tb.first_step += 5;
  }
  EXPECT_TRUE(a == b);
  EXPECT_EQ(to_text(a), to_text(b));
  b.steps[5].has_dependent = true;
  EXPECT_FALSE(a == b);
}

}  // namespace
}  // namespace hocket
