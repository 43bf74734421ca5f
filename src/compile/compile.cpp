// The driver: program in, algorithm out, limits checked.
#include "hocket/compile.h"

#include <fmt/format.h>

#include <algorithm>

#include "compile/verify_passes.h"
#include "ir/trace.h"
#include "passes/pipeline.h"
#include "passes/print.h"

namespace hocket {
namespace {

void check_options(const Trace& trace, const CompileOptions& options) {
  if (options.min_bytes < 0 || (options.max_bytes && *options.max_bytes < options.min_bytes)) {
    throw Error(Code::BadSizeRange,
                fmt::format("message sizes from {} to {} bytes", options.min_bytes,
                            options.max_bytes ? fmt::to_string(*options.max_bytes) : "any"),
                trace.where, "give 0 <= min_bytes <= max_bytes");
  }
  if (options.print_after.empty() || options.print_after == "all") return;
  std::string known;
  for (const passes::PassRow& pass : passes::pass_table()) {
    if (pass.name == options.print_after) return;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", pass.name);
  }
  throw Error(Code::UnknownPass, fmt::format("there is no pass '{}'", options.print_after), {},
              fmt::format("the passes are {} (or all)", known));
}

// The first limit that is broken, with the others as notes.
void require_limits(const Algorithm& algorithm, Target target, const Location& where) {
  std::vector<Diagnostic> broken = check_limits(algorithm, target);
  if (broken.empty()) return;
  Diagnostic first = std::move(broken.front());
  if (!first.where.known()) first.where = where;
  for (std::size_t i = 1; i < broken.size(); ++i) {
    first.notes.push_back({std::move(broken[i].message), broken[i].where});
  }
  throw Error(std::move(first));
}

}  // namespace

Algorithm compile(const Trace& trace, const CompileOptions& options) {
  check_options(trace, options);
  passes::PipelineOptions pipeline;
  pipeline.target = options.target;
  pipeline.min_bytes = options.min_bytes;
  pipeline.max_bytes = options.max_bytes;
  PassVerifier verifier(trace, options);
  if (options.observer || options.verify == Verify::every_pass) {
    pipeline.observer = [&](std::string_view pass, const passes::Graph& graph) {
      if (options.observer) {
        const bool wanted = options.print_after == "all" || options.print_after == pass;
        options.observer(pass, wanted ? passes::print(graph) : std::string());
      }
      if (options.verify == Verify::every_pass) verifier.after(pass, graph);
    };
  }
  Algorithm algorithm = passes::run_pipeline(trace, pipeline);
  if (options.verify != Verify::nothing) verifier.of_result(algorithm);
  if (options.check_limits) require_limits(algorithm, options.target, trace.where);
  return algorithm;
}

Algorithm compile(const Program& program, const CompileOptions& options) {
  if (options.warn) {
    for (const Diagnostic& warning : program.warnings()) options.warn(warning);
  }
  return compile(program.trace(), options);
}

std::vector<PassInfo> compile_passes() {
  std::vector<PassInfo> passes;
  for (const passes::PassRow& pass : passes::pass_table())
    passes.push_back({pass.name, pass.summary});
  return passes;
}

}  // namespace hocket
