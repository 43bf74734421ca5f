"""Several copies of a local topology, joined."""

from hocket import _core
from msccl.topologies.topology import Topology, from_any


def distributed_fully_connected(local_topology, num_copies, remote_bw):
    return Topology._from_core(
        _core.distributed_fully_connected(from_any(local_topology), num_copies, remote_bw)
    )


def distributed_hub_and_spoke(local_topology, num_copies, remote_bw):
    return Topology._from_core(
        _core.distributed_hub_and_spoke(from_any(local_topology), num_copies, remote_bw)
    )
