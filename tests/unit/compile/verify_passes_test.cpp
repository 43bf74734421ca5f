// The pass that broke a program is named; passes that did not are not.
#include "compile/verify_passes.h"

#include <gtest/gtest.h>

#include <functional>

#include "hocket/algorithms.h"
#include "passes/pipeline.h"

namespace hocket {
namespace {

// Compiles, breaks the graph as `pass` leaves it, and gives what the verifier says.
std::string complaint(const Program& program, std::string_view pass,
                      const std::function<void(passes::Graph&)>& breaks) {
  const CompileOptions options;
  PassVerifier verifier(program.trace(), options);
  std::string said;
  passes::PipelineOptions pipeline;
  pipeline.observer = [&](std::string_view at, const passes::Graph& graph) {
    if (!said.empty()) return;
    passes::Graph copy = graph;
    if (at == pass) breaks(copy);
    try {
      verifier.after(at, copy);
    } catch (const InternalError& error) {
      said = error.what();
    }
  };
  passes::run_pipeline(program.trace(), pipeline);
  return said;
}

passes::NodeId first_of(const passes::Graph& graph, OpCode op) {
  for (passes::NodeId n = 0; n < graph.size(); ++n) {
    if (graph.nodes[n].active && graph.nodes[n].op == op) return n;
  }
  ADD_FAILURE() << "no " << op_info(op).name;
  return 0;
}

Program two_step() {
  return make_algorithm("alltoall_two_step", {{"nodes", "2"}, {"gpus", "2"}}, CallSite{});
}

TEST(VerifyPasses, has_nothing_to_say_of_a_right_compiler) {
  EXPECT_EQ(complaint(two_step(), "", [](passes::Graph&) {}), "");
}

TEST(VerifyPasses, names_every_pass_that_puts_a_chunk_in_the_wrong_place) {
  int broken = 0;
  for (const passes::PassRow& pass : passes::pass_table()) {
    const std::string said = complaint(two_step(), pass.name, [](passes::Graph& graph) {
      graph.nodes[first_of(graph, OpCode::recv)].dst_index += 1;
    });
    // Not every wrong place does harm; where it does, this pass is blamed and no other.
    if (said.empty()) continue;
    ++broken;
    EXPECT_NE(said.find("pass '" + std::string(pass.name) + "'"), std::string::npos) << said;
  }
  EXPECT_EQ(broken, static_cast<int>(passes::pass_table().size()));
}

TEST(VerifyPasses, names_synchronize_when_a_wait_is_lost) {
  const std::string said = complaint(two_step(), "synchronize", [](passes::Graph& graph) {
    ASSERT_FALSE(graph.waits.empty());
    graph.waits.clear();
    for (std::uint32_t& first : graph.first_wait) first = 0;
  });
  EXPECT_NE(said.find("pass 'synchronize' broke the program"), std::string::npos) << said;
  EXPECT_NE(said.find("races"), std::string::npos) << said;
}

TEST(VerifyPasses, does_not_blame_the_compiler_for_a_wrong_program) {
  Program p("wrong", fully_connected(2), allgather(2, 1));
  p.chunk(0, Buffer::input, 0).copy(1, Buffer::output, 0);
  EXPECT_NO_THROW(compile(p, {.verify = Verify::every_pass}));
}

// A ring of two ranks that turns its chunks, of a collective that says nothing of the result.
Program unsaid() {
  CustomCollective turn("turn", 2);
  for (int r = 0; r < 2; ++r) {
    turn.buffers(r, 2, 2);
    for (int i = 0; i < 2; ++i) turn.holds(r, {BufferKind::input, i}, {r, i});
  }
  Program p("turn", fully_connected(2), turn.without_postcondition().build(), {.instances = 2});
  for (int r = 0; r < 2; ++r) {
    Ref both = p.chunk(r, Buffer::input, 0).copy(1 - r, Buffer::output, 1);
    p.chunk(1 - r, Buffer::input, 1).reduce(both);
  }
  return p;
}

TEST(VerifyPasses, holds_the_result_to_the_program_where_the_collective_says_nothing) {
  const Program p = unsaid();
  EXPECT_NO_THROW(compile(p, {.verify = Verify::every_pass}));
  Algorithm a = compile(p, {.verify = Verify::result});
  int refuted = 0;
  for (Step& step : a.steps) {
    if (!op_info(step.op).writes_dst || step.dst_buffer == BufferKind::scratch) continue;
    const Step before = step;
    step.dst_offset ^= 1;
    PassVerifier verifier(p.trace(), {});
    EXPECT_THROW(verifier.of_result(a), InternalError) << &step - a.steps.data();
    step = before;
    ++refuted;
  }
  EXPECT_GE(refuted, 4);
}

// A collective that declares nothing leaves a program nothing to do; the inputs that verify() would
// imagine for a file of the kind are not held against it.
TEST(VerifyPasses, takes_a_collective_that_declares_nothing_at_its_word) {
  const Program p("nothing", fully_connected(2),
                  CustomCollective("nothing", 2)
                      .buffers(0, 3, 1)
                      .buffers(1, 2, 2)
                      .without_postcondition()
                      .build(),
                  {.instances = 2});
  for (const Verify verify : {Verify::result, Verify::every_pass}) {
    EXPECT_NO_THROW(compile(p, {.verify = verify}));
  }
}

// Sums of more contributions than can be counted are compared all the same.
TEST(VerifyPasses, compares_sums_of_any_length) {
  CustomCollective open("open", 2);
  for (int r = 0; r < 2; ++r) open.buffers(r, 2, 2).holds(r, {BufferKind::input, 0}, {r, 0});
  for (const int doublings : {30, 63, 64, 70}) {
    Program p("doubled", fully_connected(2), open.without_postcondition().build());
    for (int k = 0; k < doublings; ++k) {
      p.chunk(0, Buffer::input, 0).reduce(p.chunk(0, Buffer::input, 0).copy(0, "copy", 0));
    }
    p.chunk(0, Buffer::input, 0).copy(1, Buffer::output, 0);
    Algorithm a = compile(p, {.verify = Verify::every_pass});
    PassVerifier verifier(p.trace(), {});
    EXPECT_NO_THROW(verifier.of_result(a));
    for (Step& step : a.steps) {
      if (op_info(step.op).writes_dst && step.dst_buffer == BufferKind::output)
        step.dst_offset ^= 1;
    }
    EXPECT_THROW(verifier.of_result(a), InternalError) << doublings;
  }
}

TEST(VerifyPasses, holds_batched_instances_to_the_program_too) {
  CustomCollective pass("pass", 2);
  for (int r = 0; r < 2; ++r) {
    pass.buffers(r, 3, 3);
    for (int i = 0; i < 3; ++i) pass.holds(r, {BufferKind::input, i}, {r, i});
  }
  Program p("pass", fully_connected(2), pass.without_postcondition().build(),
            {.instances = 2, .replication = Replication::batched});
  for (int i = 0; i < 3; ++i) {
    p.chunk(0, Buffer::input, i).copy(1, Buffer::output, (i + 1) % 3);
  }
  EXPECT_NO_THROW(compile(p, {.verify = Verify::every_pass}));
}

}  // namespace
}  // namespace hocket
