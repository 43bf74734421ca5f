// hocket list: the algorithms of the library.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "command.h"
#include "support/suggest.h"
#include "util/files.h"

namespace hocket::tool {
namespace {

struct Options {
  std::string name;
  bool json = false;
};

nlohmann::ordered_json to_json(const AlgorithmInfo& info) {
  nlohmann::ordered_json parameters = nlohmann::ordered_json::array();
  for (const ParameterInfo& p : info.parameters) {
    parameters.push_back({{"name", p.name}, {"about", p.about}, {"default", p.default_value}});
  }
  return {{"name", info.name},
          {"collective", info.collective},
          {"about", info.about},
          {"ranks", info.ranks_rule},
          {"parameters", parameters}};
}

std::string one_line(const AlgorithmInfo& info) {
  return fmt::format("{:38}{}\n", info.name, info.about);
}

std::string in_full(const AlgorithmInfo& info) {
  std::string text = fmt::format("{}: {}\n  collective    {}\n  ranks         {}\n  parameters\n",
                                 info.name, info.about, info.collective, info.ranks_rule);
  for (const ParameterInfo& p : info.parameters) {
    text += fmt::format("    {:14}{} (default {})\n", p.name, p.about, p.default_value);
  }
  return text;
}

int list(const Options& options) {
  std::vector<std::string> names;
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  std::string text;
  for (const AlgorithmInfo& info : algorithm_library()) {
    names.push_back(info.name);
    if (!options.name.empty() && info.name != options.name) continue;
    all.push_back(to_json(info));
    text += options.name.empty() ? one_line(info) : in_full(info);
  }
  if (all.empty()) {
    const std::string near = did_you_mean(options.name, names);
    throw Error(Code::UnknownAlgorithm, fmt::format("no algorithm \"{}\"", options.name), {},
                near.empty() ? "`hocket list` names them all" : near);
  }
  write_out(options.json ? all.dump(2) + "\n" : text);
  return kYes;
}

}  // namespace

void add_list(CLI::App& app, Action& action) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("list", "The algorithms of the library");
  command->add_option("name", options->name, "only this one, with its parameters")
      ->option_text("NAME");
  command->add_flag("--json", options->json, "for machines");
  command->footer(
      "Examples:\n"
      "  $ hocket list\n"
      "  $ hocket list allreduce_ring\n"
      "  $ hocket list --json");
  command->callback([options, &action] { action = [options] { return list(*options); }; });
}

}  // namespace hocket::tool
