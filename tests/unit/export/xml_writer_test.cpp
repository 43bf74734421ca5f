// The XML of each dialect, to the byte.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>

#include "hocket/format.h"
#include "unit/export/samples.h"

namespace hocket {
namespace {

using test::kNopText;
using test::kPairText;
using test::kPairXml;
using test::with;

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::string root_of(const Algorithm& a, Target target) { return first_line(to_xml(a, {target})); }

Error error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& error) {
    return error;
  }
  return Error(Code::Usage, "no error");
}

TEST(XmlWriter, TheExecutorsDialectToTheByte) {
  EXPECT_EQ(to_xml(from_text(kPairText), {Target::msccl_executor}), kPairXml);
}

TEST(XmlWriter, RcclReadsTheSameDialect) {
  EXPECT_EQ(to_xml(from_text(kPairText), {Target::rccl}), kPairXml);
}

TEST(XmlWriter, MscclHasNoOutOfPlaceAndAnExclusiveLimit) {
  EXPECT_EQ(
      root_of(from_text(kPairText), Target::msccl),
      R"(<algo name="pair_ar" proto="LL" nchannels="1" nchunksperloop="2" ngpus="2" coll="allreduce" inplace="1" minBytes="0" maxBytes="65537">)");
}

TEST(XmlWriter, StepsAreTheSameInEveryDialect) {
  const Algorithm a = from_text(kNopText);
  const auto body = [&](Target target) {
    const std::string text = to_xml(a, {target});
    return text.substr(text.find('\n'));
  };
  EXPECT_EQ(body(Target::msccl), body(Target::rccl));
  EXPECT_EQ(body(Target::msccl), body(Target::msccl_executor));
  EXPECT_EQ(body(Target::msccl), body(Target::hocket));
}

TEST(XmlWriter, ANopIsWrittenAsTheOriginalWritesIt) {
  const std::string text = to_xml(from_text(kNopText));
  EXPECT_NE(
      text.find(
          R"(<step s="0" type="nop" srcbuf="i" srcoff="-1" dstbuf="o" dstoff="-1" cnt="0" depid="2" deps="0" hasdep="0"/>)"),
      std::string::npos);
}

TEST(XmlWriter, ARankWithoutThreadblocksAndAThreadblockWithoutSteps) {
  const Algorithm a = from_text(
      "algorithm \"idle\" channels=1\n"
      "collective broadcast ranks=2 factor=1 root=0\n"
      "rank 0\n"
      "rank 1\n"
      "  tb 0 send=0 chan=0\n");
  EXPECT_EQ(
      to_xml(a),
      R"(<algo name="idle" proto="Simple" nchannels="1" nchunksperloop="1" ngpus="2" coll="broadcast" inplace="0" minBytes="0" maxBytes="9223372036854775807">
  <gpu id="0" i_chunks="1" o_chunks="1" s_chunks="0"/>
  <gpu id="1" i_chunks="1" o_chunks="1" s_chunks="0">
    <tb id="0" send="0" recv="-1" chan="0"/>
  </gpu>
</algo>
)");
}

// MSCCL allocates scratch for maxBytes when it starts, so "no limit" must not be said with scratch.
TEST(XmlWriter, MscclWithScratchAndNoLimitKeepsTheRuntimesDefault) {
  EXPECT_EQ(
      root_of(from_text(kNopText), Target::msccl),
      R"(<algo name="pair_oop" proto="Simple" nchannels="1" nchunksperloop="2" ngpus="2" coll="allreduce" inplace="0">)");
}

TEST(XmlWriter, MscclRunsAnAlgorithmOfBothPlacementsInPlace) {
  const Algorithm a = from_text(with(kPairText, "in_place", "in_place out_of_place"));
  EXPECT_NE(root_of(a, Target::msccl).find(" inplace=\"1\" minBytes"), std::string::npos);
  EXPECT_NE(root_of(a, Target::rccl).find(" inplace=\"1\" outofplace=\"1\""), std::string::npos);
}

