"""hocket.verify() and what the drop-in package makes of it."""

import array
import json
import pathlib
import random
import re
import struct

import pytest

import hocket
from hocket import Buffer
from support import run_python


def allreduce_ring(n, **options):
    program = hocket.Program("ring", hocket.ring(n), hocket.allreduce(n, n), **options)
    for k in range(n):
        c = program.chunk(k, Buffer.input, k)
        for hop in range(1, n):
            c = program.chunk((k + hop) % n, Buffer.input, k).reduce(c)
        for hop in range(n):
            c = c.copy((k + n - 1 + hop) % n, Buffer.output, k)
    return program


def broken(algorithm, pattern, replacement):
    """The algorithm, with the first match in its text form replaced."""
    text = algorithm.to_text()
    changed = re.sub(pattern, replacement, text, count=1)
    assert changed != text
    return hocket.from_text(changed)


PROPERTIES = ["structure", "deadlock", "races", "initialised", "postcondition", "same-bits"]


def test_a_right_algorithm_is_proved():
    report = hocket.verify(hocket.compile(allreduce_ring(3)))
    assert report and report.ruling == "proved" and report.name == "ring"
    report.require()
    (placement,) = report.placements
    assert placement.ruling == "proved" and not placement.in_place
    assert list(placement.properties) == PROPERTIES
    assert {p.ruling for p in placement.properties.values()} == {"proved"}
    assert placement.properties["postcondition"].summary == "9 chunks as allreduce wants"
    assert placement.least_slots in (0, 1, 2) and placement.largest_safe_bytes is None
    assert list(report.targets) == ["msccl", "msccl-executor", "rccl", "hocket"]
    assert not report.target_asked
    assert str(report).startswith("ring: proved\n") and not str(report).endswith("\n")
    assert repr(report) == "<VerifyReport ring: proved>"


def test_a_wrong_result_names_the_slot_the_line_and_the_way():
    algorithm = hocket.compile(allreduce_ring(3))
    wrong = broken(algorithm, r"o\[1\]", "o[0]")
    report = hocket.verify(wrong)
    assert not report and report.ruling == "refuted"
    (placement,) = report.placements
    ruling = placement.properties["postcondition"]
    assert ruling.ruling == "refuted" and ruling.num_findings >= 1
    finding = ruling.findings[0]
    assert finding.code == "HK1008" and finding.diagnostic.code == "HK1008"
    assert finding.buffer == Buffer.output and finding.index in (0, 1)
    assert finding.expected == f"sum of in[{finding.index}] of ranks 0-2"
    assert finding.found and finding.message in str(finding)
    with pytest.raises(hocket.Error) as caught:
        report.require()
    # The first of several: rank 0 passes on what it put elsewhere.
    assert caught.value.code == "HK1007" and caught.value.location.file == __file__
    told = json.loads(report.to_json())
    assert told["ruling"] == "refuted"
    said = told["placements"][0]["properties"]["postcondition"]
    assert said["num_findings"] == ruling.num_findings
    assert [f["message"] for f in said["findings"]] == [f.message for f in ruling.findings]
    at = said["findings"][0]["at"]
    assert (at["rank"], at.get("tb", -1), at.get("step", -1)) == (
        finding.at.rank,
        finding.at.tb,
        finding.at.step,
    )


def test_a_race_names_both_steps():
    two_step = hocket.compile(hocket.make_algorithm("alltoall_two_step", nodes=2, gpus=2))
    text = two_step.to_text()
    waits = list(re.finditer(r" after=\d+:\d+", text))
    assert len(waits) == 4, text
    races = []
    for wait in waits:
        without = hocket.from_text(text[: wait.start()] + text[wait.end() :])
        races += hocket.verify(without, waste=False).placements[0].properties["races"].findings
    assert len(races) >= 4
    for race in races:
        assert race.code in ("HK1005", "HK1006")
        assert race.at.step >= 0 and len(race.chain) >= 1 and race.chain[0].rank == race.at.rank
        assert race.location.line > 0


