// Every example that a --help shows works as it stands: it is taken from there and run, each help's
// in order and in a folder of its own.
#include <gtest/gtest.h>

#include <sstream>
#include <vector>

#include "cli/command.h"

namespace hocket {
namespace {

std::vector<std::string> examples(const std::string& help) {
  std::vector<std::string> commands;
  std::istringstream lines(help);
  const std::string prompt = "  $ ";
  for (std::string line; std::getline(lines, line);) {
    if (line.compare(0, prompt.size(), prompt) == 0) commands.push_back(line.substr(prompt.size()));
  }
  return commands;
}

class Help : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Commands, Help,
                         testing::Values("", "demo", "list", "gen", "check", "verify", "stats",
                                         "run", "convert", "compile", "passes"),
                         [](const auto& name) {
                           return std::string(name.param).empty() ? "hocket" : name.param;
                         });

TEST_P(Help, HasExamplesThatWork) {
  const Session s;
  const Output help = s.run(std::string(GetParam()) + " --help");
  ASSERT_EQ(help.code, 0);
  EXPECT_EQ(help.err, "");
  const std::vector<std::string> commands = examples(help.out);
  EXPECT_FALSE(commands.empty());
  for (const std::string& command : commands) {
    const Output o = s.shell(command);
    EXPECT_EQ(o.code, 0) << command << "\n" << o.err;
    EXPECT_EQ(o.err, "") << command;
  }
}

TEST_P(Help, SaysHowToCallItAndFitsTheScreen) {
  const std::string name = GetParam();
  const Output help = Session().run(name + " --help");
  EXPECT_NE(help.out.find("Usage: hocket" + (name.empty() ? "" : " " + name)), std::string::npos);
  std::istringstream lines(help.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
}

TEST(Help, OfTheProgramListsEveryCommandThatIsTested) {
  const std::string help = Session().run("--help").out;
  std::istringstream lines(help.substr(help.find("Subcommands:")));
  std::string line;
  std::getline(lines, line);
  int commands = 0;
  while (std::getline(lines, line) && !line.empty()) ++commands;
  EXPECT_EQ(commands, 10) << "a new command must be added to the list above";
}

}  // namespace
}  // namespace hocket
