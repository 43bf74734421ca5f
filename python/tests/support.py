"""What the Python tests share: the judge, runs on real data with an expectation of the test's own, and
programs run as a user would run them."""

import array
import os
import pathlib
import random
import subprocess
import sys
import textwrap

import hocket
import hocket_judge

SOURCE = pathlib.Path(__file__).resolve().parents[2]
SHARED = SOURCE.parent / "shared"


def judged(algorithm, like=None, **options):
    """The independent judge's answer on an algorithm, or on XML text. `like`: an algorithm that says
    what a file in a runtime's dialect cannot of a custom collective."""
    text = algorithm if isinstance(algorithm, str) else algorithm.to_xml("hocket")
    answer = hocket_judge.judge(text, like.to_xml("hocket") if like else None, **options)
    assert answer.findings == []
    return answer


def run_python(program, *arguments, check=True, **environment):
    """Runs a file or a source text as a program of its own."""
    if isinstance(program, pathlib.Path):
        command = [sys.executable, str(program), *map(str, arguments)]
    else:
        command = [sys.executable, "-c", textwrap.dedent(program), *map(str, arguments)]
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=check,
        timeout=300,
        env={**os.environ, **environment},
    )


def run_on_data(algorithm, expected, *, per_chunk=3, in_place=False, seed=7, **options):
    """Runs `algorithm` on random 64-bit integers. `expected` maps (rank, 'output' or 'input', index), in
    chunks of the algorithm, to the (rank, index) whose sum must lie there: each element is compared."""
    rng = random.Random(seed)
    collective = algorithm.collective
    ranks = range(collective.num_ranks)

    def sizes(buffer):
        return [collective.chunks(r, buffer) * per_chunk for r in ranks]

    inputs = [
        array.array("q", [rng.randrange(1 << 40) for _ in range(n)]) for n in sizes(hocket.Buffer.input)
    ]
    before = [array.array("q", values) for values in inputs]
    outputs = [array.array("q", [-1] * n) for n in sizes(hocket.Buffer.output)]
    # Counts are of the smaller buffer of a rank; the sizes above are right for exactly one.
    hocket.LocalExecutor(algorithm).run(inputs, outputs, in_place=in_place, **options)
    for (rank, buffer, index), origins in expected.items():
        for element in range(per_chunk):
            found = (outputs if buffer == "output" else inputs)[rank][index * per_chunk + element]
            right = sum(before[r][i * per_chunk + element] for r, i in origins)
            assert found == right, (rank, buffer, index, element)


def refined(expected, instances):
    """The same expectation where every chunk is cut into `instances` parts."""
    return {
        (rank, buffer, index * instances + part): [(r, i * instances + part) for r, i in origins]
        for (rank, buffer, index), origins in expected.items()
        for part in range(instances)
    }


def custom(name, ranks, chunks, expected, instances=1):
    """An empty algorithm of the collective by which every rank starts with `chunks` input chunks and
    `expected` must hold at the end: for judged(..., like=...)."""
    declared = hocket.CustomCollective(name, ranks, chunks)
    for rank in range(ranks):
        declared.buffers(rank, chunks, chunks)
        for index in range(chunks):
            declared.holds(rank, (hocket.Buffer.input, index), (rank, index))
    for (rank, buffer, index), origins in expected.items():
        declared.requires(rank, (getattr(hocket.Buffer, buffer), index), origins)
    program = hocket.Program(
        name, hocket.fully_connected(ranks), declared.build(), instances=instances
    )
    return hocket.compile(program)


def compiled_right(program):
    """Compiles a program of the drop-in package and has it judged: in every schedule each input and
    output slot ends with what the program says, chunk by chunk, part by part. Returns the algorithm.

    With batched replication part p of a buffer of n chunks is chunks p*n to p*n+n-1."""
    from msccl.language import Buffer

    algorithm = program.to_algorithm()
    memory = judged(algorithm).memory
    seen = 0
    for (rank, kind, index), origins in memory.items():
        if kind == "scratch":
            continue
        buffer = getattr(Buffer, kind)
        size = program._size(rank, buffer)
        parts = getattr(algorithm.ranks[rank], f"{kind}_chunks") // size
        if program.interleaved_replication:
            chunk, cut = index // parts, lambda r, i: (r, i * parts + index % parts)
        else:
            chunk, cut = index % size, lambda r, i: (r, i + index // size * program._inputs(r))
        said = program._content(rank, buffer, chunk)
        assert said is not None, (rank, kind, index)
        assert origins == [cut(r, i) for r, i in said], (rank, kind, index)
        seen += 1
    assert seen > 0
    verified_right(program, algorithm)
    return algorithm


def verified_right(program, algorithm):
    """The verifier's answer on the same: everything proved, and check() would see in the compiled program
    what it sees in the program as traced."""
    from msccl.language import Buffer
    from msccl.language._compiled import CompiledState

    looked = []

    def check(contents):
        state = CompiledState(program, contents)
        for rank in range(program.num_ranks):
            for buffer in (Buffer.input, Buffer.output):
                for index in range(program._size(rank, buffer)):
                    looked.append((rank, buffer, index))
                    said = program._content(rank, buffer, index)
                    assert state._content(rank, buffer, index) == said, looked[-1]
        return True

    report = program.verify(algorithm, check=check)
    assert looked
    (placement,) = report.placements
    for name in ("structure", "deadlock", "races", "initialised"):
        assert placement.properties[name].ruling == "proved", str(report)
