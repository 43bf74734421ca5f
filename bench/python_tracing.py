#!/usr/bin/env python3
"""What tracing costs from Python: microseconds of CPU time a copy or reduce through both packages, and the
time that `import msccl.language` takes.

    PYTHONPATH=build/release/python python3 bench/python_tracing.py [--json FILE] [--check]

--check exits with 1 where a figure is above what is promised: 2 us an operation, 50 ms an import.
"""

import argparse
import json
import os
import subprocess
import sys
import time

import hocket
from msccl.language import Buffer, MSCCLProgram, chunk
from msccl.language.collectives import AllReduce, AllToAll
from msccl.topologies import fully_connected

PROMISED_US = 2.0
PROMISED_IMPORT_MS = 50.0


def dropin_alltoall(n):
    """One chunk() and one copy() an operation: n*n of them."""
    program = MSCCLProgram("alltoall", fully_connected(n), AllToAll(n, 1, False), 1)
    start = time.thread_time()
    with program:
        for r in range(n):
            for q in range(n):
                c = chunk(r, Buffer.input, q)
                c.copy(q, Buffer.output, r)
    return time.thread_time() - start, n * n


def dropin_scratch_alltoall(n):
    """The same through named scratch buffers, two copies and one chunk() a pair."""
    program = MSCCLProgram("two_step", fully_connected(n), AllToAll(n, 1, False), 1)
    start = time.thread_time()
    with program:
        for r in range(n):
            for q in range(n):
                c = chunk(r, Buffer.input, q).copy(q, f"from {r}", 0, ch=r % 2)
                c.copy(q, Buffer.output, c.get_origin_rank())
    return time.thread_time() - start, 2 * n * n


def dropin_ring(n):
    """Ring allreduce: n*(n-1) reduces, each with a chunk(), and n*(n-1) copies."""
    program = MSCCLProgram("ring", fully_connected(n), AllReduce(n, n, True), 1)
    start = time.thread_time()
    with program:
        for i in range(n):
            total = chunk(i, Buffer.input, i)
            for hop in range(1, n):
                total = chunk((i + hop) % n, Buffer.input, i).reduce(total)
            for hop in range(n, 2 * n - 1):
                total = total.copy((i + hop) % n, Buffer.input, i)
    return time.thread_time() - start, 2 * n * (n - 1)


def hocket_ring(n):
    """The same through the package hocket."""
    program = hocket.Program("ring", hocket.ring(n), hocket.allreduce(n, n, in_place=True))
    input = hocket.Buffer.input
    start = time.thread_time()
    for i in range(n):
        total = program.chunk(i, input, i)
        for hop in range(1, n):
            total = program.chunk((i + hop) % n, input, i).reduce(total)
        for hop in range(n, 2 * n - 1):
            total = total.copy((i + hop) % n, input, i)
    return time.thread_time() - start, 2 * n * (n - 1)


def best(trace, n, repeats=25):
    """Microseconds of CPU time an operation, the best of some runs: the others measure the machine."""
    seconds, operations = min((trace(n) for _ in range(repeats)), key=lambda run: run[0])
    return seconds / operations * 1e6


def import_ms(module, repeats=9):
    """Milliseconds of `import module` in a fresh interpreter, without that interpreter's start."""
    code = (
        "import time; t = time.perf_counter(); "
        f"import {module}; print(time.perf_counter() - t)"
    )
    # The first run writes the byte code that an installed package comes with.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    times = [
        float(
            subprocess.run(
                [sys.executable, "-c", code], capture_output=True, check=True, env=environment
            ).stdout
        )
        for _ in range(repeats)
    ]
    return min(times) * 1e3


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", metavar="FILE", help="write the figures there too")
    parser.add_argument("--check", action="store_true", help="exit with 1 above what is promised")
    options = parser.parse_args()

    figures = {
        f"{trace.__name__}/{n} us/op": best(trace, n)
        for trace in (dropin_alltoall, dropin_scratch_alltoall, dropin_ring, hocket_ring)
        for n in (32, 128)
    }
    figures["import msccl.language ms"] = import_ms("msccl.language")
    figures["import hocket ms"] = import_ms("hocket")
    for name, value in figures.items():
        print(f"{name:40s} {value:8.3f}")
    if options.json:
        with open(options.json, "w") as file:
            json.dump(figures, file, indent=2)

    above = [
        name
        for name, value in figures.items()
        if value > (PROMISED_US if name.endswith("us/op") else PROMISED_IMPORT_MS)
    ]
    if options.check and above:
        sys.exit("above what is promised: " + ", ".join(above))


if __name__ == "__main__":
    main()
