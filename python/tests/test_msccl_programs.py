"""Programs in the original's style, of the shapes of its published examples: each checked by its
collective, judged in every schedule, run on real data."""

import pytest

import hocket
from msccl.language import *
from msccl.language.collectives import AllGather, AllReduce, AllToAll, Collective, ReduceScatter
from msccl.language.routines import allgather_ring_inplace, allreduce_ring_inplace
from msccl.programs.allreduce_a100_ring import allreduce_ring
from msccl.programs.allreduce_allpairs import allreduce_allpairs
from msccl.programs.alltoall_a100_8kp1 import alltoall_three_step
from msccl.programs.alltoall_a100_yifan import alltoall_hierarchical
from msccl.topologies import *
from msccl.topologies.distributed import distributed_fully_connected
from msccl.topologies.nvidia import dgx1
from support import compiled_right, judged

MANUAL = ThreadblockPolicy.manual


def right(collective, body, instances=1, topo=None, **options):
    """Traces, checks, compiles; judges and runs what comes out. Returns the algorithm."""
    topo = topo or fully_connected(collective.num_ranks)
    program = MSCCLProgram("program", topo, collective, instances, **options)
    with program:
        body()
        assert Check() is True
    algorithm = program.to_algorithm()
    assert judged(algorithm).compared
    for nbytes in ("64KiB", 4 * (collective.num_ranks * 96 + 5)):
        assert hocket.run(algorithm, nbytes, in_place=collective.inplace).checked
    return algorithm


@pytest.mark.parametrize("size,channels,instances", [(2, 1, 1), (4, 2, 2), (8, 4, 4), (5, 1, 3)])
@pytest.mark.parametrize("protocol", ["Simple", "LL128"])
def test_ring_allreduce(size, channels, instances, protocol):
    right(
        AllReduce(size, size, True),
        lambda: allreduce_ring(size, channels),
        instances,
        ring(size),
        protocol=protocol,
    )


@pytest.mark.parametrize("size", [2, 3, 8])
def test_routines(size):
    right(AllReduce(size, size, True), lambda: allreduce_ring_inplace(size))
    right(AllGather(size, 1, True), lambda: allgather_ring_inplace(size))
    right(AllGather(size, 3, True), lambda: allgather_ring_inplace(size, 3))


@pytest.mark.parametrize("size", [2, 4, 8])
@pytest.mark.parametrize("instances", [1, 2])
@pytest.mark.parametrize("nop", [False, True])
def test_allpairs_allreduce_placed_by_hand(size, instances, nop):
    algorithm = right(
        AllReduce(size, size * size, True),
        lambda: allreduce_allpairs(size),
        instances,
        protocol="LL",
        threadblock_policy=MANUAL,
        interleaved_replication=False,
        dependence_nop=nop,
    )
    assert algorithm.stats().max_threadblocks_of_rank == size * instances


@pytest.mark.parametrize("n", [2, 4, 7])
@pytest.mark.parametrize("inplace", [False, True])
def test_allpairs_allgather(n, inplace):
    def body():
        for r1 in range(n):
            for r2 in range(n):
                c = chunk(r1, Buffer.input, 0)
                if inplace:
                    c.copy(r2, Buffer.input, 0, sendtb=r2, recvtb=r1)
                else:
                    c.copy(r2, Buffer.output, r1, sendtb=r2, recvtb=r1)

    right(AllGather(n, 1, inplace), body, threadblock_policy=MANUAL)


@pytest.mark.parametrize("n", [2, 8, 16])
@pytest.mark.parametrize("instances", [1, 4])
def test_recursive_doubling_allgather(n, instances):
    def body():
        count = 1
        while count < n:
            for r in range(n):
                index = r // count * count
                chunk(r, Buffer.output, index, count).copy(r ^ count, Buffer.output, index)
            count *= 2

    right(AllGather(n, 1, True), body, instances)


