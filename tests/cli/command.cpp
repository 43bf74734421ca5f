#include "cli/command.h"

#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <vector>

namespace hocket {
namespace {

namespace fs = std::filesystem;

int exit_code(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string read_text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Replaces this process by the shell.
[[noreturn]] void become_shell(const std::string& folder, const std::string& command) {
  const std::string path = fs::path(HOCKET_COMMAND).parent_path().string() + ":" + ::getenv("PATH");
  ::setenv("PATH", path.c_str(), 1);
  if (::chdir(folder.c_str()) != 0) ::_exit(126);
  ::execl("/bin/sh", "sh", "-c", command.c_str(), static_cast<char*>(nullptr));
  ::_exit(127);
}

}  // namespace

Session::Session() : folder_((fs::temp_directory_path() / "hocket_cli.XXXXXX").string()) {
  if (::mkdtemp(folder_.data()) == nullptr) throw std::runtime_error("no temporary folder");
}

Session::~Session() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

Output Session::run(const std::string& arguments, const std::string& input) const {
  return shell("hocket " + arguments, input);
}

Output Session::shell(const std::string& command, const std::string& input) const {
  // Beside the folder, so that the test sees only the command's own files in it.
  const std::string in = folder_ + ".in", out = folder_ + ".out", err = folder_ + ".err";
  std::ofstream(in, std::ios::binary) << input;
  const pid_t child = ::fork();
  if (child == 0) {
    become_shell(folder_, "{ " + command + "\n} <" + in + " >" + out + " 2>" + err);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  Output output{exit_code(status), read_text(out), read_text(err)};
  for (const std::string& file : {in, out, err}) fs::remove(file);
  return output;
}

Output Session::shell_on_terminal(const std::string& command) const {
  const std::string out = folder_ + ".out";
  int terminal = -1;
  const pid_t child = ::forkpty(&terminal, nullptr, nullptr, nullptr);
  if (child == 0) become_shell(folder_, "{ " + command + "\n} >" + out);
  Output output;
  char buffer[4096];
  // A read fails when the last process on the terminal has gone.
  for (ssize_t got = 0; (got = ::read(terminal, buffer, sizeof buffer)) > 0;) {
    output.err.append(buffer, static_cast<std::size_t>(got));
  }
  ::close(terminal);
  int status = 0;
  ::waitpid(child, &status, 0);
  output.code = exit_code(status);
  output.out = read_text(out);
  fs::remove(out);
  return output;
}

bool Session::exists(const std::string& file) const { return fs::exists(path(file)); }
std::string Session::read(const std::string& file) const { return read_text(path(file)); }
void Session::write(const std::string& file, const std::string& text) const {
  std::ofstream(path(file), std::ios::binary) << text;
}

std::string Session::files() const {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder_)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  std::string text;
  for (const std::string& name : names) text += name + "\n";
  return text;
}

}  // namespace hocket
