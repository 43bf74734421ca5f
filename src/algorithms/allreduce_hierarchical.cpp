// Hierarchical allreduce, for nodes with fast links inside and slow ones between: GPU g of a node
// collects the node's sum of the g-th share over a ring inside the node; the g-th GPUs of all nodes
// complete it over a ring between the nodes; rings inside hand it round. Only 1/gpus of the data of
// a GPU crosses between nodes.
//
// Cost: 2(g-1) alpha_in + 2(m-1) alpha_out + 2 (g-1)/g S beta_in + 2 (m-1)/(m g) S beta_out,
// for m nodes of g GPUs.
// Idea: M. Cowan et al., "MSCCLang", ASPLOS 2023, section 2.
#include "algorithms/entry.h"

namespace hocket::algorithms {
namespace {

Program trace(const Arguments& args) {
  constexpr int kMost = 1 << 16;
  const int nodes = args.integer("nodes", 1, kMost);
  const int gpus = args.integer("gpus", 1, kMost);
  const int c = args.integer("chunk_factor");
  const double n = static_cast<double>(nodes) * gpus;
  args.limit_size(3.0 * n * (gpus + 1.0) + 2.0 * n * nodes, 2.0 * n * n * c);
  Program p(args.algorithm(), distributed_fully_connected(fully_connected(gpus), nodes, 1),
            allreduce(nodes * gpus, nodes * gpus * c, args.flag("in_place")), args.options());
  const auto rank = [&](int node, int gpu) { return node * gpus + gpu; };
  const int share = nodes * c;  // chunks that one GPU of a node looks after

  for (int node = 0; node < nodes; ++node) {
    for (int g = 0; g < gpus; ++g) {
      const int k = g * share;
      Ref sum = gpus == 1 ? summand(p, rank(node, g), k, share, Buffer::output, k)
                          : p.chunk(rank(node, (g + 1) % gpus), Buffer::input, k, share);
      for (int hop = 2; hop <= gpus; ++hop) {
        Ref next = summand(p, rank(node, (g + hop) % gpus), k, share, Buffer::output, k);
        sum = next.reduce(sum);
      }
    }
  }
  for (int g = 0; g < gpus; ++g) {
    for (int last = 0; last < nodes; ++last) {
      const int k = g * share + last * c;
      Ref sum = p.chunk(rank((last + 1) % nodes, g), Buffer::output, k, c);
      for (int hop = 2; hop <= nodes; ++hop) {
        sum = p.chunk(rank((last + hop) % nodes, g), Buffer::output, k, c).reduce(sum);
      }
      for (int hop = 1; hop < nodes; ++hop) sum = sum.copy(rank((last + hop) % nodes, g));
    }
  }
  for (int node = 0; node < nodes; ++node) {
    for (int g = 0; g < gpus; ++g) {
      Ref sum = p.chunk(rank(node, g), Buffer::output, g * share, share);
      for (int hop = 1; hop < gpus; ++hop) sum = sum.copy(rank(node, (g + hop) % gpus));
    }
  }
  return p;
}

}  // namespace

Entry allreduce_hierarchical() {
  return {"allreduce",
          "rings inside nodes, rings between them: little crosses the slow links",
          "nodes * gpus, both any",
          {nodes_parameter("2"), gpus_parameter(), chunk_factor_parameter(), in_place_parameter()},
          trace};
}

}  // namespace hocket::algorithms
