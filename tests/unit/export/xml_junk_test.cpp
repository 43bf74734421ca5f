// Files that are not algorithms, or that want to be expensive: an error, soon, in bounded memory.
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>

#include "hocket/format.h"
#include "unit/export/samples.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HOCKET_TEST_SANITIZED 1
#else
#define HOCKET_TEST_SANITIZED 0
#endif

namespace hocket {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr std::size_t kJunk = (HOCKET_TEST_SANITIZED ? 10 : 100) * kMiB;

// Peak memory of this process since reset(), in bytes; 0 where the system does not say.
std::size_t status_bytes(const std::string& key) {
  std::ifstream in("/proc/self/status");
  for (std::string line; std::getline(in, line);) {
    if (line.rfind(key, 0) == 0) return std::stoull(line.substr(key.size())) * 1024;
  }
  return 0;
}

struct Outcome {
  std::string code;
  std::uint32_t line = 0;
  std::string message;
  std::size_t extra_bytes = 0;
  double seconds = 0;
};

Outcome read(const std::string& text) {
  std::ofstream("/proc/self/clear_refs") << "5";  // the peak starts from here
  const std::size_t before = status_bytes("VmRSS:");
  const auto start = std::chrono::steady_clock::now();
  Outcome outcome;
  try {
    from_any(text, "junk");
    outcome.code = "accepted";
  } catch (const Error& error) {
    outcome.code = code_text(error.code());
    outcome.line = error.diagnostic().where.line;
    outcome.message = error.diagnostic().message;
  }
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const std::size_t peak = status_bytes("VmHWM:");
  outcome.extra_bytes = peak > before ? peak - before : 0;
  return outcome;
}

void expect_cheap(const Outcome& outcome, std::size_t text_bytes) {
  EXPECT_LT(outcome.seconds, HOCKET_TEST_SANITIZED ? 60 : 10);
  if (!HOCKET_TEST_SANITIZED) {
    EXPECT_LT(outcome.extra_bytes, 20 * text_bytes + 64 * kMiB);
  }
}

std::string repeated(std::string_view piece, std::size_t bytes) {
  std::string text;
  text.reserve(bytes + piece.size());
  while (text.size() < bytes) text += piece;
  return text;
}

TEST(Junk, Nothing) {
  EXPECT_EQ(read("").code, "HK0601");
  EXPECT_EQ(read("  \n\t\n").code, "HK0601");
  try {
    from_xml(" \n", "x");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::XmlSyntax);
    EXPECT_EQ(error.diagnostic().message, "an empty file, expected <algo>");
  }
}

TEST(Junk, Bytes) {
  std::string text(kJunk, '\0');
  std::uint64_t state = 1;
  for (char& c : text) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    c = static_cast<char>(state >> 56);
  }
  Outcome outcome = read(text);
  EXPECT_EQ(outcome.code, "HK0601");
  EXPECT_EQ(outcome.line, 1U);
  expect_cheap(outcome, text.size());
  text[0] = '<';
  outcome = read(text);
  EXPECT_EQ(outcome.code, "HK0501");
  expect_cheap(outcome, text.size());
}

TEST(Junk, AnAttributeThatNeverEnds) {
  const std::string text = "<algo name=\"" + std::string(kJunk, 'x');
  const Outcome outcome = read(text);
  EXPECT_EQ(outcome.code, "HK0501");
  expect_cheap(outcome, text.size());
}

TEST(Junk, AThousandMarkupsAKilobyte) {
  const std::string text = "<algo>" + repeated("<a/>", kJunk) + "</algo>";
  const Outcome outcome = read(text);
  EXPECT_EQ(outcome.code, "HK0508");
  expect_cheap(outcome, text.size());
}

TEST(Junk, MarkupAsDenseAsIsAllowed) {
  const std::string text = "<algo>" + repeated("<abc d=\"\"/>", kJunk) + "</algo>";
  const Outcome outcome = read(text);
  EXPECT_EQ(outcome.code, "HK0502");  // it is read, and no algorithm
  expect_cheap(outcome, text.size());
}