def test_sizes_and_slots():
    program = hocket.Program("pairs", hocket.fully_connected(2), hocket.alltoall(2, 8))
    for r in range(2):
        program.chunk(r, Buffer.input, 8 * (1 - r), 8).copy(1 - r, Buffer.output, 8 * r)
        program.chunk(r, Buffer.input, 8 * r, 8).copy(r, Buffer.output, 8 * r)
    algorithm = hocket.compile(program, max_bytes=1 << 20)
    assert hocket.verify(algorithm)
    report = hocket.verify(algorithm, slots=0)
    least = report.placements[0].least_slots
    assert (report.ruling == "proved") == (least == 0)
    for slots in range(10):
        report = hocket.verify(algorithm, slots=slots)
        assert (report.placements[0].properties["deadlock"].ruling == "proved") == (slots >= least)
    with pytest.raises(ValueError, match="slots"):
        hocket.verify(algorithm, slots=-1)
    with pytest.raises(hocket.errors.BadSizeRangeError):
        hocket.verify(algorithm, min_bytes=2, max_bytes=1)


def test_the_largest_safe_size():
    text = (
        'algorithm "pairs" proto=Simple channels=1 out_of_place\n'
        "collective alltoall ranks=2 factor=8\n"
    )
    for r in range(2):
        text += (
            f"rank {r} in=16 out=16 scratch=0\n"
            f"  tb 0 send={1 - r} recv={1 - r} chan=0\n"
            f"    s i[{8 * (1 - r)}] cnt=8\n    r o[{8 * (1 - r)}] cnt=8\n"
            f"  tb 1\n    cpy i[{8 * r}] -> o[{8 * r}] cnt=8\n"
        )
    algorithm = hocket.from_text(text)
    report = hocket.verify(algorithm)
    largest = report.placements[0].largest_safe_bytes
    assert report.ruling == "refuted" and largest > 0
    assert report.placements[0].properties["deadlock"].findings[0].code == "HK1004"
    assert hocket.verify(algorithm, max_bytes=largest)
    assert not hocket.verify(algorithm, max_bytes=largest + 1)


def test_a_target_that_is_asked_for_counts():
    program = allreduce_ring(2)
    algorithm = hocket.compile(program, target="hocket")
    assert hocket.verify(algorithm, target="msccl").target_asked
    custom = hocket.CustomCollective("mine", 1).buffers(0, 1, 1)
    custom.holds(0, (Buffer.input, 0), (0, 0)).requires(0, (Buffer.output, 0), [(0, 0)])
    program = hocket.Program("mine", hocket.fully_connected(1), custom.build())
    program.chunk(0, Buffer.input, 0).copy(0, Buffer.output, 0)
    algorithm = hocket.compile(program)
    assert hocket.verify(algorithm).targets["rccl"].ruling == "refuted"
    assert hocket.verify(algorithm)
    report = hocket.verify(algorithm, target="rccl")
    assert not report and list(report.targets) == ["rccl"]
    with pytest.raises(hocket.Error) as caught:
        report.require()
    assert caught.value.code == "HK0409"
    with pytest.raises(ValueError, match="must be one of"):
        hocket.verify(algorithm, target="nccl")


