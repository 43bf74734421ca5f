"""The package `hocket`: programs, references, collectives, algorithms, running."""

import array
import inspect
import warnings

import pytest

import hocket
from hocket import Buffer
from support import judged, run_on_data


def ring_allgather(n, **options):
    program = hocket.Program("ring_allgather", hocket.ring(n), hocket.allgather(n, 1), **options)
    for r in range(n):
        c = program.chunk(r, Buffer.input, 0).copy(r, Buffer.output, r)
        for hop in range(1, n):
            c = c.copy((r + hop) % n)
    return program


def test_a_program_is_checked_compiled_run_and_judged():
    program = ring_allgather(8, instances=2, protocol="LL")
    report = program.check()
    assert report and report.ok and report.checked == 64 and report.wrong == 0
    algorithm = hocket.compile(program)
    assert (algorithm.name, algorithm.protocol) == ("ring_allgather", "LL")
    assert algorithm.num_ranks == len(algorithm.ranks) == 8
    assert algorithm.chunks_per_loop == 16
    assert judged(algorithm).compared
    result = hocket.run(algorithm, "64KiB", dtype="bfloat16", repeats=3)
    assert result.checked and result.mismatch is None
    assert result.bytes == 65536 and result.seconds > 0


def test_views_of_an_algorithm():
    algorithm = hocket.compile(ring_allgather(4))
    stats = algorithm.stats()
    assert stats.ranks == 4
    assert stats.steps == sum(
        len(tb.steps) for rank in algorithm.ranks for tb in rank.threadblocks
    )
    assert sum(stats.steps_by_op.values()) == stats.steps
    rank = algorithm.ranks[2]
    assert (rank.rank, rank.input_chunks, rank.output_chunks) == (2, 1, 4)
    tb = rank.threadblocks[0]
    del algorithm, rank  # a view keeps what it looks at
    assert {tb.send, tb.recv} <= {-1, 1, 3}
    step = tb.steps[0]
    assert step.op in ("s", "r", "rcs", "cpy") and step.count == 1
    assert step.location.file.endswith("test_hocket.py") and step.location.line > 0


def test_texts_round_trip():
    algorithm = hocket.compile(ring_allgather(4, instances=3))
    assert hocket.from_text(hocket.to_text(algorithm)) == algorithm
    assert hocket.from_xml(algorithm.to_xml("hocket")) == algorithm
    assert hocket.from_any(algorithm.to_text()) == algorithm
    assert hocket.from_any(algorithm.to_xml("msccl")).num_ranks == 4


def test_a_wrong_program_names_the_chunk_and_the_line():
    program = hocket.Program("wrong", hocket.fully_connected(2), hocket.allreduce(2, 1))
    program.chunk(0, Buffer.input, 0).copy(1, Buffer.output, 0)
    report = program.check()
    assert not report and report.wrong == 2
    nothing, partial = report.list
    assert (nothing.rank, nothing.written, nothing.found) == (0, False, [])
    assert (partial.rank, partial.buffer, partial.index) == (1, Buffer.output, 0)
    assert partial.found == [(0, 0)] and partial.missing == [(1, 0)]
    assert partial.last_write.file.endswith("test_hocket.py")
    assert "rank 1 output[0]" in str(report)
    with pytest.raises(hocket.Error) as caught:
        report.require()
    assert caught.value.code == "HK0203"


def test_an_error_carries_the_diagnostic_and_the_callers_line():
    program = hocket.Program("p", hocket.ring(8), hocket.allgather(8, 1))
    c = program.chunk(0, Buffer.input, 0)
    with pytest.raises(hocket.Error) as caught:
        line = inspect.currentframe().f_lineno + 1
        c.copy(4, Buffer.output, 0)
    error = caught.value
    assert isinstance(error, hocket.errors.NoLinkError)
    assert error.code == "HK0108"
    assert (error.location.file, error.location.line) == (__file__, line)
    assert "0" in error.message and "4" in error.message
    assert str(error) == str(error.diagnostics[0])
    assert f"{__file__}:{error.location.line}: error: " in str(error)
    assert "[HK0108]" in str(error)


