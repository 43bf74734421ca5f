"""msccl.topologies: names, link tables and switches as published programs read them."""

import pytest

import hocket
from msccl.language import Buffer, MSCCLProgram, chunk
from msccl.language.collectives import AllToAll
from msccl.topologies import *
from msccl.topologies.distributed import distributed_hub_and_spoke
from msccl.topologies.generic import fully_connected as generic_fully_connected
from msccl.topologies.nvidia import nvlink_only

DGX1 = [
    [0, 2, 1, 1, 2, 0, 0, 0],
    [2, 0, 1, 2, 0, 1, 0, 0],
    [1, 1, 0, 2, 0, 0, 2, 0],
    [1, 2, 2, 0, 0, 0, 0, 1],
    [2, 0, 0, 0, 0, 2, 1, 1],
    [0, 1, 0, 0, 2, 0, 1, 2],
    [0, 0, 2, 0, 1, 1, 0, 2],
    [0, 0, 0, 1, 1, 2, 2, 0],
]


@pytest.mark.parametrize(
    "topology,name,links",
    [
        (fully_connected(3), "FullyConnected(n=3)", [[0, 1, 1], [1, 0, 1], [1, 1, 0]]),
        (hub_and_spoke(2), "HubAndSpoke(n=2)", [[0, 1], [1, 0]]),
        (ring(4), "Ring(n=4)", [[0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0]]),
        (ring(2), "Ring(n=2)", [[0, 1], [1, 0]]),
        (ring(1), "Ring(n=1)", [[1]]),
        (line(3), "Line(n=3)", [[0, 1, 0], [1, 0, 1], [0, 1, 0]]),
        (star(3), "Star(n=3)", [[0, 1, 1], [1, 0, 0], [1, 0, 0]]),
        (dgx1(), "DGX1", DGX1),
        (dgx_a100(), "DGX_A100", [[12 * (i != j) for i in range(8)] for j in range(8)]),
        (amd4(), "AMD4", [[0, 1, 1, 0], [1, 0, 0, 1], [1, 0, 0, 1], [0, 1, 1, 0]]),
        (
            distributed_fully_connected(ring(2), 2, 5),
            "DistributedFullyConnected(local=Ring(n=2),copies=2,bw=5)",
            [[0, 1, 5, 5], [1, 0, 5, 5], [5, 5, 0, 1], [5, 5, 1, 0]],
        ),
    ],
)
def test_builders(topology, name, links):
    n = len(links)
    assert (topology.name, topology.num_nodes(), list(topology.nodes())) == (name, n, list(range(n)))
    for dst in range(n):
        assert list(topology.sources(dst)) == [s for s in range(n) if links[dst][s] > 0]
        for src in range(n):
            assert topology.link(src, dst) == links[dst][src]
    for src in range(n):
        assert list(topology.destinations(src)) == [d for d in range(n) if links[d][src] > 0]
    assert topology.links == links


def test_switches():
    assert hub_and_spoke(3).switches[:2] == [
        ([0], [1, 2], 1, "node_0_out"), ([1, 2], [0], 1, "node_0_in"),
    ]  # fmt: skip
    assert star(3, non_blocking=False).switches == [
        ([0], [1, 2], 1, "to_points"), ([1, 2], [0], 1, "from_points"),
    ]  # fmt: skip
    joined = distributed_hub_and_spoke(hub_and_spoke(2), 2, 3)
    names = [switch[3] for switch in joined.switches]
    for name in ("copy_1_node_0_out_local", "copy_0_out_remote", "copy_1_in_remote"):
        assert name in names
    constraints = list(star(2, False).bandwidth_constraints())
    assert constraints[0] == ([1], [0], 1, "1\u21920") and len(constraints) == 4
    with pytest.raises(ValueError, match="Switch s has zero bandwidth"):
        Topology("t", [[0, 1], [1, 0]], [([0], [1], 0, "s")])
    with pytest.raises(ValueError, match="Switch s has a negative bandwidth of -1"):
        Topology("t", [[0, 1], [1, 0]], [([0], [1], -1, "s")])


def test_transformers():
    mine = Topology("Mine", [[0, 0], [4, 0]], [([0], [1], 2, "s")])
    reverse = reverse_topology(mine)
    assert (reverse.name, reverse.links) == ("ReverseMine", [[0, 4], [0, 0]])
    assert reverse.switches == [([1], [0], 2, "s_reversed")]
    binary = binarize_topology(mine)
    assert (binary.name, binary.links, binary.switches) == ("BinarizedMine", [[0, 0], [1, 0]], [])


def test_nvidia_smi():
    text = "\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tNV2\t0-1\nGPU1\tNV2\t X \t0-1\n"
    assert nvlink_only(text).links == [[0, 2], [2, 0]]
    assert generic_fully_connected is fully_connected


def traced_over(topology, src, dst):
    with MSCCLProgram("p", topology, AllToAll(topology.num_nodes(), 1, False), 1):
        chunk(src, Buffer.input, 0).copy(dst, Buffer.output, 0)


def test_a_programs_own_links_decide():
    traced_over(Topology("t", [[0, 0], [0.5, 0]]), 0, 1)
    with pytest.raises(hocket.errors.NoLinkError):
        traced_over(Topology("t", [[0, 0], [0.5, 0]]), 1, 0)

    cut = fully_connected(3)
    cut.links[2][0] = 0  # from rank 0 to rank 2
    traced_over(cut, 2, 0)
    with pytest.raises(hocket.errors.NoLinkError):
        traced_over(cut, 0, 2)

    class OneWay(Topology):
        def link(self, src, dst):
            return src < dst

    own = OneWay("one way", [[1, 1], [1, 1]])
    traced_over(own, 0, 1)
    with pytest.raises(hocket.errors.NoLinkError):
        traced_over(own, 1, 0)

    class Duck:
        def num_nodes(self):
            return 2

        def link(self, src, dst):
            return 1

    traced_over(Duck(), 1, 0)


def test_a_large_topology_costs_nothing():
    big = fully_connected(8192)
    assert big.num_nodes() == 8192 and big._links is None
