// hocket run: every type and operator, sizes that do not divide, and what it says of a wrong
// result.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "hocket/hocket.h"

namespace hocket {
namespace {

using nlohmann::json;

TEST(Run, ReportsWhatItDid) {
  const Output o = Session().run("run allreduce_ring ranks=4 --bytes 64KiB --check");
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.err, "");
  for (const char* part : {"allreduce_ring: allreduce, 4 ranks, Simple, out of place", "bytes",
                           "65536", "16384", "float32", "sum", "GB/s", "  ok\n"}) {
    EXPECT_NE(o.out.find(part), std::string::npos) << part << "\n" << o.out;
  }
}

TEST(Run, GivesTheBandwidthsOfNcclTests) {
  const json r = json::parse(Session().run("run allreduce_ring ranks=4 --bytes 1M --json").out);
  EXPECT_EQ(r["bytes"], 1 << 20);
  EXPECT_EQ(r["count"], (1 << 20) / 4);
  EXPECT_FALSE(r["checked"]);
  const double seconds = r["seconds"];
  const double algorithm_bandwidth = r["algorithm_bandwidth_GBps"];
  EXPECT_GT(seconds, 0);
  EXPECT_NEAR(algorithm_bandwidth, (1 << 20) / seconds / 1e9, 1e-6 * algorithm_bandwidth);
  EXPECT_NEAR(r["bus_bandwidth_GBps"], 1.5 * algorithm_bandwidth, 1e-6 * algorithm_bandwidth);
}

TEST(Run, TakesEveryTypeAndOperator) {
  const Session s;
  for (const DataType type : all_data_types()) {
    for (const ReduceOp op : all_reduce_ops()) {
      const std::string options = " --dtype " + std::string(data_type_name(type)) + " --op " +
                                  std::string(reduce_op_name(op));
      const Output o = s.run("run allreduce_ring ranks=3 --bytes 1000 --check" + options);
      EXPECT_EQ(o.code, 0) << options << "\n" << o.err;
    }
  }
}

TEST(Run, RoundsSizesDownToWholeElements) {
  const Session s;
  struct Row {
    const char* what;
    const char* bytes;
    std::int64_t used;
  };
  for (const Row& row :
       {Row{"allreduce_ring ranks=4", "1001", 1000}, Row{"allreduce_ring ranks=4", "0", 0},
        Row{"allreduce_ring ranks=4", "3", 0}, Row{"allreduce_ring ranks=4", "4", 4},
        // the output, of three parts of whole elements
        Row{"allgather_ring ranks=3", "1000", 996}, Row{"reduce_scatter_ring ranks=3", "1000", 996},
        Row{"alltoall_bruck ranks=7", "1K", 1008}}) {
    const Output o = s.run(std::string("run ") + row.what + " --check --json --bytes " + row.bytes);
    ASSERT_EQ(o.code, 0) << row.what << " " << row.bytes << ": " << o.err;
    EXPECT_EQ(json::parse(o.out)["bytes"], row.used) << row.what << " " << row.bytes;
  }
}

TEST(Run, RunsFilesInEveryForm) {
  const Session s;
  ASSERT_EQ(s.run("gen allreduce_recursive_doubling ranks=6 --target msccl -o a.xml").code, 0);
  ASSERT_EQ(s.run("convert a.xml --to text -o a.txt").code, 0);
  for (const char* file : {"a.xml", "a.txt"}) {
    const Output o =
        s.run(std::string("run ") + file + " --bytes 10K --check --repeats 3 --threads 2");
    EXPECT_EQ(o.code, 0) << o.err;
  }
  EXPECT_EQ(s.run("run - --check", s.read("a.xml")).code, 0);
}

TEST(Run, InPlaceIsWhatTheAlgorithmAllows) {
  const Session s;
  EXPECT_EQ(s.run("run allreduce_ring ranks=3 in_place=true --check --bytes 1K").code, 0);
  EXPECT_EQ(s.run("run allreduce_ring ranks=3 in_place=true --in-place --check --bytes 1K").code,
            0);
  const Output o = s.run("run alltoall_allpairs ranks=3 --in-place --check --bytes 1K");
  EXPECT_NE(o.code, 0) << "an out-of-place program would overwrite what it has yet to send";
  EXPECT_NE(o.err, "");
}

TEST(Run, NamesTheFirstWrongElement) {
  const Session s;
  // Rank 0's first receive stores its chunk one place too far.
  std::string xml = s.run("gen alltoall_allpairs ranks=3").out;
  const std::string good = "srcbuf=\"i\" srcoff=\"0\" dstbuf=\"o\" dstoff=\"1\"";
  const std::size_t receive = xml.find("type=\"r\"");
  const std::size_t at = xml.find(good, receive);
  ASSERT_NE(at, std::string::npos) << xml;
  xml.replace(at, good.size(), "srcbuf=\"i\" srcoff=\"0\" dstbuf=\"o\" dstoff=\"2\"");
  s.write("wrong.xml", xml);

  EXPECT_EQ(s.run("run wrong.xml --bytes 36").code, 0) << "nobody asked";
  const Output o = s.run("run wrong.xml --bytes 36 --dtype int32 --check");
  EXPECT_EQ(o.code, 1);
  EXPECT_NE(o.out.find("  WRONG\n"), std::string::npos) << o.out;
  EXPECT_EQ(o.err.find("error: rank 0 output element 3 is "), 0U) << o.err;
  EXPECT_NE(o.err.find(", expected "), std::string::npos) << o.err;
  EXPECT_NE(o.err.find("[HK0704]"), std::string::npos) << o.err;
  const json r = json::parse(s.run("run wrong.xml --bytes 36 --dtype int32 --check --json").out);
  EXPECT_EQ(r["mismatch"]["rank"], 0);
  EXPECT_EQ(r["mismatch"]["buffer"], "output");
  EXPECT_EQ(r["mismatch"]["offset"], 3);
}

TEST(Run, DoesNotCheckWhatItCannot) {
  const Session s;
  ASSERT_EQ(
      s.run("gen all_to_next_backward_node_aware nodes=2 gpus=2 --target msccl -o n.xml").code, 0);
  const Output o = s.run("run n.xml --bytes 1K --check");
  EXPECT_EQ(o.code, 1);
  EXPECT_EQ(o.out, "");
  EXPECT_NE(o.err.find("so it cannot be checked [HK0204]"), std::string::npos) << o.err;
  EXPECT_EQ(s.run("run n.xml --bytes 1K --check --as all_to_next_backward").code, 0);
}

}  // namespace
}  // namespace hocket