@pytest.mark.parametrize(
    "mistake,builtin,code",
    [
        (lambda p, c: p.chunk(9, Buffer.input, 0), IndexError, "HK0101"),
        (lambda p, c: p.chunk(-1, Buffer.input, 0), IndexError, "HK0101"),
        (lambda p, c: p.chunk(0, Buffer.input, 7), IndexError, "HK0102"),
        (lambda p, c: p.chunk(0, Buffer.output, 0), AssertionError, "HK0103"),
        (lambda p, c: p.chunk(0, "s", 0), KeyError, "HK0103"),
        (lambda p, c: p.chunk(0, Buffer.input, 0, 0), ValueError, "HK0104"),
        (lambda p, c: c.group(p.chunk(1, Buffer.input, 0)), AssertionError, "HK0105"),
        (lambda p, c: c.group(p.chunk(0, Buffer.input, 3)), AssertionError, "HK0106"),
        (lambda p, c: c.split(3), AssertionError, "HK0107"),
        (lambda p, c: p.chunk(1, Buffer.input, 0, 2).reduce(c), AssertionError, "HK0110"),
        (lambda p, c: c.reduce(c), ValueError, "HK0112"),
        (lambda p, c: c.copy(1, "s", 0, ch=-5), ValueError, "HK0113"),
        (lambda p, c: c.copy(1, Buffer.output), IndexError, "HK0121"),
        (lambda p, c: hocket.Program("p", hocket.ring(3), hocket.allreduce(4, 1)), IndexError, "HK0202"),
        (lambda p, c: hocket.allreduce(0, 1), ValueError, "HK0201"),
        (lambda p, c: hocket.ring(0), ValueError, "HK0125"),
        (lambda p, c: hocket.make_algorithm("no_such"), ValueError, "HK0801"),
        (lambda p, c: hocket.make_algorithm("allreduce_ring", color=1), ValueError, "HK0802"),
        (lambda p, c: hocket.from_xml("<algo"), hocket.Error, "HK0501"),
    ],
)  # fmt: skip
def test_mistakes_are_errors_at_the_call(mistake, builtin, code):
    program = hocket.Program("p", hocket.fully_connected(4), hocket.allreduce(4, 4))
    with pytest.raises(builtin) as caught:
        mistake(program, program.chunk(0, Buffer.input, 0))
    assert isinstance(caught.value, hocket.Error)
    assert caught.value.code == code


def test_words_that_are_not_words():
    with pytest.raises(ValueError, match="'interleaved', 'batched'"):
        ring_allgather(2, replication="both")
    with pytest.raises(ValueError, match="'msccl'"):
        hocket.compile(ring_allgather(2), target="cuda")
    with pytest.raises(ValueError, match="dtype 'complex64', expected one of float32"):
        hocket.run(hocket.compile(ring_allgather(2)), dtype="complex64")
    with pytest.raises(hocket.errors.BadProtocolError):
        ring_allgather(2, protocol="ll")


def test_stale_references_warn_at_the_users_line():
    program = hocket.Program("p", hocket.fully_connected(3), hocket.allreduce(3, 1))
    a = program.chunk(0, Buffer.input, 0)
    old = a.copy(2, "s", 0)
    program.chunk(1, Buffer.input, 0).copy(2, "s", 0)
    with pytest.warns(hocket.HocketWarning, match="HK0119") as caught:
        old.copy(0, "t", 0)
    assert caught[0].filename == __file__
    assert [w.code for w in program.warnings] == ["HK0119"]
    assert program.warnings[0].severity == "warning"


def test_parallel_fragments():
    def broadcast(parallel):
        program = hocket.Program("fragments", hocket.fully_connected(2), hocket.broadcast(2, 1))
        c = program.chunk(0, Buffer.input, 0)
        if parallel:
            with program.parallelize(4):
                c.copy(1, Buffer.output, 0)
        else:
            c.copy(1, Buffer.output, 0)
        c.copy(0, Buffer.output, 0)
        return program

    assert broadcast(True).check()
    algorithm = hocket.compile(broadcast(True))
    judged(algorithm)
    hocket.run(algorithm, 4096)
    one, four = hocket.compile(broadcast(False)).stats(), algorithm.stats()
    assert four.channels == 4 * one.channels
    program = broadcast(False)
    with pytest.raises(hocket.errors.BadInstancesError):
        with program.parallelize(0):
            pass
    with pytest.raises(hocket.errors.NestedFragmentError):
        with program.parallelize(2):
            with program.parallelize(2):
                pass


