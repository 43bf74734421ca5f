// hocket: the command line over the library. Parses, runs the chosen subcommand, and turns whatever
// went wrong into a message and an exit code.
#include <fmt/format.h>

#include <csignal>
#include <exception>
#include <new>

#include "command.h"
#include "support/suggest.h"
#include "util/files.h"
#include "util/source.h"

namespace hocket::tool {
namespace {

constexpr AddCommand kCommands[] = {add_demo,  add_list, add_gen,     add_check,   add_verify,
                                    add_stats, add_run,  add_convert, add_compile, add_passes};

constexpr const char* kAbout =
    "hocket writes, proves, compiles and runs custom collective communication algorithms.";
constexpr const char* kFooter =
    "Examples:\n"
    "  $ hocket demo\n"
    "  $ hocket gen allreduce_ring ranks=8 -o ring.xml\n"
    "  $ hocket verify ring.xml\n"
    "  $ hocket run ring.xml --bytes 1MiB --check\n"
    "\n"
    "`hocket COMMAND --help` explains a command. Exit codes: 0 done or yes, 1 the answer is\n"
    "no, 2 bad usage or input, 3 a bug of ours, 4 undecided.";

// Whether a failure is an answer (the program, or its use on a target, is wrong) or unusable input.
int exit_code(Code code) {
  const std::string_view group = code_text(code).substr(0, 4);
  const bool answer = group == "HK02" || group == "HK03" || group == "HK04" ||
                      code == Code::Deadlock || code == Code::WrongData ||
                      code == Code::BadAlgorithm;
  return answer && code != Code::BadSizeRange && code != Code::UnknownPass ? kNo : kBadInput;
}

std::vector<std::string> names_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands(nullptr)) names.push_back(command->get_name());
  return names;
}

std::vector<std::string> options_of(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

// CLI11's complaint in our words, with what was probably meant.
int usage_error(const CLI::App& app, const CLI::ParseError& error) {
  std::string message = error.what();
  std::string hint;
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  const CLI::App& command = chosen.empty() ? app : *chosen.front();
  const std::vector<std::string> extra = command.remaining(true);
  if (!extra.empty()) {
    const std::string word = extra.front().substr(0, extra.front().find('='));
    message = fmt::format("unexpected argument \"{}\"", extra.front());
    hint = did_you_mean(word, options_of(command));
  }
  if (hint.empty()) {
    hint = chosen.empty() ? "`hocket --help` lists the commands"
                          : fmt::format("`hocket {} --help` explains them", command.get_name());
  }
  while (!message.empty() && (message.back() == '\n' || message.back() == '.')) message.pop_back();
  print_diagnostic({Severity::error, Code::Usage, message, {}, hint, {}});
  return kBadInput;
}

int run(int argc, char** argv) {
  CLI::App app(kAbout, "hocket");
  app.footer(kFooter);
  app.set_version_flag("--version", std::string("hocket ") + kVersion);
  app.get_formatter()->column_width(28);
  Action action;
  for (const AddCommand add : kCommands) add(app, action);

  if (argc < 2) {
    write_err(app.help());
    return kBadInput;
  }
  const std::string first = argv[1];
  const std::vector<std::string> names = names_of(app);
  if (first.empty() ||
      (first[0] != '-' && std::find(names.begin(), names.end(), first) == names.end())) {
    const std::string near = did_you_mean(first, names);
    print_diagnostic({Severity::error,
                      Code::Usage,
                      fmt::format("no command \"{}\"", first),
                      {},
                      near.empty() ? "`hocket --help` lists the commands" : near,
                      {}});
    return kBadInput;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {  // --help or --version
    const bool version = dynamic_cast<const CLI::CallForVersion*>(&asked) != nullptr;
    write_out(version ? app.version() + "\n" : app.help());  // of the chosen command, if any
    return kYes;
  } catch (const CLI::ParseError& error) {
    return usage_error(app, error);
  }
  if (!action) {
    write_err(app.help());
    return kBadInput;
  }
  return action();
}

}  // namespace
}  // namespace hocket::tool

int main(int argc, char** argv) {
  using namespace hocket::tool;
  std::signal(SIGXFSZ, SIG_IGN);  // a file past the limit is then an error that can be cleaned up
  try {
    return run(argc, argv);
  } catch (const hocket::Error& error) {
    print_diagnostic(error.diagnostic());
    return exit_code(error.code());
  } catch (const std::bad_alloc&) {
    write_err("error: out of memory; try fewer ranks or a smaller size\n");
    return kBadInput;
  } catch (const std::exception& bug) {
    write_err(fmt::format("hocket {} failed: {}\nPlease report it, with the command line.\n",
                          hocket::kVersion, bug.what()));
    return kOurBug;
  }
}
