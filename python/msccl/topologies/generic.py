"""Regular topologies of any size."""

from hocket import _core
from msccl.topologies.topology import Topology


def fully_connected(num_nodes):
    return Topology._from_core(_core.fully_connected(num_nodes))


def hub_and_spoke(num_nodes):
    return Topology._from_core(_core.hub_and_spoke(num_nodes))


def ring(num_nodes):
    return Topology._from_core(_core.ring(num_nodes))


def line(num_nodes):
    return Topology._from_core(_core.line(num_nodes))


def star(num_nodes, non_blocking=True):
    return Topology._from_core(_core.star(num_nodes, non_blocking))
