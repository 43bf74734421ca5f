// The sweep that every algorithm of the library goes through: rank counts, roots, placements,
// factors, channels and instances, as far as the algorithm takes them.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "hocket/hocket.h"

namespace hocket {

struct Case {
  std::string algorithm;
  Parameters parameters;

  std::string str() const {
    std::string text = algorithm;
    for (const auto& [name, value] : parameters) text += fmt::format(" {}={}", name, value);
    return text;
  }
  Program make() const { return make_algorithm(algorithm, parameters); }
};

inline bool takes(const AlgorithmInfo& info, const std::string& parameter) {
  return std::any_of(info.parameters.begin(), info.parameters.end(),
                     [&](const ParameterInfo& p) { return p.name == parameter; });
}

// Every one of `cases` with every value of the parameter, where the algorithm takes it.
inline std::vector<Case> vary(const std::vector<Case>& cases, const AlgorithmInfo& info,
                              const std::string& parameter,
                              const std::vector<std::string>& values) {
  if (!takes(info, parameter)) return cases;
  std::vector<Case> varied;
  for (const Case& one : cases) {
    for (const std::string& value : values) {
      varied.push_back(one);
      varied.back().parameters[parameter] = value;
    }
  }
  return varied;
}

// Shapes of up to `most` ranks: every rank count, or every nodes x gpus; roots first, middle and
// last.
inline std::vector<Case> shapes(const AlgorithmInfo& info, int most) {
  std::vector<Case> cases;
  if (takes(info, "nodes")) {
    for (int nodes = 1; nodes <= most; ++nodes) {
      for (int gpus = 1; nodes * gpus <= most; ++gpus) {
        cases.push_back(
            {info.name, {{"nodes", std::to_string(nodes)}, {"gpus", std::to_string(gpus)}}});
      }
    }
    return cases;
  }
  for (int ranks = 1; ranks <= most; ++ranks) {
    Case one{info.name, {{"ranks", std::to_string(ranks)}}};
    if (!takes(info, "root")) {
      cases.push_back(one);
      continue;
    }
    for (const int root : std::set<int>{0, ranks / 2, ranks - 1}) {
      one.parameters["root"] = std::to_string(root);
      cases.push_back(one);
    }
  }
  return cases;
}

}  // namespace hocket
