// What each command answers.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "hocket/hocket.h"

namespace hocket {
namespace {

using nlohmann::json;

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(List, NamesEveryAlgorithmOnce) {
  const Session s;
  const std::string out = s.run("list").out;
  const json all = json::parse(s.run("list --json").out);
  ASSERT_EQ(all.size(), algorithm_library().size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const AlgorithmInfo& info = algorithm_library()[i];
    EXPECT_EQ(all[i]["name"], info.name);
    EXPECT_EQ(all[i]["parameters"].size(), info.parameters.size());
    EXPECT_TRUE(has(out, info.name + " ")) << info.name;
  }
}

TEST(List, ShowsTheParametersOfOne) {
  const Output o = Session().run("list broadcast_binomial");
  EXPECT_EQ(
      o.out,
      "broadcast_binomial: down a binomial tree: ceil(log2 n) rounds\n"
      "  collective    broadcast\n"
      "  ranks         any\n"
      "  parameters\n"
      "    ranks         number of ranks (default 8)\n"
      "    root          the rank that has or gets it all (default 0)\n"
      "    chunk_factor  pieces that each chunk of the algorithm is cut into (default 1)\n"
      "    in_place      input and output are one memory (default false)\n"
      "    instances     copies of the whole program, each on its share of every chunk (default "
      "1)\n"
      "    protocol      Simple, LL or LL128 (default Simple)\n"
      "    replication   how instances share a chunk: interleaved or batched (default "
      "interleaved)\n"
      "    fuse          let a step forward or reduce what it receives (default true)\n");
}

TEST(Gen, WritesWhatTheLibraryCompiles) {
  const Session s;
  const Program program = make_algorithm("allreduce_ring", {{"ranks", "4"}, {"in_place", "true"}});
  for (const Target target : all_targets()) {
    const Algorithm algorithm = compile(program, {.target = target, .max_bytes = 1 << 20});
    const std::string options =
        " --in-place --max-bytes 1M --target " + std::string(target_name(target));
    EXPECT_EQ(s.run("gen allreduce_ring ranks=4" + options).out,
              to_xml(algorithm, {.target = target}));
    EXPECT_EQ(s.run("gen allreduce_ring ranks=4 --format text" + options).out, to_text(algorithm));
  }
}

TEST(Gen, IsTheSameEveryTime) {
  const Session s;
  const std::string command = "gen alltoall_three_step nodes=3 gpus=4 instances=2";
  EXPECT_EQ(s.run(command).out, s.run(command).out);
}

TEST(Gen, AnswersNoWhereTheTargetCannot) {
  const Session s;
  const Output name = s.run("gen gather_binomial ranks=4 --target msccl");
  EXPECT_EQ(name.code, 1);
  EXPECT_TRUE(has(name.err, "msccl has no name for the collective")) << name.err;
  const Output steps = s.run("gen allreduce_ring ranks=64 --target rccl");
  EXPECT_EQ(steps.code, 1);
  EXPECT_TRUE(has(steps.err, "[HK0401]")) << steps.err;
}

TEST(Check, SaysYesToWhatIsRight) {
  const Session s;
  const Output o = s.run("check allreduce_ring ranks=4");
  EXPECT_EQ(o.code, 0);
  EXPECT_EQ(o.err, "");
  EXPECT_EQ(o.out,
            "allreduce_ring: allreduce, 4 ranks, Simple, out of place\n"
            "  trace          ok  all 16 chunks hold what they must\n"
            "  target         ok  hocket can run it\n"
            "  result         ok  3 runs on small data, every element right\n");
}

// A ring whose first receiver stores the chunk one place too far.
std::string mixed_up_ring(const Session& s) {
  std::string xml = s.run("gen allgather_ring ranks=3").out;
  const std::string before = "dstbuf=\"o\" dstoff=\"1\"";
  const std::size_t at = xml.find(before, xml.find("type=\"r\""));
  EXPECT_NE(at, std::string::npos) << xml;
  xml.replace(at, before.size(), "dstbuf=\"o\" dstoff=\"2\"");
  return xml;
}

TEST(Check, SaysNoToAWrongResult) {
  const Session s;
  s.write("wrong.xml", mixed_up_ring(s));
  const Output o = s.run("check wrong.xml");
  EXPECT_EQ(o.code, 1);
  EXPECT_TRUE(has(o.out, "  result         NO  with 1 elements: rank ")) << o.out;
}

TEST(Check, SaysNoToADeadlock) {
  const Session s;
  // Both receive before they send.
  s.write(
      "stuck.txt",
      R"(<algo name="stuck" proto="Simple" nchannels="1" nchunksperloop="2" ngpus="2" coll="allgather" inplace="1" outofplace="0" minBytes="0" maxBytes="0">
  <gpu id="0" i_chunks="1" o_chunks="2" s_chunks="0">
    <tb id="0" send="1" recv="1" chan="0">
      <step s="0" type="r" srcbuf="o" srcoff="1" dstbuf="o" dstoff="1" cnt="1" depid="-1" deps="-1" hasdep="0"/>
      <step s="1" type="s" srcbuf="o" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
    </tb>
  </gpu>
  <gpu id="1" i_chunks="1" o_chunks="2" s_chunks="0">
    <tb id="0" send="0" recv="0" chan="0">
      <step s="0" type="r" srcbuf="o" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
      <step s="1" type="s" srcbuf="o" srcoff="1" dstbuf="o" dstoff="1" cnt="1" depid="-1" deps="-1" hasdep="0"/>
    </tb>
  </gpu>
</algo>
)");
  const Output check = s.run("check stuck.txt");
  EXPECT_EQ(check.code, 1);
  EXPECT_TRUE(has(check.out, "  deadlock       NO  ")) << check.out;
  EXPECT_TRUE(has(check.err, "[HK0701]")) << check.err;
  const Output run = s.run("run stuck.txt --bytes 64");
  EXPECT_EQ(run.code, 1);
  EXPECT_TRUE(has(run.err, "[HK0701]")) << run.err;
  EXPECT_TRUE(has(s.run("stats stuck.txt").out, "critical path  none: it deadlocks"));
}

TEST(Check, NeedsToKnowWhatAFileComputes) {
  const Session s;
  ASSERT_EQ(s.run("gen all_to_next_forward_naive ranks=4 --target msccl -o next.xml").code, 0);
  const Output unknown = s.run("check next.xml");
  EXPECT_EQ(unknown.code, 1) << "what was not decided is not fine";
  EXPECT_TRUE(has(unknown.out, "what a custom must compute is not known")) << unknown.out;
  EXPECT_EQ(s.run("check next.xml --as all_to_next_forward").code, 0);
  const Output wrong = s.run("check next.xml --as all_to_next_backward");
  EXPECT_EQ(wrong.code, 1);
  EXPECT_TRUE(has(wrong.out, "  result         NO  ")) << wrong.out;
  const Output misfit = s.run("check next.xml --as alltoall");
  EXPECT_EQ(misfit.code, 2);
  EXPECT_TRUE(has(misfit.err, "--as alltoall: ")) << misfit.err;
}

TEST(Check, ListsWhatTheTargetWouldRefuse) {
  const Output o = Session().run("check allreduce_ring ranks=64 --target rccl");
  EXPECT_EQ(o.code, 1);
  EXPECT_TRUE(has(o.out, "  target         NO  rccl cannot run it: ")) << o.out;
  EXPECT_TRUE(has(o.out, "  result         ok")) << o.out;
  EXPECT_TRUE(has(o.err, "[HK0401]")) << o.err;
}

TEST(Stats, AreThoseOfTheLibrary) {
  const Algorithm algorithm = compile(make_algorithm("alltoall_two_step", {{"gpus", "4"}}));
  const AlgorithmStats shape = stats(algorithm);
  const json found = json::parse(Session().run("stats alltoall_two_step gpus=4 --json").out);
  EXPECT_EQ(found["name"], "alltoall_two_step");
  EXPECT_EQ(found["collective"], "alltoall");
  EXPECT_EQ(found["ranks"], 8);
  EXPECT_EQ(found["threadblocks"], shape.threadblocks);
  EXPECT_EQ(found["channels"], shape.channels);
  EXPECT_EQ(found["steps"], shape.steps);
  EXPECT_EQ(found["nops"], shape.nops);
  EXPECT_EQ(found["dependences"], shape.dependences);
  EXPECT_EQ(found["max_scratch_chunks"], shape.max_scratch_chunks);
  EXPECT_EQ(found["critical_path"], shape.critical_path);
  std::int64_t by_type = 0;
  for (const auto& [type, steps] : found["steps_by_type"].items())
    by_type += steps.get<std::int64_t>();
  EXPECT_EQ(by_type, shape.steps);
}

TEST(Convert, GoesRoundWithoutLoss) {
  const Session s;
  ASSERT_EQ(s.run("gen allreduce_hierarchical nodes=2 gpus=3 --target hocket -o a.xml").code, 0);
  ASSERT_EQ(s.run("convert a.xml --to text -o a.txt").code, 0);
  EXPECT_EQ(from_any(s.read("a.txt")), from_any(s.read("a.xml")));
  // Source lines too: they stand in the text.
  EXPECT_EQ(s.shell("hocket convert a.txt --to hocket | hocket convert - --to text").out,
            s.read("a.txt"));
}

TEST(Convert, RefusesWhatTheTargetCannotRun) {
  const Session s;
  ASSERT_EQ(s.run("gen allreduce_ring ranks=4 -o ring.xml").code, 0);
  const Output o = s.run("convert ring.xml --to rccl -o rccl.xml");
  EXPECT_EQ(o.code, 1);
  EXPECT_TRUE(has(o.err, "[HK0408]")) << "fused steps: " << o.err;
  EXPECT_FALSE(s.exists("rccl.xml"));
}

TEST(Compile, PrintsThePassThatIsAskedFor) {
  const Session s;
  const Output one = s.run("compile allgather_ring ranks=3 --print-after=fuse");
  EXPECT_EQ(one.code, 0);
  EXPECT_EQ(one.out.find("--- after fuse\n"), 0U) << one.out;
  EXPECT_EQ(one.out.find("--- after", 1), std::string::npos) << one.out;

  const Output all = s.run("compile allgather_ring ranks=3 --print-after=all");
  std::size_t at = 0;
  for (const PassInfo& pass : compile_passes()) {
    const std::size_t found = all.out.find("--- after " + std::string(pass.name) + "\n");
    ASSERT_NE(found, std::string::npos) << pass.name;
    EXPECT_GE(found, at) << pass.name << " in the order they run";
    at = found;
    EXPECT_TRUE(has(s.run("passes").out, std::string(pass.name))) << pass.name;
  }
}

TEST(Compile, WritesTheAlgorithmToo) {
  const Session s;
  ASSERT_EQ(s.run("compile allgather_ring ranks=3 -o ring.xml").code, 0);
  EXPECT_EQ(s.read("ring.xml"), s.run("gen allgather_ring ranks=3").out);
  EXPECT_EQ(s.run("compile allgather_ring ranks=3 -o -").out, s.read("ring.xml"));
}

TEST(Demo, TellsTheWholeStory) {
  const Session s;
  const Output o = s.run("demo -o next.xml");
  EXPECT_EQ(o.code, 0);
  EXPECT_EQ(o.err, "");
  for (const char* part : {"2 nodes of 8 GPUs", "naive:        8   .   .   .   .   .   .   .",
                           "node-aware:   1   1   1   1   1   1   1   1",
                           "120 of 120 chunks end where they must", "rank   0 <- rank   1  equal",
                           "rank  14 <- rank  15  equal", "Every rank has what it must."}) {
    EXPECT_TRUE(has(o.out, part)) << part << "\n" << o.out;
  }
  EXPECT_EQ(s.read("next.xml"),
            s.run("gen all_to_next_backward_node_aware nodes=2 gpus=8 --target msccl").out);
  EXPECT_EQ(s.files(), "next.xml\n");
}

}  // namespace
}  // namespace hocket
