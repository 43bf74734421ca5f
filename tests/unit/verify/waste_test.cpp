// What could be left out, and what is not claimed.
#include "verify/waste.h"

#include "text.h"

namespace hocket::verifying {
namespace {

// "HK1010 rank 0 tb 1 step 2: the hint", one a finding.
std::vector<std::string> waste_of(const std::string& text, const VerifyOptions& options = {}) {
  const Algorithm algorithm = from_text(text);
  const VerifyReport report = verify(algorithm, options);
  EXPECT_EQ(report.ruling(), Ruling::proved) << report.str();
  std::vector<std::string> result;
  for (const Finding& f : report.waste) {
    EXPECT_EQ(f.diagnostic.severity, Severity::warning);
    result.push_back(std::string(code_text(f.diagnostic.code)) + " " + str(f.at) + ": " +
                     f.diagnostic.hint);
  }
  return result;
}
using List = std::vector<std::string>;

// Two ranks; rank 1 gets the chunk of rank 0. `more` are the other threadblocks of rank 0, whose
// first is tb 1.
std::string pair_of(const std::string& more, int scratch) {
  return "algorithm \"a\" proto=Simple channels=1 out_of_place\n"
         "collective broadcast ranks=2 factor=1 root=0\n"
         "rank 0 in=1 out=1 scratch=" +
         std::to_string(scratch) + "\n  tb 0 send=1 chan=0\n    s i[0]\n" + more +
         "rank 1 in=1 out=1 scratch=0\n  tb 0 recv=0 chan=0\n    r o[0]\n";
}

TEST(Waste, nothing) { EXPECT_EQ(waste_of(pair_of("  tb 1\n    cpy i[0] -> o[0]\n", 0)), List{}); }

TEST(Waste, a_dependence_is_implied_by_an_earlier_wait) {
  EXPECT_EQ(
      waste_of(pair_of("  tb 1\n    cpy i[0] -> s[0] signals\n"
                       "  tb 2\n    cpy s[0] -> s[1] after=1:0\n    re s[0] -> s[1] after=1:0\n"
                       "    cpy i[0] -> o[0]\n",
                       2),
               {.waste = true})
          .front(),
      "HK1010 rank 0 tb 2 step 1: drop the dependence; saves a wait");
}

TEST(Waste, a_nop_whose_dependence_another_implies) {
  const std::string chain =
      "  tb 1\n    cpy i[0] -> s[0] signals\n"
      "  tb 2\n    cpy s[0] -> s[1] after=1:0 signals\n"
      "  tb 3\n    nop after={}\n    cpy s[1] -> o[0] after={}\n";
  EXPECT_EQ(waste_of(pair_of(fmt::format(fmt::runtime(chain), "1:0", "2:0"), 2)),
            List{"HK1011 rank 0 tb 3 step 0: drop the nop; saves a step"});
  EXPECT_EQ(waste_of(pair_of(fmt::format(fmt::runtime(chain), "2:0", "1:0"), 2)),
            List{"HK1011 rank 0 tb 3 step 1: let it wait for what the nop before it waits for, and "
                 "drop the nop; saves a step"});
}

TEST(Waste, a_flag_that_keeps_reduces_apart_is_not_idle) {
  const std::string sum =
      "  tb 1\n    cpy i[0] -> s[0]\n    re i[0] -> s[0]{}\n    re i[0] -> s[0]{}\n    cpy i[0] -> "
      "o[0]\n";
  // All three are dead too.
  const auto waste = waste_of(pair_of(fmt::format(fmt::runtime(sum), " signals", " signals"), 1));
  EXPECT_EQ(waste.front(), "HK1012 rank 0 tb 1 step 2: drop its hasdep; saves a flag");
  EXPECT_EQ(waste.size(), 4U);
}

TEST(Waste, dead_copies_together) {
  EXPECT_EQ(waste_of(pair_of(
                "  tb 1\n    cpy i[0] -> s[0]\n    cpy s[0] -> s[1]\n    cpy i[0] -> o[0]\n", 2)),
            (List{"HK1013 rank 0 tb 1 step 0: drop it; saves a step",
                  "HK1013 rank 0 tb 1 step 1: drop it; saves a step"}));
}

TEST(Waste, unused_scratch_and_an_idle_threadblock) {
  EXPECT_EQ(waste_of(pair_of("  tb 1\n    cpy i[0] -> s[1]\n    cpy s[1] -> o[0]\n  tb 2\n", 3)),
            (List{"HK1014 rank 0: number the others without gaps; saves 2 chunks",
                  "HK1015 rank 0 tb 2: drop it; saves a threadblock"}));
}

std::string relay(const std::string& middle, const char* header = "out_of_place") {
  return std::string("algorithm \"a\" proto=Simple channels=1 ") + header +
         "\ncollective broadcast ranks=3 factor=1 root=0\n"
         "rank 0 in=1 out=1 scratch=0\n  tb 0 send=1 chan=0\n    s i[0]\n"
         "  tb 1 chan=0\n    cpy i[0] -> o[0]\n"
         "rank 1 in=1 out=1 scratch=" +
         (middle.find(" s[0]") == std::string::npos ? "0" : "1") + "\n" + middle +
         "rank 2 in=1 out=1 scratch=0\n  tb 0 recv=1 chan=0\n    r o[0]\n";
}

TEST(Waste, a_relay_that_one_step_could_do) {
  const std::string two = relay("  tb 0 send=2 recv=0 chan=0\n    r o[0]\n    s o[0]\n");
  EXPECT_EQ(waste_of(two).back(),
            "HK1017 rank 1 tb 0 step 0: one rcs would do (rccl runs none); saves a step");
  EXPECT_EQ(waste_of(two, {.target = Target::msccl}).back(),
            "HK1017 rank 1 tb 0 step 0: one rcs would do; saves a step");
  EXPECT_EQ(waste_of(two, {.target = Target::rccl}), List{});
}

// The sum that nobody else reads need not be kept.
TEST(Waste, a_sum_that_is_only_sent_on) {
  const std::string text =
      "algorithm \"a\" proto=Simple channels=1 out_of_place\n"
      "collective reduce ranks=3 factor=1 root=2\n"
      "rank 0 in=1 out=1 scratch=0\n  tb 0 send=1 chan=0\n    s i[0]\n"
      "rank 1 in=1 out=1 scratch=1\n  tb 0 send=2 recv=0 chan=0\n    rrc i[0] -> {0}[0]\n    s "
      "{0}[0]\n"
      "rank 2 in=1 out=1 scratch=0\n  tb 0 recv=1 chan=0\n    rrc i[0] -> o[0]\n";
  EXPECT_EQ(waste_of(fmt::format(fmt::runtime(text), "s")),
            List{"HK1017 rank 1 tb 0 step 0: one rrs would do (rccl runs none); saves a step"});
}

// Nobody needs what rank 1 sends last, but it says that its input has arrived, so that rank 0 may
// write over it.
TEST(Waste, a_message_that_puts_a_read_before_a_write) {
  const std::string text =
      "algorithm \"a\" proto=Simple channels=1 in_place\n"
      "collective allreduce ranks=2 factor=1\n"
      "rank 0 in=1 out=1 scratch=2\n"
      "  tb 0 send=1 chan=0\n    s i[0]{}\n"
      "  tb 1 recv=1 chan=0\n    r s[0]\n    r s[1]\n    re s[0] -> i[0]{}\n"
      "rank 1 in=1 out=1 scratch=1\n"
      "  tb 0 recv=0 chan=0\n    r s[0] signals\n"
      "  tb 1 send=0 chan=0\n    s i[0]\n    s i[0] after=0:0\n    re s[0] -> i[0]\n";
  EXPECT_EQ(waste_of(fmt::format(fmt::runtime(text), "", "")), List{});
  EXPECT_EQ(waste_of(fmt::format(fmt::runtime(text), " signals", " after=0:0")),
            (List{"HK1013 rank 0 tb 1 step 1: drop it and the send it meets; saves a step",
                  "HK1013 rank 1 tb 1 step 1: drop it and the receive it meets; saves a step"}));
}

TEST(Waste, somebody_waits_for_the_receive) {
  EXPECT_EQ(waste_of(relay("  tb 0 send=2 recv=0 chan=0\n    r s[0] signals\n    s s[0]\n  tb 1\n"
                           "    cpy s[0] -> o[0] after=0:0\n")),
            List{});
}

TEST(Waste, at_most_so_many_of_a_code) {
  VerifyOptions options;
  options.max_findings = 2;
  const Algorithm a = from_text(pair_of(
      "  tb 1\n    cpy i[0] -> s[0]\n    cpy i[0] -> s[1]\n    cpy i[0] -> s[2]\n    cpy i[0] -> "
      "o[0] signals\n",
      3));
  const VerifyReport report = verify(a, options);
  EXPECT_EQ(report.waste.size(), 3U);
  EXPECT_EQ(report.num_waste, 4);
  options.waste = false;
  EXPECT_EQ(verify(a, options).num_waste, 0);
}

TEST(Waste, the_same_sum_twice) {
  const std::string two =
      "algorithm \"a\" proto=Simple channels=1 out_of_place\n"
      "collective allreduce ranks=2 factor=2\n"
      "rank 0 in=2 out=2 scratch=1\n"
      "  tb 0 send=1 recv=1 chan=0\n    s i[0] cnt=2\n    r o[0] cnt=2 signals\n"
      "  tb 1 chan=0\n    cpy o[0] -> s[0] after=0:1\n    re i[0] -> s[0]\n    re i[{}] -> o[{}]\n"
      "    re i[1] -> o[1]\n{}"
      "rank 1 in=2 out=2 scratch=0\n"
      "  tb 0 send=0 recv=0 chan=0\n    s i[0] cnt=2\n    rrc i[0] -> o[0] cnt=2\n";
  const auto waste = waste_of(fmt::format(fmt::runtime(two), 0, 0, ""));
  EXPECT_EQ(waste.back(), "HK1016 rank 0 tb 1 step 2: copy it from there; saves a reduction");
  EXPECT_EQ(
      verify(from_text(fmt::format(fmt::runtime(two), 0, 0, ""))).waste.back().diagnostic.message,
      "rank 0 tb 1 step 2 (re) adds up in output[0] what tb 1 step 1 left in scratch[0]");
  // What holds it first is written again.
  const auto written = waste_of(fmt::format(fmt::runtime(two), 0, 0, "    cpy i[1] -> s[0]\n"));
  for (const std::string& w : written) EXPECT_EQ(w.find("HK1016"), std::string::npos) << w;
}

}  // namespace
}  // namespace hocket::verifying
