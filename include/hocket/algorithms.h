// The library of standard algorithms, each written in the language as a user would write it.
//
//     Program p = make_algorithm("allreduce_ring", {{"ranks", "8"}, {"instances", "2"}});
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "hocket/program.h"

namespace hocket {

struct ParameterInfo {
  std::string name;           // "ranks"
  std::string about;          // "number of ranks"
  std::string default_value;  // "8"
};

struct AlgorithmInfo {
  std::string name;        // "allreduce_ring"
  std::string collective;  // "allreduce"
  std::string about;       // one line
  std::string ranks_rule;  // "any", "a power of two", "nodes * gpus"
  std::vector<ParameterInfo> parameters;
};

// Sorted by name.
const std::vector<AlgorithmInfo>& algorithm_library();

using Parameters = std::map<std::string, std::string>;

// The program, traced. Unknown name: HK0801, with the nearest names. Unknown or unusable parameter:
// HK0802, with what is allowed.
Program make_algorithm(std::string_view name, const Parameters& parameters = {},
                       CallSite at = CallSite::current());

}  // namespace hocket
