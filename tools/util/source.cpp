#include "util/source.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "hocket/format.h"
#include "support/suggest.h"
#include "util/files.h"
#include "util/progress.h"

namespace hocket::tool {
namespace {

std::vector<std::string> library_names() {
  std::vector<std::string> names;
  for (const AlgorithmInfo& info : algorithm_library()) names.push_back(info.name);
  return names;
}

// How many chunks of the collective's rule a rank's buffers are, going by their sizes.
int guess_chunk_factor(const Algorithm& a, CollectiveKind kind) {
  const RankProgram& rank = a.ranks.front();
  const int n = a.num_ranks();
  switch (kind) {
    case CollectiveKind::reduce_scatter:
      return rank.output_chunks;
    case CollectiveKind::alltoall:
      return rank.input_chunks / n;
    case CollectiveKind::scatter:
      return rank.output_chunks;
    default:
      return rank.input_chunks;
  }
}

}  // namespace

Parameters parse_parameters(const std::vector<std::string>& words) {
  Parameters parameters;
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw Error(Code::Usage, fmt::format("\"{}\" is not of the form name=value", word), {},
                  "parameters look like ranks=8; options start with --");
    }
    const auto [place, added] = parameters.emplace(word.substr(0, equals), word.substr(equals + 1));
    if (!added) {
      throw Error(Code::Usage, fmt::format("parameter \"{}\" is given twice", place->first));
    }
  }
  return parameters;
}

bool is_library_name(const std::string& what) {
  if (what == "-" || what.find_first_of("/.") != std::string::npos) return false;
  const std::vector<std::string> names = library_names();
  return std::find(names.begin(), names.end(), what) != names.end();
}

void print_diagnostic(const Diagnostic& diagnostic) { write_err(render(diagnostic) + "\n"); }

Source load(const std::string& what, const std::vector<std::string>& parameters,
            const CompileOptions& options) {
  Source source;
  if (is_library_name(what)) {
    CompileOptions with_sink = options;
    if (!with_sink.warn) with_sink.warn = print_diagnostic;
    const Progress progress("compiling " + what);
    source.program.emplace(make_algorithm(what, parse_parameters(parameters), CallSite{}));
    source.algorithm = compile(*source.program, with_sink);
    return source;
  }
  std::error_code ignored;
  // A word with a . or a / is a file, and reading it says what is the matter with it.
  const bool could_be_name = what.find_first_of("/.") == std::string::npos;
  if (what != "-" && could_be_name && !std::filesystem::exists(what, ignored)) {
    const std::string near = did_you_mean(what, library_names());
    throw Error(Code::CannotRead,
                fmt::format("\"{}\" is neither a file nor an algorithm of the library", what), {},
                near.empty() ? "`hocket list` names the algorithms" : near);
  }
  if (!parameters.empty()) {
    throw Error(Code::Usage,
                fmt::format("\"{}\" is given with a file, but only algorithms of the library take "
                            "parameters",
                            parameters.front()));
  }
  const Progress progress("reading " + what);
  const std::string file = what == "-" ? "<stdin>" : what;
  source.algorithm = from_any(read_file(what), file, print_diagnostic);
  return source;
}

void set_collective(Algorithm& algorithm, const std::string& name) {
  if (name.empty()) return;
  const auto kind = collective_kind_from_name(name);
  if (!kind || *kind == CollectiveKind::custom) {
    std::vector<std::string> names;
    for (int k = 0; k < static_cast<int>(CollectiveKind::custom); ++k) {
      names.emplace_back(collective_kind_name(static_cast<CollectiveKind>(k)));
    }
    const std::string near = did_you_mean(name, names);
    throw Error(Code::Usage, fmt::format("--as {}: no such collective", name), {},
                near.empty() ? fmt::format("one of {}", fmt::join(names, ", ")) : near);
  }
  const int chunk_factor = algorithm.ranks.empty() ? 0 : guess_chunk_factor(algorithm, *kind);
  if (chunk_factor < 1) {
    throw Error(Code::Usage, fmt::format("--as {}: the file's buffers do not fit it", name));
  }
  Collective collective =
      Collective::make(*kind, algorithm.num_ranks(), chunk_factor,
                       algorithm.in_place && !algorithm.out_of_place, 0, CallSite{});
  algorithm.root_guessed = has_root(*kind);
  for (int r = 0; r < algorithm.num_ranks(); ++r) {
    const RankProgram& rank = algorithm.ranks[static_cast<std::size_t>(r)];
    const bool fits = rank.input_chunks <= collective.input_chunks(r) &&
                      rank.output_chunks <= collective.output_chunks(r);
    if (!fits) {
      throw Error(Code::Usage,
                  fmt::format("--as {}: rank {} has {} input and {} output chunks, but the "
                              "collective {} and {}",
                              name, r, rank.input_chunks, rank.output_chunks,
                              collective.input_chunks(r), collective.output_chunks(r)));
    }
  }
  algorithm.collective = std::move(collective);
}

}  // namespace hocket::tool
