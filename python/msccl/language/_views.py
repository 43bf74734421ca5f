"""`prog.buffers`: what every slot holds now, as chunk objects made when they are looked at."""

from collections.abc import Mapping, Sequence

from msccl.language.buffer import Buffer, BufferSlice
from msccl.language.chunk import Chunk, ReduceChunk


def chunk_at(program, rank, buffer, index):
    """The object that lies in a slot: a Chunk, a ReduceChunk, or None."""
    origins = program._content(rank, buffer, index)
    if origins is None:
        return None
    own = program._chunks
    if own is None:
        chunks = [Chunk(r, i, *program._destination(r, i)) for r, i in origins]
    else:
        chunks = [own[origin] for origin in origins]
    if len(chunks) == 1:
        return chunks[0]
    contributions = []
    for chunk in chunks:
        if isinstance(chunk, ReduceChunk):
            contributions.extend(chunk.chunks)
        else:
            contributions.append(chunk)
    return ReduceChunk(rank, sorted(contributions))


class Chunks(Sequence):
    """The slots of one buffer of one rank, as a list that cannot be written."""

    def __init__(self, program, rank, buffer):
        self._program = program
        self._rank = rank
        self._buffer = buffer

    def __len__(self):
        return self._program._size(self._rank, self._buffer)

    def __getitem__(self, index):
        size = len(self)
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(size))]
        place = index.__index__()
        if not -size <= place < size:
            raise IndexError(
                f"rank {self._rank} buffer {self._buffer}: index {place}, but it has {size} chunks"
            )
        return chunk_at(self._program, self._rank, self._buffer, place % size)

    def __eq__(self, other):
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other))

    __hash__ = None

    def __repr__(self):
        return repr(list(self))


class ScratchChunks(Chunks, BufferSlice):
    """The same for a named scratch buffer, with the names of BufferSlice."""

    def __init__(self, program, rank, buffer):
        BufferSlice.__init__(self, Buffer.scratch, buffer)
        Chunks.__init__(self, program, rank, buffer)

    @property
    def chunks(self):
        return list(self)

    @chunks.setter
    def chunks(self, value):
        if value:
            raise TypeError("the chunks of a program's buffer cannot be written")

    def __setitem__(self, index, value):
        raise TypeError("the chunks of a program's buffer cannot be written")

    __iter__ = Chunks.__iter__


class RankBuffers(Mapping):
    """The buffers of one rank, by name; scratch buffers once something is written there."""

    def __init__(self, program, rank):
        self._program = program
        self._rank = rank

    def __getitem__(self, name):
        if name is Buffer.input or name is Buffer.output:
            return Chunks(self._program, self._rank, name)
        if name not in self._program._scratch_names(self._rank):
            raise KeyError(name)
        return ScratchChunks(self._program, self._rank, name)

    def __iter__(self):
        yield Buffer.input
        yield Buffer.output
        yield from self._program._scratch_names(self._rank)

    def __len__(self):
        return 2 + len(self._program._scratch_names(self._rank))

    def __repr__(self):
        return repr(dict(self))


class Buffers(Sequence):
    """The buffers of every rank."""

    def __init__(self, program):
        self._program = program

    def __len__(self):
        return self._program.num_ranks

    def __getitem__(self, rank):
        size = len(self)
        if isinstance(rank, slice):
            return [self[r] for r in range(*rank.indices(size))]
        if not -size <= rank < size:
            raise IndexError(f"rank {rank}, but the program has {size} ranks")
        return RankBuffers(self._program, rank % size)