TEST(XmlWriter, NoLimitIsZeroForRcclAndTheExecutor) {
  const Algorithm a = from_text(with(kPairText, " max=65536", " min=8"));
  EXPECT_NE(root_of(a, Target::rccl).find(R"(minBytes="8" maxBytes="0")"), std::string::npos);
  EXPECT_NE(root_of(a, Target::msccl_executor).find(R"(minBytes="8" maxBytes="0")"),
            std::string::npos);
}

TEST(XmlWriter, ThreadsAreMscclsOwn) {
  const Algorithm a = from_text(with(kPairText, " max=65536", " threads=256"));
  EXPECT_NE(root_of(a, Target::msccl).find("nthreads=\"256\""), std::string::npos);
  EXPECT_EQ(root_of(a, Target::rccl).find("nthreads"), std::string::npos);
}

TEST(XmlWriter, ReduceScatterHasTwoNames) {
  const Algorithm a =
      from_text("algorithm \"rs\"\ncollective reduce_scatter ranks=2 factor=1\nrank 0\nrank 1\n");
  EXPECT_NE(root_of(a, Target::msccl).find("coll=\"reduce_scatter\""), std::string::npos);
  EXPECT_NE(root_of(a, Target::rccl).find("coll=\"reducescatter\""), std::string::npos);
  EXPECT_NE(root_of(a, Target::msccl_executor).find("coll=\"reducescatter\""), std::string::npos);
  EXPECT_NE(root_of(a, Target::hocket).find("coll=\"reduce_scatter\""), std::string::npos);
}

TEST(XmlWriter, HocketSaysRootCollectiveAndSourceLines) {
  const Algorithm a = from_text(R"(algorithm "swap" channels=1
collective custom "swap" ranks=2 factor=1
  buffers 0 in=1 out=1
    holds 0 i[0] = 0:0
    wants 0 o[0] = 1:0
  buffers 1 in=1 out=1
    holds 1 i[0] = 1:0
    wants 1 o[0] = 0:0
rank 0
  tb 0 send=1 recv=1 chan=0
    s    i[0] -> o[0] @swap.cpp:7
    r    i[0] -> o[0]
rank 1
  tb 0 send=0 recv=0 chan=0
    s    i[0] -> o[0] @swap.cpp:8
    r    i[0] -> o[0] @swap.cpp:7
)");
  EXPECT_EQ(
      to_xml(a, {Target::hocket}),
      R"(<algo name="swap" proto="Simple" nchannels="1" nchunksperloop="1" ngpus="2" coll="custom" inplace="0" outofplace="1" minBytes="0" maxBytes="0">
  <collective name="swap" factor="1" split="1" postcondition="1">
    <rank id="0" i_chunks="1" o_chunks="1">
      <hold buf="i" off="0" cnt="1"><from rank="0" index="0"/></hold>
      <want buf="o" off="0" cnt="1"><from rank="1" index="0"/></want>
    </rank>
    <rank id="1" i_chunks="1" o_chunks="1">
      <hold buf="i" off="0" cnt="1"><from rank="1" index="0"/></hold>
      <want buf="o" off="0" cnt="1"><from rank="0" index="0"/></want>
    </rank>
  </collective>
  <sources>
    <source id="1" file="swap.cpp" line="7"/>
    <source id="2" file="swap.cpp" line="8"/>
  </sources>
  <gpu id="0" i_chunks="1" o_chunks="1" s_chunks="0">
    <tb id="0" send="1" recv="1" chan="0">
      <step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0" line="1"/>
      <step s="1" type="r" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
    </tb>
  </gpu>
  <gpu id="1" i_chunks="1" o_chunks="1" s_chunks="0">
    <tb id="0" send="0" recv="0" chan="0">
      <step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0" line="2"/>
      <step s="1" type="r" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0" line="1"/>
    </tb>
  </gpu>
</algo>
)");
  // The runtimes get neither.
  const std::string msccl = to_xml(a);
  EXPECT_EQ(msccl.find("<collective"), std::string::npos);
  EXPECT_EQ(msccl.find("<sources"), std::string::npos);
  EXPECT_EQ(msccl.find(" line="), std::string::npos);
}

