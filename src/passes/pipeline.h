// The passes, in order: the whole compiler on one page.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "hocket/target.h"
#include "passes/instruction_graph.h"

namespace hocket::passes {

struct PipelineOptions {
  Target target = Target::hocket;
  std::int64_t min_bytes = 0;
  std::optional<std::int64_t> max_bytes = {};
  // Called after each pass.
  std::function<void(std::string_view pass, const Graph&)> observer;
};

struct PassRow {
  std::string_view name;
  std::string_view summary;
};
std::span<const PassRow> pass_table();

Algorithm run_pipeline(const Trace& trace, const PipelineOptions& options);

}  // namespace hocket::passes
