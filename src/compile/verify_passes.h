// Holds every pass to leaving the program right, and names the one that did not.
//
// Until threadblocks are assigned, the instruction graph is run and compared with the trace
// (passes/meaning.h). From then on the graph is written out as it would be if it were final, and
// the verifier judges the algorithm: its structure and deadlock after assign-threadblocks, which
// has no waits yet, everything after the passes that follow. Before layout-scratch every scratch
// buffer gets places of its own, so that what the verifier says is about the pass and not about the
// layout.
//
// Of a collective that says no postcondition, what every slot of the user's buffers must hold is
// what the trace leaves there.
//
// For finding faults of the compiler: costs several times as much as compiling.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hocket/compile.h"
#include "hocket/verify.h"
#include "ir/trace.h"
#include "passes/instruction_graph.h"
#include "passes/meaning.h"

namespace hocket {

class PassVerifier {
 public:
  // The trace must outlive the verifier.
  PassVerifier(const Trace& trace, CompileOptions options)
      : trace_(trace), options_(std::move(options)) {}

  // To be called after every pass, in order. Throws InternalError.
  void after(std::string_view pass, const passes::Graph& graph);
  // What came out of the last one; may be called alone. Throws InternalError.
  void of_result(const Algorithm& algorithm);

 private:
  const passes::Meaning& meaning(std::int32_t parts);
  std::string compare(const FinalContents& contents, std::int32_t parts);
  void require(const Algorithm& algorithm, std::string_view what, std::int32_t parts,
               const std::vector<Property>& properties);

  const Trace& trace_;
  CompileOptions options_;
  std::optional<passes::Meaning> meaning_;
};

}  // namespace hocket