@pytest.mark.parametrize("n", [2, 4, 8])
def test_recursive_halving_doubling_allreduce(n):
    def body():
        # Halve: exchange the half that the partner keeps; then double back.
        owned = {r: (0, n) for r in range(n)}
        distance = n // 2
        while distance >= 1:
            for r in range(n):
                if r < r ^ distance:
                    lo, hi, (start, size) = r, r ^ distance, owned[r]
                    half = size // 2
                    sent = chunk(lo, Buffer.input, start + half, half).copy(hi, "in", start + half)
                    chunk(hi, Buffer.input, start, half).copy(lo, "in", start)
                    chunk(hi, Buffer.input, start + half, half).reduce(sent)
                    chunk(lo, Buffer.input, start, half).reduce(chunk(lo, "in", start, half))
                    owned[lo], owned[hi] = (start, half), (start + half, half)
            distance //= 2
        distance = 1
        while distance < n:
            for r in range(n):
                start, size = owned[r]
                # In place: the output is the same memory.
                chunk(r, Buffer.output, start, size).copy(r ^ distance, Buffer.output, start)
            owned = {
                r: (min(start, owned[r ^ distance][0]), 2 * size)
                for r, (start, size) in owned.items()
            }
            distance *= 2

    right(AllReduce(n, n, True), body)


@pytest.mark.parametrize("nodes,gpus", [(2, 2), (2, 4), (3, 4)])
@pytest.mark.parametrize("instances", [1, 2])
def test_hierarchical_allreduce(nodes, gpus, instances):
    n = nodes * gpus

    def rank(node, gpu):
        return node * gpus + gpu % gpus

    def body():
        # Chunk g*nodes+k is gpu g's business inside every node, node k's between the nodes.
        for node in range(nodes):
            for g in range(gpus):
                total = chunk(rank(node, g + 1), Buffer.input, g * nodes, nodes)
                for hop in range(2, gpus + 1):
                    next = chunk(rank(node, g + hop), Buffer.input, g * nodes, nodes)
                    total = next.reduce(total, ch=0)
        for g in range(gpus):
            for k in range(nodes):
                total = chunk(rank((k + 1) % nodes, g), Buffer.input, g * nodes + k)
                for hop in range(2, nodes + 1):
                    next = chunk(rank((k + hop) % nodes, g), Buffer.input, g * nodes + k)
                    total = next.reduce(total, ch=1)
                for hop in range(1, nodes):
                    total = total.copy(rank((k + hop) % nodes, g), Buffer.input, g * nodes + k, ch=1)
        for node in range(nodes):
            for g in range(gpus):
                c = chunk(rank(node, g), Buffer.input, g * nodes, nodes)
                for hop in range(1, gpus):
                    c = c.copy(rank(node, g + hop), Buffer.input, g * nodes, ch=2)

    right(AllReduce(n, n, True), body, instances, distributed_fully_connected(fully_connected(gpus), nodes, 1))


@pytest.mark.parametrize("nodes,gpus", [(1, 4), (2, 3), (3, 2), (4, 8)])
def test_alltoalls_between_nodes(nodes, gpus):
    topo = distributed_fully_connected(fully_connected(gpus), nodes, 1)
    collective = AllToAll(nodes * gpus, 1, False)
    right(collective, lambda: alltoall_hierarchical(nodes, gpus), topo=topo)
    if nodes <= gpus:
        right(collective, lambda: alltoall_three_step(nodes, gpus), topo=topo)
        right(collective, lambda: alltoall_three_step(nodes, gpus, 2, gpus), topo=topo)


def test_alltoall_over_scattered_scratch():
    # Chunks appended to tuple-named scratch buffers in the order of arrival, grouped, split, told by
    # get_dst_rank where to go.
    n = 4

    def body():
        for r in range(n):
            for q in range(n):
                chunk(r, Buffer.input, q).copy((q + 1) % n, ("via", (q + 1) % n))
        for via in range(n):
            name = ("via", via)
            group = chunk(via, name, 0).group(chunk(via, name, 1)).group(chunk(via, name, 2, 2))
            for i, c in enumerate(group.split(n)):
                assert c.get_dst_rank() == (via - 1) % n
                c.copy(c.get_dst_rank(), Buffer.output, c.get_dst_index())

    right(AllToAll(n, 1, False), body)


