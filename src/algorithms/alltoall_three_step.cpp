// Three-step alltoall, for many nodes of GPUs: all that a node has for another is collected on one
// GPU, sent in one message to one GPU there, and handed out. A pair of nodes exchanges a single
// message; which GPU serves which pair rotates, so that a node's network cards share the work.
//
// Cost, m nodes of g GPUs, D = ceil((m-1)/g) remote nodes a GPU serves:
// ((m-1) g + D (g-1)) alpha_in + D alpha_out + D g/m S (2 beta_in + beta_out).
// Idea: the three-step programs published with M. Cowan et al., "MSCCLang", ASPLOS 2023.
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
  args.limit_size(3.0 * n * n, 5.0 * n * n * c);
  Program p(args.algorithm(), distributed_fully_connected(fully_connected(gpus), nodes, 1),
            alltoall(nodes * gpus, c, in_place), args.options());
  const auto rank = [&](int node, int gpu) { return node * gpus + gpu; };
  // The GPU of `node` that handles the traffic with `other`, both ways.
  const auto gateway = [&](int node, int other) {
    return rank(node, ((other - node + nodes) % nodes - 1) % gpus);
  };

  Delivery delivery(p, c);
  for (int from = 0; from < nodes; ++from) {
    for (int i = 0; i < gpus; ++i) {
      for (int g = 0; g < gpus; ++g) {
        if (in_place && i == g) continue;
        delivery.send(p.chunk(rank(from, i), Buffer::input, rank(from, g) * c, c), rank(from, i),
                      rank(from, g));
      }
    }
    for (int hop = 1; hop < nodes; ++hop) {
      const int to = (from + hop) % nodes;
      const std::string pair = std::to_string(from) + " to " + std::to_string(to);
      // Laid out by receiver, then sender: what the last step hands a GPU is one run of chunks.
      for (int i = 0; i < gpus; ++i) {
        for (int g = 0; g < gpus; ++g) {
          p.chunk(rank(from, i), Buffer::input, rank(to, g) * c, c)
              .copy(gateway(from, to), pair, (g * gpus + i) * c);
        }
      }
      Ref arrived =
          p.chunk(gateway(from, to), pair, 0, gpus * gpus * c).copy(gateway(to, from), pair, 0);
      const std::vector<Ref> parts = arrived.split(gpus);
      for (int g = 0; g < gpus; ++g) {
        delivery.send(parts[static_cast<std::size_t>(g)], rank(from, 0), rank(to, g));
      }
    }
  }
  delivery.finish();
  return p;
}

}  // namespace

Entry alltoall_three_step() {
  return {"alltoall",
          "collect per node on one GPU, one message a pair of nodes, hand out",
          "nodes * gpus, both any",
          {nodes_parameter("2"), gpus_parameter(), chunk_factor_parameter(), in_place_parameter()},
          trace};
}

}  // namespace hocket::algorithms