TEST(Junk, AMillionNestedElements) {
  std::string text = test::with(test::kPairXml, "</algo>", "");
  for (int i = 0; i < 1000000; ++i) text += "<deep       >";
  const std::string open = text;
  for (int i = 0; i < 1000000; ++i) text += "</deep>";
  text += "</algo>";
  EXPECT_EQ(read(text).code, "accepted");  // an unknown element, skipped with all that is in it
  EXPECT_EQ(read(open).code, "HK0501");
}

TEST(Junk, EntitiesAreNotExpanded) {
  const std::string bomb =
      "<!DOCTYPE lolz [\n<!ENTITY lol \"lol\">\n<!ENTITY lol2 \"&lol;&lol;&lol;&lol;&lol;\">\n"
      "<!ENTITY file SYSTEM \"file:///etc/passwd\">\n]>\n" +
      test::with(test::kPairXml, "pair_ar", "&lol2;&file;");
  EXPECT_EQ(from_xml(bomb).name, "&lol2;&file;");
  const Outcome number = read(test::with(bomb, "ngpus=\"2\"", "ngpus=\"&lol;\""));
  EXPECT_EQ(number.code, "HK0503");
  EXPECT_EQ(number.line, 6U);
  EXPECT_EQ(number.message, "ngpus \"&lol;\", expected a whole number");
}

TEST(Junk, ANulByteEndsNothingSilently) {
  std::string text = test::kPairXml;
  text[text.find("</algo>") - 1] = '\0';
  const Outcome outcome = read(text);
  EXPECT_EQ(outcome.code, "HK0501");
  EXPECT_EQ(outcome.line, 15U);
  EXPECT_EQ(outcome.message, "a NUL byte, which XML cannot hold");
}

// Few bytes that ask for much.
TEST(Junk, HugeNumbersInSmallFiles) {
  const auto cheap = [](const std::string& text, const std::string& code) {
    const Outcome outcome = read(text);
    EXPECT_EQ(outcome.code, code) << outcome.message;
    expect_cheap(outcome, 0);
  };
  cheap(test::with(test::kPairXml, "ngpus=\"2\"", "ngpus=\"1048576\""), "HK0506");
  cheap(test::with(test::kPairXml, "gpu id=\"1\"", "gpu id=\"2000000000\""), "HK0504");
  cheap(test::with(test::kPairXml, "tb id=\"0\"", "tb id=\"2000000000\""), "HK0506");
  std::string custom = test::with(test::kPairXml, "\"allreduce\"", "\"custom\"");
  cheap(test::with(custom, "o_chunks=\"0\"", "o_chunks=\"2000000000\""), "HK0508");
  cheap("algorithm \"a\"\ncollective allreduce ranks=1000000 factor=1\n", "HK0602");
  cheap("algorithm \"a\"\ncollective custom \"c\" ranks=1 factor=1\nbuffers 0 in=2000000000\n",
        "HK0508");
  cheap(
      "algorithm \"a\"\ncollective custom \"c\" ranks=9 factor=1\nbuffers 0 out=1000000\n"
      "wants 0 o[0] cnt=1000000 = 0-8:0\n",
      "HK0508");
  cheap(
      "algorithm \"a\"\ncollective custom \"c\" ranks=1 factor=1 split=99999999\n"
      "buffers 0 in=10\nrank 0\n",
      "HK0508");
}

// Any beginning of a file is refused, and never crashes.
TEST(Junk, EveryTruncation) {
  const std::string xml = test::kPairXml;
  for (std::size_t n = 0; n + 1 < xml.size(); ++n) {
    const Outcome outcome = read(xml.substr(0, n));
    EXPECT_TRUE(outcome.code == "HK0501" || outcome.code == "HK0601") << n << " " << outcome.code;
  }
  EXPECT_EQ(read(xml.substr(0, xml.size() - 1)).code, "accepted");
}

}  // namespace
}  // namespace hocket
