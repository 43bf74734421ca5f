"""A first program: the ring allgather.

Every rank starts with one chunk and must end with everybody's. A program says which chunk moves
where, in any order that makes sense; here each chunk travels once round the ring. Running the program
does not move data: it is *traced*. From the trace Hocket can tell at once whether the result is an
allgather, and compile what every rank's threadblocks will do.

What you see here: Program, chunk(), copy(), check(), compile(), stats(), to_xml().
"""

import hocket
from hocket import Buffer


def ring_allgather(n):
    p = hocket.Program("ring_allgather", hocket.ring(n), hocket.allgather(n, 1))
    for r in range(n):
        # Rank r's own chunk goes to its place in the output, and from there on round the ring. copy()
        # returns the place it wrote, so that the next copy starts there; with no buffer and index it
        # goes to the same place on the other rank.
        c = p.chunk(r, Buffer.input, 0).copy(r, Buffer.output, r)
        for hop in range(1, n):
            c = c.copy((r + hop) % n)
    return p


def main():
    p = ring_allgather(3)

    report = p.check()
    print(f"{report.checked} chunks compared, {report.wrong} wrong")

    algorithm = hocket.compile(p)
    shape = algorithm.stats()
    print(
        f"{shape.steps} steps in {shape.threadblocks} threadblocks on {shape.channels} channel\n"
    )

    # The compiler has fused each receive with the send that follows it (rcs: receive, copy, send).
    print(algorithm.to_xml("msccl"), end="")


if __name__ == "__main__":
    main()
