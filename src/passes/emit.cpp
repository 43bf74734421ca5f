// Numbers threadblocks and steps, and writes them out.
#include "passes/emit.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "hocket/diagnostic.h"

namespace hocket::passes {
namespace {

class Emitter {
 public:
  Emitter(const Graph& graph, const EmitOptions& options)
      : graph_(graph), options_(options), awaited_(graph.size(), false) {
    for (const NodeId w : graph.waits) awaited_[w] = true;
  }

  Algorithm run() {
    const Trace& trace = *graph_.trace;
    out_.name = trace.name;
    out_.collective = trace.collective.refined(graph_.parts);
    out_.protocol = trace.protocol;
    out_.in_place = trace.collective.in_place();
    out_.out_of_place = !out_.in_place;
    out_.num_channels = graph_.num_channels;
    out_.chunks_per_loop = out_.collective.chunks_per_loop();
    out_.min_bytes = options_.min_bytes;
    out_.max_bytes = options_.max_bytes;
    number_threadblocks();
    number_steps();
    out_.locations.reserve(trace.sites.size());
    for (const CallSite& site : trace.sites) out_.locations.emplace_back(site);
    reserve_big(out_.steps, total_steps_, total_steps_);
    reserve_big(out_.step_locations, total_steps_, total_steps_);
    for (RankProgram& rank : out_.ranks) {
      for (ThreadBlock& tb : rank.threadblocks) emit_steps(tb);
    }
    return std::move(out_);
  }

 private:
  void number_threadblocks() {
    const auto ranks = static_cast<std::size_t>(graph_.trace->num_ranks());
    out_.ranks.resize(ranks);
    number_.resize(graph_.blocks.size());
    BigVector<BlockId> order;
    for (std::size_t r = 0; r < ranks; ++r) {
      RankProgram& rank = out_.ranks[r];
      const int id = static_cast<int>(r);
      rank.input_chunks = canonical_chunks(id, BufferKind::input);
      rank.output_chunks = canonical_chunks(id, BufferKind::output);
      rank.scratch_chunks = graph_.scratch_parts[r];
      order.resize(graph_.num_blocks(r));
      std::iota(order.begin(), order.end(), graph_.first_block_of_rank[r]);
      std::sort(order.begin(), order.end(), [&](BlockId a, BlockId b) {
        const Block& x = graph_.blocks[a];
        const Block& y = graph_.blocks[b];
        return std::tie(x.send, x.recv, x.channel, a) < std::tie(y.send, y.recv, y.channel, b);
      });
      rank.threadblocks.reserve(order.size());
      for (const BlockId b : order) {
        const Block& block = graph_.blocks[b];
        number_[b] = static_cast<std::int32_t>(rank.threadblocks.size());
        // first_step holds the block until its steps are emitted.
        rank.threadblocks.push_back({block.send, block.recv, block.channel, b, 0});
        out_.num_channels = std::max(out_.num_channels, block.channel + 1);
      }
    }
  }

  // In place, the buffer whose slots are all other names of the other buffer's has no chunks of its
  // own.
  std::int32_t canonical_chunks(int rank, BufferKind buffer) const {
    const Collective& c = out_.collective;
    const int chunks = c.chunks(rank, buffer);
    return chunks > 0 && c.alias(rank, {buffer, 0}).buffer == buffer ? chunks : 0;
  }

  void number_steps() {
    step_of_.assign(graph_.size(), -1);
    for (BlockId b = 0; b < graph_.blocks.size(); ++b) {
      std::int32_t step = 0;
      for (const NodeId n : graph_.nodes_of_block(b)) {
        const auto waits = static_cast<std::int32_t>(graph_.waits_of(n).size());
        step += std::max(waits - 1, 0);
        step_of_[n] = step++;
      }
      total_steps_ += static_cast<std::size_t>(step);
    }
  }

