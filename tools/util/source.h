// What the commands work on: an algorithm of the library by name and parameters, or a file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hocket/algorithm.h"
#include "hocket/algorithms.h"
#include "hocket/compile.h"
#include "hocket/diagnostic.h"
#include "hocket/program.h"

namespace hocket::tool {

// {"ranks=8", "in_place=true"}. Error HK0903 for anything that is not name=value, or a name twice.
Parameters parse_parameters(const std::vector<std::string>& words);

// Whether `what` names an algorithm rather than a file: a path has a '/' or a '.', or is "-";
// otherwise the library goes first.
bool is_library_name(const std::string& what);

// To standard error.
void print_diagnostic(const Diagnostic& diagnostic);

struct Source {
  std::optional<Program> program;  // where it came from the library
  Algorithm algorithm;
};

// Traces and compiles, or reads. With a file, parameters are refused (HK0903). `what` that is
// neither: HK0901, with the nearest names of the library. Warnings go to standard error.
Source load(const std::string& what, const std::vector<std::string>& parameters,
            const CompileOptions& options);

// Gives an algorithm whose file only says "custom" the collective `name` (HK0903 unless its buffers
// have the right shape), so that its result can be compared. Does nothing where `name` is empty.
void set_collective(Algorithm& algorithm, const std::string& name);

}  // namespace hocket::tool
