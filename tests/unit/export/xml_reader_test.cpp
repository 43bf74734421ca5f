// What the XML reader takes, and what it refuses: code, line and text of each.
#include <gtest/gtest.h>

#include "hocket/format.h"
#include "unit/export/samples.h"

namespace hocket {
namespace {

using test::kPairText;
using test::kPairXml;
using test::with;

std::vector<Diagnostic> warnings_of(const std::string& xml) {
  std::vector<Diagnostic> warnings;
  from_xml(xml, "pair.xml", [&](const Diagnostic& d) { warnings.push_back(d); });
  return warnings;
}

TEST(XmlReader, ReadsWhatItSays) {
  const Algorithm a = from_xml(kPairXml);
  EXPECT_EQ(to_text(a), kPairText);
  EXPECT_TRUE(a == from_text(kPairText));
  EXPECT_TRUE(warnings_of(kPairXml).empty());
}

TEST(XmlReader, OrderOfAttributesGpusAndThreadblocksIsFree) {
  const Algorithm a = from_xml(R"(<?xml version="1.0"?>
<!-- a comment, and what our own writer never makes -->
<algo coll='allgather' ngpus="2" inplace="0" nchunksperloop="0x2" proto="LL128"
      nchannels="1">
  <gpu s_chunks="0" o_chunks="2" i_chunks="1" id="1"/>
  <gpu id="0" i_chunks="1" o_chunks="2" s_chunks="0">
    <tb id="1" send="1" recv="-1" chan="0"><!-- empty --></tb>
    <tb id="0" send="-1" recv="-1" chan="0">
      <step hasdep="0" deps="-1" depid="-1" cnt="1" dstoff="0" dstbuf="o" srcoff="0" srcbuf="i" type="cpy" s="0"/>
    </tb>
  </gpu>
</algo>)");
  EXPECT_EQ(to_text(a), R"(algorithm "unnamed" proto=LL128 channels=1
collective allgather ranks=2 factor=1
rank 0 in=1 out=2 scratch=0
  tb 0 chan=0
    cpy  i[0] -> o[0]
  tb 1 send=1 chan=0
rank 1 in=1 out=2 scratch=0
)");
}

TEST(XmlReader, OutOfPlaceIsWhatInPlaceIsNotUnlessSaid) {
  const std::string msccl = with(with(kPairXml, " outofplace=\"0\"", ""), "maxBytes=\"65536\"", "");
  EXPECT_TRUE(from_xml(msccl).in_place);
  EXPECT_FALSE(from_xml(msccl).out_of_place);
  EXPECT_FALSE(from_xml(with(msccl, "inplace=\"1\"", "inplace=\"0\"")).in_place);
  EXPECT_TRUE(from_xml(with(msccl, "inplace=\"1\"", "inplace=\"0\"")).out_of_place);
  const Algorithm both = from_xml(with(kPairXml, "outofplace=\"0\"", "outofplace=\"1\""));
  EXPECT_TRUE(both.in_place && both.out_of_place);
  EXPECT_FALSE(both.collective.in_place());
  EXPECT_TRUE(from_xml(kPairXml).collective.in_place());
}

TEST(XmlReader, TheLimitIsExclusiveInMscclsDialectOnly) {
  EXPECT_EQ(from_xml(kPairXml).max_bytes, 65536);
  EXPECT_EQ(from_xml(with(kPairXml, " outofplace=\"0\"", "")).max_bytes, 65535);
  EXPECT_EQ(from_xml(with(kPairXml, "65536", "0")).max_bytes, std::nullopt);
  EXPECT_EQ(from_xml(with(kPairXml, " maxBytes=\"65536\"", "")).max_bytes, std::nullopt);
  const std::string unlimited =
      with(with(kPairXml, " outofplace=\"0\"", ""), "65536", "9223372036854775807");
  EXPECT_EQ(from_xml(unlimited).max_bytes, std::nullopt);
}

TEST(XmlReader, EveryNameOfACollective) {
  const auto kind_of = [](const std::string& coll) {
    return from_xml(with(kPairXml, "coll=\"allreduce\"", "coll=\"" + coll + "\""))
        .collective.kind();
  };
  EXPECT_EQ(kind_of("allreduce"), CollectiveKind::allreduce);
  EXPECT_EQ(kind_of("allgather"), CollectiveKind::allgather);
  EXPECT_EQ(kind_of("reduce_scatter"), CollectiveKind::reduce_scatter);
  EXPECT_EQ(kind_of("reducescatter"), CollectiveKind::reduce_scatter);
  EXPECT_EQ(kind_of("alltoall"), CollectiveKind::alltoall);
  EXPECT_EQ(kind_of("broadcast"), CollectiveKind::broadcast);
  EXPECT_EQ(kind_of("reduce"), CollectiveKind::reduce);
  EXPECT_EQ(kind_of("gather"), CollectiveKind::gather);
  EXPECT_EQ(kind_of("scatter"), CollectiveKind::scatter);
  EXPECT_EQ(kind_of("all_to_next_forward"), CollectiveKind::all_to_next_forward);
  EXPECT_EQ(kind_of("all_to_next_backward"), CollectiveKind::all_to_next_backward);
  EXPECT_EQ(kind_of("custom"), CollectiveKind::custom);
}

TEST(XmlReader, TheCollectiveComesFromChunksALoop) {
  const Algorithm gathered = from_xml(with(kPairXml, "allreduce", "allgather"));
  EXPECT_EQ(gathered.collective.chunk_factor(), 1);
  EXPECT_EQ(gathered.collective.output_chunks(0), 2);
  // The file's own numbers stay: an in-place file gives 0 for the name it does not use.
  EXPECT_EQ(gathered.ranks[0].output_chunks, 0);

  const Algorithm custom = from_xml(with(kPairXml, "allreduce", "custom"));
  EXPECT_FALSE(custom.collective.has_postcondition());
  EXPECT_EQ(custom.collective.input_chunks(0), 2);
  EXPECT_EQ(custom.collective.output_chunks(0), 0);
}

TEST(XmlReader, TheRootIsSaidOrFoundInTheSteps) {
  const std::string chain =
      R"(<algo name="b" proto="LL" nchannels="1" nchunksperloop="1" ngpus="3" coll="broadcast" inplace="1">
  <gpu id="0" i_chunks="1" o_chunks="0" s_chunks="0"><tb id="0" send="2" recv="1" chan="0"><step s="0" type="rcs" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/></tb></gpu>
  <gpu id="1" i_chunks="1" o_chunks="0" s_chunks="0"><tb id="0" send="0" recv="-1" chan="0"><step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/></tb></gpu>
  <gpu id="2" i_chunks="1" o_chunks="0" s_chunks="0"><tb id="0" send="-1" recv="0" chan="0"><step s="0" type="r" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/></tb></gpu>
</algo>)";
  EXPECT_EQ(from_xml(chain).collective.root(), 1);                               // receives nothing
  EXPECT_EQ(from_xml(with(chain, "broadcast", "reduce")).collective.root(), 2);  // sends nothing
  EXPECT_EQ(from_xml(with(chain, "inplace", "root=\"2\" inplace")).collective.root(), 2);
  // Both of the pair receive and send: nothing to tell by.
  EXPECT_EQ(from_xml(with(kPairXml, "allreduce", "broadcast")).collective.root(), 0);
}

TEST(XmlReader, UnknownNamesAreWarnedOfOnceAndDropped) {
  std::string xml = with(kPairXml, "<gpu id=\"0\"",
                         "<note>text is fine in here<x/></note>\n  <gpu speed=\"9\" id=\"0\"");
  xml = with(xml, "<step s=\"0\"", "<step tip=\"a\" s=\"0\"");
  xml = with(xml, "<step s=\"1\"", "<step tip=\"b\" s=\"1\"");
  const std::vector<Diagnostic> warnings = warnings_of(xml);
  ASSERT_EQ(warnings.size(), 3U);
  EXPECT_EQ(render(warnings[0]),
            "pair.xml:2: warning: the element note of <algo> is not known and is dropped [HK0507]");
  EXPECT_EQ(
      render(warnings[1]),
      "pair.xml:3: warning: the attribute speed of <gpu> is not known and is dropped [HK0507]");
  EXPECT_EQ(
      render(warnings[2]),
      "pair.xml:5: warning: the attribute tip of <step> is not known and is dropped [HK0507]");
  EXPECT_TRUE(from_xml(xml) == from_xml(kPairXml));
}

TEST(XmlReader, UnusedOperandsAndNopsAreKeptAsTheyAre) {
  const Algorithm a =
      from_xml(with(kPairXml, R"(<step s="0" type="s" srcbuf="i" srcoff="1" dstbuf="i" dstoff="1")",
                    R"(<step s="0" type="s" srcbuf="i" srcoff="1" dstbuf="s" dstoff="99")"));
  EXPECT_EQ(a.steps[0].dst_buffer, BufferKind::scratch);
  EXPECT_EQ(a.steps[0].dst_offset, 99);
}

struct Rejection {
  std::string what;
  std::string from;  // the first such text of kPairXml ...
  std::string to;    // ... is replaced by this
  Code code;
  std::uint32_t line;
  std::string text;  // the whole message
};

std::ostream& operator<<(std::ostream& out, const Rejection& r) { return out << r.what; }

class XmlRejection : public testing::TestWithParam<Rejection> {};

TEST_P(XmlRejection, NamesCodeLineAndReason) {
  const Rejection& r = GetParam();
  const std::string xml = with(kPairXml, r.from, r.to);
  ASSERT_FALSE(xml.empty()) << "nothing to replace";
  try {
    from_xml(xml, "pair.xml");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(code_text(error.code()), code_text(r.code));
    EXPECT_EQ(error.diagnostic().where, Location("pair.xml", r.line));
    EXPECT_EQ(error.diagnostic().message, r.text);
  }
}

const Rejection kRejections[] = {
    // Not XML.
    {"truncated", "</algo>", "", Code::XmlSyntax, 16,
     "not well-formed XML: start-end tags mismatch"},
    {"mismatched", "</tb>", "</gpu>", Code::XmlSyntax, 7,
     "not well-formed XML: start-end tags mismatch"},
    {"unquoted", "chan=\"0\"", "chan=0", Code::XmlSyntax, 3,
     "not well-formed XML: error parsing element attribute"},
    {"other root", "<algo ", "<plan ", Code::XmlSyntax, 16,
     "not well-formed XML: start-end tags mismatch"},
    {"text before", "<algo ", "hello <algo ", Code::XmlSyntax, 1,
     "\"hello <algo name=\"pair_ar\" proto=\"LL\" nc...\", expected <algo>"},
    {"text inside", "<gpu id=\"1\"", "oops <gpu id=\"1\"", Code::XmlSyntax, 9,
     "text inside <algo>, expected elements only"},
    {"two roots", "</algo>", "</algo>\n<algo/>", Code::XmlSyntax, 17,
     "<algo> after the end of <algo>, expected the end of the file"},
    {"text after", "</algo>", "</algo>\n<!-- end -->\noops", Code::XmlSyntax, 18,
     "\"oops\" after the end of <algo>, expected the end of the file"},
    // Missing.
    {"no proto", " proto=\"LL\"", "", Code::XmlMissing, 1, "<algo> without the attribute proto"},
    {"no nchannels", " nchannels=\"1\"", "", Code::XmlMissing, 1,
     "<algo> without the attribute nchannels"},
    {"no nchunksperloop", " nchunksperloop=\"2\"", "", Code::XmlMissing, 1,
     "<algo> without the attribute nchunksperloop"},
    {"no ngpus", " ngpus=\"2\"", "", Code::XmlMissing, 1, "<algo> without the attribute ngpus"},
    {"no coll", " coll=\"allreduce\"", "", Code::XmlMissing, 1,
     "<algo> without the attribute coll"},
    {"no inplace", " inplace=\"1\"", "", Code::XmlMissing, 1,
     "<algo> without the attribute inplace"},
    {"no gpu id", "<gpu id=\"1\"", "<gpu", Code::XmlMissing, 9, "<gpu> without the attribute id"},
    {"no i_chunks", " i_chunks=\"2\"", "", Code::XmlMissing, 2,
     "rank 0: <gpu> without the attribute i_chunks"},
    {"no tb id", "<tb id=\"0\"", "<tb", Code::XmlMissing, 3,
     "rank 0: <tb> without the attribute id"},
    {"no send", " send=\"1\"", "", Code::XmlMissing, 3,
     "rank 0, threadblock 0: <tb> without the attribute send"},
    {"no cnt", " cnt=\"1\"", "", Code::XmlMissing, 4,
     "rank 0, threadblock 0: <step> without the attribute cnt"},
    {"no hasdep", " hasdep=\"0\"", "", Code::XmlMissing, 4,
     "rank 0, threadblock 0: <step> without the attribute hasdep"},
    // Values.
    {"unknown proto", "proto=\"LL\"", "proto=\"ll\"", Code::XmlValue, 1,
     "proto \"ll\", expected Simple, LL or LL128"},
    {"unknown coll", "\"allreduce\"", "\"barrier\"", Code::XmlValue, 1,
     "coll \"barrier\", expected allreduce, allgather, reduce, broadcast, alltoall, "
     "reduce_scatter, reducescatter, gather, scatter, all_to_next_forward, all_to_next_backward "
     "or custom"},
    {"unknown type", "type=\"rrcs\"", "type=\"ra\"", Code::XmlValue, 5,
     "rank 0, threadblock 0: type \"ra\", expected s, r, rcs, rrs, rrc, rrcs, cpy, re or nop"},
    {"unknown buffer", "dstbuf=\"i\"", "dstbuf=\"x\"", Code::XmlValue, 4,
     "rank 0, threadblock 0: dstbuf \"x\", expected i, o or s"},
    {"no number", "srcoff=\"1\"", "srcoff=\"one\"", Code::XmlValue, 4,
     "rank 0, threadblock 0: srcoff \"one\", expected a whole number"},
    {"empty number", "srcoff=\"1\"", "srcoff=\"\"", Code::XmlValue, 4,
     "rank 0, threadblock 0: srcoff \"\", expected a whole number"},
    {"number and more", "srcoff=\"1\"", "srcoff=\"1 \"", Code::XmlValue, 4,
     "rank 0, threadblock 0: srcoff \"1 \", expected a whole number"},
    {"octal", "srcoff=\"1\"", "srcoff=\"01\"", Code::XmlValue, 4,
     "rank 0, threadblock 0: srcoff \"01\", expected a number without leading zeros"},
    {"s is not the position", "s=\"1\" type", "s=\"2\" type", Code::XmlValue, 5,
     "rank 0, threadblock 0: s 2, expected 1: its position, by which the runtimes number steps"},
    {"not a multiple of the ranks", "nchunksperloop=\"2\" ngpus=\"2\" coll=\"allreduce\"",
     "nchunksperloop=\"3\" ngpus=\"2\" coll=\"alltoall\"", Code::XmlValue, 1,
     "nchunksperloop 3, expected a multiple of the 2 ranks for alltoall"},
    {"nthreads", " inplace", " nthreads=\"100\" inplace", Code::XmlValue, 1,
     "nthreads 100, expected a multiple of 32"},
    {"nop without dependence", "type=\"s\"", "type=\"nop\"", Code::XmlValue, 4,
     "rank 0, threadblock 0: depid -1 on a nop, expected a threadblock: a nop is one more "
     "dependence"},
    {"dependence of a nop lost",
     "type=\"s\" srcbuf=\"i\" srcoff=\"1\" dstbuf=\"i\" dstoff=\"1\" cnt=\"1\" depid=\"-1\" "
     "deps=\"-1\"",
     "type=\"nop\" srcbuf=\"i\" srcoff=\"1\" dstbuf=\"i\" dstoff=\"1\" cnt=\"1\" depid=\"0\" "
     "deps=\"0\"",
     Code::XmlValue, 5,
     "rank 0, threadblock 0: depid -1 after a nop, expected a threadblock: the runtimes keep the "
     "dependences of nops only for a step that has one itself"},
    // Ranges.
    {"too large for 64 bits", "ngpus=\"2\"", "ngpus=\"99999999999999999999\"", Code::XmlRange, 1,
     "ngpus 99999999999999999999, expected 1 to 1048576"},
    {"no ranks", "ngpus=\"2\"", "ngpus=\"0\"", Code::XmlRange, 1, "ngpus 0, expected 1 to 1048576"},
    {"no chunks", "nchunksperloop=\"2\"", "nchunksperloop=\"0\"", Code::XmlRange, 1,
     "nchunksperloop 0, expected 1 to 2147483647"},
    {"negative channels", "nchannels=\"1\"", "nchannels=\"-1\"", Code::XmlRange, 1,
     "nchannels -1, expected 0 to 2147483647"},
    {"minBytes above maxBytes", "minBytes=\"0\"", "minBytes=\"65537\"", Code::XmlRange, 1,
     "maxBytes 65536 with minBytes 65537 leaves no message size"},
    {"gpu id", "gpu id=\"1\"", "gpu id=\"2\"", Code::XmlRange, 9, "id 2, expected 0 to 1"},
    {"negative scratch", "s_chunks=\"0\"", "s_chunks=\"-1\"", Code::XmlRange, 2,
     "rank 0: s_chunks -1, expected 0 to 2147483647"},
    {"peer", "send=\"1\"", "send=\"2\"", Code::XmlRange, 3,
     "rank 0, threadblock 0: send 2, expected -1 to 1"},
    {"peer below -1", "recv=\"1\"", "recv=\"-2\"", Code::XmlRange, 3,
     "rank 0, threadblock 0: recv -2, expected -1 to 1"},
    {"channel", "chan=\"0\"", "chan=\"1\"", Code::XmlRange, 3,
     "rank 0, threadblock 0: chan 1, but nchannels is 1: the runtimes would never connect it"},
    {"offset", "srcoff=\"1\"", "srcoff=\"2\"", Code::XmlRange, 4,
     "rank 0, threadblock 0: srcoff 2 with 1 chunk, but the input buffer has 2"},
    {"offset -1 of a used operand", "srcoff=\"1\"", "srcoff=\"-1\"", Code::XmlRange, 4,
     "rank 0, threadblock 0: srcoff -1 with 1 chunk, but the input buffer has 2"},
    {"offset and count", "cnt=\"1\"", "cnt=\"2\"", Code::XmlRange, 4,
     "rank 0, threadblock 0: srcoff 1 with 2 chunks, but the input buffer has 2"},
    {"offset of rrcs, which no loader checks with the count", "dstoff=\"0\"", "dstoff=\"7\"",
     Code::XmlRange, 5, "rank 0, threadblock 0: dstoff 7 with 1 chunk, but the input buffer has 2"},
    {"unused buffer", "srcbuf=\"i\"", "srcbuf=\"s\"", Code::XmlRange, 4,
     "rank 0, threadblock 0: srcoff 1 with 1 chunk, but the scratch buffer has 0"},
    {"no chunk", "cnt=\"1\"", "cnt=\"0\"", Code::XmlRange, 4,
     "rank 0, threadblock 0: cnt 0, expected 1 to 2147483647"},
    {"negative count", "cnt=\"1\"", "cnt=\"-3\"", Code::XmlRange, 4,
     "rank 0, threadblock 0: cnt -3, expected 1 to 2147483647"},
    {"depid of no threadblock", "depid=\"-1\"", "depid=\"1\"", Code::XmlRange, 4,
     "rank 0, threadblock 0: depid 1, but the rank has 1 threadblocks"},
    {"deps of no step", "depid=\"-1\" deps=\"-1\"", "depid=\"0\" deps=\"3\"", Code::XmlRange, 4,
     "rank 0, threadblock 0: deps 3, but threadblock 0 has 3 steps"},
    {"hasdep", "hasdep=\"0\"", "hasdep=\"2\"", Code::XmlRange, 4,
     "rank 0, threadblock 0: hasdep 2, expected 0 to 1"},
    // Ids.
    {"gpu twice", "gpu id=\"1\"", "gpu id=\"0\"", Code::XmlDuplicate, 9, "gpu 0 a second time"},
    {"gpu missing", "ngpus=\"2\"", "ngpus=\"3\"", Code::XmlGap, 1, "no gpu 2, expected gpu 0 to 2"},
    {"many gpus missing", "ngpus=\"2\"", "ngpus=\"1048576\"", Code::XmlGap, 1,
     "no gpu 2, expected gpu 0 to 1048575"},
    {"tb twice", "    </tb>\n",
     "    </tb>\n    <tb id=\"0\" send=\"-1\" recv=\"-1\" chan=\"0\"/>\n", Code::XmlDuplicate, 8,
     "rank 0: tb 0 a second time"},
    {"tb missing", "<tb id=\"0\"", "<tb id=\"1\"", Code::XmlGap, 3,
     "rank 0: id 1 of 1 threadblocks, expected 0 to 0"},
    {"negative tb", "<tb id=\"0\"", "<tb id=\"-1\"", Code::XmlRange, 3,
     "rank 0: id -1, expected 0 to 2147483647"},
    {"attribute twice", "chan=\"0\"", "chan=\"0\" chan=\"0\"", Code::XmlDuplicate, 3,
     "rank 0: <tb> with the attribute chan twice"},
    // Peers.
    {"its own peer", "send=\"1\"", "send=\"0\"", Code::XmlPeer, 3,
     "rank 0, threadblock 0: send 0, the rank itself"},
    {"sends to nobody", "send=\"1\"", "send=\"-1\"", Code::XmlPeer, 4,
     "rank 0, threadblock 0: type s sends, but the threadblock has no peer to send to"},
    {"receives from nobody", "recv=\"1\"", "recv=\"-1\"", Code::XmlPeer, 5,
     "rank 0, threadblock 0: type rrcs receives, but the threadblock has no peer to receive from"},
};

INSTANTIATE_TEST_SUITE_P(All, XmlRejection, testing::ValuesIn(kRejections));

Error error_of(const std::string& xml) {
  try {
    from_xml(xml, "x.xml");
  } catch (const Error& error) {
    return error;
  }
  return Error(Code::Usage, "accepted");
}

TEST(XmlReader, ARootOutOfRange) {
  std::string xml = with(kPairXml, " inplace", " root=\"2\" inplace");
  EXPECT_EQ(error_of(xml).code(), Code::Usage) << "an allreduce has no root";
  const Error error = error_of(with(xml, "allreduce", "reduce"));
  EXPECT_EQ(error.code(), Code::XmlRange);
  EXPECT_EQ(error.diagnostic().message, "root 2, expected 0 to 1");
}

TEST(XmlReader, AnotherRootElementIsNamed) {
  const Error error = error_of("<msccl_algos>\n<load path=\"a.xml\"/></msccl_algos>");
  EXPECT_EQ(error.code(), Code::XmlMissing);
  EXPECT_EQ(error.diagnostic().message, "<msccl_algos>, expected <algo>");
  EXPECT_NE(error.diagnostic().hint.find("configuration file"), std::string::npos);
}

TEST(XmlReader, WhatIsWrittenToUserIsOneLine) {
  const Error error = error_of(with(kPairXml, "cnt=\"1\"", "cnt=\"x\n\ty\""));
  EXPECT_STREQ(
      error.what(),
      "x.xml:4: error: rank 0, threadblock 0: cnt \"x??y\", expected a whole number [HK0503]");
}

const char* const kSwapXml =
    R"(<algo name="swap" proto="Simple" nchannels="1" nchunksperloop="1" ngpus="2" coll="custom" inplace="0" outofplace="1" minBytes="0" maxBytes="0">
  <collective name="swap" factor="1" split="2" postcondition="1">
    <rank id="0" i_chunks="1" o_chunks="1">
      <hold buf="i" off="0" cnt="1"><from rank="0" index="0"/></hold>
      <want buf="o" off="0" cnt="1"><from rank="0" last="1" index="0"/></want>
    </rank>
    <rank id="1" i_chunks="1" o_chunks="1"/>
  </collective>
  <sources>
    <source id="1" file="a.cpp" line="3"/>
  </sources>
  <gpu id="0" i_chunks="1" o_chunks="1" s_chunks="0"/>
  <gpu id="1" i_chunks="1" o_chunks="1" s_chunks="0"/>
</algo>
)";

