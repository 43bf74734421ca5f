// hocket gen: an algorithm of the library, traced, checked, compiled and written.
#include <fmt/format.h>

#include "command.h"
#include "util/files.h"
#include "util/source.h"

namespace hocket::tool {
namespace {

struct Options {
  SourceOptions source;
  CompileFlags compile;
  bool in_place = false;
  bool out_of_place = false;
  std::string format = "xml";
  std::string post_output;
  std::string output = "-";
};

int gen(Options options) {
  if (!is_library_name(options.source.what)) {
    (void)make_algorithm(options.source.what, {}, CallSite{});  // says why not
  }
  if (options.in_place && options.out_of_place) {
    throw Error(Code::Usage, "both --in-place and --out-of-place");
  }
  for (const auto& [asked, value] : {std::pair(options.in_place, "in_place=true"),
                                     std::pair(options.out_of_place, "in_place=false")}) {
    if (asked) options.source.parameters.emplace_back(value);
  }
  const CompileOptions compile = compile_options(options.compile);
  const Source source = load(options.source.what, options.source.parameters, compile);
  source.program->check().require(CallSite{});
  write_file(options.output, print_algorithm(source.algorithm, options.format, compile.target));
  if (!options.post_output.empty()) {
    write_file(options.post_output, to_post_json(source.algorithm.collective));
  }
  return kYes;
}

}  // namespace

void add_gen(CLI::App& app, Action& action) {
  const auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("gen", "Writes an algorithm of the library as XML or text");
  add_source(*command, options->source, /*files=*/false);
  command
      ->add_option("-o,--output", options->output, "the file to write; default - (standard output)")
      ->option_text("FILE");
  command
      ->add_option("--post-out", options->post_output,
                   "also write what it computes, for `verify --post`")
      ->option_text("FILE");
  command->add_option("--format", options->format, "xml or text; default xml")
      ->option_text("FORMAT");
  add_compile_flags(*command, options->compile, "hocket");
  command->add_flag("--in-place", options->in_place, "input and output are one memory");
  command->add_flag("--out-of-place", options->out_of_place, "they are not; the default");
  command->footer(
      "The default target is our own dialect, which every command here reads in full; name a\n"
      "runtime to have its limits checked and its names used.\n"
      "\n"
      "Examples:\n"
      "  $ hocket gen allreduce_ring ranks=8 -o ring.xml\n"
      "  $ hocket gen allreduce_ring ranks=4 channels=4 protocol=LL --in-place --target msccl\n"
      "  $ hocket gen all_to_next_backward_node_aware nodes=2 gpus=8 --format text");
  command->callback([options, &action] { action = [options] { return gen(*options); }; });
}

}  // namespace hocket::tool
