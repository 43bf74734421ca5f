// Topologies: the builders, and links set by hand.
#include "hocket/topology.h"

#include "bindings.h"

namespace hocket::python {

using namespace nb::literals;  // NOLINT(google-build-using-namespace): only "name"_a

void register_topology(nb::module_& m) {
  nb::class_<Link>(m, "Link", "A directed link.")
      .def(
          "__init__",
          [](Link* self, double bandwidth, double latency_us) {
            new (self) Link{bandwidth, latency_us};
          },
          "bandwidth"_a, "latency_us"_a = 0.0)
      .def_ro("bandwidth", &Link::bandwidth, "In the topology's unit; 0: no link.")
      .def_ro("latency_us", &Link::latency_us, "0: not stated.")
      .def("__bool__", [](const Link& l) { return l.bandwidth > 0; })
      .def("__repr__", [](const Link& l) {
        return nb::str("Link(bandwidth={}, latency_us={})").format(l.bandwidth, l.latency_us);
      });

  nb::class_<Switch>(m, "Switch",
                     "A resource that all traffic from any source to any destination shares.")
      .def(
          "__init__",
          [](Switch* self, std::vector<std::int32_t> sources,
             std::vector<std::int32_t> destinations, double bandwidth, std::string name) {
            new (self)
                Switch{std::move(sources), std::move(destinations), bandwidth, std::move(name)};
          },
          "sources"_a, "destinations"_a, "bandwidth"_a, "name"_a)
      .def_ro("sources", &Switch::sources)
      .def_ro("destinations", &Switch::destinations)
      .def_ro("bandwidth", &Switch::bandwidth)
      .def_ro("name", &Switch::name)
      .def("__repr__", [](const Switch& s) {
        return nb::str("Switch(sources={}, destinations={}, bandwidth={}, name={!r})")
            .format(s.sources, s.destinations, s.bandwidth, s.name);
      });

  nb::class_<Topology>(m, "Topology", "Who can talk to whom: ranks, directed links, switches.")
      .def(
          "__init__",
          [](Topology* self, std::string name, int ranks) {
            new (self) Topology(std::move(name), ranks, here());
          },
          "name"_a, "ranks"_a, "No links yet; add them with set_link().")
      .def_static(
          "from_table",
          [](std::string name, const std::vector<std::vector<double>>& links,
             std::vector<Switch> switches) {
            return Topology::from_table(std::move(name), links, std::move(switches), here());
          },
          "name"_a, "links"_a, "switches"_a = std::vector<Switch>{},
          "Any set of links: ``links[dst][src]`` is a bandwidth, 0 for none.")
      .def_prop_ro("name", &Topology::name)
      .def_prop_ro("num_ranks", &Topology::num_ranks)
      .def("has_link", &Topology::has_link, "src"_a, "dst"_a)
      .def("link", &Topology::link, "src"_a, "dst"_a)
      .def_prop_ro("switches", &Topology::switches)
      .def(
          "set_link",
          [](Topology& t, int src, int dst, double bandwidth, double latency_us) {
            t.set_link(src, dst, Link{bandwidth, latency_us}, here());
          },
          "src"_a, "dst"_a, "bandwidth"_a, "latency_us"_a = 0.0)
      .def(
          "add_switch", [](Topology& t, Switch s) { t.add_switch(std::move(s), here()); },
          "switch"_a)
      .def(
          "rename", [](Topology& t, std::string name) { t.rename(std::move(name)); }, "name"_a)
      .def("sources", &Topology::sources, "dst"_a, "Ranks with a link to `dst`, ascending.")
      .def("destinations", &Topology::destinations, "src"_a,
           "Ranks that `src` has a link to, ascending.")
      .def("bandwidth_constraints", &Topology::bandwidth_constraints,
           "One constraint a link ('src->dst'), then the switches.")
      .def("reversed", &Topology::reversed, "Every link and switch turned round.")
      .def("binarized", &Topology::binarized,
           "Every link of bandwidth above 0 made 1, no switches.")
      .def("__repr__", [](const Topology& t) {
        return nb::str("<Topology {}: {} ranks>").format(t.name(), t.num_ranks());
      });

  m.def(
      "fully_connected", [](int ranks) { return fully_connected(ranks, here()); }, "ranks"_a,
      "Every rank to every other.");
  m.def(
      "hub_and_spoke", [](int ranks) { return hub_and_spoke(ranks, here()); }, "ranks"_a,
      "Every rank to every other through a hub, one switch in and one out a rank.");
  m.def(
      "ring", [](int ranks) { return ring(ranks, here()); }, "ranks"_a,
      "Each rank to both neighbours.");
  m.def(
      "line", [](int ranks) { return line(ranks, here()); }, "ranks"_a,
      "Each rank to its neighbours, without wrap.");
  m.def(
      "star", [](int ranks, bool non_blocking) { return star(ranks, non_blocking, here()); },
      "ranks"_a, "non_blocking"_a = true, "Rank 0 to all others and back.");
  m.def("dgx1", &dgx1, "NVIDIA DGX-1: 8 GPUs, one or two NVLinks between neighbours.");
  m.def("dgx_a100", &dgx_a100, "NVIDIA DGX A100: 8 GPUs on NVSwitch.");
  m.def("amd4", &amd4, "4 AMD GPUs in a cycle.");
  m.def("amd8", &amd8, "8 AMD GPUs.");
  m.def(
      "nvlink_only", [](std::string_view text) { return nvlink_only(text, here()); },
      "nvidia_smi_topo"_a, "From the text that ``nvidia-smi topo -m`` prints.");
  m.def(
      "distributed_fully_connected",
      [](const Topology& local, int copies, double bandwidth) {
        return distributed_fully_connected(local, copies, bandwidth, here());
      },
      "local"_a, "copies"_a, "remote_bandwidth"_a,
      "Copies of `local`, joined by links between every two ranks of different copies.");
  m.def(
      "distributed_hub_and_spoke",
      [](const Topology& local, int copies, double bandwidth) {
        return distributed_hub_and_spoke(local, copies, bandwidth, here());
      },
      "local"_a, "copies"_a, "remote_bandwidth"_a,
      "The same, each copy's traffic in and out limited by a switch.");
}

}  // namespace hocket::python
