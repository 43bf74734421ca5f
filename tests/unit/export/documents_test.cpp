// docs/errors.md and docs/formats.md say what the tables say.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "hocket/format.h"
#include "support/corpus.h"

namespace hocket {
namespace {

std::vector<std::string> lines_of(const std::string& file) {
  std::istringstream in(test::read_file(fmt::format("{}/docs/{}", HOCKET_SOURCE_DIR, file)));
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(Documents, ErrorsListsExactlyTheTablesCodesInOrder) {
  std::vector<std::string> headings;
  for (const std::string& line : lines_of("errors.md")) {
    if (line.rfind("### ", 0) == 0) headings.push_back(line.substr(4));
  }
  std::vector<std::string> expected;
  for (const Code code : all_codes()) {
    expected.push_back(fmt::format("{}: {}", code_text(code), code_about(code)));
  }
  EXPECT_EQ(headings, expected);
}

TEST(Documents, EveryCodeHasAnExampleAndAnAdvice) {
  std::set<std::string> with_example;
  std::set<std::string> with_advice;
  std::string code;
  for (const std::string& line : lines_of("errors.md")) {
    if (line.rfind("### ", 0) == 0) code = line.substr(4, 6);
    if (line.ends_with(fmt::format("[{}]", code))) with_example.insert(code);
    if (line.rfind("**What to do.** ", 0) == 0) with_advice.insert(code);
  }
  for (const Code c : all_codes()) {
    EXPECT_TRUE(with_example.count(std::string(code_text(c)))) << code_text(c);
    EXPECT_TRUE(with_advice.count(std::string(code_text(c)))) << code_text(c);
  }
}

TEST(Documents, CodesAreUniqueAndOrderedWithinTheirGroups) {
  std::string last;
  for (const Code code : all_codes()) {
    EXPECT_LT(last, code_text(code));
    last = code_text(code);
  }
}

// Every attribute that the writer writes has its row.
TEST(Documents, FormatsNamesEveryAttribute) {
  const std::string text = test::read_file(HOCKET_SOURCE_DIR "/docs/formats.md");
  for (const char* name :
       {"name",       "proto",    "nchannels", "nchunksperloop", "ngpus",  "coll",    "inplace",
        "outofplace", "minBytes", "maxBytes",  "nthreads",       "root",   "aliased", "id",
        "i_chunks",   "o_chunks", "s_chunks",  "send",           "recv",   "chan",    "s",
        "type",       "srcbuf",   "srcoff",    "dstbuf",         "dstoff", "cnt",     "depid",
        "deps",       "hasdep",   "line"}) {
    EXPECT_NE(text.find(fmt::format("`{}`", name)), std::string::npos) << name;
  }
}

TEST(Documents, TheExampleOfTheTextFormIsOne) {
  const std::vector<std::string> lines = lines_of("formats.md");
  std::string example;
  bool inside = false;
  for (const std::string& line : lines) {
    if (inside && line == "```") break;
    if (line.rfind("algorithm \"", 0) == 0) inside = true;
    if (inside) example += line + "\n";
  }
  const Algorithm a = from_text(example);
  EXPECT_EQ(to_text(a), example);
}

}  // namespace
}  // namespace hocket
