// The original compiler's sizes beside ours, for every row of ../shared/corpus/reference-stats.csv.
//
//     reference_table FILE.csv            Markdown, a line a program, then what is worse (nothing,
//     one hopes) reference_table FILE.csv --rows     a line a row
//
// Exit 1 when any row that the original compiles right needs more of anything here. Ours are
// compiled for messages up to the largest size at which the original's own schedule runs to its end
// (its steps of several chunks need more slots than there are beyond that size).
#include <fmt/format.h>

#include <array>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "hocket/compile.h"
#include "ir/trace.h"
#include "reference_programs.h"

namespace {

constexpr std::array kColumns = {"threadblocks", "channels",    "steps",
                                 "nops",         "dependences", "scratch"};
using Figures = std::array<std::int64_t, kColumns.size()>;

struct Sum {
  int rows = 0;
  Figures theirs{};
  Figures ours{};
};

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream in(line.ends_with('\r') ? line.substr(0, line.size() - 1) : line);
  for (std::string cell; std::getline(in, cell, ',');) cells.push_back(cell);
  return cells;
}

// The largest message whose widest step fits the slots of its connection in one go.
std::int64_t safe_bytes(const hocket::Trace& trace) {
  std::int64_t widest = 1;
  for (const hocket::TraceOp& op : trace.ops) widest = std::max<std::int64_t>(widest, op.count);
  const std::int64_t slots = hocket::protocol_slots(trace.protocol);
  const std::int64_t together = (widest + slots - 1) / slots;
  return hocket::protocol_transfer_bytes(trace.protocol) / together *
         trace.collective.chunks_per_loop() * trace.instances;
}

Figures ours(const hocket::Program& program) {
  const hocket::AlgorithmStats s = hocket::stats(hocket::compile(
      program, {.target = hocket::Target::hocket, .max_bytes = safe_bytes(program.trace())}));
  return {s.threadblocks, s.channels, s.steps, s.nops, s.dependences, s.max_scratch_chunks};
}

std::string pair(std::int64_t theirs, std::int64_t ours) {
  return fmt::format("{} / {}", theirs, ours);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: reference_table FILE.csv [--rows]\n";
    return 2;
  }
  const bool rows = argc > 2 && std::strcmp(argv[2], "--rows") == 0;
  std::ifstream in(argv[1]);
  std::string line;
  if (!std::getline(in, line)) {
    std::cerr << "cannot read " << argv[1] << "\n";
    return 2;
  }
  std::map<std::string, std::size_t> column;
  const std::vector<std::string> header = split(line);
  for (std::size_t i = 0; i < header.size(); ++i) column[header[i]] = i;
  std::map<std::string, Sum> sums;
  Sum total;
  int worse = 0;
  int not_right = 0;
  while (std::getline(in, line)) {
    const std::vector<std::string> cells = split(line);
    const auto cell = [&](const char* name) { return cells.at(column.at(name)); };
    if (cell("judged") != "right") {
      ++not_right;
      continue;
    }
    const std::optional<hocket::Program> program =
        hocket::reference::make(cell("program"), cell("args"));
    if (!program) {
      std::cerr << "no program " << cell("program") << "\n";
      return 2;
    }
    program->check().require();
    const Figures mine = ours(*program);
    const Figures theirs = {
        std::stoll(cell("threadblocks")), std::stoll(cell("channels")),
        std::stoll(cell("steps")),        std::stoll(cell("nops")),
        std::stoll(cell("dependences")),  std::stoll(cell("max_scratch_chunks"))};
    for (Sum* sum : {&sums[cell("program")], &total}) {
      ++sum->rows;
      for (std::size_t i = 0; i < mine.size(); ++i) {
        sum->theirs[i] += theirs[i];
        sum->ours[i] += mine[i];
      }
    }
    bool row_worse = false;
    for (std::size_t i = 0; i < mine.size(); ++i) {
      // Dependences are listed for information: the issue of more waits or fewer is the number of
      // nops.
      if (mine[i] > theirs[i] && std::strcmp(kColumns[i], "dependences") != 0) row_worse = true;
    }
    worse += row_worse ? 1 : 0;
    if (rows || row_worse) {
      std::cout << (row_worse ? "WORSE " : "      ") << cell("program") << " " << cell("args")
                << ":";
      for (std::size_t i = 0; i < mine.size(); ++i) {
        std::cout << " " << kColumns[i] << " " << pair(theirs[i], mine[i]);
      }
      std::cout << "\n";
    }
  }
  std::cout << "| program | rows |";
  for (const char* name : kColumns) std::cout << " " << name << " |";
  std::cout << "\n|---|---|---|---|---|---|---|---|\n";
  sums["total"] = total;
  const auto print_row = [&](const std::string& name, const Sum& sum) {
    std::cout << "| " << name << " | " << sum.rows << " |";
    for (std::size_t i = 0; i < kColumns.size(); ++i) {
      std::cout << " " << pair(sum.theirs[i], sum.ours[i]) << " |";
    }
    std::cout << "\n";
  };
  for (const auto& [name, sum] : sums) {
    if (name != "total") print_row(name, sum);
  }
  print_row("**total**", total);
  std::cout << "\n"
            << total.rows << " rows that the original compiles right, " << not_right
            << " that it does not (left out); " << worse
            << " rows in which ours needs more of anything\n";
  return worse == 0 ? 0 : 1;
}
