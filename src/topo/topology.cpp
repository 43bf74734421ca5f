// Topologies: links by rule or by table, switches, and what can be made of one.
#include "hocket/topology.h"

#include <fmt/format.h>

#include <cmath>

#include "hocket/diagnostic.h"
#include "topo/topology_impl.h"

namespace hocket {
namespace {

bool usable(double x) { return std::isfinite(x) && x >= 0; }

void check_ranks(std::string_view name, int ranks, CallSite at) {
  if (ranks < 1) {
    throw Error(Code::BadTopology,
                fmt::format("topology {} of {} ranks, but it needs at least 1", name, ranks), at,
                "a topology of 1 rank is allowed");
  }
}

void check_switch(const Switch& s, std::string_view topology, int ranks, CallSite at) {
  if (s.bandwidth == 0) {
    throw Error(Code::BadTopology,
                fmt::format("Switch {} has zero bandwidth, but switch bandwidths must be strictly "
                            "positive. Please encode connectedness in links.",
                            s.name),
                at, "leave the switch out where it limits nothing");
  }
  if (!usable(s.bandwidth)) {
    throw Error(Code::BadTopology,
                fmt::format("Switch {} has a negative bandwidth of {}. Bandwidth must be strictly "
                            "positive.",
                            s.name, s.bandwidth),
                at, "leave the switch out where it limits nothing");
  }
  for (const auto* side : {&s.sources, &s.destinations}) {
    for (const int r : *side) {
      if (r < 0 || r >= ranks) {
        throw Error(Code::BadTopology,
                    fmt::format("switch {} joins rank {}, but topology {} has {} ranks (0 to {})",
                                s.name, r, topology, ranks, ranks - 1),
                    at, "ranks are numbered from 0");
      }
    }
  }
}

}  // namespace

Topology::Topology(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

Topology::Topology(std::string name, int ranks, CallSite at) {
  check_ranks(name, ranks, at);
  impl_ = std::make_shared<Impl>(std::move(name), ranks, std::make_shared<NoLinks>());
}

Topology Topology::from_table(std::string name, const std::vector<std::vector<double>>& links,
                              std::vector<Switch> switches, CallSite at) {
  const std::size_t n = links.size();
  check_ranks(name, static_cast<int>(n), at);
  std::vector<double> table;
  table.reserve(n * n);
  for (std::size_t dst = 0; dst < n; ++dst) {
    if (links[dst].size() != n) {
      throw Error(Code::BadTopology,
                  fmt::format("topology {}: row {} of its links has {} entries, but there are {} "
                              "rows",
                              name, dst, links[dst].size(), n),
                  at, "the table is square: links[dst][src]");
    }
    for (std::size_t src = 0; src < n; ++src) {
      if (!usable(links[dst][src])) {
        throw Error(Code::BadTopology,
                    fmt::format("topology {}: the link from rank {} to rank {} has bandwidth {}, "
                                "but it must be 0 or more",
                                name, src, dst, links[dst][src]),
                    at, "0 is no link");
      }
    }
    table.insert(table.end(), links[dst].begin(), links[dst].end());
  }
  const int ranks = static_cast<int>(n);
  Topology t(std::make_shared<Impl>(std::move(name), ranks,
                                    std::make_shared<TableRule>(ranks, std::move(table))));
  for (Switch& s : switches) t.add_switch(std::move(s), at);
  return t;
}

const std::string& Topology::name() const { return impl_->name; }
int Topology::num_ranks() const { return impl_->ranks; }
Link Topology::link(int src, int dst) const { return impl_->link(src, dst); }
bool Topology::has_link(int src, int dst) const { return impl_->link(src, dst).bandwidth > 0; }
const std::vector<Switch>& Topology::switches() const { return impl_->switches(); }

Topology::Impl& Topology::own() {
  if (impl_.use_count() > 1) impl_ = std::make_shared<Impl>(*impl_);
  return *impl_;
}

Topology& Topology::set_link(int src, int dst, Link link, CallSite at) {
  const int n = num_ranks();
  if (src < 0 || src >= n || dst < 0 || dst >= n) {
    throw Error(
        Code::BadTopology,
        fmt::format("a link from rank {} to rank {}, but topology {} has {} ranks (0 to {})", src,
                    dst, name(), n, n - 1),
        at, "ranks are numbered from 0");
  }
  if (!usable(link.bandwidth) || !usable(link.latency_us)) {
    throw Error(Code::BadTopology,
                fmt::format("topology {}: the link from rank {} to rank {} has bandwidth {} and "
                            "latency {} us, but both must be 0 or more",
                            name(), src, dst, link.bandwidth, link.latency_us),
                at, "a bandwidth of 0 is no link");
  }
  own().set_links[Impl::key(src, dst)] = link;
  return *this;
}

Topology& Topology::add_switch(Switch s, CallSite at) {
  check_switch(s, name(), num_ranks(), at);
  own().add_switch(std::move(s));
  return *this;
}

Topology& Topology::rename(std::string name) {
  own().name = std::move(name);
  return *this;
}

std::vector<int> Topology::sources(int dst) const {
  std::vector<int> result;
  for (int src = 0; src < num_ranks(); ++src) {
    if (has_link(src, dst)) result.push_back(src);
  }
  return result;
}

std::vector<int> Topology::destinations(int src) const {
  std::vector<int> result;
  for (int dst = 0; dst < num_ranks(); ++dst) {
    if (has_link(src, dst)) result.push_back(dst);
  }
  return result;
}

std::vector<Switch> Topology::bandwidth_constraints() const {
  std::vector<Switch> result;
  for (int dst = 0; dst < num_ranks(); ++dst) {
    for (const int src : sources(dst)) {
      result.push_back({{src}, {dst}, link(src, dst).bandwidth, fmt::format("{}->{}", src, dst)});
    }
  }
  result.insert(result.end(), switches().begin(), switches().end());
  return result;
}

Topology Topology::reversed() const {
  const Topology of = *this;
  return Topology(std::make_shared<Impl>("Reverse" + name(), num_ranks(),
                                         std::make_shared<ReversedRule>(of), [of] {
                                           std::vector<Switch> turned = of.switches();
                                           for (Switch& s : turned) {
                                             std::swap(s.sources, s.destinations);
                                             s.name += "_reversed";
                                           }
                                           return turned;
                                         }));
}

Topology Topology::binarized() const {
  return Topology(std::make_shared<Impl>("Binarized" + name(), num_ranks(),
                                         std::make_shared<BinarizedRule>(*this)));
}

}  // namespace hocket
