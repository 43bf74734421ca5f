// A subcommand: a file that declares its options and, when it is the one chosen, says what to do.
//
// Exit codes: 0 done or yes, 1 the answer is no, 2 bad usage or input, 3 our bug, 4 undecided.
// Results go to standard output, all else to standard error.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "hocket/hocket.h"

namespace hocket::tool {

inline constexpr int kYes = 0;
inline constexpr int kNo = 1;
inline constexpr int kBadInput = 2;
inline constexpr int kOurBug = 3;
inline constexpr int kUndecided = 4;

// What the command line asked for; returns the exit code.
using Action = std::function<int()>;

// Declares the subcommand; when it is chosen, `action` is set.
using AddCommand = void (*)(CLI::App& app, Action& action);
void add_list(CLI::App& app, Action& action);
void add_gen(CLI::App& app, Action& action);
void add_check(CLI::App& app, Action& action);
void add_verify(CLI::App& app, Action& action);
void add_stats(CLI::App& app, Action& action);
void add_run(CLI::App& app, Action& action);
void add_convert(CLI::App& app, Action& action);
void add_compile(CLI::App& app, Action& action);
void add_passes(CLI::App& app, Action& action);
void add_demo(CLI::App& app, Action& action);

// Options that several subcommands share.
struct SourceOptions {
  std::string what;
  std::vector<std::string> parameters;
};
// FILE|NAME [name=value...], or NAME alone where no file makes sense.
void add_source(CLI::App& command, SourceOptions& options, bool files);

struct CompileFlags {
  std::string target;
  std::string min_bytes = "0";
  std::string max_bytes;
};
void add_compile_flags(CLI::App& command, CompileFlags& flags, const std::string& default_target);
// Error HK0903 for an unknown target or a bad size.
CompileOptions compile_options(const CompileFlags& flags);
Target parse_target(const std::string& name);

// The algorithm as XML for the target, or in the text form.
std::string print_algorithm(const Algorithm& algorithm, const std::string& format, Target target);

// "allreduce_ring: allreduce, 8 ranks, Simple, in place"
std::string describe(const Algorithm& algorithm);

// Refuses a call whose buffers, scratch included, are more than the machine has: a file may claim
// billions of chunks, and that is better said than found out by the system running out of memory.
void check_memory(const Algorithm& algorithm, const RunOptions& call, const std::string& hint);

// Runs the algorithm on small data of awkward sizes, in every way of placing the buffers that it
// claims, and compares all that the postcondition names. How many runs were right, or the first
// that was not.
struct SmallDataResult {
  int runs = 0;
  std::string failure;  // empty: none
};
SmallDataResult check_on_small_data(const Algorithm& algorithm);

}  // namespace hocket::tool
