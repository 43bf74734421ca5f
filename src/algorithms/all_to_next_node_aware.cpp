// All-to-next, node-aware: inside a node every GPU hands its buffer to its neighbour. The last GPU
// of a node must cross to the next node, and there one network card would carry everything; so it
// scatters its buffer over the GPUs of its node, each sends its part over its own card to its twin
// in the next node, and the twins gather at the receiver. All cards work at once.
//
// Cost, nodes of g GPUs: 3 alpha + S beta_in + S/g beta_out + S beta_in, pipelined over the parts;
// naive: alpha + S beta_out.
// Idea: M. Cowan et al., "MSCCLang", ASPLOS 2023, AllToNext.
#include <string>

#include "algorithms/entry.h"

namespace hocket::algorithms {
namespace {

Program trace(const Arguments& args, CollectiveKind kind) {
  constexpr int kMost = 1 << 20;
  const int nodes = args.integer("nodes", 1, kMost);
  const int gpus = args.integer("gpus", 1, kMost);
  const int c = args.integer("chunk_factor");
  const double n = static_cast<double>(nodes) * gpus;
  args.limit_size(n + 3.0 * n * c, 3.0 * n * gpus * c);
  const int size = nodes * gpus;
  const int parts = gpus * c;  // of a buffer: c for each GPU of a node
  Program p(args.algorithm(), distributed_fully_connected(fully_connected(gpus), nodes, 1),
            Collective::make(kind, size, parts, args.flag("in_place")), args.options());

  const int step = kind == CollectiveKind::all_to_next_forward ? 1 : -1;
  const int last = step == 1 ? size - 1 : 0;
  // From the end backwards: in place, a buffer must have been sent before its new content comes.
  for (int i = 1; i < size; ++i) {
    const int src = last - step * i;
    const int dst = src + step;
    const int src_node = src / gpus;
    const int dst_node = dst / gpus;
    if (src_node == dst_node) {
      p.chunk(src, Buffer::input, 0, parts).copy(dst, Buffer::output, 0, args.stream(src % gpus));
      continue;
    }
    const std::string hop = std::to_string(src_node) + "->" + std::to_string(dst_node);
    for (int part = 0; part < parts; ++part) {
      const int card = part % gpus;
      const Via via = args.stream(card);
      Ref data = p.chunk(src, Buffer::input, part);
      // Scatter, cross, gather: what starts or ends on its card's own GPU skips a step.
      const int out = src_node * gpus + card;
      const int in = dst_node * gpus + card;
      if (out != src) data = data.copy(out, hop, part / gpus, via);
      if (in != dst) data = data.copy(in, hop, part / gpus, via);
      data.copy(dst, Buffer::output, part, via);
    }
  }
  return p;
}

Entry entry(std::string collective, Program (*trace_it)(const Arguments&)) {
  return {std::move(collective),
          "neighbours inside a node; between nodes, all network cards share the crossing",
          "nodes * gpus, both any",
          {nodes_parameter("2"), gpus_parameter(), chunk_factor_parameter(), in_place_parameter(),
           channels_parameter("2")},
          trace_it};
}

}  // namespace

Entry all_to_next_forward_node_aware() {
  return entry("all_to_next_forward", [](const Arguments& args) {
    return trace(args, CollectiveKind::all_to_next_forward);
  });
}

Entry all_to_next_backward_node_aware() {
  return entry("all_to_next_backward", [](const Arguments& args) {
    return trace(args, CollectiveKind::all_to_next_backward);
  });
}

}  // namespace hocket::algorithms
