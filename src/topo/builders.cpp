// The topologies that programs name: regular ones by rule, machines by table.
#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>

#include "hocket/diagnostic.h"
#include "hocket/topology.h"
#include "topo/topology_impl.h"

namespace hocket {
namespace {

using MakeSwitches = Topology::Impl::MakeSwitches;

Topology regular(std::string_view kind, int ranks, LinkRulePtr rule, CallSite at,
                 MakeSwitches switches = nullptr) {
  if (ranks < 1) {
    throw Error(Code::BadTopology,
                fmt::format("topology {} of {} ranks, but it needs at least 1", kind, ranks), at,
                "a topology of 1 rank is allowed");
  }
  return Topology(std::make_shared<Topology::Impl>(fmt::format("{}(n={})", kind, ranks), ranks,
                                                   std::move(rule), std::move(switches)));
}

std::vector<std::int32_t> range(int first, int end) {
  std::vector<std::int32_t> ranks(static_cast<std::size_t>(end - first));
  std::iota(ranks.begin(), ranks.end(), first);
  return ranks;
}

// 0..ranks-1 without [first, end).
std::vector<std::int32_t> others(int ranks, int first, int end) {
  std::vector<std::int32_t> result = range(0, first);
  for (int r = end; r < ranks; ++r) result.push_back(r);
  return result;
}

Topology copies_of(std::string_view kind, const Topology& local, int copies, double bandwidth,
                   bool remote_switches, CallSite at) {
  if (copies < 1) {
    throw Error(
        Code::BadTopology,
        fmt::format("{} copies of topology {}, but there must be at least 1", copies, local.name()),
        at, "1 copy is the topology itself");
  }
  if (!std::isfinite(bandwidth) || bandwidth < 0) {
    throw Error(Code::BadTopology,
                fmt::format("copies of topology {} joined by links of bandwidth {}, but it must be "
                            "0 or more",
                            local.name(), bandwidth),
                at, "0 is no link");
  }
  if (remote_switches && bandwidth == 0) {
    throw Error(Code::BadTopology,
                "Switch copy_0_out_remote has zero bandwidth, but switch bandwidths must be "
                "strictly positive. Please encode connectedness in links.",
                at, "leave the switch out where it limits nothing");
  }
  const int width = local.num_ranks();
  if (std::int64_t{width} * copies > std::numeric_limits<std::int32_t>::max()) {
    throw Error(Code::BadTopology,
                fmt::format("{} copies of topology {} have more ranks than can be numbered", copies,
                            local.name()),
                at, "make fewer copies");
  }
  const int ranks = width * copies;
  auto switches = [local, copies, bandwidth, remote_switches, width, ranks] {
    std::vector<Switch> result;
    for (int i = 0; i < copies; ++i) {
      for (Switch s : local.switches()) {
        for (auto* side : {&s.sources, &s.destinations}) {
          for (std::int32_t& r : *side) r += i * width;
        }
        s.name = fmt::format("copy_{}_{}_local", i, s.name);
        result.push_back(std::move(s));
      }
    }
    for (int i = 0; remote_switches && i < copies; ++i) {
      const auto inside = range(i * width, (i + 1) * width);
      const auto outside = others(ranks, i * width, (i + 1) * width);
      result.push_back({inside, outside, bandwidth, fmt::format("copy_{}_out_remote", i)});
      result.push_back({outside, inside, bandwidth, fmt::format("copy_{}_in_remote", i)});
    }
    return result;
  };
  return Topology(std::make_shared<Topology::Impl>(
      fmt::format("{}(local={},copies={},bw={})", kind, local.name(), copies, bandwidth), ranks,
      std::make_shared<CopiesRule>(local, bandwidth), std::move(switches)));
}

}  // namespace

Topology fully_connected(int ranks, CallSite at) {
  return regular("FullyConnected", ranks, std::make_shared<FullRule>(1), at);
}

Topology hub_and_spoke(int ranks, CallSite at) {
  return regular("HubAndSpoke", ranks, std::make_shared<FullRule>(1), at, [ranks] {
    std::vector<Switch> switches;
    for (int i = 0; i < ranks; ++i) {
      const auto rest = others(ranks, i, i + 1);
      switches.push_back({{i}, rest, 1, fmt::format("node_{}_out", i)});
      switches.push_back({rest, {i}, 1, fmt::format("node_{}_in", i)});
    }
    return switches;
  });
}

Topology ring(int ranks, CallSite at) {
  return regular("Ring", ranks, std::make_shared<RingRule>(ranks), at);
}

Topology line(int ranks, CallSite at) {
  return regular("Line", ranks, std::make_shared<LineRule>(), at);
}

Topology star(int ranks, bool non_blocking, CallSite at) {
  MakeSwitches switches;
  if (!non_blocking) {
    switches = [ranks] {
      const auto points = range(1, ranks);
      return std::vector<Switch>{{{0}, points, 1, "to_points"}, {points, {0}, 1, "from_points"}};
    };
  }
  return regular("Star", ranks, std::make_shared<StarRule>(), at, std::move(switches));
}

// Counts of NVLinks: "NVIDIA DGX-1 With Tesla V100 System Architecture", the hybrid cube mesh.
Topology dgx1() {
  return Topology::from_table("DGX1", {{0, 2, 1, 1, 2, 0, 0, 0},
                                       {2, 0, 1, 2, 0, 1, 0, 0},
                                       {1, 1, 0, 2, 0, 0, 2, 0},
                                       {1, 2, 2, 0, 0, 0, 0, 1},
                                       {2, 0, 0, 0, 0, 2, 1, 1},
                                       {0, 1, 0, 0, 2, 0, 1, 2},
                                       {0, 0, 2, 0, 1, 1, 0, 2},
                                       {0, 0, 0, 1, 1, 2, 2, 0}});
}

Topology dgx_a100() {
  return Topology(std::make_shared<Topology::Impl>("DGX_A100", 8, std::make_shared<FullRule>(12)));
}

Topology amd4() {
  return Topology::from_table("AMD4", {{0, 1, 1, 0}, {1, 0, 0, 1}, {1, 0, 0, 1}, {0, 1, 1, 0}});
}

Topology amd8() {
  return Topology::from_table("AMD8", {{0, 5, 6, 6, 5, 6, 5, 5},
                                       {5, 0, 5, 5, 6, 5, 6, 6},
                                       {6, 5, 0, 6, 5, 6, 5, 5},
                                       {6, 5, 6, 0, 5, 6, 5, 5},
                                       {5, 6, 5, 5, 0, 5, 6, 6},
                                       {6, 5, 6, 6, 5, 0, 5, 5},
                                       {5, 6, 5, 5, 6, 5, 0, 6},
                                       {5, 6, 5, 5, 6, 5, 6, 0}});
}

Topology distributed_fully_connected(const Topology& local, int copies, double remote_bandwidth,
                                     CallSite at) {
  return copies_of("DistributedFullyConnected", local, copies, remote_bandwidth, false, at);
}

Topology distributed_hub_and_spoke(const Topology& local, int copies, double remote_bandwidth,
                                   CallSite at) {
  return copies_of("DistributedHubAndSpoke", local, copies, remote_bandwidth, true, at);
}

}  // namespace hocket
