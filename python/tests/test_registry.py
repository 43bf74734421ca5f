"""msccl.init(): plans are chosen by size and priority, written, and named in the environment."""

import os
import xml.etree.ElementTree as ET

import pytest

import hocket
import msccl
from msccl.autosynth import registry
from msccl.language import Buffer, chunk
from msccl.topologies import fully_connected
from support import judged, run_python


@pytest.fixture
def plans(monkeypatch):
    """A registry of the test's own, and an environment that is put back."""
    monkeypatch.setattr(registry, "_plans", {})
    monkeypatch.setattr(registry, "_built_in_done", True)
    for name in ("MSCCL_CONFIG", "NCCL_ALGO"):
        monkeypatch.setenv(name, "before")
    return registry


def loads():
    return [load.attrib for load in ET.parse(os.environ["MSCCL_CONFIG"]).getroot()]


def test_plans_by_size_and_priority(plans, capsys):
    @plans.register_synthesis_plan("alltoall", "box", sizes=("1KB", None))
    def wide(machines):
        return "<wide/>"

    @plans.register_synthesis_plan(msccl.Collective.alltoall, "box", sizes=(4096, "1MB"), priority=1)
    def narrow(machines):
        return f"<narrow machines='{machines}'/>"

    @plans.register_synthesis_plan("alltoall", "box", machines=lambda n: n > 9, priority=7)
    def for_many(machines):
        raise AssertionError

    msccl.init("box", 3, (msccl.Collective.alltoall, (0, "2MB")), ("allreduce", "1KB"))
    assert capsys.readouterr().out.splitlines() == [
        "MSCCL: No plan found for alltoall with sizes from 0 bytes to 1 KB. Falling back to NCCL baseline.",
        "MSCCL: Plan for alltoall with sizes from 1 KB to 4.1 KB is call wide with Simple protocol.",
        "MSCCL: Plan for alltoall with sizes from 4.1 KB to 1 MB is call narrow with Simple protocol.",
        "MSCCL: Plan for alltoall with sizes from 1 MB to 2 MB is call wide with Simple protocol.",
        "MSCCL: No plan found for allreduce with sizes from 1 KB to infinity. "
        "Falling back to NCCL baseline.",
    ]
    found = loads()
    assert [(load["minBytes"], load["maxBytes"]) for load in found] == [
        ("1000", "4096"), ("4096", "1000000"), ("1000000", "2000000"),
    ]  # fmt: skip
    assert open(found[1]["path"]).read() == "<narrow machines='3'/>"
    assert os.environ["NCCL_ALGO"] == "MSCCL,RING,TREE"


def test_no_plan_leaves_the_environment(plans, capsys):
    msccl.init("box", 1, ("allreduce", (1, 2)))
    assert capsys.readouterr().out.endswith("MSCCL: No algorithms were selected.\n")
    assert os.environ["MSCCL_CONFIG"] == "before"


def test_programs_are_checked(plans):
    @plans.register_msccl_program(fully_connected(2), "allgather", "box", instances=2, protocol="LL")
    def direct(program, nodes):
        for r in range(program.num_ranks):
            for q in range(program.num_ranks):
                chunk(r, Buffer.input, 0).copy(q, Buffer.output, r)

    @plans.register_msccl_program(fully_connected(2), "allreduce", "box")
    def wrong(program, nodes):
        pass

    msccl.init("box", 2, ("allgather", (0, None)))
    (load,) = loads()
    assert load["proto"] == "LL" and "maxBytes" not in load
    algorithm = hocket.from_xml(open(load["path"]).read())
    assert algorithm.num_ranks == 4 and algorithm.name == "direct_2"
    assert judged(algorithm).compared
    with pytest.raises(ValueError, match="wrong does not compute allreduce"):
        msccl.init("box", 1, ("allreduce", 0))


def test_what_comes_with_the_package(monkeypatch):
    table = msccl.tabulate_plans()
    assert "| ndv4 " in table and "run alltoall_three_step" in table
    for name in ("MSCCL_CONFIG", "NCCL_ALGO"):
        monkeypatch.setenv(name, "before")
    msccl.init("ndv4", 1, ("allreduce", ("1KB", "64MB")))
    found = loads()
    assert len(found) == 4
    msccl.init("ndv4", 2, ("alltoall", ("1MB", "4MB")))
    for load in [*found, *loads()]:
        algorithm = hocket.from_xml(open(load["path"]).read())
        assert judged(algorithm).compared
        hocket.run(algorithm, 1 << 16, in_place=algorithm.in_place)


def test_bad_requests(plans):
    with pytest.raises(ValueError, match="at least 1"):
        msccl.init("box", 0, ("allreduce", 1))
    with pytest.raises(ValueError, match="no interval"):
        msccl.init("box", 1, ("allreduce", ("1MB", "1KB")))
    with pytest.raises(RuntimeError, match="'auto'"):
        msccl.init("auto", 1)
    with pytest.raises(AttributeError):
        msccl.no_such_name


def test_importing_msccl_registers_nothing():
    ran = run_python(
        "import msccl, sys; print('msccl.autosynth' in sys.modules, 'msccl.language' in sys.modules)"
    )
    assert ran.stdout == "False False\n"
