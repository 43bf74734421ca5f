// Collectives as JSON: what is written is read back, and what cannot be meant is refused.
#include <gtest/gtest.h>

#include "hocket/format.h"
#include "support/random_algorithm.h"

namespace hocket {
namespace {

TEST(PostFile, gives_back_every_built_in_collective) {
  for (int k = 0; k < static_cast<int>(CollectiveKind::custom); ++k) {
    const auto kind = static_cast<CollectiveKind>(k);
    for (const bool in_place : {false, true}) {
      const Collective c = Collective::make(kind, 3, 2, in_place, has_root(kind) ? 2 : 0);
      EXPECT_EQ(from_post_json(to_post_json(c)), c) << to_post_json(c);
      EXPECT_EQ(from_post_json(to_post_json(c.refined(3))), c.refined(3));
    }
  }
}

TEST(PostFile, gives_back_random_custom_collectives) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Collective c =
        test::random_custom_collective(seed, 1 + static_cast<int>(seed % 5), seed % 2 == 0);
    const std::string text = to_post_json(c);
    EXPECT_EQ(from_post_json(text), c) << text;
    EXPECT_EQ(to_post_json(from_post_json(text)), text);
  }
}

Diagnostic refused(std::string_view text) {
  try {
    from_post_json(text, "post.json");
  } catch (const Error& error) {
    return error.diagnostic();
  }
  ADD_FAILURE() << "accepted: " << text;
  return {};
}

TEST(PostFile, says_the_line_of_what_is_not_json) {
  const Diagnostic d = refused("{\"collective\": \"allreduce\",\n \"ranks\": 2,\n}");
  EXPECT_EQ(d.code, Code::PostSyntax);
  EXPECT_EQ(d.where, Location("post.json", 3));
  EXPECT_EQ(refused("").code, Code::PostSyntax);
  EXPECT_EQ(refused("[1, 2]").code, Code::PostSyntax);
  EXPECT_EQ(refused(std::string(100'000, '[')).code, Code::PostSyntax);
  EXPECT_EQ(refused("{\"collective\": \"\xff\"}").code, Code::PostSyntax);
}

TEST(PostFile, refuses_values_that_cannot_be_meant) {
  const auto message = [](std::string_view text) {
    const Diagnostic d = refused(text);
    EXPECT_EQ(d.code, Code::PostValue) << text;
    return d.message;
  };
  EXPECT_EQ(message(R"({"ranks": 2})"), "\"collective\" is missing");
  EXPECT_EQ(message(R"({"collective": "allredcue", "ranks": 2})"),
            "collective: \"allredcue\" is no collective");
  EXPECT_EQ(message(R"({"collective": "allreduce", "ranks": 0})"),
            "ranks: 0, expected 1 to 1048576");
  EXPECT_EQ(message(R"({"collective": "allreduce", "ranks": 2.5})"),
            "ranks: expected a whole number");
  EXPECT_EQ(message(R"({"collective": "allreduce", "ranks": 18446744073709551615})"),
            "ranks: 18446744073709551615, expected 1 to 1048576");
  EXPECT_EQ(message(R"({"collective": "allreduce", "ranks": 4, "ranks": 2})"),
            "\"ranks\" is said twice in one object");
  EXPECT_EQ(message(R"({"collective": "custom", "ranks": 1, "slots": [{"rank": 0, "output": 1,
                        "wants": [{"at": "o[0]", "origins": ["0:0"]}], "wants": []}]})"),
            "\"wants\" is said twice in one object");
  EXPECT_EQ(message(R"({"collective": "broadcast", "ranks": 2, "root": 2})"),
            "root: 2, expected 0 to 1");
  EXPECT_EQ(message(R"({"collective": "allreduce", "ranks": 2, "rank": 2})"),
            "\"rank\" is not known");
  const auto custom = [&](const std::string& slots) {
    return message(R"({"collective": "custom", "ranks": 2, "slots": [{"rank": 0, "input": 1, )" +
                   slots + "}]}");
  };
  EXPECT_EQ(custom(R"("wants": [{"at": "s[0]", "origins": ["0:0"]}])"),
            "slots[0].wants[0]: \"s[0]\", expected a slot as i[N] or o[N]");
  EXPECT_EQ(custom(R"("holds": [{"at": "i[0]", "origins": ["3-1:0"]}])"),
            "slots[0].holds[0]: \"3-1:0\", expected an origin as \"0:3\" or \"0-7:3\"");
  EXPECT_EQ(custom(R"("holds": [{"at": "i[99999999999]", "origins": ["0:0"]}])"),
            "slots[0].holds[0]: \"i[99999999999]\", expected a slot as i[N] or o[N]");
  EXPECT_FALSE(custom(R"("holds": [{"at": "i[1]", "origins": ["0:0"]}])").empty());
  EXPECT_FALSE(custom(R"("output": 1073741824)").empty()) << "a small file with a billion slots";
}

}  // namespace
}  // namespace hocket
