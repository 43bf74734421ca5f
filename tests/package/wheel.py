"""Builds the wheel as pip does, installs it into a fresh environment, and uses it there.

The build takes its tools from the environment that runs this script, not from the network.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import textwrap
import venv

USE = """
    import sys, hocket, msccl.language
    version, = sys.argv[1:]
    assert hocket.__version__ == version, hocket.__version__
    from importlib.metadata import version as installed
    assert installed("hocket") == version, installed("hocket")
    from msccl.language import MSCCLProgram, chunk, Buffer, XML, Check
    from msccl.topologies import fully_connected
    from msccl.language.collectives import AllGather
    with MSCCLProgram("direct", fully_connected(2), AllGather(2, 1, False), 1):
        for rank in range(2):
            mine = chunk(rank, Buffer.input, 0)
            for peer in range(2):
                mine.copy(peer, Buffer.output, rank)
        Check()
        XML()
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--version", required=True)
    args = parser.parse_args()

    shutil.rmtree(args.work, ignore_errors=True)
    args.work.mkdir(parents=True)
    environment = dict(os.environ, PIP_DISABLE_PIP_VERSION_CHECK="1", PYTHONNOUSERSITE="1")
    environment.pop("PYTHONPATH", None)

    def run(*command, **more):
        return subprocess.run(command, check=True, env=environment, cwd=args.work, **more)

    # Warnings as errors, as in the release preset: then the compiler cache already has most of it.
    run(sys.executable, "-m", "pip", "wheel", "--no-build-isolation", "--no-deps", "--no-index",
        "--no-cache-dir", "-C", "cmake.define.HOCKET_WERROR=ON", "-w", args.work / "wheels",
        args.source)
    wheel, = (args.work / "wheels").iterdir()
    venv.create(args.work / "fresh", with_pip=True)
    python = args.work / "fresh" / "bin" / "python"
    run(python, "-m", "pip", "install", "--no-index", "--no-cache-dir", wheel)
    xml = run(python, "-c", textwrap.dedent(USE), args.version, stdout=subprocess.PIPE, text=True).stdout
    if not xml.startswith("<algo "):
        sys.exit(f"XML() printed {xml[:200]!r}")


if __name__ == "__main__":
    main()
