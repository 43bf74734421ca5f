// Two-step alltoall, for nodes of GPUs: what the GPUs of a node have for GPU g of another node they
// first hand to their own GPU g, which sends it all in one message. A pair of nodes exchanges g
// long messages instead of g^2 short ones.
//
// Cost, m nodes of g GPUs: m (g-1) alpha_in + (m-1) alpha_out + (g-1)/g S beta_in + (m-1)/m S
// beta_out. Idea: M. Cowan et al., "MSCCLang", ASPLOS 2023, section 7.
#include <string>

#include "algorithms/alltoall.h"

namespace hocket::algorithms {
namespace {

Program trace(const Arguments& args) {
  constexpr int kMost = 1 << 16;
  const int nodes = args.integer("nodes", 1, kMost);
  const int gpus = args.integer("gpus", 1, kMost);
  const int c = args.integer("chunk_factor");
  const bool in_place = args.flag("in_place");
  const double n = static_cast<double>(nodes) * gpus;
  args.limit_size(2.0 * n * n, 4.0 * n * n * c);
  Program p(args.algorithm(), distributed_fully_connected(fully_connected(gpus), nodes, 1),
            alltoall(nodes * gpus, c, in_place), args.options());
  const auto rank = [&](int node, int gpu) { return node * gpus + gpu; };

  Delivery delivery(p, c);
  for (int from = 0; from < nodes; ++from) {
    for (int hop = 0; hop < nodes; ++hop) {
      const int to = (from + hop) % nodes;
      for (int g = 0; g < gpus; ++g) {
        const int dst = rank(to, g);
        if (from == to) {
          for (int i = 0; i < gpus; ++i) {
            if (in_place && i == g) continue;
            delivery.send(p.chunk(rank(from, i), Buffer::input, dst * c, c), rank(from, i), dst);
          }
          continue;
        }
        const std::string collected = "to node " + std::to_string(to);
        for (int i = 0; i < gpus; ++i) {
          p.chunk(rank(from, i), Buffer::input, dst * c, c).copy(rank(from, g), collected, i * c);
        }
        delivery.send(p.chunk(rank(from, g), collected, 0, gpus * c), rank(from, 0), dst);
      }
    }
  }
  delivery.finish();
  return p;
}

}  // namespace

Entry alltoall_two_step() {
  return {"alltoall",
          "collect inside the node per remote GPU, then one long message each",
          "nodes * gpus, both any",
          {nodes_parameter("2"), gpus_parameter(), chunk_factor_parameter(), in_place_parameter()},
          trace};
}

}  // namespace hocket::algorithms