  void emit_steps(ThreadBlock& tb) {
    const BlockId b = tb.first_step;
    tb.first_step = static_cast<std::uint32_t>(out_.steps.size());
    std::size_t chain = 0;  // `re` steps that a loader may have merged so far
    for (const NodeId n : graph_.nodes_of_block(b)) {
      const std::span<const NodeId> waits = graph_.waits_of(n);
      for (std::size_t i = 0; i + 1 < waits.size(); ++i) {
        Step nop;
        depend(nop, waits[i]);
        add(nop, graph_.nodes[n].site);
      }
      Step step = make_step(n);
      if (!waits.empty()) depend(step, waits.back());
      chain = guard_merge(tb, step, chain);
      add(step, graph_.nodes[n].site);
    }
    tb.num_steps = static_cast<std::uint32_t>(out_.steps.size()) - tb.first_step;
  }

  void add(const Step& step, std::uint32_t site) {
    out_.steps.push_back(step);
    out_.step_locations.push_back(site);
  }

  void depend(Step& step, NodeId on) const {
    step.depend_tb = number_[graph_.block_of[on]];
    step.depend_step = step_of_[on];
  }

  static BufferKind kind(std::uint32_t buffer) {
    return buffer < kFirstScratch ? static_cast<BufferKind>(buffer) : BufferKind::scratch;
  }

  Step make_step(NodeId n) const {
    const Node& node = graph_.nodes[n];
    Step step;
    step.op = node.op;
    step.count = node.count;
    step.has_dependent = awaited_[n];
    step.src_buffer = kind(node.src_buffer);
    step.src_offset = node.src_index;
    step.dst_buffer = kind(node.dst_buffer);
    step.dst_offset = node.dst_index;
    if (!Graph::reads(node)) {
      const auto [buffer, offset] = origin_place(graph_.messages[node.in].send);
      step.src_buffer = buffer;
      step.src_offset = offset;
    }
    if (!Graph::writes(node)) {
      const auto [buffer, offset] = destination_place(graph_.messages[node.out].recv);
      step.dst_buffer = buffer;
      step.dst_offset = offset;
    }
    return step;
  }

  // For people who read the file: where the sender has what it sends, where the receiver puts it. A
  // node that only passes on (or keeps no copy of) what it receives names its local operand.
  std::pair<BufferKind, std::int32_t> origin_place(NodeId send) const {
    const Node& node = graph_.nodes[send];
    if (node.op == OpCode::recv_copy_send || node.op == OpCode::recv_reduce_copy_send) {
      return {kind(node.dst_buffer), node.dst_index};
    }
    return {kind(node.src_buffer), node.src_index};
  }
  std::pair<BufferKind, std::int32_t> destination_place(NodeId recv) const {
    const Node& node = graph_.nodes[recv];
    if (node.op == OpCode::recv_reduce_send) return {kind(node.src_buffer), node.src_index};
    return {kind(node.dst_buffer), node.dst_index};
  }

  // Returns the length of the chain that ends with `step`.
  std::size_t guard_merge(const ThreadBlock& tb, const Step& step, std::size_t chain) {
    if (step.op != OpCode::reduce) return 0;
    if (chain == 0 || step.depend_tb >= 0) return 1;
    Step& before = out_.steps.back();
    if (out_.steps.size() == tb.first_step || before.op != OpCode::reduce || before.has_dependent ||
        before.dst_buffer != step.dst_buffer || before.dst_offset != step.dst_offset ||
        before.src_buffer != step.src_buffer) {
      return 1;
    }
    const auto overlaps_dst = [](const Step& s) {
      return s.src_buffer == s.dst_buffer && s.src_offset < s.dst_offset + s.count &&
             s.dst_offset < s.src_offset + s.count;
    };
    if (before.count != step.count ||
        chain >= static_cast<std::size_t>(options_.max_fused_reduces) || overlaps_dst(step) ||
        overlaps_dst(before)) {
      before.has_dependent = true;
      return 1;
    }
    return chain + 1;
  }

  const Graph& graph_;
  const EmitOptions& options_;
  Algorithm out_;
  std::vector<bool> awaited_;
  BigVector<std::int32_t> number_;   // of a block, within its rank
  BigVector<std::int32_t> step_of_;  // of a node, within its threadblock
  std::size_t total_steps_ = 0;
};

}  // namespace

Algorithm emit(const Graph& graph, const EmitOptions& options) {
  return Emitter(graph, options).run();
}

}  // namespace hocket::passes