TEST(XmlWriter, ATargetWithoutTheCollectiveRefuses) {
  const Algorithm next = from_text(
      "algorithm \"n\"\ncollective all_to_next_forward ranks=2 factor=1\nrank 0\nrank 1\n");
  EXPECT_NE(root_of(next, Target::msccl).find("coll=\"custom\""), std::string::npos);
  EXPECT_NE(root_of(next, Target::hocket).find("coll=\"all_to_next_forward\""), std::string::npos);
  for (const Target target : {Target::rccl, Target::msccl_executor}) {
    const Error error = error_of([&] { to_xml(next, {target}); });
    EXPECT_EQ(error.code(), Code::UnsupportedCollective);
    EXPECT_EQ(
        error.diagnostic().message,
        std::string(target_name(target)) + " has no name for the collective all_to_next_forward");
  }
  const Algorithm gathered =
      from_text("algorithm \"g\"\ncollective gather ranks=2 factor=1\nrank 0\nrank 1\n");
  for (const Target target : {Target::msccl, Target::rccl, Target::msccl_executor}) {
    EXPECT_EQ(error_of([&] { to_xml(gathered, {target}); }).code(), Code::UnsupportedCollective);
  }
}

TEST(XmlWriter, ANameThatTheLoadersCannotKeepIsRefused) {
  Algorithm a = from_text(kPairText);
  a.name = std::string(255, 'x');
  EXPECT_NE(to_xml(a).find(a.name), std::string::npos);
  a.name += 'x';
  Error error = error_of([&] { to_xml(a); });
  EXPECT_EQ(error.code(), Code::NameTooLong);
  EXPECT_EQ(error.diagnostic().message,
            "an algorithm name of 256 characters, but the reader of msccl keeps 255");
  EXPECT_NE(to_xml(a, {Target::hocket}).find(a.name), std::string::npos);

  for (const char* name : {"a\"b", "a<b", "a&b", "a\nb"}) {
    a.name = name;
    error = error_of([&] { to_xml(a, {Target::rccl}); });
    EXPECT_EQ(error.code(), Code::NameTooLong) << name;
    EXPECT_NE(error.diagnostic().message.find("it knows no escapes"), std::string::npos);
  }
  a.name = "a\"b<c>&d\ne";
  EXPECT_EQ(first_line(to_xml(a, {Target::hocket})).substr(0, 48),
            "<algo name=\"a&quot;b&lt;c&gt;&amp;d&#10;e\" proto");
  a.name = std::string("a\0b", 3);
  EXPECT_EQ(error_of([&] { to_xml(a, {Target::hocket}); }).code(), Code::NameTooLong);
}

// MSCCL runs its own two-phase algorithm for an alltoall of this name, whatever the steps say.
TEST(XmlWriter, MscclsMagicNameIsRefused) {
  Algorithm a =
      from_text("algorithm \"2D\"\ncollective alltoall ranks=2 factor=1\nrank 0\nrank 1\n");
  EXPECT_EQ(error_of([&] { to_xml(a); }).code(), Code::NameTooLong);
  EXPECT_NE(to_xml(a, {Target::rccl}).find("2D"), std::string::npos);
  a.name = "2d";
  EXPECT_NE(to_xml(a).find("2d"), std::string::npos);
}

TEST(XmlWriter, AnEmptyRangeOfSizesIsRefused) {
  Algorithm a = from_text(kPairText);
  a.min_bytes = 10;
  a.max_bytes = 9;
  EXPECT_EQ(error_of([&] { to_xml(a); }).code(), Code::BadSizeRange);
  a.min_bytes = 0;
  a.max_bytes = 0;  // 0 would mean "no limit" to RCCL
  EXPECT_EQ(error_of([&] { to_xml(a, {Target::rccl}); }).code(), Code::BadSizeRange);
}

TEST(XmlWriter, AMillionStepsInWellUnderASecond) {
  Algorithm a = from_text(kPairText);
  ThreadBlock& tb = a.ranks[1].threadblocks[0];
  a.steps.resize(tb.first_step + 1000000, a.steps.back());
  tb.num_steps = 1000000;
  const auto start = std::chrono::steady_clock::now();
  const std::string text = to_xml(a);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  EXPECT_GT(text.size(), 100000000U);
  EXPECT_LT(seconds, 5);  // sanitizers included; docs/benchmarks.md has the number
  RecordProperty("seconds", std::to_string(seconds));
}

}  // namespace
}  // namespace hocket
