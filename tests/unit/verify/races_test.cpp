// Which accesses are ordered, one small algorithm after another.
#include "verify/races.h"

#include "text.h"

namespace hocket::verifying {
namespace {

PropertyRuling races_of(const std::string& text, const VerifyOptions& options = {}) {
  const auto t = load_text(text);
  return find_races(t->loaded, t->order, options);
}

const char* const kLocal =
    "algorithm \"a\" proto=Simple channels=1 out_of_place\n"
    "collective allreduce ranks=1 factor=1\n"
    "rank 0 in=1 out=1 scratch=1\n";

TEST(Races, two_writers_and_nothing_between) {
  const PropertyRuling r = races_of(std::string(kLocal) +
                                    "  tb 0 chan=0\n"
                                    "    cpy i[0] -> o[0]\n"
                                    "  tb 1 chan=0\n"
                                    "    cpy i[0] -> o[0]\n");
  EXPECT_EQ(r.ruling, Ruling::refuted);
  EXPECT_EQ(r.num_findings, 1);
  ASSERT_EQ(r.findings.size(), 1U);
  const Finding& f = r.findings[0];
  EXPECT_EQ(f.diagnostic.code, Code::Race);
  EXPECT_EQ(f.diagnostic.message,
            "rank 0 tb 1 step 0 writes output[0], which tb 0 step 0 writes, and nothing orders the "
            "two");
  EXPECT_EQ(f.at, (StepPlace{0, 1, 0}));
  EXPECT_EQ(f.chain, places({{0, 0, 0}}));
  EXPECT_EQ(f.buffer, BufferKind::output);
  EXPECT_EQ(f.index, 0);
}

TEST(Races, a_wait_orders_them) {
  EXPECT_EQ(races_of(std::string(kLocal) + "  tb 0 chan=0\n"
                                           "    cpy i[0] -> o[0] signals\n"
                                           "  tb 1 chan=0\n"
                                           "    cpy i[0] -> o[0] after=0:0\n")
                .ruling,
            Ruling::proved);
}

TEST(Races, a_wait_of_an_earlier_step_of_the_threadblock_orders_too) {
  EXPECT_EQ(races_of(std::string(kLocal) + "  tb 0 chan=0\n"
                                           "    cpy i[0] -> s[0]\n"
                                           "    cpy i[0] -> o[0] signals\n"
                                           "  tb 1 chan=0\n"
                                           "    cpy i[0] -> o[0] after=0:1\n"
                                           "    re s[0] -> o[0]\n")
                .ruling,
            Ruling::proved);
}

TEST(Races, reads_do_not_race) {
  EXPECT_EQ(races_of(std::string(kLocal) + "  tb 0 chan=0\n"
                                           "    cpy i[0] -> o[0]\n"
                                           "  tb 1 chan=0\n"
                                           "    cpy i[0] -> s[0]\n")
                .ruling,
            Ruling::proved);
}

TEST(Races, an_earlier_reader_is_not_forgotten_for_a_later_one) {
  const PropertyRuling r = races_of(std::string(kLocal) +
                                    "  tb 0 chan=0\n"
                                    "    cpy i[0] -> s[0]\n"
                                    "  tb 1 chan=0\n"
                                    "    cpy i[0] -> o[0] signals\n"
                                    "  tb 2 chan=0\n"
                                    "    cpy o[0] -> i[0] after=1:0\n");
  EXPECT_EQ(r.ruling, Ruling::refuted);
  ASSERT_EQ(r.findings.size(), 1U);
  EXPECT_EQ(r.findings[0].chain, places({{0, 0, 0}}));
}

// In place, o[0] is i[0].
TEST(Races, names_of_one_chunk) {
  const std::string body =
      "collective allreduce ranks=1 factor=2\n"
      "rank 0 in=2 out=2 scratch=1\n"
      "  tb 0 chan=0\n"
      "    cpy i[0] -> s[0]\n"
      "  tb 1 chan=0\n"
      "    cpy i[1] -> o[0]\n";
  const auto named = [&](const char* placement) {
    const PropertyRuling r =
        races_of(std::string("algorithm \"a\" proto=Simple channels=1 ") + placement + body);
    return r.num_findings;
  };
  EXPECT_EQ(named("out_of_place\n"), 0);
  EXPECT_EQ(named("in_place\n"), 1);
}

const char* const kTwo =
    "algorithm \"a\" proto=LL channels=2 out_of_place\n"
    "collective allreduce ranks=2 factor=2\n";

// rank 0 sends from i[0] in one threadblock, and what comes back lands there in another.
std::string round_trip(const char* first, const char* last) {
  return std::string(kTwo) +
         "rank 0 in=2 out=2 scratch=2\n"
         "  tb 0 send=1 chan=0\n" +
         first + "  tb 1 recv=1 chan=1\n" + last +
         "rank 1 in=2 out=2 scratch=2\n"
         "  tb 0 recv=0 chan=0\n"
         "    r s[0]\n"
         "  tb 1 send=0 chan=1\n"
         "    s i[0]\n";
}

std::string round_trip_on(const char* first, const char* there, const char* last) {
  return std::string(kTwo) +
         "rank 0 in=2 out=2 scratch=2\n"
         "  tb 0 send=1 chan=0\n" +
         first + "  tb 1 recv=1 chan=0\n" + last +
         "rank 1 in=2 out=2 scratch=2\n"
         "  tb 0 send=0 recv=0 chan=0\n" +
         there;
}

TEST(Races, a_read_before_a_write_over_messages) {
  EXPECT_EQ(
      races_of(round_trip_on("    s i[0]\n", "    r s[0]\n    s s[0]\n", "    r i[0]\n")).ruling,
      Ruling::proved);
  // Fused, lane by lane.
  EXPECT_EQ(
      races_of(round_trip_on("    s i[0] cnt=2\n", "    rcs s[0] cnt=2\n", "    r i[0] cnt=2\n"))
          .ruling,
      Ruling::proved);
}

TEST(Races, a_message_that_nothing_joins_to_the_other_orders_nothing) {
  EXPECT_EQ(races_of(round_trip("    s i[0]\n", "    r i[0]\n")).ruling, Ruling::refuted);
}

// What arrives in a lane says nothing about the other lanes of a fused step.
TEST(Races, lanes_are_apart) {
  EXPECT_EQ(races_of(round_trip_on("    s i[0] cnt=2\n", "    rcs s[0] cnt=2\n",
                                   "    r i[0] -> s[0] cnt=2\n    cpy s[0] -> i[0] cnt=2\n"))
                .ruling,
            Ruling::proved);
  const std::string crossed =
      "algorithm \"a\" proto=LL channels=1 out_of_place\n"
      "collective allreduce ranks=2 factor=3\n"
      "rank 0 in=3 out=3 scratch=2\n"
      "  tb 0 send=1 chan=0\n"
      "    s i[0] cnt=2\n"
      "  tb 1 recv=1 chan=0\n"
      "    r i[1] cnt=2\n"
      "rank 1 in=3 out=3 scratch=2\n"
      "  tb 0 send=0 recv=0 chan=0\n";
  // i[1] is read in lane 1 and written in lane 0.
  EXPECT_EQ(races_of(crossed + "    rcs s[0] cnt=2\n").ruling, Ruling::refuted);
  EXPECT_EQ(races_of(crossed + "    r s[0] cnt=2\n    s s[0] cnt=2\n").ruling, Ruling::proved);
}

TEST(Races, a_write_before_a_read_over_messages_refutes) {
  const PropertyRuling r =
      races_of(round_trip_on("    cpy i[1] -> o[0]\n    s o[0]\n", "    r s[0]\n    s s[0]\n",
                             "    r s[0]\n    cpy o[0] -> o[1]\n"));
  EXPECT_EQ(r.ruling, Ruling::refuted);
  ASSERT_EQ(r.findings.size(), 1U);
  EXPECT_EQ(r.findings[0].diagnostic.code, Code::OrderedElsewhere);
  EXPECT_EQ(
      r.findings[0].diagnostic.message,
      "rank 0 tb 1 step 1 reads output[0], which tb 0 step 0 writes before, but only messages "
      "through other ranks say so");
}

// Slots would order these on a connection of one slot.
TEST(Races, free_slots_order_nothing) {
  const std::string text =
      "algorithm \"a\" proto=Simple channels=1 out_of_place\n"
      "collective allreduce ranks=2 factor=1\n"
      "rank 0 in=1 out=1 scratch=1\n"
      "  tb 0 send=1 chan=0\n"
      "    s i[0]\n    s i[0]\n    s i[0]\n    s i[0] signals\n"
      "rank 1 in=1 out=1 scratch=1\n"
      "  tb 0 recv=0 chan=0\n"
      "    r s[0]\n    r s[0]\n    r s[0]\n    r s[0]\n"
      "  tb 1 chan=0\n"
      "    cpy s[0] -> o[0]\n";
  EXPECT_EQ(races_of(text).ruling, Ruling::refuted);
}

TEST(Races, merged_reduces_name_the_step_that_reads) {
  const PropertyRuling r = races_of(
      "algorithm \"a\" proto=Simple channels=1 out_of_place\n"
      "collective allreduce ranks=1 factor=1\n"
      "rank 0 in=1 out=1 scratch=3\n"
      "  tb 0 chan=0\n"
      "    re s[0] -> o[0]\n    re s[1] -> o[0]\n    re s[2] -> o[0]\n"
      "  tb 1 chan=0\n"
      "    cpy i[0] -> s[1]\n");
  ASSERT_EQ(r.findings.size(), 1U);
  EXPECT_EQ(r.findings[0].chain, places({{0, 0, 1}}));
}

TEST(Races, rccl_with_ll_goes_on_reading_what_it_sends) {
  VerifyOptions rccl;
  rccl.target = Target::rccl;
  const auto text = [](const char* proto, const char* steps) {
    return std::string("algorithm \"a\" proto=") + proto +
           " channels=1 out_of_place\n"
           "collective allreduce ranks=2 factor=1\n"
           "rank 0 in=1 out=1 scratch=1\n"
           "  tb 0 send=1 chan=0\n" +
           steps +
           "rank 1 in=1 out=1 scratch=1\n"
           "  tb 0 recv=0 chan=0\n"
           "    r s[0]\n";
  };
  const char* const own = "    s o[0]\n    cpy i[0] -> o[0]\n";
  EXPECT_EQ(races_of(text("LL", own)).ruling, Ruling::proved);
  EXPECT_EQ(races_of(text("Simple", own), rccl).ruling, Ruling::proved);
  EXPECT_EQ(races_of(text("LL", own), rccl).ruling, Ruling::refuted);
  EXPECT_EQ(
      races_of(text("LL", "    s o[0]\n    cpy i[0] -> s[0]\n    cpy i[0] -> o[0]\n"), rccl).ruling,
      Ruling::proved);
  const char* const other = "    s o[0] signals\n  tb 1 chan=0\n    cpy i[0] -> o[0] after=0:0\n";
  EXPECT_EQ(races_of(text("LL", other)).ruling, Ruling::proved);
  EXPECT_EQ(races_of(text("LL", other), rccl).ruling, Ruling::refuted);
}

TEST(Races, a_cycle_of_waits_leaves_them_open) {
  const auto t = load_text(std::string(kLocal) +
                           "  tb 0 chan=0\n"
                           "    cpy i[0] -> o[0] after=1:0 signals\n"
                           "  tb 1 chan=0\n"
                           "    cpy i[0] -> s[0] after=0:0 signals\n");
  EXPECT_FALSE(t->order.complete());
  EXPECT_EQ(find_races(t->loaded, t->order, {}).ruling, Ruling::undecided);
}

TEST(Races, only_so_many_are_listed) {
  std::string text = kLocal;
  for (int t = 0; t < 20; ++t) text += fmt::format("  tb {} chan=0\n    cpy i[0] -> o[0]\n", t);
  VerifyOptions options;
  options.max_findings = 3;
  const PropertyRuling r = races_of(text, options);
  EXPECT_EQ(r.findings.size(), 3U);
  EXPECT_EQ(r.num_findings, 19);
}

// More threadblocks than are followed at a time.
TEST(Races, three_hundred_threadblocks) {
  const auto text = [](int writer) {
    std::string all = kLocal;
    for (int t = 0; t < 300; ++t) {
      all += fmt::format("  tb {} chan=0\n    cpy i[0] -> {}[0]{} signals\n", t,
                         t == 0 || t == writer ? 'o' : 's',
                         t == 0 ? "" : fmt::format(" after={}:0", t - 1));
    }
    return all;
  };
  EXPECT_EQ(races_of(text(299)).ruling, Ruling::proved);
  std::string broken = text(299);
  const std::size_t wait = broken.find(" after=150:0");
  broken.erase(wait, std::string(" after=150:0").size());
  const PropertyRuling r = races_of(broken);
  EXPECT_EQ(r.ruling, Ruling::refuted);
  ASSERT_FALSE(r.findings.empty());
  EXPECT_EQ(r.findings.back().diagnostic.code, Code::Race);
}

}  // namespace
}  // namespace hocket::verifying
