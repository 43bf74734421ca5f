// hocket passes: what the compiler does, in order.
#include <fmt/format.h>

#include "command.h"
#include "util/files.h"

namespace hocket::tool {

void add_passes(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("passes", "The compiler's passes, in the order they run");
  command->footer(
      "The names are those that `hocket compile --print-after` takes.\n"
      "\n"
      "Examples:\n"
      "  $ hocket passes");
  command->callback([&action] {
    action = [] {
      std::string text;
      for (const PassInfo& pass : compile_passes()) {
        text += fmt::format("{:24}{}\n", pass.name, pass.summary);
      }
      write_out(text);
      return kYes;
    };
  });
}

}  // namespace hocket::tool
