// The driver: what it refuses, that it always gives the same bytes, and that every target's output
// is right.
#include "hocket/compile.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "hocket/format.h"
#include "ir/trace.h"
#include "support/judge.h"

namespace hocket {
namespace {

Program ring_allreduce(int n, ProgramOptions options = {}) {
  Program p("ring", ring(n), allreduce(n, n, true), options);
  for (int k = 0; k < n; ++k) {
    Ref c = p.chunk(k, Buffer::input, k);
    for (int hop = 1; hop < n; ++hop) c = p.chunk((k + hop) % n, Buffer::input, k).reduce(c);
    for (int hop = n; hop < 2 * n - 1; ++hop) c = c.copy((k + hop) % n, Buffer::input, k);
  }
  return p;
}

template <typename F>
Diagnostic refused(F&& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.diagnostic();
  }
  ADD_FAILURE() << "nothing was refused";
  return {};
}

TEST(Compile, refuses_an_empty_range_of_sizes) {
  const std::uint32_t line = __LINE__ + 1;
  const Program p("p", fully_connected(2), allgather(2, 1));
  const Diagnostic d = refused([&] { compile(p, {.min_bytes = 1024, .max_bytes = 512}); });
  EXPECT_EQ(d.code, Code::BadSizeRange);
  EXPECT_EQ(d.message, "message sizes from 1024 to 512 bytes");
  EXPECT_EQ(d.where.line, line);
}

TEST(Compile, names_the_passes_when_one_is_unknown) {
  const Diagnostic d = refused([] { compile(ring_allreduce(2), {.print_after = "fuze"}); });
  EXPECT_EQ(d.code, Code::UnknownPass);
  EXPECT_EQ(d.message, "there is no pass 'fuze'");
  EXPECT_NE(d.hint.find("expand, fold-copies, fuse, schedule"), std::string::npos) << d.hint;
}

TEST(Compile, refuses_what_the_target_would_not_load) {
  const Program p = ring_allreduce(4, {.instances = 40});
  const Diagnostic d = refused([&] { compile(p, {.target = Target::msccl}); });
  EXPECT_EQ(d.code, Code::TooManyChannels);
  EXPECT_NE(d.message.find("40 channels, but msccl has 32"), std::string::npos) << d.message;
  EXPECT_NO_THROW(compile(p, {.target = Target::msccl, .check_limits = false}));
  EXPECT_NO_THROW(compile(p, {.target = Target::hocket}));
}

TEST(Compile, gives_the_same_bytes_every_time_and_on_every_thread) {
  const auto text = [] { return to_text(compile(ring_allreduce(6, {.instances = 3}))); };
  const std::string first = text();
  EXPECT_EQ(text(), first);
  std::string other;
  std::thread([&] { other = text(); }).join();
  EXPECT_EQ(other, first);
}

TEST(Compile, can_be_done_twice_and_the_program_goes_on) {
  Program p("p", fully_connected(3), allgather(3, 1));
  const Ref c = p.chunk(0, Buffer::input, 0).copy(1, Buffer::output, 0);
  const Algorithm before = compile(p);
  EXPECT_EQ(compile(p), before);
  c.copy(2, Buffer::output, 0);
  EXPECT_GT(compile(p).steps.size(), before.steps.size());
}

TEST(Compile, prints_the_program_after_a_pass) {
  std::vector<std::string> passes;
  std::string printed;
  CompileOptions options;
  options.print_after = "fuse";
  options.observer = [&](std::string_view pass, const std::string& printout) {
    passes.emplace_back(pass);
    printed += printout;
  };
  compile(ring_allreduce(3), options);
  std::vector<std::string> known;
  for (const PassInfo& pass : compile_passes()) known.emplace_back(pass.name);
  EXPECT_EQ(passes, known);
  EXPECT_NE(printed.find("rrs"), std::string::npos) << printed;
  EXPECT_NE(printed.find("compile_test.cpp:"), std::string::npos) << printed;
}

TEST(Compile, every_target_and_protocol_is_judged_clean) {
  for (const Target target : all_targets()) {
    for (const Protocol protocol : {Protocol::simple, Protocol::ll, Protocol::ll128}) {
      for (const int instances : {1, 2}) {
        const Algorithm a = compile(
            ring_allreduce(5, {.protocol = protocol, .instances = instances}), {.target = target});
        oracle::JudgeOptions options;
        options.target = target;
        const oracle::Verdict verdict = oracle::judge(a, options);
        EXPECT_TRUE(verdict.clean() && verdict.compared)
            << target_name(target) << " " << protocol_name(protocol) << " x" << instances;
      }
    }
  }
}

TEST(Compile, rccl_gets_only_what_it_runs) {
  std::set<std::string_view> used;
  for (const Step& step : compile(ring_allreduce(4), {.target = Target::rccl}).steps) {
    used.insert(op_info(step.op).name);
  }
  for (const std::string_view name : used) {
    EXPECT_TRUE(name == "s" || name == "r" || name == "cpy" || name == "re" || name == "nop")
        << name;
  }
}

TEST(Compile, buffer_sizes_are_the_collectives_not_the_largest_index_used) {
  Program p("p", fully_connected(2), alltoall(2, 4));
  p.chunk(0, Buffer::input, 0).copy(1, Buffer::output, 0);
  const Algorithm a = compile(p);
  for (const RankProgram& rank : a.ranks) {
    EXPECT_EQ(rank.input_chunks, 8);
    EXPECT_EQ(rank.output_chunks, 8);
  }
  EXPECT_EQ(a.chunks_per_loop, 8);
}

TEST(Compile, steps_know_the_users_line) {
  Program p("p", fully_connected(2), allgather(2, 1));
  const std::uint32_t line = __LINE__ + 1;
  p.chunk(0, Buffer::input, 0).copy(1, Buffer::output, 0);
  const Algorithm a = compile(p);
  ASSERT_EQ(a.steps.size(), 2u);
  EXPECT_EQ(a.location_of(0).line, line);
  EXPECT_EQ(a.location_of(1).line, line);
}

// More than 15 local reduces into one place would overrun the loaders' table if they were merged.
TEST(Compile, long_chains_of_reduces_are_broken) {
  Program p("p", fully_connected(1),
            CustomCollective("sum", 1).buffers(0, 40, 0).without_postcondition().build());
  EXPECT_EQ(compile(p).steps.size(), 0u);
  CustomCollective c("sum", 1);
  c.buffers(0, 40, 0);
  for (int k = 0; k < 40; ++k) c.holds(0, {BufferKind::input, k}, {0, k});
  Program sum("sum", fully_connected(1), c.without_postcondition().build());
  for (int k = 1; k < 40; ++k)
    sum.chunk(0, Buffer::input, 0).reduce(sum.chunk(0, Buffer::input, k));
  const Algorithm a = compile(sum, {.target = Target::msccl});
  int chain = 0;
  for (const Step& step : a.steps) {
    ++chain;
    EXPECT_LE(chain, 15);
    if (step.has_dependent) chain = 0;
  }
}

TEST(Compile, one_rank_and_no_steps_at_all) {
  const Program p("p", fully_connected(1), allreduce(1, 1, true));
  const Algorithm a = compile(p);
  EXPECT_TRUE(a.steps.empty());
  EXPECT_EQ(a.num_ranks(), 1);
}

}  // namespace
}  // namespace hocket