TEST(XmlReader, OurOwnElements) {
  const Collective c = from_xml(kSwapXml).collective;
  EXPECT_EQ(c.name(), "swap");
  EXPECT_EQ(c.split(), 2);
  EXPECT_EQ(c.input_chunks(0), 2);
  const Expected second = c.expected(0, {BufferKind::output, 1});
  ASSERT_EQ(second.kind, Expected::Kind::list);
  EXPECT_EQ(std::vector<Origin>(second.list.begin(), second.list.end()),
            (std::vector<Origin>{{0, 1}, {1, 1}}));
}

TEST(XmlReader, OurOwnElementsAreCheckedToo) {
  const auto expect = [](const std::string& from, const std::string& to, Code code,
                         std::uint32_t line, const std::string& text) {
    const std::string xml = with(kSwapXml, from, to);
    ASSERT_FALSE(xml.empty()) << from;
    const Error error = error_of(xml);
    EXPECT_EQ(code_text(error.code()), code_text(code)) << to;
    EXPECT_EQ(error.diagnostic().where.line, line) << to;
    EXPECT_EQ(error.diagnostic().message, text) << to;
  };
  expect("factor=\"1\"", "factor=\"0\"", Code::XmlRange, 2, "factor 0, expected 1 to 2147483647");
  expect(
      "split=\"2\"", "split=\"2000000000\"", Code::XmlTooLarge, 2,
      "a custom collective split into 2000000000 parts, more than a file of this size describes");
  expect("i_chunks=\"1\"", "i_chunks=\"2000000000\"", Code::XmlTooLarge, 3,
         "a custom collective of more than 1048743 chunks, which a file of this size does not "
         "describe");
  expect("<rank id=\"1\"", "<rank id=\"0\"", Code::XmlRange, 7,
         "the buffers of rank 0 a second time");
  expect("off=\"0\"", "off=\"1\"", Code::XmlRange, 4,
         "1 slots from input[1] of rank 0, which has 1");
  expect("buf=\"o\"", "buf=\"s\"", Code::XmlValue, 5, "buf \"s\", expected i or o");
  expect("last=\"1\"", "last=\"2\"", Code::XmlRange, 5, "last 2, expected 0 to 1");
  expect("<from rank=\"0\" index=\"0\"/>", "", Code::XmlRange, 4,
         "a slot that holds several origins, but it starts with one");
  expect("<from rank=\"0\" last=\"1\" index=\"0\"/>", "", Code::XmlRange, 5,
         "a slot that wants no origin, expected at least one");
  expect("index=\"0\"/>", "index=\"2147483647\"/>", Code::XmlRange, 4,
         "an origin of index 2147483647, expected at least 0 and at most 2147483646");
  expect("<source id=\"1\"", "<source id=\"2\"", Code::XmlGap, 10, "id 2, expected 1");
}

}  // namespace
}  // namespace hocket
