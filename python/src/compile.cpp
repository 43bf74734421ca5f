// compile(): from a traced program to an algorithm.
#include "hocket/compile.h"

#include <nanobind/stl/function.h>

#include "algorithm.h"
#include "hocket/target.h"
#include "program.h"
#include "words.h"

namespace hocket::python {
namespace {

using namespace nb::literals;  // NOLINT(google-build-using-namespace): only "name"_a

BoundAlgorithm compile_program(const BoundProgram& program, std::string_view target,
                               std::int64_t min_bytes, std::optional<std::int64_t> max_bytes,
                               bool check_limits, bool verify, bool verify_passes,
                               std::string print_after,
                               const std::optional<nb::callable>& observer) {
  CompileOptions options;
  options.target = parse_target(target);
  options.min_bytes = min_bytes;
  options.max_bytes = max_bytes;
  options.check_limits = check_limits;
  options.verify = verify_passes ? Verify::every_pass : verify ? Verify::result : Verify::nothing;
  options.print_after = std::move(print_after);
  std::vector<Diagnostic> warnings;
  options.warn = [&](const Diagnostic& d) { warnings.push_back(d); };
  if (observer) {
    options.observer = [&](std::string_view pass, const std::string& printout) {
      const nb::gil_scoped_acquire gil;
      (*observer)(pass, printout);
    };
  }
  // The program's own warnings were raised at the calls that made them.
  const auto& told = program.program.warnings();
  BoundAlgorithm algorithm = [&] {
    const nb::gil_scoped_release nogil;
    return BoundAlgorithm{compile(program.program, options)};
  }();
  for (const Diagnostic& d : warnings) {
    bool again = false;
    for (const Diagnostic& t : told) {
      again = again || (t.code == d.code && t.where == d.where && t.message == d.message);
    }
    if (!again) emit_warning(d);
  }
  return algorithm;
}

}  // namespace

void register_compile(nb::module_& m) {
  m.def("compile", &compile_program, "program"_a, nb::kw_only(), "target"_a = "hocket",
        "min_bytes"_a = 0, "max_bytes"_a = nb::none(), "check_limits"_a = true, "verify"_a = false,
        "verify_passes"_a = false, "print_after"_a = "", "observer"_a = nb::none(),
        "From a traced program to an algorithm that means the same in every schedule.\n\n"
        "`target`: 'msccl', 'msccl-executor', 'rccl' or 'hocket'; its limits are refused (HK04xx) "
        "unless `check_limits` is false. `min_bytes`, `max_bytes`: message sizes that it must be "
        "safe for. `verify`: prove the result, about a microsecond a step; `verify_passes`: prove "
        "the "
        "program right after every pass, and name the one that broke it. Either raises "
        "InternalError, since it is a bug of ours. `observer(pass, printout)` is called after each "
        "pass, with a printout after the "
        "pass that `print_after` names ('all' for each).",
        nb::sig("def compile(program: Program, *, target: "
                "typing.Literal['msccl', 'msccl-executor', 'rccl', 'hocket'] = 'hocket', "
                "min_bytes: int = 0, "
                "max_bytes: int | None = None, check_limits: bool = True, verify: bool = False, "
                "verify_passes: bool = False, print_after: str = '', "
                "observer: collections.abc.Callable[[str, str], object] | None = None) -> "
                "Algorithm"));

  m.def(
      "compile_passes",
      [] {
        std::vector<std::pair<std::string, std::string>> passes;
        for (const PassInfo& pass : compile_passes()) {
          passes.emplace_back(pass.name, pass.summary);
        }
        return passes;
      },
      "(name, summary) of each pass, in the order they run.");

  m.def(
      "check_limits",
      [](const BoundAlgorithm& a, std::string_view target, int max_listed) {
        return check_limits(*a.algorithm, parse_target(target), max_listed);
      },
      "algorithm"_a, "target"_a, "max_listed"_a = 3,
      "Every limit of `target` that the algorithm breaks.",
      nb::sig("def check_limits(algorithm: Algorithm, target: typing.Literal['msccl', "
              "'msccl-executor', 'rccl', "
              " 'hocket'], "
              "max_listed: int = 3) -> list[Diagnostic]"));
}

}  // namespace hocket::python