def test_a_root_is_found_or_given():
    program = hocket.Program("b", hocket.fully_connected(3), hocket.broadcast(3, 1, root=2))
    c = program.chunk(2, Buffer.input, 0)
    for r in range(3):
        c.copy(r, Buffer.output, 0)
    algorithm = hocket.compile(program)
    # As a file that says another root.
    wrong = hocket.from_text(algorithm.to_text().replace("root=2", "root=0"))
    assert hocket.infer_root(wrong) == 0
    assert hocket.verify(wrong).ruling == "refuted"
    assert hocket.verify(wrong, root=2)
    # As one that says none.
    file = hocket.from_text(algorithm.to_text().replace(" root=2", ""))
    assert file.collective.root == 0
    assert hocket.infer_root(file) == 2
    assert hocket.verify(file)
    assert hocket.verify(file, root=2)
    assert hocket.verify(file, root=1).ruling == "refuted"
    assert hocket.verify(file, collective=hocket.broadcast(3, 1, root=2))
    assert not hocket.verify(file, collective=hocket.broadcast(3, 1, root=0))
    assert hocket.infer_root(hocket.compile(allreduce_ring(2))) is None
    with pytest.raises(hocket.errors.BadCollectiveError):
        hocket.verify(file, root=3)
    with pytest.raises(hocket.errors.BadCollectiveError, match="no root"):
        hocket.verify(hocket.compile(allreduce_ring(2)), root=0)
    with pytest.raises(hocket.errors.BadCollectiveError):
        hocket.verify(file, collective=hocket.broadcast(4, 1))


def test_bits():
    # Each rank starts from its own value.
    program = hocket.Program("one_shot", hocket.fully_connected(3), hocket.allreduce(3, 1))
    for r in range(3):
        c = program.chunk(r, Buffer.input, 0).copy(r, Buffer.output, 0)
        for q in range(1, 3):
            c = c.reduce(program.chunk((r + q) % 3, Buffer.input, 0))
    algorithm = hocket.compile(program)
    report = hocket.verify(algorithm)
    assert report and report.placements[0].properties["same-bits"].ruling == "refuted"
    strict = hocket.verify(algorithm, require_same_bits=True)
    assert strict.ruling == "refuted"
    with pytest.raises(hocket.errors.DifferentBitsError):
        strict.require()


def added_up(order, chunks):
    """The float32 that `order` says, from `chunks[rank][index]`."""
    text, _, index = order.partition(" of chunk ")
    rounded = "rounded(({}) + ({}))"

    def term(text):
        if text.startswith("("):
            depth = 0
            for i, letter in enumerate(text):
                depth += {"(": 1, ")": -1}.get(letter, 0)
                if letter == "+" and depth == 1:
                    left, right = text[1:i], text[i + 1 : -1]
                    return rounded.format(term(left), term(right))
        rank, _, own = text[2:].partition("[")
        return f"chunks[{rank}][{own[:-1] if own else index}]"

    def to_float32(value):
        return struct.unpack("f", struct.pack("f", value))[0]

    return eval(term(text), {"chunks": chunks, "rounded": to_float32})


@pytest.mark.parametrize(
    "name, parameters",
    [
        ("allreduce_ring", {"ranks": 6}),
        ("allreduce_one_shot", {"ranks": 7}),
        ("allreduce_allpairs", {"ranks": 5}),
        ("reduce_scatter_ring", {"ranks": 6}),
        ("reduce_binomial", {"ranks": 7}),
        ("allreduce_recursive_halving_doubling", {"ranks": 8}),
        ("allreduce_double_binary_tree", {"ranks": 6}),
        ("allreduce_hierarchical", {"nodes": 2, "gpus": 3}),
    ],
)
def test_the_orders_are_those_in_which_floats_add_up(name, parameters):
    algorithm = hocket.compile(hocket.make_algorithm(name, **parameters))
    report = hocket.verify(algorithm, orders=True, in_place=False)
    rng = random.Random(name)
    collective = algorithm.collective
    ranks = range(collective.num_ranks)
    inputs = [
        array.array("f", [rng.uniform(-1, 1) * 10 ** rng.randint(-6, 6) for _ in range(collective.chunks(r, "input"))])
        for r in ranks
    ]
    before = [list(values) for values in inputs]
    outputs = [array.array("f", [0] * collective.chunks(r, "output")) for r in ranks]
    hocket.LocalExecutor(algorithm).run(inputs, outputs)
    orders = report.placements[0].orders
    found = 0
    for order in orders:
        for rank, buffer, index in order.places:
            assert buffer == Buffer.output
            assert outputs[rank][index] == added_up(order.order, before), (order, rank, index)
            found += 1
    wanted = sum(
        collective.expected(r, "output", i) is not None
        for r in ranks
        for i in range(collective.chunks(r, "output"))
    )
    assert found == wanted and orders
    assert hocket.verify(algorithm).placements[0].orders == []
    told = json.loads(report.to_json())["placements"][0]["orders"]
    assert [o["order"] for o in told] == [o.order for o in orders]


