"""What check() says of a mistake.

In an allreduce every rank must end with the sum of all ranks' chunks. This program adds them up on
rank 0 and hands the sum out, but it has a slip: it counts rank 1 twice and forgets rank 3. Such a
program runs to its end on any machine and gives a wrong number, which someone notices weeks later.
check() knows the content of every chunk as a multiset of *origins* (whose input, which index), so it
says exactly what is missing, what is surplus, and which line wrote it last.

What you see here: reduce(), CheckReport, WrongChunk, require().
"""

import inspect

import hocket
from hocket import Buffer

RANKS = 4
line_of_broadcast = 0


def allreduce_on_rank_0(others):
    global line_of_broadcast
    p = hocket.Program(
        "allreduce_on_rank_0", hocket.fully_connected(RANKS), hocket.allreduce(RANKS, 1)
    )
    total = p.chunk(0, Buffer.input, 0).copy(0, Buffer.output, 0)
    for r in others:
        total = total.reduce(p.chunk(r, Buffer.input, 0))
    for r in range(1, RANKS):
        line_of_broadcast = inspect.currentframe().f_lineno + 1
        total.copy(r, Buffer.output, 0)
    return p


def names(origins):
    return "".join(f" rank {rank}" for rank, _ in origins) or " nothing"


def main():
    wrong = allreduce_on_rank_0([1, 1, 2])
    report = wrong.check()
    print(f"{report.wrong} of {report.checked} chunks are wrong")
    for chunk in report.list:
        print(
            f"rank {chunk.rank} {chunk.buffer.name}[{chunk.index}]: found{names(chunk.found)};"
            f" missing{names(chunk.missing)}; surplus{names(chunk.surplus)}"
        )
    blamed = report.list[1].last_write.line == line_of_broadcast
    print(f"the last write to rank 1's was the line of the copy: {'yes' if blamed else 'no'}")

    # For programs that must not go on: require() raises.
    try:
        report.require()
    except hocket.Error as error:
        print(f"require() throws {error.code}")

    right = allreduce_on_rank_0([1, 2, 3])
    print(f"corrected: {right.check().wrong} wrong")


if __name__ == "__main__":
    main()
