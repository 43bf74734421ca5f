"""Topologies from topologies."""

from msccl.topologies.topology import Topology, from_any


def reverse_topology(topology):
    return Topology._from_core(from_any(topology).reversed())


def binarize_topology(topology):
    return Topology._from_core(from_any(topology).binarized())
