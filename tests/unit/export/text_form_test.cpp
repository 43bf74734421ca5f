// The text form: what it looks like, what may be left out, what is refused.
#include <gtest/gtest.h>

#include "hocket/format.h"
#include "unit/export/samples.h"

namespace hocket {
namespace {

using test::kNopText;
using test::kPairText;
using test::with;

TEST(TextForm, PrintsWhatItParses) {
  EXPECT_EQ(to_text(from_text(kPairText)), kPairText);
  EXPECT_EQ(to_text(from_text(kNopText)), with(kNopText, "channels=1", "proto=Simple channels=1"));
}

TEST(TextForm, MeansWhatItSays) {
  const Algorithm a = from_text(kNopText);
  EXPECT_EQ(a.name, "pair_oop");
  EXPECT_EQ(a.protocol, Protocol::simple);
  EXPECT_FALSE(a.in_place);
  EXPECT_TRUE(a.out_of_place);
  EXPECT_EQ(a.num_channels, 1);
  EXPECT_EQ(a.chunks_per_loop, 2);
  EXPECT_TRUE(a.collective == allreduce(2, 2));
  ASSERT_EQ(a.num_ranks(), 2);
  EXPECT_EQ(a.ranks[0].scratch_chunks, 1);
  ASSERT_EQ(a.ranks[0].threadblocks.size(), 3U);
  EXPECT_EQ(a.ranks[0].threadblocks[0].send, 1);
  EXPECT_EQ(a.ranks[0].threadblocks[1].send, -1);
  const auto steps = a.steps_of(a.ranks[0].threadblocks[1]);
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(steps[0], (Step{.op = OpCode::nop, .depend_tb = 2, .depend_step = 0}));
  EXPECT_EQ(steps[1], (Step{.op = OpCode::reduce,
                            .src_buffer = BufferKind::scratch,
                            .dst_buffer = BufferKind::output,
                            .has_dependent = true,
                            .src_offset = 0,
                            .dst_offset = 0,
                            .count = 1,
                            .depend_tb = 0,
                            .depend_step = 1}));
}

TEST(TextForm, WhatCanBeLeftOut) {
  const Algorithm a = from_text(R"(
# A comment, and a line of its own.
algorithm "short"
collective allgather ranks=2 factor=3   # chunks of a rank's input
rank 0
tb 0 send=1 recv=1
s i[0] -> o[0] cnt=3
r i[0] -> o[3] cnt=3
rank 1
tb 0 send=0 recv=0 chan=4
s i[0]->o[3] cnt=3
r i[0]->o[0] cnt=3
)");
  EXPECT_EQ(to_text(a), R"(algorithm "short" proto=Simple channels=5
collective allgather ranks=2 factor=3
rank 0 in=3 out=6 scratch=0
  tb 0 send=1 recv=1 chan=0
    s    i[0] -> o[0] cnt=3
    r    i[0] -> o[3] cnt=3
rank 1 in=3 out=6 scratch=0
  tb 0 send=0 recv=0 chan=4
    s    i[0] -> o[3] cnt=3
    r    i[0] -> o[0] cnt=3
)");
}

TEST(TextForm, OneOperandStandsForBoth) {
  const Algorithm a = from_text(
      "algorithm \"a\"\ncollective allreduce ranks=1 factor=3\nrank 0\ntb 0\nre i[2]\nnop "
      "after=0:0\n"
      "nop o[1] -> i[0] cnt=2\n");
  EXPECT_EQ(a.steps[0].src_buffer, BufferKind::input);
  EXPECT_EQ(a.steps[0].dst_buffer, BufferKind::input);
  EXPECT_EQ(a.steps[0].dst_offset, 2);
  EXPECT_EQ(a.steps[1].dst_buffer, BufferKind::output);
  EXPECT_EQ(a.steps[1].dst_offset, -1);
  EXPECT_EQ(a.steps[2].src_offset, 1);
  EXPECT_EQ(a.steps[2].count, 2);
}

TEST(TextForm, Placements) {
  const auto placements = [](const std::string& words) {
    const Algorithm a =
        from_text("algorithm \"a\" " + words + "\ncollective allreduce ranks=1 factor=1\nrank 0\n");
    return std::vector<bool>{a.in_place, a.out_of_place, a.collective.in_place()};
  };
  EXPECT_EQ(placements(""), (std::vector<bool>{false, true, false}));
  EXPECT_EQ(placements("in_place"), (std::vector<bool>{true, false, true}));
  EXPECT_EQ(placements("out_of_place"), (std::vector<bool>{false, true, false}));
  EXPECT_EQ(placements("in_place out_of_place"), (std::vector<bool>{true, true, false}));
  EXPECT_EQ(placements("nowhere"), (std::vector<bool>{false, false, false}));
}

TEST(TextForm, SourceLines) {
  const Algorithm a = from_text(R"(algorithm "a"
collective allreduce ranks=1 factor=1
rank 0
  tb 0
    cpy i[0] -> o[0]
    cpy i[0] -> o[0] signals @dir/ring.cpp:12   # and a comment
    cpy i[0] -> o[0] @"my \"own\" file.cpp":3
    cpy i[0] -> o[0] @C:\x.cpp:4
)");
  EXPECT_FALSE(a.location_of(0).known());
  EXPECT_EQ(a.location_of(1), Location("dir/ring.cpp", 12));
  EXPECT_EQ(a.location_of(2), Location("my \"own\" file.cpp", 3));
  EXPECT_EQ(a.location_of(3), Location("C:\\x.cpp", 4));
}

TEST(TextForm, CustomCollectives) {
  const char* const text = R"(algorithm "x" proto=LL channels=0
collective custom "sum and shift" ranks=3 factor=2 split=2
  buffers 0 in=4 out=2
    holds 0 i[0] cnt=4 = 0:0
    wants 0 o[0] cnt=2 = 0-2:0
  buffers 1 in=4 out=2
    holds 1 i[1] = 1:3
    wants 1 o[1] = 0:0 2:0 0:1
  buffers 2 in=0 out=0
rank 0 in=8 out=4 scratch=0
rank 1 in=8 out=4 scratch=0
rank 2 in=0 out=0 scratch=0
)";
  const Algorithm a = from_text(text);
  EXPECT_EQ(to_text(a), text);
  EXPECT_EQ(a.chunks_per_loop, 8);
  EXPECT_EQ(a.collective.initial(0, {BufferKind::input, 7}), (Origin{0, 7}));
  EXPECT_EQ(a.collective.initial(1, {BufferKind::input, 0}), std::nullopt);
  const Expected e = a.collective.expected(0, {BufferKind::output, 3});
  EXPECT_EQ(std::vector<Origin>(e.list.begin(), e.list.end()),
            (std::vector<Origin>{{0, 3}, {1, 3}, {2, 3}}));
  EXPECT_EQ(a.collective.expected(1, {BufferKind::output, 0}).kind, Expected::Kind::any);
}

TEST(TextForm, AnyLooksAtTheFirstCharacter) {
  EXPECT_TRUE(from_any(kPairText) == from_any(test::kPairXml));
  EXPECT_TRUE(from_any(std::string("\xEF\xBB\xBF \n") + test::kPairXml) == from_any(kPairText));
  EXPECT_TRUE(from_any(std::string("\xEF\xBB\xBF") + kPairText) == from_any(kPairText));
}

TEST(TextForm, LinesMayEndAsOnWindows) {
  std::string text;
  for (const char c : std::string(kNopText))
    text += c == '\n' ? std::string("\r\n") : std::string(1, c);
  EXPECT_TRUE(from_text(text) == from_text(kNopText));
}

struct Rejection {
  std::string from;  // the first such text of kPairText ...
  std::string to;    // ... is replaced by this
  Code code;
  std::uint32_t line;
  std::string text;  // the whole message
};

std::ostream& operator<<(std::ostream& out, const Rejection& r) {
  return out << r.from << " => " << r.to;
}

class TextRejection : public testing::TestWithParam<Rejection> {};

TEST_P(TextRejection, NamesCodeLineAndReason) {
  const Rejection& r = GetParam();
  const std::string text = with(kPairText, r.from, r.to);
  ASSERT_FALSE(text.empty()) << "nothing to replace";
  try {
    from_text(text, "pair.txt");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(code_text(error.code()), code_text(r.code));
    EXPECT_EQ(error.diagnostic().where, Location("pair.txt", r.line));
    EXPECT_EQ(error.diagnostic().message, r.text);
  }
}

const Rejection kRejections[] = {
    {"algorithm", "algorithms", Code::TextSyntax, 1,
     "\"algorithms \"pair_ar\" proto=LL channels=1...\", expected algorithm \"NAME\""},
    {"\"pair_ar\"", "pair_ar", Code::TextSyntax, 1,
     "\"pair_ar proto=LL channels=1 in_place max...\", expected the algorithm's name in quotes"},
    {"\"pair_ar\"", "\"pair_ar", Code::TextSyntax, 1,
     "the algorithm's name without its closing quote"},
    {"pair_ar", "pair\\qar", Code::TextSyntax, 1, "an unknown escape in a string"},
    {"pair_ar", "pair\\x4", Code::TextSyntax, 1, "\\x without two hexadecimal digits in a string"},
    {"proto=LL", "proto=LL256", Code::TextSyntax, 1,
     "protocol \"LL256\", expected Simple, LL or LL128"},
    {"channels=1", "channels=", Code::TextSyntax, 1,
     "\"in_place max=65536\", expected channels, a number"},
    {"channels=1", "channels=9999999999", Code::TextValue, 1,
     "channels 9999999999, expected -2147483648 to 2147483647"},
    {"max=65536", "max=99999999999999999999", Code::TextValue, 1,
     "max 99999999999999999999, expected -9223372036854775808 to 9223372036854775807"},
    {"in_place", "in_places", Code::TextSyntax, 1,
     "\"in_places max=65536\", expected proto=, channels=, chunks=, in_place, out_of_place, "
     "nowhere, "
     "min=, max= or threads="},
    {"in_place", "in_place nowhere", Code::TextSyntax, 1,
     "nowhere beside in_place or out_of_place, expected one of them"},
    {"collective", "collect", Code::TextSyntax, 2,
     "\"collect allreduce ranks=2 factor=2\", expected collective KIND ranks=N"},
    {"allreduce", "barrier", Code::TextSyntax, 2,
     "collective \"barrier\", expected allreduce, allgather, reduce_scatter, alltoall, broadcast, "
     "reduce, gather, scatter, all_to_next_forward, all_to_next_backward, custom or none"},
    {"ranks=2", "", Code::TextSyntax, 2, "a collective without ranks="},
    {"ranks=2", "ranks=0", Code::TextValue, 2, "ranks 0, expected 1 to 1048576"},
    {"ranks=2", "ranks=3", Code::TextValue, 12, "2 rank lines, expected the 3 of the collective"},
    {"ranks=2", "ranks=1", Code::TextValue, 8, "rank 1, but the collective has 1 ranks"},
    {"factor=2", "root=1", Code::TextSyntax, 2,
     "\"root=1\", expected ranks=, factor=, aliased or separate"},
    {"allreduce ranks=2 factor=2", "broadcast ranks=2 roots=1", Code::TextSyntax, 2,
     "\"roots=1\", expected ranks=, factor=, root=, aliased or separate"},
    {"allreduce ranks=2 factor=2", "alltoall ranks=2 factor=2000000000", Code::TextValue, 2,
     "alltoall over 2 ranks with chunk factor 2000000000 has a buffer of 4000000000 chunks, but "
     "chunks "
     "are numbered up to 2147483647"},
    {"allreduce ranks=2", "broadcast root=2 ranks=2", Code::TextValue, 2,
     "broadcast with root 2, but it has 2 ranks (0 to 1)"},
    {"rank 0 in", "rank 1 in", Code::TextValue, 3, "rank 1, expected rank 0"},
    {"rank 0 in=2", "rank 0 into=2", Code::TextSyntax, 3,
     "\"into=2 out=0 scratch=0\", expected in=, out= or scratch="},
    {"  tb 0", "  tb 1", Code::TextValue, 4, "tb 1, expected tb 0"},
    {"  tb 0 send=1 recv=1 chan=0\n", "", Code::TextSyntax, 4,
     "\"s    i[1]\", expected tb or rank"},
    {"chan=0", "channel=0", Code::TextSyntax, 4, "\"channel=0\", expected send=, recv= or chan="},
    {"rrcs i", "rrsc i", Code::TextSyntax, 6,
     "\"rrsc i[0]\", expected a step (s, r, rcs, rrs, rrc, rrcs, cpy, re or nop), tb or rank"},
    {"rrcs i[0]", "rrcs x[0]", Code::TextSyntax, 6,
     "\"x[0]\", expected a chunk as i[N], o[N] or s[N]"},
    {"rrcs i[0]", "rrcs", Code::TextSyntax, 6,
     "the end of the line, expected a chunk as i[N], o[N] or s[N]"},
    {"rrcs i[0]", "rrcs i[0", Code::TextSyntax, 6, "the end of the line, expected ']'"},
    {"rrcs i[0]", "rrcs i[0] ->", Code::TextSyntax, 6,
     "the end of the line, expected a chunk as i[N], o[N] or s[N]"},
    {"rrcs i[0]", "rrcs i[3000000000]", Code::TextValue, 6,
     "chunk index 3000000000, expected -2147483648 to 2147483647"},
    {"rrcs i[0]", "rrcs i[0] after=1", Code::TextSyntax, 6,
     "the end of the line, expected a ':' and the step to wait for"},
    {"rrcs i[0]", "rrcs i[0] @ring.cpp", Code::TextSyntax, 6,
     "\"ring.cpp\", expected FILE:LINE after @"},
    {"rrcs i[0]", "rrcs i[0] @ring.cpp:x", Code::TextSyntax, 6, "\"x\", expected line, a number"},
    {"rrcs i[0]", "rrcs i[0] o[0]", Code::TextSyntax, 6,
     "\"o[0]\", expected ->, cnt=, after=, signals or @FILE:LINE"},
};

INSTANTIATE_TEST_SUITE_P(All, TextRejection, testing::ValuesIn(kRejections));

Error error_of(const std::string& text) {
  try {
    from_text(text, "x.txt");
  } catch (const Error& error) {
    return error;
  }
  return Error(Code::Usage, "accepted");
}

TEST(TextForm, EndsTooSoon) {
  EXPECT_EQ(error_of("# nothing\n").diagnostic().message,
            "an empty file, expected algorithm \"NAME\"");
  EXPECT_STREQ(error_of("algorithm \"a\"\n\n").what(),
               "x.txt:2: error: no collective line [HK0601]");
}

TEST(TextForm, CustomLinesAreChecked) {
  const auto expect = [](const std::string& lines, std::uint32_t line, const std::string& text) {
    const Error error =
        error_of("algorithm \"a\"\ncollective custom \"c\" ranks=2 factor=1\n" + lines);
    EXPECT_EQ(error.diagnostic().where.line, line) << lines;
    EXPECT_EQ(error.diagnostic().message, text) << lines;
  };
  expect("buffers 2 in=1\n", 3, "rank 2, expected 0 to 1");
  expect("buffers 0 in=1\nbuffers 0 in=2\n", 4, "the buffers of rank 0 a second time");
  expect("buffers 0 in=1\nholds 0 i[1] = 0:0\n", 4, "1 slots from input[1] of rank 0, which has 1");
  expect("buffers 0 in=1\nholds 0 i[0] = 0:0 1:0\n", 4,
         "a slot that holds several origins, but it starts with one");
  expect("buffers 0 in=1\nholds 0 i[0] = 0:0\nholds 0 i[0] = 1:0\n", 5,
         "collective c: rank 0 input[0] holds r0.c0 and r1.c0, but a slot starts with one chunk");
  expect("buffers 0 in=1\nwants 0 i[0] =\n", 4,
         "a slot that wants no origin, expected at least one");
  expect("buffers 0 in=1\nwants 0 i[0] = 1-0:0\n", 4, "origins of ranks 1 to 0, expected 0 to 1");
  expect("buffers 0 in=1\nwants 0 s[0] = 1:0\n", 4,
         "a scratch slot, but a collective speaks of input and output only");
  expect("tb 0\n", 3, "\"tb 0\", expected buffers, holds, wants or rank");
}

}  // namespace
}  // namespace hocket