def test_references():
    program = hocket.Program("p", hocket.fully_connected(2), hocket.alltoall(2, 2))
    c = program.chunk(0, Buffer.input, 0, 4)
    low, high = c.split(2)
    assert (low.index, high.index, high.size) == (0, 2, 2)
    assert high.group(low) == c
    assert high.origin(1) == (0, 3) and (high.dst_rank(1), high.dst_index(1)) == (1, 1)
    moved = high.copy(1, Buffer.output, 0, ch=3)
    assert (moved.rank, moved.buffer, moved.index, moved.size) == (1, Buffer.output, 0, 2)
    assert moved != high and moved != "moved"
    assert str(moved) == "rank 1 output[0..1]"
    appended = high.copy(1, "s").copy(1, index=5)
    assert (appended.buffer.name, appended.index) == ("s", 5)
    assert program.find_chunk(1, Buffer.output, 3) is None
    assert program.content(1, Buffer.output, 0) == [(0, 2)]
    assert program.content(1, Buffer.output, 3) is None
    assert program.buffer_size(1, "s") == 7


def test_a_custom_collective():
    swap = hocket.CustomCollective("swap", 2)
    for r in (0, 1):
        swap.buffers(r, 1, 1).holds(r, (Buffer.input, 0), (r, 0))
        swap.requires(r, (Buffer.output, 0), [(1 - r, 0)])
    collective = swap.build()
    assert (collective.kind, collective.name) == ("custom", "swap")
    assert collective.expected(0, Buffer.output, 0) == [(1, 0)]
    assert collective.expected(0, Buffer.input, 0) is None
    assert collective.initial(1, Buffer.input, 0) == (1, 0)
    program = hocket.Program("swap", hocket.line(2), collective)
    for r in (0, 1):
        program.chunk(r, Buffer.input, 0).copy(1 - r, Buffer.output, 0)
    program.check().require()
    algorithm = hocket.compile(program)
    assert judged(algorithm).compared
    assert hocket.run(algorithm, "1KiB").checked


def test_running_on_buffers():
    algorithm = hocket.compile(hocket.make_algorithm("allreduce_ring", ranks=3))
    executor = hocket.LocalExecutor(algorithm)
    inputs = [array.array("i", [r + 1, 10 * r, 5, 6, 7]) for r in range(3)]
    outputs = [array.array("i", [0] * 5) for _ in range(3)]
    executor.run(inputs, outputs)
    assert all(list(out) == [6, 30, 15, 18, 21] for out in outputs)
    executor.run(inputs, outputs, op="max", threads=2)
    assert all(list(out) == [3, 20, 5, 6, 7] for out in outputs)
    with pytest.raises(hocket.errors.BadBuffersError):
        executor.run(inputs[:2], outputs)
    with pytest.raises(hocket.errors.BadBuffersError):
        executor.run(inputs, [bytes(20)] * 3, dtype="int32")
    with pytest.raises(hocket.errors.BadBuffersError):
        executor.run(inputs, [array.array("i", [0] * 4) for _ in range(3)])
    with pytest.raises(hocket.errors.BadBuffersError, match="in_place"):
        executor.run(inputs)

    gathered = hocket.compile(ring_allgather(3))
    run_on_data(gathered, {(r, "output", k): [(k, 0)] for r in range(3) for k in range(3)})


def test_running_in_place():
    program = hocket.Program("p", hocket.ring(2), hocket.allreduce(2, 2, in_place=True))
    for i in range(2):
        a, b = program.chunk(i, Buffer.input, i), program.chunk(1 - i, Buffer.input, i)
        b.reduce(a).copy(i, Buffer.input, i)
    program.check().require()
    algorithm = hocket.compile(program)
    assert algorithm.in_place
    judged(algorithm)
    data = [array.array("d", [1, 2]), array.array("d", [3, 5])]
    hocket.LocalExecutor(algorithm).run(data, in_place=True)
    assert list(data[0]) == list(data[1]) == [4, 7]


