// hocket stats: the shape of an algorithm.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "command.h"
#include "util/files.h"
#include "util/source.h"

namespace hocket::tool {
namespace {

struct Options {
  SourceOptions source;
  CompileFlags compile;
  bool json = false;
};

std::string to_json(const Algorithm& a, const AlgorithmStats& s) {
  nlohmann::ordered_json by_op = nlohmann::ordered_json::object();
  for (int op = 0; op < kNumOps; ++op) {
    if (s.steps_by_op[op] > 0) {
      by_op[std::string(op_info(static_cast<OpCode>(op)).name)] = s.steps_by_op[op];
    }
  }
  const nlohmann::ordered_json json = {{"name", a.name},
                                       {"collective", a.collective.name()},
                                       {"protocol", std::string(protocol_name(a.protocol))},
                                       {"in_place", a.in_place},
                                       {"out_of_place", a.out_of_place},
                                       {"ranks", s.ranks},
                                       {"threadblocks", s.threadblocks},
                                       {"max_threadblocks_of_rank", s.max_threadblocks_of_rank},
                                       {"channels", s.channels},
                                       {"steps", s.steps},
                                       {"max_steps_of_threadblock", s.max_steps_of_threadblock},
                                       {"steps_by_type", by_op},
                                       {"nops", s.nops},
                                       {"dependences", s.dependences},
                                       {"max_scratch_chunks", s.max_scratch_chunks},
                                       {"critical_path", s.critical_path}};
  return json.dump(2) + "\n";
}

std::string to_table(const Algorithm& a, const AlgorithmStats& s) {
  std::string types;
  for (int op = 0; op < kNumOps; ++op) {
    if (s.steps_by_op[op] == 0) continue;
    types += fmt::format("{}{} {}", types.empty() ? "" : ", ",
                         op_info(static_cast<OpCode>(op)).name, s.steps_by_op[op]);
  }
  return fmt::format(
      "{}\n"
      "  threadblocks   {} (at most {} on a rank)\n"
      "  channels       {}\n"
      "  steps          {} (at most {} in a threadblock)\n"
      "  by type        {}\n"
      "  nops           {}\n"
      "  dependences    {}\n"
      "  scratch        {} chunks on a rank at most\n"
      "  critical path  {}\n",
      describe(a), s.threadblocks, s.max_threadblocks_of_rank, s.channels, s.steps,
      s.max_steps_of_threadblock, types.empty() ? "none" : types, s.nops, s.dependences,
      s.max_scratch_chunks,
      s.critical_path < 0 ? "none: it deadlocks" : fmt::format("{} steps", s.critical_path));
}

int stats_command(const Options& options) {
  const Source source =
      load(options.source.what, options.source.parameters, compile_options(options.compile));
  const AlgorithmStats shape = stats(source.algorithm);
  write_out(options.json ? to_json(source.algorithm, shape) : to_table(source.algorithm, shape));
  return kYes;
}

}  // namespace

void add_stats(CLI::App& app, Action& action) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("stats", "The shape of an algorithm");
  add_source(*command, options->source, /*files=*/true);
  add_compile_flags(*command, options->compile, "hocket");
  command->add_flag("--json", options->json, "for machines");
  command->footer(
      "The critical path is the longest chain of steps by order, dependence and message.\n"
      "\n"
      "Examples:\n"
      "  $ hocket stats allreduce_ring ranks=8\n"
      "  $ hocket gen alltoall_bruck ranks=5 -o bruck.xml\n"
      "  $ hocket stats bruck.xml --json");
  command->callback([options, &action] { action = [options] { return stats_command(*options); }; });
}

}  // namespace hocket::tool
