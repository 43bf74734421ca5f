"""AMD machines."""

from hocket import _core
from msccl.topologies.topology import Topology


def amd4():
    return Topology._from_core(_core.amd4())


def amd8():
    return Topology._from_core(_core.amd8())
