"""A machine of one's own, and how mistakes are told.

A topology says who has a link to whom; a copy over a link that is not there is refused at the call. So
is every other mistake: an Error has a stable code (docs/errors.md explains each), a message in the
program's own terms, the line of the call, and a hint.

The machine: two pairs of GPUs, 0-1 and 2-3, with fast links inside a pair and one slow link between 1
and 2.

What you see here: Topology, set_link(), Error, Diagnostic, warnings.
"""

import warnings

import hocket
from hocket import Buffer


def two_pairs():
    t = hocket.Topology("two pairs", 4)
    for a, b, bandwidth in [(0, 1, 50), (1, 2, 10), (2, 3, 50)]:
        t.set_link(a, b, bandwidth)
        t.set_link(b, a, bandwidth)
    return t


def attempt(what, mistake):
    p = hocket.Program("attempt", two_pairs(), hocket.allgather(4, 2))
    try:
        mistake(p)
        print(f"{what}: accepted")
    except hocket.Error as error:
        print(f"{what}:\n  {error.code} {error.message}")
        if error.hint:
            print(f"  hint: {error.hint}")
        if not error.location:
            print("  (it does not say where)")


def main():
    machine = two_pairs()
    print("rank 1 can send to", *machine.destinations(1))

    attempt(
        "a copy along the links",
        lambda p: p.chunk(0, Buffer.input, 0).copy(1, Buffer.output, 0).copy(2),
    )
    attempt(
        "a copy over a link that is not there",
        lambda p: p.chunk(0, Buffer.input, 0).copy(3, Buffer.output, 0),
    )
    attempt("a rank that is not there", lambda p: p.chunk(4, Buffer.input, 0))
    attempt("an index past the end", lambda p: p.chunk(0, Buffer.input, 2))
    attempt("a place that nobody has written", lambda p: p.chunk(0, Buffer.output, 5))
    attempt("a split that does not divide", lambda p: p.chunk(0, Buffer.input, 0, 2).split(3))
    attempt(
        "a reduce of unequal sizes",
        lambda p: p.chunk(0, Buffer.input, 0, 2).reduce(p.chunk(1, Buffer.input, 0)),
    )

    # A reference whose place was overwritten since is not an error, but worth a warning.
    p = hocket.Program("stale", machine, hocket.allgather(4, 1))
    old = p.chunk(0, Buffer.input, 0).copy(1, "here", 0)
    p.chunk(2, Buffer.input, 0).copy(1, "here", 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python would show it too; here it is read below
        old.copy(1, Buffer.output, 0)
    for warning in p.warnings:
        print(f"warning {warning.code} {warning.message}")


if __name__ == "__main__":
    main()
