// Reads the csv and measures our side.
#include "reference_figures.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>

#include "hocket/compile.h"
#include "ir/trace.h"

namespace hocket::reference {
namespace {

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream in(line.ends_with('\r') ? line.substr(0, line.size() - 1) : line);
  for (std::string cell; std::getline(in, cell, ',');) cells.push_back(cell);
  return cells;
}

// The largest message whose widest step fits the slots of its connection in one go.
std::int64_t safe_bytes(const Trace& trace) {
  std::int64_t widest = 1;
  for (const TraceOp& op : trace.ops) widest = std::max<std::int64_t>(widest, op.count);
  const std::int64_t slots = protocol_slots(trace.protocol);
  const std::int64_t together = (widest + slots - 1) / slots;
  return protocol_transfer_bytes(trace.protocol) / together * trace.collective.chunks_per_loop() *
         trace.instances;
}

}  // namespace

std::vector<Row> read_rows(const std::string& path) {
  std::ifstream in(path);
  std::string line;
  if (!std::getline(in, line)) throw std::runtime_error("cannot read " + path);
  std::map<std::string, std::size_t> column;
  const std::vector<std::string> header = split(line);
  for (std::size_t i = 0; i < header.size(); ++i) column[header[i]] = i;
  std::vector<Row> rows;
  while (std::getline(in, line)) {
    const std::vector<std::string> cells = split(line);
    const auto cell = [&](const char* name) { return cells.at(column.at(name)); };
    const auto number = [&](const char* name) { return std::stoll(cell(name)); };
    rows.push_back({cell("program"), cell("args"), cell("judged") == "right",
                    Figures{number("threadblocks"), number("channels"), number("steps"),
                            number("nops"), number("dependences"), number("max_scratch_chunks")}});
  }
  return rows;
}

Algorithm compile_comparably(const Program& program) {
  return compile(program, {.target = Target::hocket, .max_bytes = safe_bytes(program.trace())});
}

Figures figures_of(const Algorithm& algorithm) {
  const AlgorithmStats s = stats(algorithm);
  return {s.threadblocks, s.channels, s.steps, s.nops, s.dependences, s.max_scratch_chunks};
}

}  // namespace hocket::reference
