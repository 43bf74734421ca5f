// What several subcommands share: their options, and the words for an algorithm and a wrong result.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "command.h"
#include "support/suggest.h"
#include "util/sizes.h"

namespace hocket::tool {

void add_source(CLI::App& command, SourceOptions& options, bool files) {
  command
      .add_option(files ? "file-or-name" : "name", options.what,
                  files ? "a file (XML or text form; - is standard input), or an algorithm's name"
                        : "the algorithm's name, see `hocket list`")
      ->required()
      ->option_text(files ? "FILE|NAME" : "NAME");
  command.add_option("parameters", options.parameters, "the algorithm's parameters, as ranks=8")
      ->option_text("name=value ...");
}

void add_compile_flags(CLI::App& command, CompileFlags& flags, const std::string& default_target) {
  flags.target = default_target;
  command
      .add_option("--target", flags.target,
                  "msccl, msccl-executor, rccl or hocket; default " + default_target)
      ->option_text("TARGET");
  command.add_option("--min-bytes", flags.min_bytes, "smallest message it must be safe for")
      ->option_text("SIZE");
  command.add_option("--max-bytes", flags.max_bytes, "largest; default: any")->option_text("SIZE");
}

Target parse_target(const std::string& name) {
  if (const auto target = target_from_name(name)) return *target;
  std::vector<std::string> names;
  for (const Target target : all_targets()) names.emplace_back(target_name(target));
  const std::string near = did_you_mean(name, names);
  throw Error(Code::Usage, fmt::format("no target \"{}\"", name), {},
              near.empty() ? fmt::format("one of {}", fmt::join(names, ", ")) : near);
}

CompileOptions compile_options(const CompileFlags& flags) {
  CompileOptions options;
  options.target = parse_target(flags.target);
  options.min_bytes = parse_size(flags.min_bytes, "--min-bytes");
  if (!flags.max_bytes.empty()) options.max_bytes = parse_size(flags.max_bytes, "--max-bytes");
  if (options.max_bytes && *options.max_bytes < options.min_bytes) {
    throw Error(Code::BadSizeRange, fmt::format("--max-bytes {} is less than --min-bytes {}",
                                                flags.max_bytes, flags.min_bytes));
  }
  return options;
}

std::string print_algorithm(const Algorithm& algorithm, const std::string& format, Target target) {
  if (format == "xml") return to_xml(algorithm, {.target = target});
  if (format == "text") return to_text(algorithm);
  throw Error(Code::Usage, fmt::format("no format \"{}\"", format), {}, "one of xml, text");
}

std::string describe(const Algorithm& a) {
  std::string text =
      fmt::format("{}: {}, {} rank{}, {}, {}", a.name, a.collective.name(), a.num_ranks(),
                  a.num_ranks() == 1 ? "" : "s", protocol_name(a.protocol),
                  a.in_place && a.out_of_place ? "in place or not"
                  : a.in_place                 ? "in place"
                                               : "out of place");
  if (a.min_bytes > 0 || a.max_bytes) {
    text += fmt::format(", {} to {}", format_size(a.min_bytes),
                        a.max_bytes ? format_size(*a.max_bytes) : "any size");
  }
  return text;
}

void check_memory(const Algorithm& algorithm, const RunOptions& call, const std::string& hint) {
  const Collective& collective = algorithm.collective;
  const std::int64_t factor = collective.chunk_factor();
  const std::int64_t rest = call.count % factor > 0 ? 1 : 0;
  const std::int64_t longest_chunk = call.count / factor + rest;
  const auto chunk_elements = static_cast<double>(longest_chunk);
  double elements = 0;
  for (int r = 0; r < algorithm.num_ranks(); ++r) {
    const std::int64_t in = input_elements(collective, r, call.count);
    const std::int64_t out = output_elements(collective, r, call.count);
    elements += call.in_place ? static_cast<double>(std::max(in, out))
                              : static_cast<double>(in) + static_cast<double>(out);
    elements += algorithm.ranks[static_cast<std::size_t>(r)].scratch_chunks * chunk_elements;
    // The elements that shorter chunks lack.
    elements += static_cast<double>(rest) * (static_cast<double>(collective.input_chunks(r)) +
                                             static_cast<double>(collective.output_chunks(r)));
  }
  const double needed = elements * static_cast<double>(data_type_size(call.type));
  const double present =
      static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  if (needed <= present) return;
  constexpr double kGiB = 1 << 30;
  throw Error(Code::Usage,
              fmt::format("the buffers of {} ranks need {:.4g} GiB, but this machine has {:.4g}",
                          algorithm.num_ranks(), needed / kGiB, present / kGiB),
              {}, hint);
}

SmallDataResult check_on_small_data(const Algorithm& algorithm) {
  LocalExecutor executor(algorithm);
  const std::int64_t chunks = algorithm.collective.chunk_factor();
  // One element a chunk; a remainder; fewer elements than chunks.
  const std::int64_t counts[] = {chunks, 3 * chunks + 1, 1};
  check_memory(algorithm, {.type = DataType::int32, .count = 3 * chunks + 1},
               "it has this many chunks; nothing smaller can be tried");
  SmallDataResult result;
  for (const bool in_place : {false, true}) {
    if (!(in_place ? algorithm.in_place : algorithm.out_of_place)) continue;
    for (const std::int64_t count : counts) {
      SelfTestOptions options;
      options.run.type = DataType::int32;
      options.run.count = count;
      options.run.in_place = in_place;
      const SelfTestResult one = self_test(executor, options);
      ++result.runs;
      if (one.mismatch) {
        result.failure = fmt::format("with {} elements{}: {}", count, in_place ? " in place" : "",
                                     describe(*one.mismatch));
        return result;
      }
    }
  }
  return result;
}

}  // namespace hocket::tool
