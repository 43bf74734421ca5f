// The library as one table, read from algorithms.def.
#include <fmt/format.h>

#include <algorithm>

#include "algorithms/entry.h"
#include "support/suggest.h"

namespace hocket {
namespace {

using algorithms::Arguments;
using algorithms::Entry;

struct Row {
  std::string name;
  Entry entry;
};

std::vector<ParameterInfo> all_parameters(const Entry& entry) {
  std::vector<ParameterInfo> all = entry.parameters;
  all.push_back(
      {"instances", "copies of the whole program, each on its share of every chunk", "1"});
  all.push_back({"protocol", "Simple, LL or LL128", "Simple"});
  all.push_back(
      {"replication", "how instances share a chunk: interleaved or batched", "interleaved"});
  all.push_back({"fuse", "let a step forward or reduce what it receives", "true"});
  return all;
}

const std::vector<Row>& rows() {
  static const std::vector<Row> table = [] {
    std::vector<Row> made = {
#define HOCKET_ALGORITHM(file, name) {#name, algorithms::name()},
#include "algorithms/algorithms.def"
#undef HOCKET_ALGORITHM
    };
    std::sort(made.begin(), made.end(), [](const Row& a, const Row& b) { return a.name < b.name; });
    return made;
  }();
  return table;
}

}  // namespace

const std::vector<AlgorithmInfo>& algorithm_library() {
  static const std::vector<AlgorithmInfo> library = [] {
    std::vector<AlgorithmInfo> made;
    for (const Row& row : rows()) {
      made.push_back({row.name, row.entry.collective, row.entry.about, row.entry.ranks_rule,
                      all_parameters(row.entry)});
    }
    return made;
  }();
  return library;
}

Program make_algorithm(std::string_view name, const Parameters& parameters, CallSite at) {
  for (const Row& row : rows()) {
    if (row.name != name) continue;
    return row.entry.trace(Arguments(row.name, all_parameters(row.entry), parameters, at));
  }
  std::vector<std::string> names;
  for (const Row& row : rows()) names.push_back(row.name);
  const std::string near = did_you_mean(name, names);
  throw Error(Code::UnknownAlgorithm, fmt::format("no algorithm named \"{}\" in the library", name),
              at, near.empty() ? "`hocket list` names them all" : near);
}

}  // namespace hocket
