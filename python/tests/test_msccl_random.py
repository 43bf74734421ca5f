"""Random programs through the drop-in package: whatever it accepts compiles to what the program says, in
every schedule. Aliased buffers on all, some or no ranks, empty slots, tuple-named scratch buffers, appended
copies, channels, threadblock numbers, instances, both replications, fusion on and off.

HOCKET_RANDOM_SEED and HOCKET_RANDOM_COUNT choose other programs and more of them.
"""

import collections as counting
import os
import random
import warnings

import hocket
from msccl.language import Buffer, Chunk, MSCCLProgram, chunk
from msccl.language.collectives import Collective
from msccl.topologies import fully_connected
from support import compiled_right

NAMES = [Buffer.input, Buffer.output, "s", (1, 2), 7]
# What a random program may run into; anything else is a bug of ours.
REFUSED = {"HK0102", "HK0103", "HK0109", "HK0111", "HK0112", "HK0121"}


class Shaped(Collective):
    """`aliased`: the ranks whose input and output are one list. `empty`: (rank, index) of no input."""

    def __init__(self, ranks, inputs, outputs, aliased, empty):
        super().__init__(ranks, inputs, bool(aliased))
        self.outputs = outputs
        self.aliased = aliased
        self.empty = empty

    def init_buffers(self):
        buffers = []
        for r in range(self.num_ranks):
            inputs = [None if (r, i) in self.empty else Chunk(r, i) for i in range(self.chunk_factor)]
            outputs = inputs if r in self.aliased else [None] * self.outputs
            buffers.append({Buffer.input: inputs, Buffer.output: outputs})
        return buffers


def random_program(rng):
    ranks, inputs = rng.randint(1, 4), rng.randint(1, 4)
    aliased = rng.choice([[], [], range(ranks), range(1, ranks, 2)])
    outputs = inputs if aliased else rng.randint(1, 5)
    empty = set()
    if ranks * inputs > 1 and rng.random() < 0.3:
        empty = {(rng.randrange(ranks), rng.randrange(inputs))}
    return MSCCLProgram(
        "random",
        fully_connected(ranks),
        Shaped(ranks, inputs, outputs, aliased, empty),
        rng.choice([1, 1, 2, 3]),
        rng.choice(["Simple", "LL"]),
        interleaved_replication=rng.random() < 0.8,
        instr_fusion=rng.random() < 0.8,
        dependence_nop=rng.random() < 0.3,
    )


def random_place(rng, program, size=None):
    """A Ref of some place, or None where the place that was drawn holds nothing."""
    rank, name = rng.randrange(program.num_ranks), rng.choice(NAMES)
    length = program._size(rank, name)
    if length == 0 or (size or 1) > length:
        return None
    index = rng.randrange(length - (size or 1) + 1)
    return chunk(rank, name, index, size or rng.randint(1, min(3, length - index)))


def random_operation(rng, program):
    """True where an operation was traced."""
    c = random_place(rng, program)
    if c is None:
        return False
    via = {"ch": rng.choice([-1, -1, 0, 1, 2])}
    if rng.random() < 0.2:
        via.update(sendtb=rng.randrange(3), recvtb=rng.randrange(3))
    if rng.random() < 0.35:
        other = random_place(rng, program, c.size)
        if other is None:
            return False
        c.reduce(other, **via)
    else:
        rank, name, how = rng.randrange(program.num_ranks), rng.choice(NAMES), rng.random()
        if how < 0.2:
            c.copy(rank, **via)
        elif how < 0.3:
            c.copy(rank, name, **via)
        else:
            c.copy(rank, name, rng.randrange(5), **via)
    return True


def test_whatever_is_accepted_compiles_right():
    first = int(os.environ.get("HOCKET_RANDOM_SEED", "1"))
    count = int(os.environ.get("HOCKET_RANDOM_COUNT", "2000"))
    outcomes = counting.Counter()
    for seed in range(first, first + count):
        rng = random.Random(seed)
        program = random_program(rng)
        with warnings.catch_warnings(), program:
            warnings.simplefilter("ignore")
            for _ in range(rng.randint(3, 24)):
                try:
                    outcomes["operations"] += random_operation(rng, program)
                except hocket.Error as error:
                    assert error.code in REFUSED, f"seed {seed}: {error}"
            try:
                compiled_right(program)
                outcomes["right"] += 1
            except hocket.errors.BatchedWrongError:
                outcomes["refused"] += 1
            except BaseException as error:
                raise AssertionError(f"seed {seed}: {error}") from error
    # The generator makes what it is there to make.
    assert outcomes["right"] > 0.9 * count and outcomes["operations"] > count
