"""How to use more of the machine: channels, instances, parallelize.

One threadblock cannot fill a fast link. There are three ways to put more of them to work:
- channels: copies on different channels go through different threadblocks and may overlap;
- instances: the whole program runs k times, each time on a k-th of every chunk;
- parallelize(k): only a fragment of the program does, for instance the slow hop between nodes.

The program: rank 0 sends 4 chunks to rank 1 inside its node, which sends them on to rank 2 in the next
node. What is counted: threadblocks of each rank, channels, and steps of all together.

What you see here: ch, instances, parallelize(), stats().
"""

import hocket
from hocket import Buffer

CHUNKS = 4


def pipeline():
    """A pipeline 0 -> 1 -> 2: what rank 0 has, ranks 1 and 2 must get."""
    c = hocket.CustomCollective("pipeline", 3, CHUNKS)
    for r in range(3):
        c.buffers(r, CHUNKS, CHUNKS)
        for k in range(CHUNKS):
            if r == 0:
                c.holds(r, (Buffer.input, k), (r, k))
            else:
                c.requires(r, (Buffer.output, k), [(0, k)])
    return c.build()


def report(how, p):
    p.check().require()
    algorithm = hocket.compile(p)
    shape = algorithm.stats()
    blocks = " ".join(str(len(rank.threadblocks)) for rank in algorithm.ranks)
    print(
        f"{how}: threadblocks of the ranks {blocks}; channels {shape.channels}; steps {shape.steps}"
    )


def main():
    p = hocket.Program("plain", hocket.line(3), pipeline())
    for k in range(CHUNKS):
        p.chunk(0, Buffer.input, k).copy(1, Buffer.output, k).copy(2)
    report("plain", p)

    p = hocket.Program("channels", hocket.line(3), pipeline())
    for k in range(CHUNKS):
        p.chunk(0, Buffer.input, k).copy(1, Buffer.output, k, ch=k % 2).copy(2, ch=k % 2)
    report("two channels", p)

    p = hocket.Program("instances", hocket.line(3), pipeline(), instances=2)
    for k in range(CHUNKS):
        p.chunk(0, Buffer.input, k).copy(1, Buffer.output, k).copy(2)
    report("two instances of all of it", p)

    p = hocket.Program("parallelize", hocket.line(3), pipeline())
    for k in range(CHUNKS):
        c = p.chunk(0, Buffer.input, k).copy(1, Buffer.output, k)
        with p.parallelize(2):
            c.copy(2)
    report("two instances of the slow hop", p)


if __name__ == "__main__":
    main()
