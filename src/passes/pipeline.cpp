// The list of passes and the few numbers they are given.
#include "passes/pipeline.h"

#include <algorithm>
#include <array>

#include "hocket/diagnostic.h"
#include "passes/assign_threadblocks.h"
#include "passes/emit.h"
#include "passes/execution_check.h"
#include "passes/expand.h"
#include "passes/fold_copies.h"
#include "passes/fuse.h"
#include "passes/gather_waits.h"
#include "passes/layout_scratch.h"
#include "passes/schedule.h"
#include "passes/synchronize.h"

namespace hocket::passes {
namespace {

constexpr std::array kPasses = {
    PassRow{"expand", "instances, sends and receives, dependences"},
    PassRow{"fold-copies", "a copy that only feeds the next reduce becomes its operand"},
    PassRow{"fuse", "a receive and the send of what it received become one step"},
    PassRow{"schedule", "channels, and one global order that runs within the protocol's slots"},
    PassRow{"assign-threadblocks", "a threadblock for every step"},
    PassRow{"synchronize", "the waits between threadblocks that nothing else implies"},
    PassRow{"gather-waits", "waits of consecutive local reduces before the first (dependence_nop)"},
    PassRow{"layout-scratch", "offsets of scratch buffers, shared where lives do not overlap"},
};

// Chunks of a step that go into one transfer for the largest message that must be safe: the
// runtimes' rule, m = min(71, max(1, floor(transfer bytes / ceil(message bytes / chunks)))).
int chunks_per_transfer(const Trace& trace, std::int32_t parts, Target target,
                        std::optional<std::int64_t> max_bytes) {
  constexpr std::int64_t kMostChunks = 71;
  if (!max_bytes) return 1;
  const std::int64_t chunks =
      std::max<std::int64_t>(std::int64_t{trace.collective.chunks_per_loop()} * parts, 1);
  const std::int64_t chunk_bytes = std::max<std::int64_t>((*max_bytes + chunks - 1) / chunks, 1);
  return static_cast<int>(std::clamp<std::int64_t>(
      transfer_bytes(target, trace.protocol, trace.collective.kind()) / chunk_bytes, 1,
      kMostChunks));
}

// With fewer channels for one instance, more chains are taken apart; with more, a target may run
// out of them.
std::int32_t channel_budget(const TargetLimits& limits, const Graph& graph) {
  constexpr std::int32_t kMost = 32;
  return std::clamp(limits.max_channels / static_cast<std::int32_t>(graph.num_instances), 1, kMost);
}

// What no later pass reads: at a million instructions every array counts.
template <typename... Vectors>
void release(Vectors&... vectors) {
  (Vectors().swap(vectors), ...);
}

}  // namespace

std::span<const PassRow> pass_table() { return kPasses; }

Algorithm run_pipeline(const Trace& trace, const PipelineOptions& options) {
  const TargetLimits& limits = target_limits(options.target);
  const auto done = [&](std::size_t pass, const Graph& graph) {
    if (options.observer) options.observer(kPasses[pass].name, graph);
  };

  Graph graph = expand(trace, {limits.receive_reduce, limits.fused_send, limits.max_count});
  done(0, graph);
  if (trace.fuse) fold_copies(graph);
  done(1, graph);
  if (trace.fuse && limits.fused_send) fuse(graph);
  done(2, graph);
  release(graph.readers, graph.dead_parts);
  const Capacity capacity{
      protocol_slots(trace.protocol),
      chunks_per_transfer(trace, graph.parts, options.target, options.max_bytes)};
  schedule(graph, capacity, channel_budget(limits, graph));
  done(3, graph);
  assign_threadblocks(graph, capacity);
  done(4, graph);
  synchronize(graph);
  done(5, graph);
  if (trace.hoist_dependences) gather_waits(graph, capacity);
  done(6, graph);
  HOCKET_CHECK(runs_to_end(graph, capacity), "the schedule completes");
  layout_scratch(graph);
  done(7, graph);
  release(graph.preds, graph.first_pred, graph.order, graph.first_of_rank, graph.position);
  Algorithm algorithm =
      emit(graph, {limits.max_fused_reduces, options.min_bytes, options.max_bytes});
  graph = Graph();
  return algorithm;
}

}  // namespace hocket::passes
