// What is read too early, what is wrong at the end, and how it came there.
#include "verify/execution.h"

#include "text.h"

namespace hocket::verifying {
namespace {

Execution run(const std::string& text, const VerifyOptions& options = {}) {
  const auto t = load_text(text);
  return execute(t->loaded, t->order, options);
}

std::string gather_to_all(const std::string& last) {
  return "algorithm \"a\" proto=Simple channels=1 out_of_place\n"
         "collective allreduce ranks=3 factor=1\n"
         "rank 0 in=1 out=1 scratch=1\n"
         "  tb 0 send=1 recv=2 chan=0\n"
         "    s i[0] @ring.cpp:10\n"
         "    rrcs i[0] -> o[0] @ring.cpp:11\n"
         "    r o[0] @ring.cpp:12\n"
         "rank 1 in=1 out=1 scratch=1\n"
         "  tb 0 send=2 recv=0 chan=0\n"
         "    rrs i[0] @ring.cpp:13\n"
         "    r o[0] @ring.cpp:14\n"
         "rank 2 in=1 out=1 scratch=1\n"
         "  tb 0 send=0 recv=1 chan=0\n" +
         last;
}

TEST(Execution, a_right_one) {
  const Execution e =
      run("algorithm \"a\" proto=Simple channels=1 out_of_place\n"
          "collective allreduce ranks=2 factor=1\n"
          "rank 0 in=1 out=1 scratch=0\n"
          "  tb 0 send=1 recv=1 chan=0\n"
          "    s i[0]\n    rrc i[0] -> o[0]\n"
          "rank 1 in=1 out=1 scratch=0\n"
          "  tb 0 send=0 recv=0 chan=0\n"
          "    s i[0]\n    rrc i[0] -> o[0]\n");
  EXPECT_EQ(e.initialised.ruling, Ruling::proved);
  EXPECT_EQ(e.postcondition.ruling, Ruling::proved);
  EXPECT_EQ(e.postcondition.summary, "2 chunks as allreduce wants");
}

TEST(Execution, what_is_missing_and_the_way_it_came) {
  const Execution e =
      run("algorithm \"a\" proto=Simple channels=1 out_of_place\n"
          "collective allreduce ranks=3 factor=1\n"
          "rank 0 in=1 out=1 scratch=0\n"
          "  tb 0 send=1 recv=2 chan=0\n"
          "    s i[0] @ring.cpp:10\n"
          "    r o[0] @ring.cpp:11\n"
          "rank 1 in=1 out=1 scratch=0\n"
          "  tb 0 send=2 recv=0 chan=0\n"
          "    rrs i[0] @ring.cpp:12\n"
          "rank 2 in=1 out=1 scratch=0\n"
          "  tb 0 send=0 recv=1 chan=0\n"
          "    rcs o[0] @ring.cpp:13\n");
  EXPECT_EQ(e.postcondition.ruling, Ruling::refuted);
  EXPECT_EQ(e.postcondition.num_findings, 3);
  ASSERT_EQ(e.postcondition.findings.size(), 3U);
  const Finding& f = e.postcondition.findings[0];
  EXPECT_EQ(f.diagnostic.code, Code::WrongContent);
  EXPECT_EQ(f.diagnostic.message,
            "rank 0 output[0] ends with sum of in[0] of ranks 0-1, but must hold sum of in[0] of "
            "ranks 0-2; missing: in[0] of rank 2 (last written by tb 0 step 1)");
  EXPECT_EQ(f.expected, "sum of in[0] of ranks 0-2");
  EXPECT_EQ(f.found, "sum of in[0] of ranks 0-1");
  EXPECT_EQ(f.at, (StepPlace{0, 0, 1}));
  EXPECT_EQ(f.chain.back(), (StepPlace{0, 0, 1}));
  EXPECT_EQ(f.chain.size(), 4U);
  EXPECT_EQ(f.diagnostic.where, Location("ring.cpp", 11));
  EXPECT_EQ(f.diagnostic.notes.size(), 4U);
  const Finding& never = e.postcondition.findings[1];
  EXPECT_EQ(never.diagnostic.message,
            "rank 1 output[0] ends with nothing, but must hold sum of in[0] of ranks 0-2 (never "
            "written)");
  EXPECT_TRUE(never.chain.empty());
}

TEST(Execution, what_is_there_twice) {
  const Execution e =
      run("algorithm \"a\" proto=Simple channels=1 in_place\n"
          "collective allreduce ranks=2 factor=1\n"
          "rank 0 in=1 out=1 scratch=1\n"
          "  tb 0 send=1 recv=1 chan=0\n"
          "    s i[0]\n    r s[0]\n    re s[0] -> i[0] signals\n    re s[0] -> i[0]\n"
          "rank 1 in=1 out=1 scratch=1\n"
          "  tb 0 send=0 recv=0 chan=0\n"
          "    s i[0]\n    rrc i[0]\n");
  ASSERT_EQ(e.postcondition.findings.size(), 1U);
  const Finding& f = e.postcondition.findings[0];
  EXPECT_EQ(f.diagnostic.message,
            "rank 0 input[0] ends with sum of in[0] of rank 0 + in[0] of rank 1 twice, but must "
            "hold sum of in[0] of ranks 0-1; too much: in[0] of rank 1 (last written by tb 0 step "
            "3)");
  // The way of the one that is too much.
  EXPECT_EQ(f.chain.front(), (StepPlace{1, 0, 0}));
  EXPECT_EQ(f.chain.back(), (StepPlace{0, 0, 3}));
}

TEST(Execution, a_read_of_nothing_is_said_once_a_step) {
  const Execution e = run(gather_to_all("    rrc s[0] -> o[0]\n    s o[0]\n    s o[0]\n"));
  EXPECT_EQ(e.initialised.ruling, Ruling::refuted);
  ASSERT_EQ(e.initialised.findings.size(), 1U);
  const Finding& f = e.initialised.findings[0];
  EXPECT_EQ(f.diagnostic.code, Code::UninitialisedRead);
  EXPECT_EQ(f.diagnostic.message,
            "rank 2 tb 0 step 0 (rrc) reads scratch[0], where nobody wrote anything");
  EXPECT_EQ(f.buffer, BufferKind::scratch);
  // What is computed from it is wrong wherever it comes; the way shows the step that read it.
  ASSERT_FALSE(e.postcondition.findings.empty());
  const Finding& wrong = e.postcondition.findings[0];
  EXPECT_EQ(wrong.found, "nothing of worth");
  EXPECT_EQ(wrong.chain.front(), (StepPlace{2, 0, 0}));
}

TEST(Execution, an_unknown_postcondition_is_undecided) {
  const auto t = load_text(
      "algorithm \"a\" proto=Simple channels=1 out_of_place\n"
      "collective allreduce ranks=1 factor=1\n"
      "rank 0 in=1 out=1 scratch=0\n"
      "  tb 0 chan=0\n"
      "    cpy i[0] -> o[0]\n");
  CustomCollective custom("mine", 1);
  custom.buffers(0, 1, 1).holds(0, {BufferKind::input, 0}, {0, 1000000000});
  custom.without_postcondition();
  const Collective unknown = custom.build();
  t->loaded.collective = &unknown;
  const Execution e = execute(t->loaded, t->order, {});
  EXPECT_EQ(e.postcondition.ruling, Ruling::undecided);
  EXPECT_EQ(e.postcondition.summary, "what mine must compute is not known");
  EXPECT_EQ(e.initialised.ruling, Ruling::proved);
}

}  // namespace
}  // namespace hocket::verifying
