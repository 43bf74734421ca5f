"""The packages as packages: stubs that are fresh, one version, imports that cost little."""

import ast
import pathlib
import re
import subprocess
import sys

import pytest

import hocket
from support import SOURCE, run_python

STUB = SOURCE / "python" / "hocket" / "_core.pyi"


def test_the_version_is_cmakes():
    text = (SOURCE / "CMakeLists.txt").read_text()
    assert re.search(r"project\(hocket VERSION ([0-9.]+)", text).group(1) == hocket.__version__


def test_the_stub_is_what_the_module_says(tmp_path):
    pytest.importorskip("nanobind", reason="nanobind makes the stub")
    made = tmp_path / "_core.pyi"
    subprocess.run(
        [sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "hocket._core", "-o", str(made)],
        check=True,
    )
    # Compared as code: how it is laid out is the generator's business.
    fresh, committed = (ast.dump(ast.parse(file.read_text())) for file in (made, STUB))
    assert fresh == committed, (
        "python -m nanobind.stubgen -m hocket._core -o python/hocket/_core.pyi makes it anew"
    )


def test_what_is_listed_is_there_and_documented():
    assert hocket.__all__ == sorted(hocket.__all__, key=lambda name: name)
    for name in hocket.__all__:
        thing = getattr(hocket, name)
        if name != "__version__":
            assert thing.__doc__, name
    public = {
        name
        for name in dir(hocket._core)
        if not name.startswith(("_", "DropIn"))
    }
    assert public <= set(hocket.__all__)


def test_the_original_package_is_imported_without_anything_heavy():
    ran = run_python(
        """
        import sys
        before = set(sys.modules)
        import msccl.language
        print(*sorted(set(sys.modules) - before))
        """
    )
    imported = set(ran.stdout.split())
    heavy = {
        "argparse", "ast", "dataclasses", "inspect", "importlib.metadata", "json", "logging", "lxml",
        "numpy", "pathlib", "subprocess", "typing", "xml", "xml.etree", "z3",
    }  # fmt: skip
    assert not imported & heavy
    assert not [name for name in imported if name.startswith("msccl.topologies")]


def test_tracing_costs_at_most_two_microseconds():
    # CPU time, the best of several runs: a busy machine does not matter, an unoptimised build would.
    import os

    if os.environ.get("HOCKET_BUILD_TYPE", "Release") not in ("Release", "RelWithDebInfo"):
        pytest.skip("not an optimised build")
    sys.path.insert(0, str(SOURCE / "bench"))
    try:
        import python_tracing
    finally:
        sys.path.pop(0)
    for trace in (python_tracing.dropin_alltoall, python_tracing.dropin_ring):
        assert python_tracing.best(trace, 48) < python_tracing.PROMISED_US


def test_a_module_path_is_that_of_the_tree_under_test():
    # A hocket installed elsewhere would make every other test here speak of the wrong one.
    import msccl

    for module in (hocket, hocket._core, msccl):
        assert pathlib.Path(module.__file__).parts[-3:-1] != ("site-packages", "hocket")
