// Who can talk to whom: ranks, directed links with bandwidth and latency, and switches that several
// links share.
//
// The language asks only has_link(); bandwidth and latency are for the simulator and the tuner. A
// topology of n ranks need not cost n^2 memory: the regular ones (fully connected, ring, several
// copies of a node, ...) answer by rule; a table from the user is kept as it is, and links that are
// set one by one cost memory one by one. has_link() and link() are O(1).
//
// Bandwidths have no unit of their own: the published topologies count links (a DGX-1 has pairs of
// 1 and 2 NVLinks); a machine description says GB/s. 0 means "no link".
//
// Copies are cheap and independent: they share until one of them is changed.
//
// Errors: HK0125 (a negative bandwidth, a switch of zero bandwidth, a rank count below 1, a rank
// that is not there, ...).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hocket/location.h"

namespace hocket {

struct Link {
  double bandwidth = 0;   // in the topology's unit; 0: no link
  double latency_us = 0;  // 0: not stated
  friend bool operator==(const Link&, const Link&) = default;
};

// A resource that all traffic from any of `sources` to any of `destinations` shares.
struct Switch {
  std::vector<std::int32_t> sources;
  std::vector<std::int32_t> destinations;
  double bandwidth = 0;
  std::string name;
  friend bool operator==(const Switch&, const Switch&) = default;
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
  // False for src == dst unless such a link was made, and for ranks that are not there.
  bool has_link(int src, int dst) const;
  Link link(int src, int dst) const;
  const std::vector<Switch>& switches() const;

  // Makes, changes or (bandwidth 0) removes one directed link.
  Topology& set_link(int src, int dst, Link link, CallSite at = CallSite::current());
  Topology& add_switch(Switch s, CallSite at = CallSite::current());
  Topology& rename(std::string name);

  std::vector<int> sources(int dst) const;       // ascending
  std::vector<int> destinations(int src) const;  // ascending

  // One constraint a link, named "src->dst" and ordered by destination, then source; then the
  // switches. O(ranks^2) where every rank has a link to every other.
  std::vector<Switch> bandwidth_constraints() const;

  // Every link and switch turned round: "Reverse" + name, switches "..._reversed".
  Topology reversed() const;
  // Every link of bandwidth 1, no switches: "Binarized" + name.
  Topology binarized() const;

  class Impl;  // src/topo/topology_impl.h
  explicit Topology(std::shared_ptr<Impl> impl);

 private:
  Impl& own();                  // the only owner of impl_, from here on
  std::shared_ptr<Impl> impl_;  // shared, copied on write
};

// A link of bandwidth 1 between every two ranks. "FullyConnected(n=8)".
Topology fully_connected(int ranks, CallSite at = CallSite::current());
// The same links, each rank's traffic limited by the switches node_i_out and node_i_in of
// bandwidth 1.
Topology hub_and_spoke(int ranks, CallSite at = CallSite::current());
// Links of bandwidth 1 to both neighbours; the last rank and rank 0 are neighbours.
Topology ring(int ranks, CallSite at = CallSite::current());
// The same without the link between the last and the first.
Topology line(int ranks, CallSite at = CallSite::current());
// Rank 0 has links of bandwidth 1 from and to all others; unless non_blocking, the switches
// to_points and from_points of bandwidth 1 limit all of them together.
Topology star(int ranks, bool non_blocking = true, CallSite at = CallSite::current());

// Eight GPUs of an NVIDIA DGX-1 (in NVLinks, 1 or 2 a pair) and DGX A100 (12 a pair, through
// NVSwitch); four and eight GPUs of AMD machines (a 4-cycle of weight 1; 5 or 6 a pair).
Topology dgx1();
Topology dgx_a100();
Topology amd4();
Topology amd8();
// From the text that `nvidia-smi topo -m` prints: k for the pairs it calls NVk, no link otherwise.
Topology nvlink_only(std::string_view nvidia_smi_topo, CallSite at = CallSite::current());

// `copies` of `local`, joined by links of `remote_bandwidth` between every two ranks of different
// copies. Rank g of copy i is rank i * local.num_ranks() + g; copy i's switches are called
// copy_i_NAME_local.
Topology distributed_fully_connected(const Topology& local, int copies, double remote_bandwidth,
                                     CallSite at = CallSite::current());
// The same, and the switches copy_i_out_remote and copy_i_in_remote limit all traffic between copy
// i and the rest to `remote_bandwidth`.
Topology distributed_hub_and_spoke(const Topology& local, int copies, double remote_bandwidth,
                                   CallSite at = CallSite::current());

}  // namespace hocket
