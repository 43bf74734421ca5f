"""Rings to call inside a program. Everything of the language, its collectives and the topologies is
here too."""

from msccl.language import *  # noqa: F403
from msccl.language import chunk
from msccl.language.buffer import Buffer
from msccl.language.collectives import *  # noqa: F403
from msccl.topologies import *  # noqa: F403


def allgather_ring_inplace(size, chunk_factor=1):
    """An in-place allgather of `size` ranks: every rank's part once around the ring."""
    for r in range(size):
        part = chunk(r, Buffer.input, 0, chunk_factor)
        for hop in range(1, size):
            part = part.copy((r + hop) % size, Buffer.output, r * chunk_factor)


def allreduce_ring_inplace(size):
    """An in-place allreduce of `size` ranks and `size` chunks: once around to add, once to spread."""
    for i in range(size):
        total = chunk(i, Buffer.input, i)
        for hop in range(1, size):
            total = chunk((i + hop) % size, Buffer.input, i).reduce(total)
        for hop in range(size, 2 * size - 1):
            total = total.copy((i + hop) % size, Buffer.input, i)
