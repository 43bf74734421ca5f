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

}  // namespace
}  // namespace hocket
