"""Your own numbers through an algorithm, in this process.

LocalExecutor checks and plans an algorithm once and runs it any number of times on buffers that you
own. All ranks are here, so nothing but this program is needed. Any number of elements will do: 10
elements in 4 chunks are cut at 0, 2, 5, 7 and 10.

What you see here: make_algorithm() from the library, LocalExecutor.run(), other operators and types,
in place.
"""

from array import array

import hocket

RANKS = 4
COUNT = 10


def numbers(rank):
    """Rank r's numbers; an array, a NumPy array or anything else with the buffer protocol will do."""
    return array("q", [100 * rank + i * i % 7 for i in range(COUNT)])


def show(what, values):
    print(f"{what}:", *values)


def main():
    program = hocket.make_algorithm("allreduce_ring", ranks=RANKS)
    executor = hocket.LocalExecutor(hocket.compile(program))

    inputs = [numbers(r) for r in range(RANKS)]
    outputs = [array("q", [-1] * COUNT) for _ in range(RANKS)]

    show("rank 1 has", inputs[1])
    # One plan, several calls: another operator, other data.
    for op in ("sum", "max", "min"):
        executor.run(inputs, outputs, op=op)
        show(f"{op} on rank 2", outputs[2])
    same = all(output == outputs[0] for output in outputs)
    print(f"all ranks have the same: {'yes' if same else 'no'}")

    # In place: the algorithm is made for it, and input and output are one buffer.
    in_place = hocket.make_algorithm("allreduce_ring", ranks=RANKS, in_place=True)
    hocket.LocalExecutor(hocket.compile(in_place)).run(inputs, in_place=True)
    show("sum in place on rank 3", inputs[3])


if __name__ == "__main__":
    main()