def test_sizes_are_read_as_people_write_them():
    from hocket._running import parse_bytes

    assert [parse_bytes(s) for s in (7, "7", "2KiB", "1.5 MiB", "1MB", "3gb", "0B", "1M", "2T")] == [
        7, 7, 2048, 1572864, 10**6, 3 * 10**9, 0, 2**20, 2**41,
    ]  # fmt: skip
    for bad in ("MiB", "1XB", "1.2.3KB", "-1", "1MB!", ""):
        with pytest.raises(ValueError, match="size"):
            parse_bytes(bad)


def test_run_wants_an_algorithm():
    with pytest.raises(TypeError, match=r"run\(\) takes an Algorithm, not a Program; compile\(\) makes one"):
        hocket.run(hocket.make_algorithm("allreduce_ring", ranks=2), "1KiB")


def test_xml_that_its_target_would_not_run_is_a_warning():
    program = hocket.make_algorithm("allreduce_ring", ranks=3)
    algorithm = hocket.compile(program)
    with pytest.warns(hocket.HocketWarning, match=r"which rccl does not run \[HK0408\]") as seen:
        text = algorithm.to_xml("rccl")
    assert len(seen) == 1
    assert 'type="rrs"' in text
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        algorithm.to_xml("msccl")
        hocket.compile(program, target="rccl").to_xml("rccl")


def test_the_library_is_listed_and_made():
    library = {info.name: info for info in hocket.algorithm_library()}
    assert list(library) == sorted(library)
    info = library["allreduce_ring"]
    assert info.collective == "allreduce" and "ranks" in [p.name for p in info.parameters]
    for info in library.values():
        program = hocket.make_algorithm(info.name)
        program.check().require()
    hocket.run(hocket.compile(hocket.make_algorithm("alltoall_two_step", nodes=2, gpus=4)), "1MiB")


def test_passes_are_listed_and_observed():
    seen = {}
    hocket.compile(
        ring_allgather(3), print_after="all", observer=lambda name, text: seen.update({name: text})
    )
    assert list(seen) == [name for name, _ in hocket.compile_passes()]
    assert all(seen.values())

    def fail(name, text):
        raise LookupError(name)

    with pytest.raises(LookupError):
        hocket.compile(ring_allgather(3), observer=fail)


def test_topologies():
    t = hocket.Topology("mine", 3)
    t.set_link(0, 1, 2.5, latency_us=1.0)
    assert t.has_link(0, 1) and not t.has_link(1, 0)
    assert t.link(0, 1).bandwidth == 2.5 and not t.link(2, 1)
    assert t.sources(1) == [0] and t.destinations(0) == [1]
    assert t.reversed().has_link(1, 0)
    table = hocket.Topology.from_table("t", [[0, 1], [0, 0]])
    assert table.has_link(1, 0) and not table.has_link(0, 1)
    assert hocket.distributed_fully_connected(hocket.dgx1(), 2, 1).num_ranks == 16
    assert hocket.fully_connected(8192).num_ranks == 8192
    with pytest.raises(hocket.errors.BadTopologyError):
        t.set_link(0, 7, 1)


def test_two_programs_at_once_on_two_threads():
    import threading

    results = {}

    def trace(n):
        results[n] = hocket.compile(ring_allgather(n)).to_text()

    threads = [threading.Thread(target=trace, args=(n,)) for n in (4, 5, 6, 7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {n: hocket.compile(ring_allgather(n)).to_text() for n in (4, 5, 6, 7)}


def test_every_code_has_an_exception():
    for code, name, about in hocket.codes():
        made = getattr(hocket.errors, name if name.endswith("Error") else name + "Error")
        assert issubclass(made, hocket.Error)
        assert code.startswith("HK") and about
    with pytest.raises(AttributeError):
        hocket.errors.NoSuchThingError
