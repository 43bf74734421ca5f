// Files and pipes: all of an output or nothing of it, and nothing left lying about.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "cli/command.h"

namespace hocket {
namespace {

TEST(Files, ADashIsStandardInputAndOutput) {
  const Session s;
  const Output direct = s.run("gen allgather_ring ranks=4");
  ASSERT_EQ(direct.code, 0);
  EXPECT_EQ(direct.out.find("<algo name=\"allgather_ring\""), 0U) << direct.out.substr(0, 80);
  EXPECT_EQ(s.run("gen allgather_ring ranks=4 -o -").out, direct.out);
  EXPECT_EQ(s.run("convert - --to hocket", direct.out).out, direct.out);
  const Output text = s.run("convert - --to text -o -", direct.out);
  EXPECT_EQ(text.out, s.run("gen allgather_ring ranks=4 --format text").out);
  EXPECT_EQ(s.run("convert - --to text", text.out).out, text.out);
  const Output piped = s.shell("hocket gen allgather_ring ranks=4 | hocket stats - --json");
  EXPECT_EQ(piped.code, 0);
  EXPECT_EQ(piped.out, s.run("stats allgather_ring ranks=4 --json").out);
  EXPECT_EQ(s.files(), "");
}

TEST(Files, AFileIsWrittenWhole) {
  const Session s;
  EXPECT_EQ(s.run("gen allgather_ring ranks=4 -o ring.xml").out, "");
  EXPECT_EQ(s.read("ring.xml"), s.run("gen allgather_ring ranks=4").out);
  EXPECT_EQ(s.files(), "ring.xml\n") << "no temporary file stays";
  struct stat info = {};
  ASSERT_EQ(::stat(s.path("ring.xml").c_str(), &info), 0);
  const mode_t mask = ::umask(0);
  ::umask(mask);
  EXPECT_EQ(info.st_mode & 0777, 0666 & ~mask) << "an ordinary file's permissions";
}

TEST(Files, AReplacedFileKeepsItsPermissionsAndItsLinks) {
  const Session s;
  s.write("real.xml", "old");
  ASSERT_EQ(s.shell("chmod 640 real.xml && ln -s real.xml link.xml").code, 0);
  ASSERT_EQ(s.run("gen allgather_ring ranks=2 -o link.xml").code, 0);
  EXPECT_EQ(s.read("real.xml"), s.run("gen allgather_ring ranks=2").out);
  EXPECT_EQ(s.shell("test -L link.xml && stat -c %a real.xml").out, "640\n");
}

TEST(Files, AFailedCommandLeavesTheOldFileAlone) {
  const Session s;
  s.write("ring.xml", "old");
  s.write("bad.xml", "<algo name=");
  // The mistake is found before, while, and after compiling.
  for (const char* arguments :
       {"gen allreduce_ring ranks=none -o ring.xml", "gen allreduce_ring --format png -o ring.xml",
        "gen gather_binomial ranks=4 --target rccl -o ring.xml",
        "gen allreduce_ring ranks=64 --target rccl -o ring.xml",
        "convert bad.xml --to text -o ring.xml"}) {
    const Output o = s.run(arguments);
    EXPECT_NE(o.code, 0) << arguments;
    EXPECT_EQ(o.out, "") << arguments;
    EXPECT_NE(o.err, "") << arguments;
    EXPECT_EQ(s.read("ring.xml"), "old") << arguments;
    EXPECT_EQ(s.files(), "bad.xml\nring.xml\n") << arguments;
  }
}

TEST(Files, AFullDiskLeavesTheOldFileAlone) {
  const Session s;
  s.write("ring.xml", "old");
  // A limit on the size of files fails writes the way a full disk does.
  const Output o = s.shell("ulimit -f 1; hocket gen allreduce_ring ranks=32 -o ring.xml");
  EXPECT_EQ(o.code, 2);
  EXPECT_EQ(o.err, "error: cannot write \"ring.xml\": File too large [HK0902]\n");
  EXPECT_EQ(s.read("ring.xml"), "old");
  EXPECT_EQ(s.files(), "ring.xml\n");
}

TEST(Files, AFullDeviceIsAnError) {
  const Session s;
  const Output out = s.shell("hocket gen allgather_ring ranks=4 > /dev/full");
  EXPECT_EQ(out.code, 2);
  EXPECT_EQ(out.err, "error: cannot write standard output: No space left on device [HK0902]\n");
  const Output file = s.run("gen allgather_ring ranks=4 -o /dev/full");
  EXPECT_EQ(file.code, 2);
  EXPECT_EQ(file.err, "error: cannot write \"/dev/full\": No space left on device [HK0902]\n");
  EXPECT_EQ(s.run("gen allgather_ring ranks=4 -o /dev/null").code, 0);
  EXPECT_EQ(s.shell("test -c /dev/null && test -c /dev/full").code, 0) << "devices stay devices";
}

TEST(Files, FoldersThatAreNotThereAreErrors) {
  const Session s;
  s.write("file", "");
  const Output missing = s.run("gen allgather_ring -o nowhere/ring.xml");
  EXPECT_EQ(missing.code, 2);
  EXPECT_EQ(missing.err,
            "error: cannot write \"nowhere/ring.xml\": No such file or directory [HK0902]\n");
  const Output below = s.run("gen allgather_ring -o file/ring.xml");
  EXPECT_EQ(below.code, 2);
  EXPECT_EQ(below.err.find("error: cannot write \"file/ring.xml\": "), 0U) << below.err;
  EXPECT_EQ(s.run("gen allgather_ring -o .").code, 2);
  EXPECT_EQ(s.files(), "file\n");
}

TEST(Files, UnreadableInputIsAnError) {
  const Session s;
  const Output folder = s.run("stats .");
  EXPECT_EQ(folder.code, 2);
  EXPECT_EQ(folder.err, "error: cannot read \".\": Is a directory [HK0901]\n");
  s.write("empty.xml", "");
  s.write("blank.xml", " \n\n");
  s.write("short.xml", "<algo name=\"x\" proto=\"Simple\"");
  s.write("noise.xml", std::string("\x00\xff\x7f<<<>>>", 9));
  for (const char* name : {"empty.xml", "blank.xml", "short.xml", "noise.xml"}) {
    for (const std::string command : {"stats ", "check ", "run ", "convert --to text "}) {
      const Output o = s.run(command + name);
      EXPECT_EQ(o.code, 2) << command << name;
      EXPECT_EQ(o.out, "") << command << name;
      EXPECT_NE(o.err.find(name), std::string::npos) << command << name << ": " << o.err;
    }
  }
  EXPECT_EQ(s.run("stats -", "").code, 2) << "an empty pipe";
  // Before it has filled the memory.
  EXPECT_EQ(s.run("verify /dev/zero").err,
            "error: cannot read \"/dev/zero\": it is binary, not text [HK0901]\n");
}

// Unusable input is no refutation.
TEST(Files, APostconditionOfSomethingElseIsUnusable) {
  const Session s;
  ASSERT_EQ(s.run("gen allreduce_ring ranks=2 -o ring.xml").code, 0);
  ASSERT_EQ(s.run("gen allreduce_ring ranks=2 instances=2 -o twice.xml").code, 0);
  s.write("three.json", R"({"collective": "allreduce", "ranks": 3})");
  s.write("four.json", R"({"collective": "allreduce", "ranks": 2, "chunk_factor": 4})");
  s.write("two.json", R"({"collective": "allreduce", "ranks": 2, "chunk_factor": 2})");
  s.write("zero.json", R"({"collective": "custom", "ranks": 2, "slots": []})");
  struct Row {
    const char* arguments;
    const char* said;
  };
  for (const Row& row :
       {Row{"ring.xml --post three.json",
            "three.json:1: error: a collective of 3 ranks for an algorithm of 2 [HK0604]\n"},
        Row{"ring.xml --post four.json",
            "four.json:1: error: the collective gives rank 0 4 chunks of input, "
            "but the algorithm has 2 [HK0604]\n"},
        Row{"ring.xml --post zero.json",
            "zero.json:1: error: the collective gives rank 0 0 chunks of input, "
            "but the algorithm has 2 [HK0604]\n"},
        Row{"twice.xml --post two.json",
            "two.json:1: error: the collective gives rank 0 2 chunks of input, but the algorithm "
            "has 4 "
            "[HK0604]\n  hint: an algorithm of several instances has the chunks of all of them: a "
            "custom collective says how many in `split`, others in the chunk factor\n"}}) {
    const Output o = s.run(std::string("verify --json ") + row.arguments);
    EXPECT_EQ(o.code, 2) << row.arguments;
    EXPECT_EQ(o.out, "");
    EXPECT_EQ(o.err, row.said);
  }
  EXPECT_EQ(s.run("verify ring.xml --post two.json").code, 0);
}

TEST(Files, AClosedPipeEndsItQuietly) {
  const Session s;
  EXPECT_EQ(s.shell("hocket gen alltoall_allpairs ranks=64 | head -n 1 | cut -c 1-5").out,
            "<algo\n");
  for (const char* signal : {"", "trap '' PIPE; "}) {
    const Output o = s.shell(std::string(signal) +
                             "{ hocket gen alltoall_allpairs ranks=64; echo $? >code; } | true");
    EXPECT_EQ(o.err, "");
    EXPECT_EQ(s.read("code"), "141\n") << "ended by SIGPIPE, as other commands are";
  }
}

TEST(Files, AFileNamedLikeAnAlgorithmIsReachedByItsPath) {
  const Session s;
  s.write("allreduce_ring", s.run("gen allgather_ring ranks=3").out);
  EXPECT_NE(s.run("stats allreduce_ring").out.find("allreduce_ring: allreduce, 8 ranks"),
            std::string::npos);
  EXPECT_NE(s.run("stats ./allreduce_ring").out.find("allgather_ring: allgather, 3 ranks"),
            std::string::npos);
  EXPECT_EQ(s.run("stats ./allreduce_ring ranks=4").code, 2) << "a file takes no parameters";
}

}  // namespace
}  // namespace hocket
