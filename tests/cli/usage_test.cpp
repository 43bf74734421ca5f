// What the command says to those who mistype: on standard error, with what was probably meant, and
// exit code 2.
#include <gtest/gtest.h>

#include "cli/command.h"
#include "hocket/version.h"

namespace hocket {
namespace {

struct Row {
  const char* arguments;
  const char* said;
};

class Misuse : public testing::TestWithParam<Row> {};

TEST_P(Misuse, IsExplained) {
  const Output o = Session().run(GetParam().arguments);
  EXPECT_EQ(o.code, 2);
  EXPECT_EQ(o.out, "");
  EXPECT_EQ(o.err, GetParam().said);
}

INSTANTIATE_TEST_SUITE_P(
    Table, Misuse,
    testing::Values(
        Row{"chekc ring.xml",
            "error: no command \"chekc\" [HK0903]\n  hint: did you mean check?\n"},
        Row{"frobnicate",
            "error: no command \"frobnicate\" [HK0903]\n  hint: `hocket --help` lists the "
            "commands\n"},
        Row{"''", "error: no command \"\" [HK0903]\n  hint: `hocket --help` lists the commands\n"},
        Row{"run allreduce_ring --byte 1M",
            "error: unexpected argument \"--byte\" [HK0903]\n  hint: did you mean --bytes?\n"},
        Row{"--verison",
            "error: unexpected argument \"--verison\" [HK0903]\n  hint: did you mean --version?\n"},
        Row{"gen", "error: name is required [HK0903]\n  hint: `hocket gen --help` explains them\n"},
        Row{"check",
            "error: file-or-name is required [HK0903]\n"
            "  hint: `hocket check --help` explains them\n"},
        Row{"verify allreduce_ring ranks=2 --root 0",
            "error: --root 0: allreduce has none [HK0903]\n"},
        Row{"verify broadcast_binomial ranks=2 --root 2",
            "error: --root 2: there are 2 ranks [HK0903]\n"},
        Row{"verify - --post -",
            "error: the algorithm and --post cannot both be standard input [HK0903]\n"},
        Row{"verify allreduce_ring ranks=2 --max-bytes 1MiB --min-bytes 2MiB",
            "error: message sizes from 2097152 to 1048576 bytes [HK0411]\n"
            "  hint: give 0 <= min <= max\n"},
        Row{"gen allreduce_rign",
            "error: no algorithm named \"allreduce_rign\" in the library [HK0801]\n"
            "  hint: did you mean allreduce_ring?\n"},
        Row{"list allreduce_rign",
            "error: no algorithm \"allreduce_rign\" [HK0801]\n"
            "  hint: did you mean allreduce_ring?\n"},
        Row{"run allreduce_rign",
            "error: \"allreduce_rign\" is neither a file nor an algorithm of the library [HK0901]\n"
            "  hint: did you mean allreduce_ring?\n"},
        Row{"stats nothing.xml",
            "error: cannot read \"nothing.xml\": No such file or directory [HK0901]\n"},
        Row{"stats nothing",
            "error: \"nothing\" is neither a file nor an algorithm of the library [HK0901]\n"
            "  hint: `hocket list` names the algorithms\n"},
        Row{"gen allreduce_ring rank=4",
            "error: allreduce_ring: no parameter \"rank\"; it takes ranks, chunk_factor, in_place, "
            "channels, instances, protocol, replication, fuse [HK0802]\n"
            "  hint: did you mean ranks?\n"},
        Row{"gen allreduce_ring 8",
            "error: \"8\" is not of the form name=value [HK0903]\n"
            "  hint: parameters look like ranks=8; options start with --\n"},
        Row{"gen allreduce_ring ranks=4 ranks=5",
            "error: parameter \"ranks\" is given twice [HK0903]\n"},
        Row{"gen allreduce_ring --in-place --out-of-place",
            "error: both --in-place and --out-of-place [HK0903]\n"},
        Row{"gen allreduce_ring --format json",
            "error: no format \"json\" [HK0903]\n  hint: one of xml, text\n"},
        Row{"gen allreduce_ring --target mscl",
            "error: no target \"mscl\" [HK0903]\n  hint: did you mean msccl?\n"},
        Row{"gen allreduce_ring --min-bytes 2M --max-bytes 1M",
            "error: --max-bytes 1M is less than --min-bytes 2M [HK0411]\n"},
        Row{"gen allreduce_ring --max-bytes many",
            "error: --max-bytes \"many\" is not a size in bytes [HK0903]\n"
            "  hint: write 4096, 64KiB, 1M (1024 * 1024) or 1MB (1000 * 1000)\n"},
        Row{"run allreduce_ring --dtype float31",
            "error: --dtype float31: unknown [HK0903]\n  hint: did you mean float32, float16 or "
            "float64?\n"},
        Row{"run allreduce_ring --op mean",
            "error: --op mean: unknown [HK0903]\n  hint: one of sum, prod, min, max\n"},
        Row{"run allreduce_ring --bytes 1.5M",
            "error: --bytes \"1.5M\" is not a size in bytes [HK0903]\n"
            "  hint: write 4096, 64KiB, 1M (1024 * 1024) or 1MB (1000 * 1000)\n"},
        Row{"run allreduce_ring --bytes 8388608T",
            "error: --bytes 8388608T: more bytes than 63 bits count [HK0903]\n"},
        Row{"compile allreduce_ring --print-after fsue",
            "error: --print-after fsue: no such pass [HK0305]\n  hint: did you mean fuse?\n"},
        Row{"convert ring.xml --to msccl2",
            "error: --to msccl2: no such form [HK0903]\n  hint: did you mean msccl?\n"},
        Row{"check allreduce_ring --as allredcue",
            "error: --as allredcue: no such collective [HK0903]\n"
            "  hint: did you mean allreduce?\n"}),
    [](const auto& row) { return "Row" + std::to_string(row.index); });

TEST(Usage, NothingAtAllShowsTheHelpAsAnError) {
  const Session s;
  const Output nothing = s.run("");
  EXPECT_EQ(nothing.code, 2);
  EXPECT_EQ(nothing.out, "");
  EXPECT_EQ(nothing.err, s.run("--help").out);
}

TEST(Usage, BadNumbersAreRefused) {
  for (const char* arguments :
       {"run allreduce_ring --repeats 0", "run allreduce_ring --repeats many",
        "run allreduce_ring --repeats 99999999999999", "run allreduce_ring --threads -1",
        "demo --nodes 0", "demo --gpus 8.5"}) {
    const Output o = Session().run(arguments);
    EXPECT_EQ(o.code, 2) << arguments;
    EXPECT_EQ(o.out, "") << arguments;
    EXPECT_NE(o.err.find("[HK0903]"), std::string::npos) << arguments << ": " << o.err;
  }
}

TEST(Usage, TheVersionIsOneLine) {
  const Output o = Session().run("--version");
  EXPECT_EQ(o.code, 0);
  EXPECT_EQ(o.out, std::string("hocket ") + HOCKET_VERSION + "\n");
  EXPECT_EQ(o.err, "");
}

TEST(Usage, SizesThatTheMachineCannotHoldAreRefused) {
  const Output o = Session().run("run allreduce_ring ranks=4 --bytes 100T");
  EXPECT_EQ(o.code, 2);
  EXPECT_EQ(o.err.find("error: the buffers of 4 ranks need 8.192e+05 GiB, but this machine has "),
            0U)
      << o.err;
  EXPECT_EQ(Session().run("gen allreduce_ring ranks=1000000").code, 2);
}

// What a file claims is allocated, so it is counted first: scratch, and chunks beyond all reason.
TEST(Usage, FilesThatTheMachineCannotHoldAreRefused) {
  std::string scratch = "algorithm \"a\"\ncollective allreduce ranks=64 factor=1\n";
  for (int r = 0; r < 64; ++r) {
    scratch += "rank " + std::to_string(r) + " scratch=2147483647\n";
  }
  const std::string chunks =
      "algorithm \"a\"\ncollective allreduce ranks=64 factor=2147483647\n" + [] {
        std::string ranks;
        for (int r = 0; r < 64; ++r) ranks += "rank " + std::to_string(r) + "\n";
        return ranks;
      }();
  for (const std::string& file : {scratch, chunks}) {
    for (const std::string command : {"check -", "run - --bytes 1T", "run - --bytes 1M"}) {
      if (command == "run - --bytes 1M" && file == chunks) continue;  // of few elements, it fits
      const Output o = Session().run(command, file);
      EXPECT_EQ(o.code, 2) << command;
      EXPECT_EQ(o.out, "") << command;
      EXPECT_EQ(o.err.find("error: the buffers of 64 ranks need "), 0U) << command << o.err;
    }
  }
}

}  // namespace
}  // namespace hocket
