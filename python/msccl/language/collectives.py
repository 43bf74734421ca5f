"""Collectives: what lies where before, what must lie where after, and in-place naming.

Write your own by subclassing Collective. Everything of msccl.language is here too.
"""

from msccl.language import *  # noqa: F403
from msccl.language import __all__ as _language
from msccl.language.buffer import Buffer
from msccl.language.chunk import Chunk, ReduceChunk


class Collective:
    """Override init_buffers(), check() and, where two names mean one place, get_buffer_index()."""

    def __init__(self, num_ranks, chunk_factor, inplace):
        self.num_ranks = num_ranks
        self.chunk_factor = chunk_factor
        self.inplace = inplace
        self.name = "custom"

    def init_buffers(self):
        """A list over ranks of {Buffer.input: [...], Buffer.output: [...]}, of Chunk or None. In place
        both are one list."""

    def check(self, prog):
        """Whether every chunk of `prog.buffers` is where it must be."""

    def get_buffer_index(self, rank, buffer, index):
        """The place that (buffer, index) means; for a copy's destination, with the source's rank."""
        return buffer, index


def _all_ranks(num_ranks, index):
    return ReduceChunk(-1, [Chunk(r, index) for r in range(num_ranks)])


def _wrong_slots(collective, prog, slots):
    """Slots that are wrong: from the C++ check where the program has it, else those of `slots`:
    (rank, index, is right)."""
    if prog._built_in and prog.collective is collective:
        yield from prog._check()
        return
    for rank, index, right in slots:
        if not right:
            yield rank, index


class AllReduce(Collective):
    def __init__(self, num_ranks, chunk_factor, inplace):
        super().__init__(num_ranks, chunk_factor, inplace)
        self.name = "allreduce"

    def init_buffers(self):
        buffers = []
        for r in range(self.num_ranks):
            inputs = [Chunk(r, i, -1, i) for i in range(self.chunk_factor)]
            outputs = inputs if self.inplace else [None] * self.chunk_factor
            buffers.append({Buffer.input: inputs, Buffer.output: outputs})
        return buffers

    def check(self, prog):
        def slots():
            expected = [_all_ranks(self.num_ranks, c) for c in range(self.chunk_factor)]
            for r in range(self.num_ranks):
                for c, chunk in enumerate(prog.buffers[r][Buffer.output][: self.chunk_factor]):
                    yield r, c, chunk is not None and expected[c] == chunk

        correct = True
        for r, c in _wrong_slots(self, prog, slots()):
            chunk = prog.buffers[r][Buffer.output][c]
            print(
                f"Rank {r} chunk {c} is incorrect should be ReduceChunk index {c} from all ranks, "
                f"given {chunk}"
            )
            correct = False
        return correct

    def get_buffer_index(self, rank, buffer, index):
        if self.inplace and buffer == Buffer.output:
            return Buffer.input, index
        return buffer, index


class AllGather(Collective):
    def __init__(self, num_ranks, chunk_factor, inplace):
        super().__init__(num_ranks, chunk_factor, inplace)
        self.name = "allgather"

    def init_buffers(self):
        buffers = []
        for r in range(self.num_ranks):
            own = r * self.chunk_factor
            inputs = [Chunk(r, i, -1, own + i) for i in range(self.chunk_factor)]
            outputs = [None] * (self.num_ranks * self.chunk_factor)
            if self.inplace:
                outputs[own : own + self.chunk_factor] = inputs
            buffers.append({Buffer.input: inputs, Buffer.output: outputs})
        return buffers

    def check(self, prog):
        def slots():
            for r in range(self.num_ranks):
                for k, chunk in enumerate(prog.buffers[r][Buffer.output]):
                    yield r, k, chunk == Chunk(k // self.chunk_factor, k % self.chunk_factor)

        correct = True
        for r, k in _wrong_slots(self, prog, slots()):
            chunk = prog.buffers[r][Buffer.output][k]
            given = (
                f"({chunk.origin_rank}, {chunk.origin_index})" if isinstance(chunk, Chunk) else chunk
            )
            i, ch = k // self.chunk_factor, k % self.chunk_factor
            print(f"Rank {r} chunk {k} is incorrect should be ({i}, {ch}) given {given}")
            correct = False
        return correct

    def get_buffer_index(self, rank, buffer, index):
        if self.inplace and buffer == Buffer.input:
            return Buffer.output, rank * self.chunk_factor + index
        return buffer, index


class AllToAll(Collective):
    def __init__(self, num_ranks, chunk_factor, inplace):
        super().__init__(num_ranks, chunk_factor, inplace)
        self.name = "alltoall"

    def init_buffers(self):
        c = self.chunk_factor
        buffers = []
        for r in range(self.num_ranks):
            inputs = [Chunk(r, k, k // c, k % c + r * c) for k in range(self.num_ranks * c)]
            outputs = inputs if self.inplace else [None] * (self.num_ranks * c)
            buffers.append({Buffer.input: inputs, Buffer.output: outputs})
        return buffers

    def _expected(self, rank, k):
        return k // self.chunk_factor, rank * self.chunk_factor + k % self.chunk_factor

    def check(self, prog):
        def slots():
            for r in range(self.num_ranks):
                for k, chunk in enumerate(prog.buffers[r][Buffer.output]):
                    yield r, k, chunk == Chunk(*self._expected(r, k))

        correct = True
        for r, k in _wrong_slots(self, prog, slots()):
            i, e = self._expected(r, k)
            chunk = prog.buffers[r][Buffer.output][k]
            print(f"Rank {r} chunk {k} is incorrect should be chunk({i},{e}) given {chunk}")
            correct = False
        return correct


class ReduceScatter(Collective):
    def __init__(self, num_ranks, chunk_factor, inplace):
        super().__init__(num_ranks, chunk_factor, inplace)
        self.name = "reduce_scatter"

    def init_buffers(self):
        c = self.chunk_factor
        buffers = []
        for r in range(self.num_ranks):
            inputs = [Chunk(r, k, k // c, k % c) for k in range(self.num_ranks * c)]
            of_rank = {Buffer.input: inputs}
            if not self.inplace:
                of_rank[Buffer.output] = [None] * c
            buffers.append(of_rank)
        return buffers

    def _found(self, prog, rank, c):
        if self.inplace:
            return prog.buffers[rank][Buffer.input][rank * self.chunk_factor + c]
        return prog.buffers[rank][Buffer.output][c]

    def check(self, prog):
        def slots():
            for r in range(self.num_ranks):
                for c in range(self.chunk_factor):
                    chunk = self._found(prog, r, c)
                    expected = _all_ranks(self.num_ranks, r * self.chunk_factor + c)
                    yield r, c, chunk is not None and expected == chunk

        correct = True
        for r, c in _wrong_slots(self, prog, slots()):
            k = r * self.chunk_factor + c
            chunk = self._found(prog, r, c)
            print(
                f"Rank {r} chunk {c} is incorrect should be index {k} from all ranks given {chunk}"
            )
            correct = False
        return correct

    def get_buffer_index(self, rank, buffer, index):
        if self.inplace and buffer == Buffer.output:
            return Buffer.input, rank * self.chunk_factor + index
        return buffer, index


__all__ = [*_language, "AllGather", "AllReduce", "AllToAll", "Collective", "ReduceScatter"]
