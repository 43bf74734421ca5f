// hocket convert: between the dialects and the text form.
#include <fmt/format.h>

#include "command.h"
#include "support/suggest.h"
#include "util/files.h"
#include "util/source.h"

namespace hocket::tool {
namespace {

struct Options {
  std::string file;
  std::string to;
  std::string output = "-";
};

int convert(const Options& options) {
  if (options.to != "text" && !target_from_name(options.to)) {
    std::vector<std::string> names = {"text"};
    for (const Target target : all_targets()) names.emplace_back(target_name(target));
    const std::string near = did_you_mean(options.to, names);
    throw Error(Code::Usage, fmt::format("--to {}: no such form", options.to), {},
                near.empty() ? fmt::format("one of {}", fmt::join(names, ", ")) : near);
  }
  const std::string path = is_library_name(options.file) ? "./" + options.file : options.file;
  const Source source = load(path, {}, {});
  std::string text;
  if (options.to == "text") {
    text = to_text(source.algorithm);
  } else {
    const Target target = *target_from_name(options.to);
    const std::vector<Diagnostic> broken = check_limits(source.algorithm, target);
    for (const Diagnostic& limit : broken) print_diagnostic(limit);
    if (!broken.empty()) return kNo;
    text = to_xml(source.algorithm, {.target = target});
  }
  write_file(options.output, text);
  return kYes;
}

}  // namespace

void add_convert(CLI::App& app, Action& action) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("convert", "Rewrites a file in another form");
  command
      ->add_option("file", options->file,
                   "XML of any dialect, or the text form; - is standard input")
      ->required()
      ->option_text("FILE");
  command->add_option("--to", options->to, "msccl, msccl-executor, rccl, hocket or text")
      ->required()
      ->option_text("FORM");
  command
      ->add_option("-o,--output", options->output, "the file to write; default - (standard output)")
      ->option_text("FILE");
  command->footer(
      "A file that the target would not run is refused, with the reasons.\n"
      "\n"
      "Examples:\n"
      "  $ hocket gen allgather_ring ranks=4 -o ring.xml\n"
      "  $ hocket convert ring.xml --to text\n"
      "  $ hocket convert ring.xml --to msccl-executor -o ring.executor.xml\n"
      "  $ hocket convert ring.xml --to text | hocket convert - --to msccl");
  command->callback([options, &action] { action = [options] { return convert(*options); }; });
}

}  // namespace hocket::tool
