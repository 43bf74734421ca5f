// The printout of a graph.
#include "passes/print.h"

#include <fmt/format.h>

#include <iterator>

namespace hocket::passes {
namespace {

class Printer {
 public:
  explicit Printer(const Graph& graph) : graph_(graph) {}

  std::string run() {
    put("# {} ranks, {} parts a chunk, {} instances\n", graph_.trace->num_ranks(), graph_.parts,
        graph_.num_instances);
    if (graph_.blocks.empty()) {
      by_rank(graph_.order.empty() ? all() : graph_.order);
    } else {
      for (BlockId b = 0; b < graph_.blocks.size(); ++b) {
        const Block& block = graph_.blocks[b];
        put("threadblock {}: rank {} send {} recv {} channel {}\n", b, block.rank, block.send,
            block.recv, block.channel);
        for (const NodeId n : graph_.nodes_of_block(b)) line(n);
      }
    }
    return std::move(out_);
  }

 private:
  template <typename... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }

  BigVector<NodeId> all() const {
    BigVector<NodeId> nodes;
    for (NodeId n = 0; n < graph_.size(); ++n) {
      if (graph_.nodes[n].active) nodes.push_back(n);
    }
    return nodes;
  }

  void by_rank(const BigVector<NodeId>& order) {
    std::vector<std::vector<NodeId>> ranks(static_cast<std::size_t>(graph_.trace->num_ranks()));
    for (const NodeId n : order) ranks[static_cast<std::size_t>(graph_.nodes[n].rank)].push_back(n);
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      put("rank {}\n", r);
      for (const NodeId n : ranks[r]) line(n);
    }
  }

  std::string place(std::uint32_t buffer, std::int32_t index, std::int32_t count) const {
    std::string name = buffer == kInputBuffer    ? "input"
                       : buffer == kOutputBuffer ? "output"
                                                 : "scratch";
    const std::size_t scratch = buffer - kFirstScratch;
    if (buffer >= kFirstScratch && graph_.scratch_parts.empty()) {
      name = scratch < graph_.trace->scratch_names.size() ? graph_.trace->scratch_names[scratch]
                                                          : "staging";
    }
    return count == 1 ? fmt::format("{}[{}]", name, index)
                      : fmt::format("{}[{}..{}]", name, index, index + count - 1);
  }

  void line(NodeId n) {
    const Node& node = graph_.nodes[n];
    put("  {:>6}  {:<4}", n, op_info(node.op).name);
    if (Graph::reads(node)) put(" {}", place(node.src_buffer, node.src_index, node.count));
    if (Graph::writes(node)) put(" -> {}", place(node.dst_buffer, node.dst_index, node.count));
    if (node.in != kNone)
      message(" from", node.in, graph_.nodes[graph_.messages[node.in].send].rank);
    if (node.out != kNone)
      message(" to", node.out, graph_.nodes[graph_.messages[node.out].recv].rank);
    if (graph_.num_instances > 1) put(" instance {}", node.instance);
    if (graph_.first_wait.empty()) {
      list(" after", graph_.preds_of(n), n);
    } else {
      list(" waits", graph_.waits_of(n), n);
    }
    const CallSite& site = graph_.trace->sites[node.site];
    if (site.known()) put("  # {}:{}", site.file(), site.line());
    out_ += '\n';
  }

  void message(const char* word, MessageId m, std::int32_t peer) {
    put("{} rank {}", word, peer);
    if (graph_.messages[m].channel >= 0) put(" channel {}", graph_.messages[m].channel);
  }

  void list(const char* word, std::span<const NodeId> nodes, NodeId self) {
    bool first = true;
    for (const NodeId raw : nodes) {
      const NodeId n = graph_.resolve(raw);
      if (n == self) continue;
      put("{}{}", first ? word : ",", first ? " " : "");
      put("{}", n);
      first = false;
    }
  }

  const Graph& graph_;
  std::string out_;
};

}  // namespace

std::string print(const Graph& graph) { return Printer(graph).run(); }

}  // namespace hocket::passes
