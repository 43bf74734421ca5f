// Who can talk to whom: ranks, directed links with bandwidth and latency, and switches that several
// links share.
//
// The language asks only has_link(); bandwidth and latency are for the simulator and the tuner. A
// topology of n ranks need not cost n^2 memory: the regular ones answer by rule, only irregular ones
// keep a table.
//
// Errors: HK0125 (a negative bandwidth, a switch of zero bandwidth, a rank count below 1, ...).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hocket/location.h"

namespace hocket {

struct Link {
  double bandwidth = 0;   // in the topology's unit (GB/s where a builder says so); 0: no link
  double latency_us = 0;  // 0: not stated
};

// A resource that all traffic from any of `sources` to any of `destinations` shares.
struct Switch {
  std::vector<std::int32_t> sources;
  std::vector<std::int32_t> destinations;
  double bandwidth = 0;
  std::string name;
};

class Topology {
 public:
  // Any set of links: `links[dst][src]`, square, as the published programs write it.
  static Topology from_table(std::string name, const std::vector<std::vector<double>>& links,
                             std::vector<Switch> switches = {}, CallSite at = CallSite::current());
  // No links yet; add them with set_link().
  explicit Topology(std::string name, int ranks, CallSite at = CallSite::current());

  const std::string& name() const;
  int num_ranks() const;
  bool has_link(int src, int dst) const;  // false for src == dst unless the builder made one
  Link link(int src, int dst) const;
  const std::vector<Switch>& switches() const;

  Topology& set_link(int src, int dst, Link link, CallSite at = CallSite::current());
  Topology& add_switch(Switch s, CallSite at = CallSite::current());
  Topology& rename(std::string name);

  std::vector<int> sources(int dst) const;       // ascending
  std::vector<int> destinations(int src) const;  // ascending

  // One constraint a link ("src->dst"), then the switches.
  std::vector<Switch> bandwidth_constraints() const;

  // Every rank's links and switches turned round / every link of bandwidth > 0 made 1, no switches.
  Topology reversed() const;
  Topology binarized() const;

  class Impl;
  explicit Topology(std::shared_ptr<const Impl> impl);

 private:
  std::shared_ptr<const Impl> impl_;  // shared, copied on write
};

Topology fully_connected(int ranks, CallSite at = CallSite::current());
Topology hub_and_spoke(int ranks, CallSite at = CallSite::current());
Topology ring(int ranks, CallSite at = CallSite::current());
Topology line(int ranks, CallSite at = CallSite::current());
Topology star(int ranks, bool non_blocking = true, CallSite at = CallSite::current());
Topology dgx1();
Topology dgx_a100();
Topology amd4();
Topology amd8();
// From the text that `nvidia-smi topo -m` prints.
Topology nvlink_only(std::string_view nvidia_smi_topo, CallSite at = CallSite::current());
// `copies` of `local`, joined by links of `remote_bandwidth` between every two ranks of different
// copies; the second form also limits each copy's traffic in and out by a switch.
Topology distributed_fully_connected(const Topology& local, int copies, double remote_bandwidth,
                                     CallSite at = CallSite::current());
Topology distributed_hub_and_spoke(const Topology& local, int copies, double remote_bandwidth,
                                   CallSite at = CallSite::current());

}  // namespace hocket
