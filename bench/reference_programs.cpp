// Thirteen programs; each function is one, as short as its idea.
#include "reference_programs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <vector>

namespace hocket::reference {
namespace {

// "8 2 --protocol LL --schedule auto"
struct Args {
  std::vector<int> numbers;
  std::map<std::string, std::string> named;

  explicit Args(const std::string& text) {
    std::istringstream in(text);
    for (std::string word; in >> word;) {
      if (word.starts_with("--")) {
        in >> named[word.substr(2)];
      } else {
        numbers.push_back(std::stoi(word));
      }
    }
  }
  int operator[](std::size_t i) const { return i < numbers.size() ? numbers[i] : 1; }
  std::string get(const std::string& name) const {
    const auto it = named.find(name);
    return it == named.end() ? "" : it->second;
  }
  ProgramOptions options(int instances) const {
    ProgramOptions o;
    o.instances = instances;
    o.protocol = protocol_from_name(get("protocol")).value_or(Protocol::simple);
    return o;
  }
};

ProgramOptions by_hand(ProgramOptions o) {
  o.placement = Placement::manual;
  return o;
}

Program allgather_allpairs(const Args& a) {
  const int n = a[0];
  Program p("allgather_allpairs", fully_connected(n), allgather(n, 1, true),
            by_hand(a.options(a[1])));
  for (int from = 0; from < n; ++from) {
    for (int to = 0; to < n; ++to) {
      if (from == to) continue;
      p.chunk(from, Buffer::input, 0)
          .copy(to, Buffer::input, 0, {.channel = 0, .send_tb = to, .recv_tb = from});
    }
  }
  return p;
}

Program allgather_recursive_doubling(const Args& a) {
  const int n = a[0];
  Program p("allgather_recursive_doubling", fully_connected(n), allgather(n, 1, true),
            a.options(a[1]));
  for (int count = 1; count < n; count *= 2) {
    for (int r = 0; r < n; ++r) {
      const int first = r / count * count;
      p.chunk(r, Buffer::output, first, count).copy(r ^ count, Buffer::output, first);
    }
  }
  return p;
}

Program allgather_ring(const Args& a) {
  const int n = a[0];
  const int channels = a[1];
  Program p("allgather_ring", fully_connected(n), allgather(n, 1, true), a.options(a[2]));
  for (int r = 0; r < n; ++r) {
    Ref c = p.chunk(r, Buffer::input, 0);
    for (int hop = 1; hop < n; ++hop) {
      c = c.copy((r + hop) % n, Buffer::output, r, {.channel = r % channels});
    }
  }
  return p;
}

Program allreduce_1step(const Args& a) {
  const int n = a[0];
  ProgramOptions o = by_hand(a.options(a[1]));
  o.replication = Replication::batched;
  o.dependence_nop = true;
  Program p("allreduce_1step", fully_connected(n), allreduce(n, n, true), o);
  for (int from = 0; from < n; ++from) {
    for (int to = 0; to < n; ++to) {
      if (from == to) continue;
      p.chunk(from, Buffer::input, 0, n).copy(to, "scratch", {.send_tb = to, .recv_tb = from});
    }
  }
  for (int r = 0; r < n; ++r) {
    for (int i = 0; i < n * (n - 1); ++i) {
      p.chunk(r, Buffer::input, i % n).reduce(p.chunk(r, "scratch", i), {.send_tb = i % n});
    }
  }
  return p;
}

Program allreduce_allpairs(const Args& a) {
  const int n = a[0];
  ProgramOptions o = by_hand(a.options(a[1]));
  o.replication = Replication::batched;
  o.dependence_nop = true;
  Program p("allreduce_a100_allpairs", fully_connected(n), allreduce(n, n * n, true), o);
  for (int from = 0; from < n; ++from) {
    for (int to = 0; to < n; ++to) {
      if (from == to) continue;
      p.chunk(from, Buffer::input, to * n, n).copy(to, "scratch", {.send_tb = to, .recv_tb = from});
    }
  }
  for (int r = 0; r < n; ++r) {
    for (int i = 0; i < n * (n - 1); ++i) {
      p.chunk(r, Buffer::input, r * n + i % n).reduce(p.chunk(r, "scratch", i), {.send_tb = i % n});
    }
  }
  for (int from = 0; from < n; ++from) {
    for (int to = 0; to < n; ++to) {
      if (from == to) continue;
      p.chunk(from, Buffer::input, from * n, n)
          .copy(to, Buffer::input, from * n, {.send_tb = to, .recv_tb = from});
    }
  }
  return p;
}

Program allreduce_ring(const Args& a) {
  const int n = a[0];
  const int channels = a[1];
  Program p("allreduce_a100_ring", fully_connected(n), allreduce(n, n, true), a.options(a[2]));
  for (int k = 0; k < n; ++k) {
    const Via via{.channel = k % channels};
    Ref c = p.chunk(k, Buffer::input, k);
    for (int hop = 1; hop < n; ++hop) {
      c = p.chunk((k + hop) % n, Buffer::input, k).reduce(c, via);
    }
    for (int hop = n; hop < 2 * n - 1; ++hop) c = c.copy((k + hop) % n, Buffer::input, k, via);
  }
  return p;
}

Program allreduce_halving_doubling(const Args& a) {
  const int n = a[0];
  ProgramOptions o = a.options(a[1]);
  o.replication = Replication::batched;
  Program p("allreduce_recursive_doubling_halving", fully_connected(n), allreduce(n, n, true), o);
  // Halving: the pair at distance n/2, n/4, ... exchange halves of what each still reduces.
  for (int distance = n / 2; distance >= 1; distance /= 2) {
    for (int r = 0; r < n; ++r) {
      const int peer = r ^ distance;
      const int first = peer / distance * distance;  // the half that the peer keeps
      p.chunk(peer, Buffer::output, first, distance)
          .reduce(p.chunk(r, Buffer::output, first, distance));
    }
  }
  for (int distance = 1; distance < n; distance *= 2) {
    for (int r = 0; r < n; ++r) {
      const int first = r / distance * distance;
      p.chunk(r, Buffer::output, first, distance).copy(r ^ distance, Buffer::output, first);
    }
  }
  return p;
}

Program alltoall_allpairs(const Args& a) {
  const int n = a[0];
  Program p("alltoall_allpairs", fully_connected(n), alltoall(n, 1), a.options(a[1]));
  for (int from = 0; from < n; ++from) {
    for (int to = 0; to < n; ++to) p.chunk(from, Buffer::input, to).copy(to, Buffer::output, from);
  }
  return p;
}

Program alltoall_two_step(const Args& a) {
  const int nodes = a[0];
  const int gpus = a[1];
  const int n = nodes * gpus;
  Program p("alltoall_a100_two_step", fully_connected(n), alltoall(n, 1), a.options(1));
  for (int here = 0; here < nodes; ++here) {
    for (int step = 1; step < nodes; ++step) {
      const int there = (here + step) % nodes;
      const std::string name = fmt::format("copy_{}", there);
      for (int g = 0; g < gpus; ++g) {
        for (int via = 0; via < gpus; ++via) {
          p.chunk(here * gpus + g, Buffer::input, there * gpus + via)
              .copy(here * gpus + via, name, g);
        }
      }
    }
  }
  for (int here = 0; here < nodes; ++here) {
    for (int step = 1; step < nodes; ++step) {
      const int there = (here + step) % nodes;
      for (int g = 0; g < gpus; ++g) {
        const int channel = (here + there) % gpus * 2 + g % 2 + 2;
        p.chunk(here * gpus + g, fmt::format("copy_{}", there), 0, gpus)
            .copy(there * gpus + g, Buffer::output, here * gpus, {.channel = channel});
      }
    }
  }
  for (int r = 0; r < n; ++r) {
    for (int g = 0; g < gpus; ++g) {
      const int to = r / gpus * gpus + g;
      p.chunk(r, Buffer::input, to).copy(to, Buffer::output, r);
    }
  }
  return p;
}

Program alltoall_three_step(const Args& a) {
  const int nodes = a[0];
  const int gpus = a[1];
  const int n = nodes * gpus;
  Program p("alltoall_a100_three_step", fully_connected(n), alltoall(n, 1), a.options(a[2]));
  // Traffic from node `here` to node `there` leaves by one GPU and arrives at one.
  const auto gateway = [&](int here, int there) {
    return here * gpus + (there < here ? there : there - 1) % gpus;
  };
  for (int here = 0; here < nodes; ++here) {
    for (int there = 0; there < nodes; ++there) {
      if (here == there) continue;
      const std::string out = fmt::format("{}->{}", here, there);
      for (int g = 0; g < gpus; ++g) {
        p.chunk(here * gpus + g, Buffer::input, there * gpus, gpus)
            .copy(gateway(here, there), out, g * gpus);
      }
      const Ref all = p.chunk(gateway(here, there), out, 0, gpus * gpus)
                          .copy(gateway(there, here), out + " in", 0, {.channel = 1});
      const std::vector<Ref> chunks = all.split(gpus * gpus);
      auto chunk = chunks.begin();
      for (int g = 0; g < gpus; ++g) {
        for (int to = 0; to < gpus; ++to, ++chunk) {
          chunk->copy(there * gpus + to, Buffer::output, here * gpus + g);
        }
      }
    }
  }
  for (int r = 0; r < n; ++r) {
    for (int g = 0; g < gpus; ++g) {
      const int to = r / gpus * gpus + g;
      p.chunk(r, Buffer::input, to).copy(to, Buffer::output, r);
    }
  }
  return p;
}

// Rank r passes its input on to r + direction; between nodes every GPU of the node carries a share.
Program all_to_next(const Args& a, int direction) {
  constexpr int kGpus = 8;
  const int nodes = a[0];
  const int n = nodes * kGpus;
  Program p(direction > 0 ? "alltonext_forward" : "alltonext_backward", fully_connected(n),
            direction > 0 ? all_to_next_forward(n, kGpus) : all_to_next_backward(n, kGpus),
            a.options(a[1]));
  const int exit_gpu = direction > 0 ? kGpus - 1 : 0;
  const int entry_gpu = kGpus - 1 - exit_gpu;
  for (int r = 0; r < n; ++r) {
    const int to = r + direction;
    if (to < 0 || to >= n) continue;
    const int node = r / kGpus;
    const int next = to / kGpus;
    if (node == next) {
      p.chunk(r, Buffer::input, 0, kGpus).copy(to, Buffer::output, 0, {.channel = r % kGpus % 2});
      continue;
    }
    const std::string name = fmt::format("{}->{}", node, next);
    for (int k = 0; k < kGpus; ++k) {
      const Via via{.channel = k % 2};
      Ref c = p.chunk(r, Buffer::input, k);
      if (k != exit_gpu) c = c.copy(node * kGpus + k, name, 0, via);
      if (k != entry_gpu) c = c.copy(next * kGpus + k, name, 0, via);
      c.copy(to, Buffer::output, k, via);
    }
  }
  return p;
}

Program hierarchical_allreduce(const Args& a) {
  const int gpus = a[0];
  const int nodes = a[1];
  const int n = gpus * nodes;
  const bool manual = a.get("schedule") == "manual";
  ProgramOptions o = a.options(a[2]);
  if (manual) o = by_hand(o);
  Program p("hierarchical_allreduce", fully_connected(n), allreduce(n, n, true), o);
  const auto via = [&](int tb) {
    return manual ? Via{.channel = tb, .send_tb = tb, .recv_tb = tb} : Via{};
  };
  // Chunk k is reduced in every node towards GPU k / nodes, then between the nodes towards node k %
  // nodes, and goes the same way back.
  for (int k = 0; k < n; ++k) {
    const int gpu = k / nodes;
    const int home = k % nodes;
    for (int node = 0; node < nodes; ++node) {
      for (int hop = 1; hop < gpus; ++hop) {
        const int from = node * gpus + (gpu + hop) % gpus;
        const int to = node * gpus + (gpu + hop + 1) % gpus;
        p.chunk(to, Buffer::input, k).reduce(p.chunk(from, Buffer::input, k), via(0));
      }
    }
    for (int hop = 1; hop < nodes; ++hop) {
      const int from = (home + hop) % nodes * gpus + gpu;
      const int to = (home + hop + 1) % nodes * gpus + gpu;
      p.chunk(to, Buffer::input, k).reduce(p.chunk(from, Buffer::input, k), via(2 + home));
    }
    const int gather = 2 + nodes + home % std::max(nodes - 1, 1);
    for (int hop = 0; hop + 1 < nodes; ++hop) {
      const int from = (home + hop) % nodes * gpus + gpu;
      const int to = (home + hop + 1) % nodes * gpus + gpu;
      p.chunk(from, Buffer::input, k).copy(to, Buffer::input, k, via(gather));
    }
    for (int node = 0; node < nodes; ++node) {
      for (int hop = 0; hop + 1 < gpus; ++hop) {
        const int from = node * gpus + (gpu + hop) % gpus;
        const int to = node * gpus + (gpu + hop + 1) % gpus;
        p.chunk(from, Buffer::input, k).copy(to, Buffer::input, k, via(1));
      }
    }
  }
  return p;
}

}  // namespace

std::optional<Program> make(const std::string& name, const std::string& text) {
  const Args a(text);
  if (name == "allgather_allpairs") return allgather_allpairs(a);
  if (name == "allgather_recursive_doubling") return allgather_recursive_doubling(a);
  if (name == "allgather_ring") return allgather_ring(a);
  if (name == "allreduce_1step") return allreduce_1step(a);
  if (name == "allreduce_a100_allpairs") return allreduce_allpairs(a);
  if (name == "allreduce_a100_ring") return allreduce_ring(a);
  if (name == "allreduce_recursive_doubling_halving") return allreduce_halving_doubling(a);
  if (name == "alltoall_a100_three_step") return alltoall_three_step(a);
  if (name == "alltoall_a100_two_step") return alltoall_two_step(a);
  if (name == "alltoall_allpairs") return alltoall_allpairs(a);
  if (name == "alltonext_forward") return all_to_next(a, 1);
  if (name == "alltonext_backward") return all_to_next(a, -1);
  if (name == "hierarchical_allreduce") return hierarchical_allreduce(a);
  return std::nullopt;
}

}  // namespace hocket::reference
