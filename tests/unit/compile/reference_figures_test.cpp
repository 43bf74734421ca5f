// No row of the original compiler's figures needs fewer threadblocks, channels, steps, nops or
// scratch chunks than ours, and ours are right. bench/reference_table prints the same comparison
// for people.
#include "reference_figures.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "hocket/compile.h"
#include "ir/trace.h"
#include "support/judge.h"

namespace hocket::reference {
namespace {

TEST(ReferenceFigures, no_row_needs_more_of_anything_here) {
  const std::string path = HOCKET_SOURCE_DIR "/../shared/corpus/reference-stats.csv";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not there";
  int rows = 0;
  for (const Row& row : read_rows(path)) {
    if (!row.right) continue;
    const std::optional<Program> program = make(row.program, row.args);
    ASSERT_TRUE(program) << row.program;
    ASSERT_TRUE(program->check()) << row.program << " " << row.args;
    const Algorithm algorithm = compile_comparably(*program);
    const Figures ours = figures_of(algorithm);
    for (std::size_t i = 0; i < kColumns.size(); ++i) {
      if (kMustNotGrow[i]) {
        EXPECT_LE(ours[i], row.figures[i]) << row.program << " " << row.args << ": " << kColumns[i];
      }
    }
    if (algorithm.steps.size() < 3000) {
      EXPECT_TRUE(oracle::judge(algorithm).clean()) << row.program << " " << row.args;
    }
    ++rows;
  }
  EXPECT_EQ(rows, 288);
}

}  // namespace
}  // namespace hocket::reference
