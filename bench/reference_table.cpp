// The original compiler's sizes beside ours, for every row of ../shared/corpus/reference-stats.csv
// that it compiles right, as Markdown: "theirs / ours" summed over each program's rows.
//
//     reference_table FILE.csv [--rows]        with --rows a line for every row as well
//
// Exit 1 when any row needs more of anything here.
#include <fmt/format.h>

#include <cstring>
#include <exception>
#include <map>

#include "reference_figures.h"

namespace {

using namespace hocket::reference;

struct Sum {
  int rows = 0;
  Figures theirs{};
  Figures ours{};

  void add(const Figures& t, const Figures& o) {
    ++rows;
    for (std::size_t i = 0; i < kColumns.size(); ++i) {
      theirs[i] += t[i];
      ours[i] += o[i];
    }
  }
  void print(const std::string& name) const {
    fmt::print("| {} | {} |", name, rows);
    for (std::size_t i = 0; i < kColumns.size(); ++i) fmt::print(" {} / {} |", theirs[i], ours[i]);
    fmt::print("\n");
  }
};

int run(const std::string& path, bool rows) {
  std::map<std::string, Sum> sums;
  Sum total;
  int worse = 0;
  int left_out = 0;
  for (const Row& row : read_rows(path)) {
    if (!row.right) {
      ++left_out;
      continue;
    }
    const std::optional<hocket::Program> program = make(row.program, row.args);
    if (!program) throw std::runtime_error("no program " + row.program);
    program->check().require();
    const Figures ours = figures_of(compile_comparably(*program));
    sums[row.program].add(row.figures, ours);
    total.add(row.figures, ours);
    bool more = false;
    for (std::size_t i = 0; i < kColumns.size(); ++i) {
      more = more || (kMustNotGrow[i] && ours[i] > row.figures[i]);
    }
    worse += more ? 1 : 0;
    if (rows || more) {
      fmt::print("{}{} {}:", more ? "WORSE " : "", row.program, row.args);
      for (std::size_t i = 0; i < kColumns.size(); ++i) {
        fmt::print(" {} {} / {}", kColumns[i], row.figures[i], ours[i]);
      }
      fmt::print("\n");
    }
  }
  fmt::print("| program | rows |");
  for (const char* name : kColumns) fmt::print(" {} |", name);
  fmt::print("\n|---|---|---|---|---|---|---|---|\n");
  for (const auto& [name, sum] : sums) sum.print(name);
  total.print("**total**");
  fmt::print(
      "\n{} rows that the original compiles right, {} that it does not (left out); {} rows in "
      "which ours needs more of anything\n",
      total.rows, left_out, worse);
  return worse == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: reference_table FILE.csv [--rows]\n");
    return 2;
  }
  try {
    return run(argv[1], argc > 2 && std::strcmp(argv[2], "--rows") == 0);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}
