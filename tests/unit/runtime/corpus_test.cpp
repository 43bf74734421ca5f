// Files that others shipped, executed at sizes inside the range that they claim.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "hocket/format.h"
#include "hocket/runtime.h"

namespace hocket {
namespace {

namespace fs = std::filesystem;

const fs::path kCorpus = HOCKET_SOURCE_DIR "/../shared/corpus";

Algorithm read(const fs::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return from_xml(text.str(), path.filename().string());
}

std::vector<fs::path> files(const char* folder) {
  std::vector<fs::path> paths;
  if (!fs::exists(kCorpus / folder)) return paths;
  for (const auto& entry : fs::directory_iterator(kCorpus / folder)) {
    if (entry.path().extension() == ".xml") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

// Message sizes to try, in bytes of the larger buffer: the ends of the claimed range, and some
// inside.
std::vector<std::int64_t> message_sizes(const Algorithm& a) {
  const std::int64_t least = std::max<std::int64_t>(a.min_bytes, 1);
  const std::int64_t most = std::min<std::int64_t>(a.max_bytes.value_or(4 << 20), 4 << 20);
  std::vector<std::int64_t> sizes = {least, least + 13, (least + most) / 2, most};
  if (a.max_bytes) sizes.push_back(*a.max_bytes);
  return sizes;
}

void expect_right(const fs::path& path) {
  SCOPED_TRACE(path.filename().string());
  LocalExecutor executor(read(path));
  const Algorithm& a = executor.algorithm();
  const std::int64_t parts = a.chunks_per_loop / a.collective.chunk_factor();
  for (const std::int64_t bytes : message_sizes(a)) {
    for (const bool in_place : {false, true}) {
      if (!(in_place ? a.in_place : a.out_of_place)) continue;
      for (const DataType type : {DataType::float32, DataType::uint8}) {
        // Many small elements cost time and show nothing more.
        if (type == DataType::uint8 && bytes > 1 << 20) continue;
        SelfTestOptions options;
        options.run.type = type;
        options.run.in_place = in_place;
        options.run.count = std::max<std::int64_t>(
            bytes / parts / static_cast<std::int64_t>(data_type_size(type)), 1);
        const SelfTestResult result = self_test(executor, options);
        EXPECT_TRUE(result.checked);
        EXPECT_FALSE(result.mismatch) << bytes << " bytes: " << describe(*result.mismatch);
      }
    }
  }
}

TEST(Corpus, ShippedAlgorithmsGiveRightResultsInTheirSizeRange) {
  const auto paths = files("algorithms");
  if (paths.empty()) GTEST_SKIP() << "no files under " << kCorpus / "algorithms";
  for (const fs::path& path : paths) expect_right(path);
}

TEST(Corpus, RightCasesGiveRightResults) {
  const auto paths = files("cases");
  if (paths.empty()) GTEST_SKIP() << "no files under " << kCorpus / "cases";
  for (const fs::path& path : paths) {
    if (path.filename() != "round-trip-race.xml") expect_right(path);
  }
}

// Its threadblocks send 8 chunks both ways before they receive: with 2 slots that needs transfers
// of 8 chunks, which only messages up to its size limit allow.
TEST(Corpus, AllpairsSimpleDeadlocksBeyondItsSizeRange) {
  const fs::path path = kCorpus / "algorithms" / "allreduce-allpairs-8n-simple.xml";
  if (!fs::exists(path)) GTEST_SKIP() << "no " << path;
  LocalExecutor executor(read(path));
  SelfTestOptions options;
  options.run.in_place = true;
  options.run.type = DataType::uint8;
  options.run.count = 512 * 1024;
  options.run.chunks_per_transfer = 1;
  try {
    self_test(executor, options);
    FAIL() << "ran to its end";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::Deadlock);
    EXPECT_NE(error.diagnostic().message.find("in a cycle"), std::string::npos);
  }
  options.run.chunks_per_transfer = 4;  // 8 chunks are 2 transfers
  EXPECT_FALSE(self_test(executor, options).mismatch);
}

}  // namespace
}  // namespace hocket
