// The original compiler's figures, row by row, and ours for the same program.
//
// Ours are compiled for messages up to the largest size at which the program's widest step fits the
// slots of its connection in one go: beyond it the original's own schedule for several of these
// programs hangs, and ours uses more threadblocks to be safe.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "hocket/algorithm.h"
#include "reference_programs.h"

namespace hocket::reference {

inline constexpr std::array kColumns = {"threadblocks", "channels",    "steps",
                                        "nops",         "dependences", "scratch"};
// Dependences are listed for information: what they cost beyond one a step are the nops.
inline constexpr std::array<bool, kColumns.size()> kMustNotGrow = {true, true,  true,
                                                                   true, false, true};
using Figures = std::array<std::int64_t, kColumns.size()>;

struct Row {
  std::string program;
  std::string args;
  bool right = false;  // whether the original's output was judged right
  Figures figures{};
};

// Throws std::runtime_error where the file cannot be read or lacks a column.
std::vector<Row> read_rows(const std::string& path);

Algorithm compile_comparably(const Program& program);
Figures figures_of(const Algorithm& algorithm);

}  // namespace hocket::reference
