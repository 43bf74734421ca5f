// Sizes as people write them, and as they must not.
#include "util/sizes.h"

#include <gtest/gtest.h>

#include "hocket/diagnostic.h"

namespace hocket::tool {
namespace {

struct Row {
  const char* text;
  std::int64_t bytes;
};

TEST(Sizes, AreReadInBothSystems) {
  for (const Row& row :
       {Row{"0", 0}, Row{"17", 17}, Row{"17B", 17}, Row{"1K", 1024}, Row{"1KiB", 1024},
        Row{"1KB", 1000}, Row{"64KiB", 65536}, Row{"1MiB", 1 << 20}, Row{"1MB", 1000000},
        Row{"2G", std::int64_t{2} << 30}, Row{"2GB", 2000000000},
        Row{"3TiB", std::int64_t{3} << 40}, Row{"1mib", 1 << 20}, Row{"5k", 5120},
        Row{"9223372036854775807", 9223372036854775807}}) {
    EXPECT_EQ(parse_size(row.text, "--bytes"), row.bytes) << row.text;
  }
}

std::string refusal(const std::string& text) {
  try {
    return "accepted as " + std::to_string(parse_size(text, "--bytes"));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::Usage);
    return error.diagnostic().message;
  }
}

TEST(Sizes, AreReadStrictly) {
  for (const std::string text : {"", " ", "x", "-1", "+1", "1.5M", "1 M", " 1M", "1M ", "1MM",
                                 "1KiBB", "1iB", "KiB", "0x10", "1e6", "1P", "1BB", "1,000"}) {
    EXPECT_EQ(refusal(text), "--bytes \"" + text + "\" is not a size in bytes");
  }
}

TEST(Sizes, DoNotOverflow) {
  for (const std::string text :
       {"9223372036854775808", "9007199254740992K", "8388608T", "99999999999999999999999999"}) {
    EXPECT_EQ(refusal(text), "--bytes " + text + ": more bytes than 63 bits count");
  }
  EXPECT_EQ(parse_size("8388607T", "--bytes"), std::int64_t{8388607} << 40);
}

TEST(Sizes, ArePrintedForPeople) {
  EXPECT_EQ(format_size(0), "0 B");
  EXPECT_EQ(format_size(1023), "1023 B");
  EXPECT_EQ(format_size(1024), "1 KiB");
  EXPECT_EQ(format_size(1536 * 1024), "1.5 MiB");
  EXPECT_EQ(format_size(std::int64_t{5} << 50), "5120 TiB");
  EXPECT_EQ(format_seconds(2.5e-6), "2.5 us");
  EXPECT_EQ(format_seconds(0.0123), "12.30 ms");
  EXPECT_EQ(format_seconds(75), "75.00 s");
}

}  // namespace
}  // namespace hocket::tool
