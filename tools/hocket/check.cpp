// hocket check: is it right? What can be asked of a program (does its trace implement the
// collective) and of an algorithm (can the target run it, does it finish, is the result right on
// real data).
#include <fmt/format.h>

#include "command.h"
#include "util/files.h"
#include "util/progress.h"
#include "util/source.h"

namespace hocket::tool {
namespace {

struct Options {
  SourceOptions source;
  CompileFlags compile;
  std::string as;
};

class Report {
 public:
  void yes(std::string_view what, const std::string& how) { line(what, "ok", how); }
  void no(std::string_view what, const std::string& why) {
    line(what, "NO", why);
    ok_ = false;
  }
  int finish(const std::string& title) const {
    write_out(title + "\n" + lines_);
    return ok_ ? kYes : kNo;
  }
  bool ok() const { return ok_; }

 private:
  void line(std::string_view what, std::string_view verdict, const std::string& text) {
    lines_ += fmt::format("  {:15}{:4}{}\n", what, verdict, text);
  }
  std::string lines_;
  bool ok_ = true;
};

void check_trace(const Program& program, Report& report) {
  const CheckReport trace = program.check();
  if (trace.ok()) {
    report.yes("trace", fmt::format("all {} chunks hold what they must", trace.checked));
    return;
  }
  report.no("trace", fmt::format("{} of {} chunks are wrong", trace.wrong, trace.checked));
  write_err(trace.str() + "\n");
}

void check_target(const Algorithm& algorithm, Target target, Report& report) {
  const std::string name(target_name(target));
  const std::vector<Diagnostic> broken = check_limits(algorithm, target);
  for (const Diagnostic& limit : broken) print_diagnostic(limit);
  if (broken.empty()) {
    report.yes("target", name + " can run it");
  } else {
    report.no("target", name + " cannot run it: " + broken.front().message);
  }
}

void check_data(const Algorithm& algorithm, Report& report) {
  if (algorithm.num_ranks() == 0) return report.no("result", "there are no ranks");
  const Progress progress("running it on small data");
  try {
    const SmallDataResult result = check_on_small_data(algorithm);
    if (result.runs == 0) {
      report.no("result", "it may be called neither in place nor out of place");
    } else if (!result.failure.empty()) {
      report.no("result", result.failure);
    } else if (!algorithm.collective.has_postcondition()) {
      report.no("result", fmt::format("{} runs finished, but what a {} must compute is not known",
                                      result.runs, algorithm.collective.name()));
      write_err("hint: say what it is with --as, for example --as all_to_next_forward\n");
    } else {
      report.yes("result", fmt::format("{} runs on small data, every element right", result.runs));
    }
  } catch (const Error& error) {
    if (error.code() == Code::Usage) throw;  // not to be had here, which says nothing of the file
    print_diagnostic(error.diagnostic());
    report.no(error.code() == Code::Deadlock ? "deadlock" : "structure",
              error.diagnostic().message);
  }
}

int check(const Options& options) {
  CompileOptions compile = compile_options(options.compile);
  compile.check_limits = false;  // reported below, all of them
  Source source = load(options.source.what, options.source.parameters, compile);
  set_collective(source.algorithm, options.as);
  Report report;
  if (source.program) check_trace(*source.program, report);
  check_target(source.algorithm, compile.target, report);
  check_data(source.algorithm, report);
  return report.finish(describe(source.algorithm));
}

}  // namespace

void add_check(CLI::App& app, Action& action) {
  const auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("check", "Is an algorithm right, and can a target run it?");
  add_source(*command, options->source, /*files=*/true);
  add_compile_flags(*command, options->compile, "hocket");
  command
      ->add_option("--as", options->as,
                   "the collective that a file computes when it only says `custom`")
      ->option_text("COLLECTIVE");
  command->footer(
      "Exit code 0: right. 1: not right, or nothing to compare with. Runs show what one schedule\n"
      "does; `hocket verify` proves what every schedule does.\n"
      "\n"
      "Examples:\n"
      "  $ hocket check allreduce_recursive_doubling ranks=6\n"
      "  $ hocket gen all_to_next_forward_naive ranks=4 --target msccl -o next.xml\n"
      "  $ hocket check next.xml --as all_to_next_forward --target msccl");
  command->callback([options, &action] { action = [options] { return check(*options); }; });
}

}  // namespace hocket::tool
