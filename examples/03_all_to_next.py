"""All-to-next: an algorithm that no library has, shaped by the machine.

In a pipeline every GPU hands its buffer to the GPU before it. Inside a node that is one copy. Between
nodes it would squeeze the whole buffer through one network card, while each of the other GPUs has a
card that idles. So GPU 0 of a node scatters its buffer over the node, every GPU sends its part over
its own card to its twin in the node before, and the twins gather it at the last GPU there.

What you see here: scratch buffers by name, channels, a topology of nodes, the whole way from the
program to compared results.
"""

import hocket
from hocket import Buffer


def all_to_next(nodes, gpus):
    n = nodes * gpus
    p = hocket.Program(
        "all_to_next",
        hocket.distributed_fully_connected(hocket.fully_connected(gpus), nodes, 1),
        hocket.all_to_next_backward(n, chunk_factor=gpus),
    )
    for r in range(1, n):
        node = r // gpus
        if r % gpus != 0:  # the GPU before it is in the same node: one copy of all chunks
            p.chunk(r, Buffer.input, 0, gpus).copy(r - 1, Buffer.output, 0)
            continue
        for g in range(gpus):
            part = p.chunk(r, Buffer.input, g)
            ch = g % 2
            # A name is a scratch buffer, which comes into being where it is first written.
            if g != 0:
                part = part.copy(r + g, "scattered", 0, ch=ch)
            if g != gpus - 1:
                part = part.copy((node - 1) * gpus + g, "crossed", 0, ch=ch)
            part.copy(r - 1, Buffer.output, g, ch=ch)
    return p


def main():
    p = all_to_next(2, 8)
    p.check().require()

    algorithm = hocket.compile(p, target="msccl")
    shape = algorithm.stats()
    print(f"{shape.ranks} ranks, {shape.steps} steps, longest chain {shape.critical_path}")
    print(f"MSCCL can load it: {'no' if hocket.check_limits(algorithm, 'msccl') else 'yes'}")

    # On real data: fills every rank's input, runs all ranks in this process, compares every element.
    executor = hocket.LocalExecutor(algorithm)
    result = executor.self_test(count=100000)
    print(f"{result.bytes} bytes a rank: {'wrong' if result.mismatch else 'every element right'}")


if __name__ == "__main__":
    main()
