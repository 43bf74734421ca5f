// docs/language.md and the language agree: every C++ block of the page stands, line by line, in
// this file and does here what the page says; every code of the language is explained there.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "hocket/program.h"
#include "ir/trace.h"

namespace hocket {
namespace {

// The page's blocks begin here.

Program ring_allreduce(int n) {
  Program p("ring_allreduce", ring(n), allreduce(n, /*chunk_factor=*/n, /*in_place=*/true));
  for (int k = 0; k < n; ++k) {
    Ref c = p.chunk(k, Buffer::input, k);
    for (int hop = 1; hop < n; ++hop) c = p.chunk((k + hop) % n, Buffer::input, k).reduce(c);
    for (int hop = 0; hop < n - 1; ++hop) c = c.copy((k + hop) % n);
  }
  return p;
}

TEST(LanguageDocument, a_whole_program) {
  for (const int n : {1, 2, 5, 8}) EXPECT_TRUE(ring_allreduce(n).check()) << n;
  EXPECT_TRUE(ring_allreduce(5).warnings().empty());
}

TEST(LanguageDocument, a_program_with_options) {
  ProgramOptions options;
  options.protocol = Protocol::ll;
  options.instances = 2;
  Program p("mine", fully_connected(8), allgather(8, 1), options);
  EXPECT_EQ(p.trace().instances, 2);
  const ProgramOptions defaults;
  EXPECT_EQ(defaults.protocol, Protocol::simple);
  EXPECT_EQ(defaults.instances, 1);
  EXPECT_EQ(defaults.replication, Replication::interleaved);
  EXPECT_EQ(defaults.placement, Placement::automatic);
  EXPECT_TRUE(defaults.fuse);
  EXPECT_FALSE(defaults.dependence_nop);
  EXPECT_FALSE(defaults.lenient_placement);
}

TEST(LanguageDocument, scratch_buffers) {
  Program p("p", fully_connected(2), allgather(2, 1));
  const Ref c = p.chunk(0, Buffer::input, 0);
  c.copy(1, "relay", 3);  // rank 1 gets a scratch buffer "relay" of 4 chunks
  EXPECT_EQ(p.buffer_size(1, "relay"), 4);
  c.copy(1, "relay");  // appended: index 4
  EXPECT_EQ(p.buffer_size(1, "relay"), 5);
}

TEST(LanguageDocument, reduce) {
  Program p("p", fully_connected(3), allreduce(3, 2));
  Ref sum = p.chunk(0, Buffer::input, 0, 2);
  sum.reduce(p.chunk(1, Buffer::input, 0, 2)).reduce(p.chunk(2, Buffer::input, 0, 2));
  EXPECT_EQ(p.content(0, Buffer::input, 0)->size(), 3u);
}

TEST(LanguageDocument, split_and_group) {
  Program p("p", fully_connected(1), allreduce(1, 4));
  const std::vector<Ref> halves = p.chunk(0, Buffer::input, 0, 4).split(2);
  const Ref whole = halves[1].group(halves[0]);  // rank 0 input[0..3]
  EXPECT_EQ(whole.str(), "rank 0 input[0..3]");
}

TEST(LanguageDocument, where_a_chunk_is_wanted) {
  Program p("p", fully_connected(3), alltoall(3, 2));
  const Ref moved = p.chunk(1, Buffer::input, 4).copy(0, "relay");
  moved.copy(moved.dst_rank(), Buffer::output, moved.dst_index());
  EXPECT_EQ(p.check().wrong, p.check().checked - 1);
}

TEST(LanguageDocument, in_place_allgather) {
  Program p("allpairs", fully_connected(4), allgather(4, 1, /*in_place=*/true));
  for (int r = 0; r < 4; ++r) {
    const Ref mine = p.chunk(r, Buffer::input, 0);  // rank r output[r]
    for (int other = 0; other < 4; ++other) {
      if (other != r) mine.copy(other, Buffer::input, 0);  // rank other output[r]
    }
  }
  EXPECT_TRUE(p.check());
  Program rs("rs", fully_connected(4), reduce_scatter(4, 1, true));
  EXPECT_EQ(rs.chunk(0, Buffer::input, 1).copy(2, Buffer::output, 0).str(), "rank 2 input[2]");
}

TEST(LanguageDocument, a_custom_collective) {
  CustomCollective swap("swap", /*ranks=*/2);
  for (const int r : {0, 1}) {
    swap.buffers(r, /*input_chunks=*/1, /*output_chunks=*/1)
        .holds(r, {BufferKind::input, 0}, {r, 0})
        .requires_(r, {BufferKind::output, 0}, {{1 - r, 0}});
  }
  Program p("swap", fully_connected(2), swap.build());
  for (const int r : {0, 1}) p.chunk(r, Buffer::input, 0).copy(1 - r, Buffer::output, 0);
  EXPECT_TRUE(p.check());
}

TEST(LanguageDocument, topologies_of_ones_own) {
  const Topology two_way = Topology::from_table("pair", {{0, 25}, {25, 0}});
  Topology t = ring(8);
  t.set_link(0, 4, {.bandwidth = 1, .latency_us = 2.5}).rename("ring with a chord");
  EXPECT_TRUE(two_way.has_link(0, 1));
  EXPECT_TRUE(t.has_link(0, 4));
  EXPECT_FALSE(t.has_link(4, 0));
}

TEST(LanguageDocument, fragments) {
  Program p("p", fully_connected(10), allgather(10, 1));
  {
    const auto fast = p.parallelize(4);
    p.chunk(0, Buffer::input, 0).copy(8, "relay", 0);  // as 4 instances
  }
  p.chunk(8, "relay", 0).copy(9);  // as one
  EXPECT_EQ(p.trace().fragments[p.trace().ops[0].fragment], 4);
  EXPECT_EQ(p.trace().fragments[p.trace().ops[1].fragment], 1);
}

TEST(LanguageDocument, manual_placement) {
  ProgramOptions options;
  options.placement = Placement::manual;
  Program p("manual", fully_connected(2), allgather(2, 1), options);
  p.chunk(0, Buffer::input, 0)
      .copy(1, Buffer::output, 0, {.channel = 0, .send_tb = 0, .recv_tb = 1});
  p.chunk(0, Buffer::input, 0).copy(0, Buffer::output, 0, {.send_tb = 2});
  EXPECT_EQ(p.trace().ops.size(), 2u);
}

TEST(LanguageDocument, check) {
  Program p = ring_allreduce(3);
  const CheckReport report = p.check(/*max_listed=*/20);
  if (!report) std::puts(report.str().c_str());
  EXPECT_TRUE(report);
}

TEST(LanguageDocument, a_stale_reference) {
  Program p("p", fully_connected(2), allgather(2, 2));
  const Ref kept = p.chunk(0, Buffer::input, 0).copy(1, "relay", 0);
  p.chunk(0, Buffer::input, 1).copy(1, "relay", 0);
  kept.copy(1, Buffer::output, 0);  // warning: "relay"[0] is another chunk now
  ASSERT_EQ(p.warnings().size(), 1u);
  EXPECT_EQ(p.warnings()[0].code, Code::StaleRef);
}

// The page's blocks end here.

std::string stripped(const std::string& line) {
  const std::size_t first = line.find_first_not_of(' ');
  if (first == std::string::npos) return "";
  // A trailing remark may be aligned on the page and not here.
  std::string text = line.substr(first, line.find_last_not_of(' ') - first + 1);
  for (std::size_t at; (at = text.find("   //")) != std::string::npos;) text.erase(at, 1);
  return text;
}

std::vector<std::string> lines_of(const std::string& file) {
  std::ifstream in(std::string(HOCKET_SOURCE_DIR) + "/" + file);
  EXPECT_TRUE(in.is_open()) << file;
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(LanguageDocument, every_block_is_tested_here) {
  std::vector<std::string> tested;
  for (const std::string& line : lines_of("tests/unit/lang/language_document_test.cpp")) {
    if (line == "// The page's blocks end here.") break;
    // Checks between the lines of a block are not shown.
    if (stripped(line).rfind("EXPECT_", 0) != 0) tested.push_back(stripped(line));
  }
  int blocks = 0;
  std::vector<std::string> block;
  bool inside = false;
  for (const std::string& line : lines_of("docs/language.md")) {
    if (line == "```cpp") {
      inside = true;
      block.clear();
    } else if (inside && line == "```") {
      inside = false;
      ++blocks;
      ASSERT_FALSE(block.empty());
      EXPECT_NE(std::search(tested.begin(), tested.end(), block.begin(), block.end()), tested.end())
          << "not in the test: " << block[0];
    } else if (inside) {
      block.push_back(stripped(line));
    }
  }
  EXPECT_EQ(blocks, 13);
}

TEST(LanguageDocument, every_code_of_the_language_is_explained) {
  std::string page;
  for (const std::string& line : lines_of("docs/language.md")) page += line + '\n';
  for (const Code code : all_codes()) {
    const std::string text(code_text(code));
    // Protocol names and contexts are words of the Python packages.
    if (text.substr(0, 4) != "HK01" || code == Code::BadProtocol || code == Code::NoContext ||
        code == Code::DeprecatedCall || code == Code::MappedBySource) {
      continue;
    }
    EXPECT_NE(page.find(text), std::string::npos) << text;
  }
}

TEST(LanguageDocument, the_names_of_topologies_are_the_builders) {
  std::string page;
  for (const std::string& line : lines_of("docs/language.md")) page += line + '\n';
  for (const Topology& t : {fully_connected(2), hub_and_spoke(2), ring(2), line(2), star(2), dgx1(),
                            dgx_a100(), amd4(), amd8()}) {
    std::string name = t.name();
    if (const std::size_t at = name.find("=2"); at != std::string::npos) name.replace(at, 2, "=N");
    EXPECT_NE(page.find("`" + name + "`"), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace hocket
