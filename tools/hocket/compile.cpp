// hocket compile: the compiler at work, pass by pass.
#include <fmt/format.h>

#include <chrono>

#include "command.h"
#include "support/suggest.h"
#include "util/files.h"
#include "util/sizes.h"
#include "util/source.h"

namespace hocket::tool {
namespace {

struct Options {
  SourceOptions source;
  CompileFlags compile;
  std::string print_after;
  bool verify = false;
  bool verify_passes = false;
  std::string format = "xml";
  std::string post_output;
  std::string output;
};

void check_pass_name(const std::string& name) {
  std::vector<std::string> names = {"all"};
  for (const PassInfo& pass : compile_passes()) names.emplace_back(pass.name);
  if (name.empty() || std::find(names.begin(), names.end(), name) != names.end()) return;
  const std::string near = did_you_mean(name, names);
  throw Error(Code::UnknownPass, fmt::format("--print-after {}: no such pass", name), {},
              near.empty() ? fmt::format("one of {}", fmt::join(names, ", ")) : near);
}

int compile_command(const Options& options) {
  using Clock = std::chrono::steady_clock;
  if (!is_library_name(options.source.what)) {
    (void)make_algorithm(options.source.what, {}, CallSite{});  // says why not
  }
  check_pass_name(options.print_after);
  CompileOptions compile = compile_options(options.compile);
  compile.print_after = options.print_after;
  if (options.verify) compile.verify = Verify::result;
  if (options.verify_passes) compile.verify = Verify::every_pass;
  std::string printed;
  std::string times;
  Clock::time_point last = Clock::now();
  compile.observer = [&](std::string_view pass, const std::string& printout) {
    const std::chrono::duration<double> took = Clock::now() - last;
    times += fmt::format("  {:24}{:>10}\n", pass, format_seconds(took.count()));
    if (!printout.empty()) printed += fmt::format("--- after {}\n{}", pass, printout);
    if (!printed.empty() && printed.back() != '\n') printed += '\n';
    last = Clock::now();
  };
  const Source source = load(options.source.what, options.source.parameters, compile);

  const AlgorithmStats shape = stats(source.algorithm);
  std::string text = printed;
  if (options.print_after.empty()) {
    text = fmt::format("{}\n  {} steps, {} threadblocks, {} channels, critical path {}\n{}",
                       describe(source.algorithm), shape.steps, shape.threadblocks, shape.channels,
                       shape.critical_path, times);
  }
  if (options.output != "-") write_out(text);
  if (!options.output.empty()) {
    write_file(options.output, print_algorithm(source.algorithm, options.format, compile.target));
  }
  if (!options.post_output.empty()) {
    write_file(options.post_output, to_post_json(source.algorithm.collective));
  }
  return kYes;
}

}  // namespace

void add_compile(CLI::App& app, Action& action) {
  const auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("compile", "Compiles an algorithm and shows what each pass made of it");
  add_source(*command, options->source, /*files=*/false);
  command
      ->add_option("--print-after", options->print_after,
                   "print the program as this pass left it, or `all`; see `hocket passes`")
      ->option_text("PASS");
  command->add_option("-o,--output", options->output, "also write the algorithm; - writes only it")
      ->option_text("FILE");
  command->add_option("--format", options->format, "of -o: xml or text; default xml")
      ->option_text("FORMAT");
  add_compile_flags(*command, options->compile, "hocket");
  command
      ->add_option("--post-out", options->post_output,
                   "also write what it computes, for `verify --post`")
      ->option_text("FILE");
  command->add_flag("--verify", options->verify, "prove the result, see `hocket verify`");
  command->add_flag("--verify-passes", options->verify_passes,
                    "prove the program right after every pass; names the pass that broke it");
  command->footer(
      "Without --print-after it prints a summary and the time of each pass.\n"
      "\n"
      "Examples:\n"
      "  $ hocket compile allreduce_ring ranks=8\n"
      "  $ hocket compile allgather_ring ranks=3 --print-after=all\n"
      "  $ hocket compile alltoall_two_step nodes=2 gpus=4 -o two_step.xml");
  command->callback(
      [options, &action] { action = [options] { return compile_command(*options); }; });
}

}  // namespace hocket::tool