def test_waste_and_limits_of_what_is_listed():
    algorithm = hocket.compile(allreduce_ring(3))
    text = algorithm.to_text()
    # A chunk of scratch that nobody uses, on every rank.
    fat = hocket.from_text(re.sub(r"scratch=(\d+)", lambda m: f"scratch={int(m[1]) + 2}", text))
    report = hocket.verify(fat)
    assert report and report.num_waste == 3
    assert [w.code for w in report.waste] == ["HK1014"] * 3 and report.waste[0].saves == 2
    assert hocket.verify(fat, max_findings=1).num_waste == 3
    assert len(hocket.verify(fat, max_findings=1).waste) == 1
    assert hocket.verify(fat, waste=False).num_waste == 0


def test_a_check_of_ones_own_sees_what_every_schedule_leaves():
    algorithm = hocket.compile(allreduce_ring(3, instances=2))
    kept = []

    def check(contents):
        kept.append(contents)
        assert not contents.in_place and contents.collective == algorithm.collective
        for rank in range(3):
            for k in range(6):
                assert contents.content(rank, "output", k) == [(q, k) for q in range(3)]
        with pytest.raises(IndexError):
            contents.content(0, Buffer.input, 6)
        with pytest.raises(IndexError):
            contents.content(3, Buffer.input, 0)
        return True

    assert hocket.verify(algorithm, check=check)
    assert len(kept) == 1
    with pytest.raises(ValueError, match="only inside the check"):
        kept[0].content(0, Buffer.input, 0)
    for answer in [["rank 0 is wrong"], (), 1, ValueError]:
        with pytest.raises(TypeError, match="expected True, False, None or a sentence"):
            hocket.verify(algorithm, check=lambda contents: answer)
    no = hocket.verify(algorithm, check=lambda contents: False)
    assert no.ruling == "refuted"
    assert no.placements[0].properties["postcondition"].summary == "its check says no"
    why = hocket.verify(algorithm, check=lambda contents: "rank 1 has too much")
    assert "rank 1 has too much" in str(why)
    assert hocket.verify(algorithm, check=lambda contents: None)
    with pytest.raises(ZeroDivisionError):
        hocket.verify(algorithm, check=lambda contents: 1 // 0)


def test_a_postcondition_file_says_what_the_xml_cannot():
    custom = hocket.CustomCollective("swap", 2)
    for r in range(2):
        custom.buffers(r, 1, 1).holds(r, (Buffer.input, 0), (r, 0))
        custom.requires(r, (Buffer.output, 0), [(1 - r, 0)])
    program = hocket.Program("swap", hocket.fully_connected(2), custom.build(), instances=2)
    for r in range(2):
        program.chunk(r, Buffer.input, 0).copy(1 - r, Buffer.output, 0)
    algorithm = hocket.compile(program, verify=True)
    post = algorithm.collective.to_post_json()
    assert hocket.from_post_json(post) == algorithm.collective
    file = hocket.from_xml(algorithm.to_xml("msccl"))
    unknown = hocket.verify(file)
    assert unknown.ruling == "undecided" and not unknown
    with pytest.raises(hocket.errors.NoPostconditionError):
        unknown.require()
    assert hocket.verify(file, collective=hocket.from_post_json(post))
    with pytest.raises(hocket.errors.PostSyntaxError) as caught:
        hocket.from_post_json("{", "swap.json")
    assert caught.value.location.file == "swap.json"


def test_compiling_can_verify():
    program = allreduce_ring(3)
    plain = hocket.compile(program)
    assert hocket.compile(program, verify=True) == plain
    assert hocket.compile(program, verify_passes=True) == plain


# The drop-in package.


def dropin_names():
    from msccl.language import Buffer, Chunk, MSCCLProgram, ReduceChunk, chunk
    from msccl.language.collectives import AllReduce, Collective
    from msccl.topologies import fully_connected

    class Turn(Collective):
        """Every rank gets the sum of its neighbours' chunks, turned round; input and scratch stay."""

        def __init__(self, ranks, chunks):
            super().__init__(ranks, chunks, False)
            self.asked = []

        def init_buffers(self):
            return [
                {
                    Buffer.input: [Chunk(r, i) for i in range(self.chunk_factor)],
                    Buffer.output: [None] * self.chunk_factor,
                }
                for r in range(self.num_ranks)
            ]

        def check(self, prog):
            self.asked.append(prog)
            right = True
            for r in range(prog.num_ranks):
                for i in range(self.chunk_factor):
                    found = prog.buffers[r][Buffer.output][self.chunk_factor - 1 - i]
                    sides = [(r + 1) % self.num_ranks, (r - 1) % self.num_ranks]
                    wanted = ReduceChunk(-1, [Chunk(q, i) for q in sides])
                    if found != wanted or prog.buffers[r][Buffer.input][i] != Chunk(r, i):
                        print(f"rank {r} chunk {i} is {found}")
                        right = False
            return right

    def turned(ranks, chunks, wrong=False, **options):
        collective = Turn(ranks, chunks)
        program = MSCCLProgram("turn", fully_connected(ranks), collective, **options)
        with program:
            for r in range(ranks):
                for i in range(chunks):
                    c = chunk((r + 1) % ranks, Buffer.input, i).copy(r, "s", i)
                    c = c.reduce(chunk((r - 1) % ranks, Buffer.input, i))
                    last = wrong and (r, i) == (ranks - 1, chunks - 1)
                    c.copy(r, Buffer.output, 0 if last else chunks - 1 - i)
                    if last:
                        c.copy(r, Buffer.output, 1)
        return program, collective

    return turned, AllReduce, MSCCLProgram, fully_connected


@pytest.mark.parametrize("instances", [1, 3])
@pytest.mark.parametrize("interleaved", [True, False])
def test_a_collective_of_ones_own_is_asked_of_the_compiled_program(instances, interleaved, capsys):
    turned = dropin_names()[0]
    program, collective = turned(3, 2, instances=instances, interleaved_replication=interleaved)
    report = program.verify()
    assert report, str(report)
    assert report.placements[0].properties["postcondition"].summary == "as its check wants"
    assert report.num_waste == 0, str(report)
    assert len(collective.asked) == 1 and collective.asked[0] is not program
    assert capsys.readouterr().out == ""

    # The XML alone does not say what it is for; beside the program, or with its file, it does.
    file = hocket.from_xml(program.generate_xml())
    assert hocket.verify(file).ruling == "undecided"
    assert program.verify(file)
    post = hocket.from_post_json(program.to_post_json())
    assert hocket.verify(file, collective=post)
    assert hocket.verify(program.to_algorithm(), collective=post)

    # Every single misplaced result is seen, by check() and by the file.
    text = program.to_algorithm().to_text()
    places = list(re.finditer(r"-> o\[(\d+)\]", text))
    assert len(places) >= 6
    for place in places:
        other = (int(place[1]) + 1) % (2 * instances)
        changed = hocket.from_text(text[: place.start(1)] + str(other) + text[place.end(1) :])
        assert program.verify(changed).ruling == "refuted"
        assert hocket.verify(changed, collective=post).ruling == "refuted"
    if instances == 1:  # of more, the instances disagree before anyone is asked
        assert "rank 2 chunk 0 is" in capsys.readouterr().err


def test_a_wrong_program_is_refuted_by_its_own_check(capsys):
    turned = dropin_names()[0]
    program, collective = turned(2, 2, wrong=True, instances=2)
    report = program.verify()
    assert report.ruling == "refuted"
    assert report.placements[0].properties["postcondition"].summary == "its check says no"
    told = capsys.readouterr()
    assert told.out == "" and "rank 1 chunk 0 is" in told.err
    with pytest.raises(hocket.errors.WrongResultError):
        program.to_post_json()
    # What the original does with it: prints it.
    assert program.generate_xml().startswith("<algo")


def test_instances_that_disagree_are_refuted():
    turned = dropin_names()[0]
    program, _ = turned(2, 2, instances=2)
    text = program.to_algorithm().to_text()
    # The second instance's part of a chunk is put where the first one's belongs, and back.
    swap = {"0": "1", "1": "0"}
    changed = re.sub(r"-> o\[([01])\]", lambda m: f"-> o[{swap[m[1]]}]", text)
    assert changed != text
    report = program.verify(hocket.from_text(changed))
    assert report.ruling == "refuted"
    assert "instance" in str(report)


def test_a_built_in_collective_is_verified_with_the_options_of_verify():
    _, AllReduce, MSCCLProgram, fully_connected = dropin_names()
    from msccl.language.routines import allreduce_ring_inplace

    with MSCCLProgram("ring", fully_connected(4), AllReduce(4, 4, True), 2) as program:
        allreduce_ring_inplace(4)
    report = program.verify(target="msccl", require_same_bits=True)
    assert report and report.placements[0].in_place and list(report.targets) == ["msccl"]
    file = hocket.from_xml(program.generate_xml())
    assert program.verify(file)
    assert hocket.from_post_json(program.to_post_json()) == program.to_algorithm().collective
    with pytest.raises(TypeError):
        program.verify(targets="msccl")


def test_check_xml_asks_for_a_proof():
    _, AllReduce, MSCCLProgram, fully_connected = dropin_names()
    asked = []

    class Watched(MSCCLProgram):
        def _lower(self, **options):
            asked.append(options["check_xml"])
            return super()._lower(**options)

    for check_xml in (True, False):
        from msccl.language.routines import allreduce_ring_inplace

        with Watched("r", fully_connected(2), AllReduce(2, 2, True), 1, check_xml=check_xml) as program:
            allreduce_ring_inplace(2)
        program.generate_xml()
        program.lower()
        program.to_algorithm()
        program.verify()
    assert asked == [True, True, True, False] + [False] * 4


def test_the_command_line_says_the_same(tmp_path: pathlib.Path):
    """The same report from the same file, whichever face it is asked through."""
    tool = pathlib.Path(hocket.__file__).parents[2] / "bin" / "hocket"
    if not tool.exists():
        pytest.skip("a build without the command line")
    import subprocess

    algorithm = broken(hocket.compile(allreduce_ring(3)), r"o\[1\]", "o[0]")
    file = tmp_path / "ring.hkt"
    file.write_text(algorithm.to_text())
    told = subprocess.run([tool, "verify", file], capture_output=True, text=True, check=False)
    assert told.returncode == 1
    assert told.stdout == str(hocket.verify(algorithm)) + "\n"
    told = subprocess.run([tool, "verify", file, "--json"], capture_output=True, text=True, check=False)
    assert told.stdout == hocket.verify(algorithm).to_json()


def test_threads_go_on_while_it_works():
    answer = run_python(
        """
        import threading
        import hocket
        algorithm = hocket.compile(hocket.make_algorithm("allreduce_allpairs", ranks=16))
        rulings = []
        def work():
            rulings.append(hocket.verify(algorithm, check=lambda contents: True).ruling)
        threads = [threading.Thread(target=work) for _ in range(4)]
        [t.start() for t in threads]
        [t.join() for t in threads]
        print(rulings)
        """
    )
    assert answer.stdout == "['proved', 'proved', 'proved', 'proved']\n"
