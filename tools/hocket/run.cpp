// hocket run: an algorithm on real data in this process, timed and compared.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "command.h"
#include "support/suggest.h"
#include "util/files.h"
#include "util/progress.h"
#include "util/sizes.h"
#include "util/source.h"

namespace hocket::tool {
namespace {

struct Options {
  SourceOptions source;
  CompileFlags compile;
  std::string as;
  std::string bytes = "1MiB";
  std::string type = "float32";
  std::string op = "sum";
  bool check = false;
  bool in_place = false;
  bool json = false;
  int repeats = 1;
  int threads = 0;
  std::uint64_t seed = 1;
};

template <class Value, class Name>
std::vector<std::string> names(const std::vector<Value>& values, Name name) {
  std::vector<std::string> list;
  for (const Value value : values) list.emplace_back(name(value));
  return list;
}

[[noreturn]] void unknown(const std::string& option, const std::string& value,
                          const std::vector<std::string>& known) {
  const std::string near = did_you_mean(value, known);
  throw Error(Code::Usage, fmt::format("{} {}: unknown", option, value), {},
              near.empty() ? fmt::format("one of {}", fmt::join(known, ", ")) : near);
}

// The largest count whose largest buffer of any rank is at most `bytes`.
std::int64_t count_for(const Collective& collective, std::int64_t bytes, std::size_t element) {
  const std::int64_t elements = bytes / static_cast<std::int64_t>(element);
  const std::int64_t chunks = std::max(1, collective.chunks_per_loop());
  const std::int64_t factor = collective.chunk_factor();
  return elements / chunks * factor + elements % chunks * factor / chunks;
}

SelfTestOptions self_test_options(const Options& options, const Algorithm& algorithm) {
  SelfTestOptions test;
  const auto type = data_type_from_name(options.type);
  if (!type) unknown("--dtype", options.type, names(all_data_types(), data_type_name));
  const auto op = reduce_op_from_name(options.op);
  if (!op) unknown("--op", options.op, names(all_reduce_ops(), reduce_op_name));
  test.run.type = *type;
  test.run.op = *op;
  test.run.count =
      count_for(algorithm.collective, parse_size(options.bytes, "--bytes"), data_type_size(*type));
  test.run.in_place = options.in_place || !algorithm.out_of_place;
  test.run.threads = options.threads;
  test.repeats = options.repeats;
  test.check = options.check;
  test.seed = options.seed;
  return test;
}

std::string to_json(const Algorithm& a, const Options& options, const SelfTestOptions& test,
                    const SelfTestResult& r) {
  nlohmann::ordered_json json = {{"name", a.name},
                                 {"collective", a.collective.name()},
                                 {"ranks", a.num_ranks()},
                                 {"bytes", r.bytes},
                                 {"count", test.run.count},
                                 {"dtype", options.type},
                                 {"op", options.op},
                                 {"in_place", test.run.in_place},
                                 {"seconds", r.seconds},
                                 {"algorithm_bandwidth_GBps", r.algorithm_bandwidth},
                                 {"bus_bandwidth_GBps", r.bus_bandwidth},
                                 {"checked", r.checked}};
  if (r.mismatch) {
    json["mismatch"] = {{"rank", r.mismatch->rank},
                        {"buffer", std::string(buffer_kind_name(r.mismatch->buffer))},
                        {"offset", r.mismatch->offset},
                        {"expected", r.mismatch->expected},
                        {"found", r.mismatch->found},
                        {"wrong", r.mismatch->wrong}};
  }
  return json.dump(2) + "\n";
}

std::string to_table(const Algorithm& a, const Options& options, const SelfTestOptions& test,
                     const SelfTestResult& r) {
  const std::string check = r.mismatch ? "WRONG" : r.checked ? "ok" : "not checked";
  return fmt::format(
      "{}\n"
      "{:>12} {:>12} {:>9} {:>5} {:>12} {:>12} {:>12}  check\n"
      "{:>12} {:>12} {:>9} {:>5} {:>12} {:>7.3f} GB/s {:>7.3f} GB/s  {}\n",
      describe(a), "bytes", "count", "type", "op", "time", "algbw", "busbw", r.bytes,
      test.run.count, options.type, options.op, format_seconds(r.seconds), r.algorithm_bandwidth,
      r.bus_bandwidth, check);
}

int run(const Options& options) {
  Source source =
      load(options.source.what, options.source.parameters, compile_options(options.compile));
  set_collective(source.algorithm, options.as);
  const Algorithm& algorithm = source.algorithm;
  const SelfTestOptions test = self_test_options(options, algorithm);
  if (options.check && !algorithm.collective.has_postcondition()) {
    throw Error(Code::NoPostcondition,
                fmt::format("what a {} must compute is not known, so it cannot be checked",
                            algorithm.collective.name()),
                {}, "say what it is with --as, for example --as all_to_next_forward");
  }
  check_memory(algorithm, test.run, "ask for fewer --bytes");
  LocalExecutor executor(algorithm);
  SelfTestResult result;
  {
    const Progress progress("running " + algorithm.name);
    result = self_test(executor, test);
  }
  write_out(options.json ? to_json(algorithm, options, test, result)
                         : to_table(algorithm, options, test, result));
  if (!result.mismatch) return kYes;
  print_diagnostic({Severity::error, Code::WrongData, describe(*result.mismatch), {}, "", {}});
  return kNo;
}

}  // namespace

void add_run(CLI::App& app, Action& action) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("run", "Runs an algorithm on real data in this process");
  add_source(*command, options->source, /*files=*/true);
  command
      ->add_option("--bytes", options->bytes,
                   "of a rank's larger buffer, rounded down to whole elements; default 1MiB")
      ->option_text("SIZE");
  command
      ->add_option("--dtype", options->type,
                   "float32 (default), float64, int32, int64, uint8, float16, bfloat16")
      ->option_text("TYPE");
  command->add_option("--op", options->op, "sum, prod, min or max; default sum")->option_text("OP");
  command->add_flag("--check", options->check, "compare every element with what it must be");
  command->add_flag("--in-place", options->in_place, "input and output in one memory");
  command->add_option("--repeats", options->repeats, "runs, each with new data; default 1")
      ->check(CLI::Range(1, 1000000))
      ->option_text("N");
  command->add_option("--threads", options->threads, "worker threads; default one a core")
      ->check(CLI::Range(0, 4096))
      ->option_text("N");
  command->add_option("--seed", options->seed, "of the data; default 1")->option_text("N");
  command
      ->add_option("--as", options->as,
                   "the collective that a file computes when it only says `custom`")
      ->option_text("COLLECTIVE");
  command->add_flag("--json", options->json, "for machines");
  add_compile_flags(*command, options->compile, "hocket");
  command->footer(
      "Bandwidths are those of nccl-tests. The time is the median of the runs. A wrong element\n"
      "gives exit code 1 and is named: rank, offset, expected, found.\n"
      "\n"
      "Examples:\n"
      "  $ hocket run allreduce_ring ranks=8 --bytes 1MiB --dtype float32 --check\n"
      "  $ hocket gen alltoall_bruck ranks=6 -o bruck.xml\n"
      "  $ hocket run bruck.xml --bytes 64KiB --dtype int32 --check --repeats 3\n"
      "  $ hocket gen allgather_ring ranks=4 | hocket run - --bytes 1MB --json");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace hocket::tool
