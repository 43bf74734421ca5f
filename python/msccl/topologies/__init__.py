"""Who can talk to whom."""

from msccl.topologies import amd as amd
from msccl.topologies import distributed as distributed
from msccl.topologies import generic as generic
from msccl.topologies import nvidia as nvidia
from msccl.topologies import topology as topology
from msccl.topologies import transformers as transformers
from msccl.topologies.amd import amd4, amd8
from msccl.topologies.distributed import distributed_fully_connected, distributed_hub_and_spoke
from msccl.topologies.generic import fully_connected, hub_and_spoke, line, ring, star
from msccl.topologies.nvidia import dgx1, dgx_a100, nvlink_only
from msccl.topologies.topology import Topology
from msccl.topologies.transformers import binarize_topology, reverse_topology

__all__ = [
    "Topology",
    "amd",
    "amd4",
    "amd8",
    "binarize_topology",
    "dgx1",
    "dgx_a100",
    "distributed",
    "distributed_fully_connected",
    "distributed_hub_and_spoke",
    "fully_connected",
    "generic",
    "hub_and_spoke",
    "line",
    "nvidia",
    "nvlink_only",
    "reverse_topology",
    "ring",
    "star",
    "topology",
    "transformers",
]
