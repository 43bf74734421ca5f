"""The published all-to-next program, unmodified: what it prints is an algorithm that is free of races
and deadlocks, computes what it must in every schedule, and runs on real data."""

import xml.etree.ElementTree as ET

import pytest

import hocket
from support import SHARED, custom, judged, refined, run_on_data, run_python

SEED = SHARED / "seeds" / "alltonext_backward.py"
pytestmark = pytest.mark.skipif(not SEED.exists(), reason=f"{SEED} is not there")

GPUS = 8


def all_to_next_backward(ranks):
    """Rank r ends with the chunks of rank r + 1."""
    return {
        (rank, "output", index): [(rank + 1, index)]
        for rank in range(ranks - 1)
        for index in range(GPUS)
    }


@pytest.mark.parametrize(
    "nodes,instances", [(2, 1), (2, 4), (3, 1), (4, 2), (8, 1), (16, 8), (32, 1)]
)
def test_prints_a_right_algorithm(nodes, instances):
    ranks = nodes * GPUS
    ran = run_python(SEED, nodes, instances)
    assert "incorrect" not in ran.stderr

    root = ET.fromstring(ran.stdout)
    assert list(root.attrib) == [
        "name", "proto", "nchannels", "nchunksperloop", "ngpus", "coll", "inplace",
    ]  # fmt: skip
    assert root.get("name") == "alltonext-backwards"
    assert root.get("ngpus") == str(ranks) and len(root) == ranks
    assert root.get("nchunksperloop") == str(GPUS * instances)

    expected = all_to_next_backward(ranks)
    declared = custom("alltonext", ranks, GPUS, expected, instances)
    answer = judged(ran.stdout, like=declared)
    assert answer.compared
    memory = answer.memory
    for place, origins in refined(expected, instances).items():
        assert memory[place] == origins

    run_on_data(hocket.from_xml(ran.stdout), refined(expected, instances))


def test_no_race_where_the_original_has_one():
    # From 4 nodes on the original fuses a receive into scratch at the other rank's offset. Here
    # every forwarding rank keeps what it has received until it is sent, however few slots there are.
    ran = run_python(SEED, 4, 1)
    expected = all_to_next_backward(4 * GPUS)
    declared = custom("alltonext", 4 * GPUS, GPUS, expected)
    for slots in (1, 2, 8):
        judged(ran.stdout, like=declared, slots=slots, cut=1)


def test_prints_the_same_bytes_every_time():
    first = run_python(SEED, 3, 2, PYTHONHASHSEED="1").stdout
    assert run_python(SEED, 3, 2, PYTHONHASHSEED="2").stdout == first
