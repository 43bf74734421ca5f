"""What lies in a slot: one rank's chunk, or a sum of several.

Equality is that of multisets of origins, so a sum of one chunk equals that chunk.
"""

from functools import total_ordering

from hocket import _core


@total_ordering
class Chunk:
    """The chunk that rank `origin_rank` contributed at `origin_index` of its input; the collective
    wants it at `dst_index` of rank `dst_rank` (-1: it does not say)."""

    __slots__ = ("origin_rank", "origin_index", "dst_rank", "dst_index")

    def __init__(self, origin_rank, origin_index, dst_rank=-1, dst_index=-1):
        self.origin_rank = origin_rank
        self.origin_index = origin_index
        self.dst_rank = dst_rank
        self.dst_index = dst_index

    def reduce(self, *args):
        """reduce(creation_rank, chunk): the sum of both."""
        creation_rank, chunk = _reduce_arguments(args)
        return ReduceChunk(creation_rank, [self, *_contributions(chunk)])

    def __eq__(self, other):
        if type(other) is Chunk or isinstance(other, Chunk):
            return self.origin_rank == other.origin_rank and self.origin_index == other.origin_index
        if isinstance(other, ReduceChunk):
            return other.chunks == [self]
        return False

    def __lt__(self, other):
        return (self.origin_rank, self.origin_index) < (other.origin_rank, other.origin_index)

    def __hash__(self):
        return hash((self.origin_rank, self.origin_index))

    def __repr__(self):
        return (
            f"Chunk(origin_rank={self.origin_rank}, origin_index={self.origin_index}, "
            f"dst_rank={self.dst_rank}, dst_index={self.dst_index})"
        )


class ReduceChunk:
    """A sum: `chunks` is a list with repeats."""

    __slots__ = ("creation_rank", "chunks")
    __hash__ = None

    def __init__(self, creation_rank, chunks=None):
        if chunks is None:
            # ReduceChunk(chunks), as an older release has it.
            _core._warn(
                "HK0123",
                "ReduceChunk() without a creation rank is an older release's call",
                "write ReduceChunk(-1, chunks)",
            )
            creation_rank, chunks = -1, creation_rank
        self.creation_rank = creation_rank
        self.chunks = chunks

    def reduce(self, *args):
        """reduce(creation_rank, chunk): the sum of both."""
        creation_rank, chunk = _reduce_arguments(args)
        return ReduceChunk(creation_rank, [*self.chunks, *_contributions(chunk)])

    def sort(self):
        self.chunks.sort()

    def __eq__(self, other):
        if isinstance(other, ReduceChunk):
            return sorted(self.chunks) == sorted(other.chunks)
        if isinstance(other, Chunk):
            return self.chunks == [other]
        return False

    def __repr__(self):
        return f"ReduceChunk(creation_rank={self.creation_rank}, chunks={self.chunks})"


def _reduce_arguments(args):
    if len(args) == 2:
        return args
    if len(args) == 1:
        _core._warn(
            "HK0123",
            "reduce() of one argument is an older release's call",
            "write reduce(-1, chunk)",
        )
        return -1, args[0]
    raise TypeError(f"reduce() takes a creation rank and a chunk, but {len(args)} arguments were given")


def _contributions(chunk):
    if isinstance(chunk, ReduceChunk):
        return chunk.chunks
    if isinstance(chunk, Chunk):
        return (chunk,)
    raise TypeError(f"a sum is of Chunk and ReduceChunk objects, not of {chunk!r}")