@pytest.mark.parametrize("inplace", [False, True])
def test_reduce_scatter(inplace):
    n = 4

    def body():
        for q in range(n):
            total = chunk((q + 1) % n, Buffer.input, q)
            for hop in range(2, n + 1):
                total = chunk((q + hop) % n, Buffer.input, q).reduce(total)
            if not inplace:
                total.copy(q, Buffer.output, 0)

    right(ReduceScatter(n, 1, inplace), body, 2)


def test_an_in_place_reduce_scatters_output_is_its_input():
    with MSCCLProgram("p", fully_connected(2), ReduceScatter(2, 1, True), 1):
        for q in range(2):
            mine = chunk(q, Buffer.output, 0)
            assert (mine.buffer, mine.index) == (Buffer.input, q)
            mine.reduce(chunk(1 - q, Buffer.input, q))
        assert Check() is True


def test_one_step_allreduce():
    n = 4

    def body():
        for r in range(n):
            for q in range(n):
                if r != q:
                    chunk(r, Buffer.input, 0, n).copy(q, "all", sendtb=q, recvtb=r)
        for r in range(n):
            for q in range(n - 1):
                for i in range(n):
                    chunk(r, Buffer.input, i).reduce(chunk(r, "all", q * n + i), sendtb=i)

    for nop in (False, True):
        right(
            AllReduce(n, n, True), body, 2, threadblock_policy=MANUAL,
            interleaved_replication=False, dependence_nop=nop,
        )  # fmt: skip


class Pipeline(Collective):
    """Every rank's chunks end on the next rank."""

    def init_buffers(self):
        return [
            {
                Buffer.input: [Chunk(r, c, r + 1, c) for c in range(self.chunk_factor)],
                Buffer.output: [None] * self.chunk_factor,
            }
            for r in range(self.num_ranks)
        ]

    def check(self, prog):
        return all(
            prog.buffers[r][Buffer.output][c] == Chunk(r - 1, c)
            for r in range(1, self.num_ranks)
            for c in range(self.chunk_factor)
        )


@pytest.mark.parametrize("interleaved", [False, True])
def test_a_pipeline_placed_by_hand_that_leaves_some_threadblocks_out(interleaved):
    # A collective of its own, batched, with copies whose sendtb is not said: one threadblock more.
    def body():
        for r in range(2):
            c = chunk(r, Buffer.input, 0, 4).copy(r, "staged", 0)
            c.copy(r + 1, Buffer.output, 0, sendtb=0, recvtb=1)

    program = MSCCLProgram(
        "pipeline", line(3), Pipeline(3, 4, False), 2, "Simple", MANUAL, interleaved
    )
    with program:
        body()
        assert Check() is True
    compiled_right(program)


def test_an_allreduce_along_a_dgx1():
    order = [0, 1, 3, 2, 6, 7, 5, 4]

    def body():
        for i in range(8):
            total = chunk(order[i], Buffer.input, i)
            for hop in range(1, 8):
                total = chunk(order[(i + hop) % 8], Buffer.input, i).reduce(total)
            for hop in range(8, 15):
                total = total.copy(order[(i + hop) % 8])

    right(AllReduce(8, 8, True), body, topo=dgx1())


def test_a_binary_tree_allreduce_split_over_channels():
    n = 7

    def body():
        for ch in range(2):
            for child in range(n - 1, 0, -1):
                chunk((child - 1) // 2, Buffer.input, ch).reduce(chunk(child, Buffer.input, ch), ch=ch)
            for child in range(1, n):
                chunk((child - 1) // 2, Buffer.input, ch).copy(child, Buffer.input, ch, ch=ch + 2)

    right(AllReduce(n, 2, True), body, 3)
