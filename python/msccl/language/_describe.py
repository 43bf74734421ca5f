"""From a Python collective to what the C++ program needs to know of it.

A built-in collective that overrides nothing is the C++ one: checked, and compiled with its
postcondition. Any other is declared slot by slot from init_buffers(); what must lie where at the end
only its check() knows, so the compiler keeps whatever its input and output slots hold.
"""

from hocket import _core
from msccl.language._numbers import as_int
from msccl.language.buffer import Buffer
from msccl.language.chunk import Chunk, ReduceChunk
from msccl.language.collectives import AllGather, AllReduce, AllToAll, Collective, ReduceScatter

_OVERRIDABLE = ("init_buffers", "check", "get_buffer_index")

# class: (C++ kind, in-place map of places, where chunks want to go)
_BUILT_IN = {
    AllReduce: ("allreduce", "output_to_input", "same_index"),
    AllGather: ("allgather", "input_to_output", "gathered"),
    AllToAll: ("alltoall", "none", "exchanged"),
    ReduceScatter: ("reduce_scatter", "output_in_input", "scattered"),
}


def _overrides(collective, cls, methods=_OVERRIDABLE):
    own = vars(collective)
    return any(
        method in own or getattr(type(collective), method) is not getattr(cls, method)
        for method in methods
    )


def describe(collective):
    """The arguments of DropInProgram that come from the collective, and the program's own chunk
    objects by origin (None where chunks are made from the origin alone)."""
    for cls, (kind, place_map, destination) in _BUILT_IN.items():
        if isinstance(collective, cls) and not _overrides(collective, cls):
            factor = as_int("HK0201", "chunk_factor", collective.chunk_factor)
            made = _core.Collective.make(
                kind,
                as_int("HK0201", "num_ranks", collective.num_ranks),
                factor,
                bool(collective.inplace),
            )
            arguments = {
                "collective": made,
                "place_map": place_map if collective.inplace else "none",
                "get_buffer_index": None,
                "chunk_factor": factor,
                "destination": destination,
                "output_is_input": [],
                "chunks": [],
            }
            return arguments, None
    return _describe_custom(collective)


def _describe_custom(collective):
    ranks = as_int("HK0201", "num_ranks", collective.num_ranks)
    buffers = collective.init_buffers()
    if not hasattr(buffers, "__len__") or len(buffers) != ranks:
        found = f"buffers of {len(buffers)} ranks" if hasattr(buffers, "__len__") else repr(buffers)
        _bad(f"init_buffers() returned {found}, but the collective has {ranks} ranks")

    aliased = []
    for rank, of_rank in enumerate(buffers):
        if of_rank is None:
            _bad(f"init_buffers() returned no buffers for rank {rank}")
        if not hasattr(of_rank, "items"):
            _bad(f"init_buffers() returned {of_rank!r} for rank {rank}, but it must be a dict of buffers")
        for name, chunks in of_rank.items():
            if not hasattr(chunks, "__len__") or not hasattr(chunks, "__iter__"):
                _bad(f"rank {rank} has {chunks!r} as its {name!r}, but it must be a list of chunks")
        inputs, outputs = of_rank.get(Buffer.input), of_rank.get(Buffer.output)
        aliased.append(inputs is not None and inputs is outputs)
        for name, chunks in of_rank.items():
            if name not in (Buffer.input, Buffer.output) and any(c is not None for c in chunks):
                _bad(f"rank {rank} starts with chunks in {name!r}, but a scratch buffer starts empty")
    everywhere = all(aliased)

    factor = collective.chunk_factor
    factor = as_int("HK0201", "chunk_factor", factor) if _is_index(factor) else 1
    custom = _core.CustomCollective("custom", ranks, max(1, factor), in_place=everywhere)
    origins = _Origins(ranks)
    for rank, of_rank in enumerate(buffers):
        inputs = of_rank.get(Buffer.input, ())
        outputs = of_rank.get(Buffer.output, ())
        custom.buffers(rank, len(inputs), len(outputs))
        sides = [(_core.Buffer.input, inputs)]
        if not aliased[rank]:
            sides.append((_core.Buffer.output, outputs))
        for buffer, chunks in sides:
            for index, chunk in enumerate(chunks):
                if chunk is not None:
                    custom.holds(rank, (buffer, index), origins.of(chunk, rank))

    map_owner = next(
        (c for c in (*_BUILT_IN, Collective) if not _overrides(collective, c, ("get_buffer_index",))),
        None,
    )
    if map_owner is None:
        place_map, get_buffer_index = "python", collective.get_buffer_index
    elif map_owner in _BUILT_IN and collective.inplace:
        place_map, get_buffer_index = _BUILT_IN[map_owner][1], None
    else:
        place_map, get_buffer_index = "none", None
    arguments = {
        "collective": custom.without_postcondition().build(),
        "place_map": place_map,
        "get_buffer_index": get_buffer_index,
        "chunk_factor": factor,
        "destination": "nowhere",
        "output_is_input": aliased if any(aliased) and not everywhere else [],
        "chunks": list(origins.chunks.items()),
    }
    return arguments, origins.chunks


class _Origins:
    """The C++ origin of each chunk object: its own where that is a chunk that can be, else one that
    no other chunk has. Two objects are one chunk when all their fields are equal."""

    def __init__(self, ranks):
        self._ranks = ranks
        self._known = {}
        self.chunks = {}

    def of(self, chunk, rank):
        if isinstance(chunk, Chunk) or (
            hasattr(chunk, "origin_rank") and hasattr(chunk, "origin_index")
        ):
            key = (
                chunk.origin_rank,
                chunk.origin_index,
                getattr(chunk, "dst_rank", -1),
                getattr(chunk, "dst_index", -1),
            )
        elif isinstance(chunk, ReduceChunk):
            key = id(chunk)
        else:
            _bad(f"init_buffers() puts {chunk!r} on rank {rank}, but a slot holds a Chunk or None")
        try:
            origin = self._known.get(key)
        except TypeError:
            key = id(chunk)  # of fields that cannot be hashed
            origin = self._known.get(key)
        if origin is None:
            origin = self._natural(key)
            if origin is None or origin in self.chunks:
                origin = self._free()
            self._known[key] = origin
            self.chunks[origin] = chunk
        return origin

    def _natural(self, key):
        if not isinstance(key, tuple) or not (_is_index(key[0]) and _is_index(key[1])):
            return None
        rank, index = int(key[0]), int(key[1])
        return (rank, index) if 0 <= rank < self._ranks and 0 <= index < 1 << 20 else None

    def _free(self):
        index = len(self.chunks)
        while (0, index) in self.chunks:
            index += 1
        return (0, index)


def _is_index(value):
    return hasattr(value, "__index__")


def _bad(message):
    _core._make_error("HK0201", message)
