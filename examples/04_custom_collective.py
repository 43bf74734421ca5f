"""A collective of one's own: the halo exchange.

Ranks in a ring each hold a strip of a grid in three chunks: left edge, middle, right edge. Before the
next time step each needs its left neighbour's right edge and its right neighbour's left edge. No
library calls this a collective; here it becomes one by saying what lies where before (holds) and what
must lie where after (requires). From then on everything works as for an allreduce: the program is
checked, the compiled algorithm run and compared, and a wrong one explained.

What you see here: CustomCollective, one use of it right and one wrong.
"""

import hocket
from hocket import Buffer


def halo(n):
    c = hocket.CustomCollective("halo", n)
    for r in range(n):
        c.buffers(r, input_chunks=3, output_chunks=2)
        for k in range(3):
            c.holds(r, (Buffer.input, k), (r, k))
        left, right = (r - 1) % n, (r + 1) % n
        c.requires(r, (Buffer.output, 0), [(left, 2)])
        c.requires(r, (Buffer.output, 1), [(right, 0)])
    return c.build()


def exchange(n, mixed_up):
    p = hocket.Program("halo_exchange", hocket.ring(n), halo(n))
    for r in range(n):
        left, right = (r - 1) % n, (r + 1) % n
        p.chunk(r, Buffer.input, 0).copy(left, Buffer.output, 0 if mixed_up else 1)
        p.chunk(r, Buffer.input, 2).copy(right, Buffer.output, 1 if mixed_up else 0)
    return p


def main():
    right = exchange(5, False)
    report = right.check()
    print(f"{right.collective.name}: {report.checked} chunks compared, {report.wrong} wrong")

    executor = hocket.LocalExecutor(hocket.compile(right))
    result = executor.self_test(count=1000, dtype="float64")  # elements of one chunk
    print(f"on real data: {'wrong' if result.mismatch else 'right'}")

    wrong = exchange(5, True)
    report = wrong.check()
    first = report.list[0]
    (must_rank, must_index), (found_rank, found_index) = first.expected[0], first.found[0]
    print(
        f"mixed up: {report.wrong} wrong; rank {first.rank} output[{first.index}] must hold chunk"
        f" {must_index} of rank {must_rank}, found chunk {found_index} of rank {found_rank}"
    )


if __name__ == "__main__":
    main()
