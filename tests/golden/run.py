#!/usr/bin/env python3
"""Golden tests: a command, its input files and everything it must answer, in one file each.

    run.py --hocket build/release/bin/hocket               run all
    run.py --hocket build/release/bin/hocket gen check     those of these folders or files
    run.py --hocket build/release/bin/hocket --bless       write what the command answers now

HOCKET_BLESS=1 in the environment is the same as --bless.

A case is a *.golden file:

    What it shows, in a sentence or two.
    %% file pair.txt
    algorithm "pair" proto=LL channels=1
    ...
    %% run hocket check pair.txt
    %% stdout
    ...
    %% stderr
    ...
    %% exit 1

Sections that are empty, and `%% exit 0`, are left out. The command runs by bash in an empty folder
with the files in it and the tool's folder first in PATH. Line numbers of the algorithm library's
sources are printed as N, so that editing a comment there changes no golden.
"""

import argparse
import concurrent.futures
import difflib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
LIBRARY_LINE = re.compile(r"(src/algorithms/[\w.]+):\d+")
NO_NEWLINE = "%% (no newline at the end)\n"


class Case:
    """One golden file, taken apart."""

    def __init__(self, path):
        self.path = path
        self.about = ""
        self.files = {}
        self.command = None
        self.expected = {"stdout": "", "stderr": ""}
        self.exit = 0
        section = None
        for number, line in enumerate(path.read_text().splitlines(keepends=True), 1):
            if line == NO_NEWLINE:
                self._add(section, None)
            elif line.startswith("%% "):
                section = self._open(line[3:].rstrip("\n"), number)
            else:
                self._add(section, line)
        if self.command is None:
            raise ValueError(f"{path}: no `%% run`")

    def _open(self, head, number):
        word, _, rest = head.partition(" ")
        if word == "file" and rest:
            self.files[rest] = ""
        elif word == "run" and rest and self.command is None:
            self.command = rest
        elif word == "exit" and rest:
            self.exit = int(rest)
        elif word not in self.expected or rest:
            raise ValueError(f"{self.path}:{number}: unknown section `%% {head}`")
        return (word, rest)

    def _add(self, section, line):
        word, rest = section or ("about", "")
        if word == "about":
            self.about += line
        elif word == "file":
            self.files[rest] = self.files[rest][:-1] if line is None else self.files[rest] + line
        elif word in self.expected:
            text = self.expected[word]
            self.expected[word] = text[:-1] if line is None else text + line
        elif line is None or line.strip():
            raise ValueError(f"{self.path}: text after `%% {word}`")

    def run(self, hocket, timeout):
        """What the command answers: stdout, stderr, exit code."""
        environment = dict(os.environ, PATH=f"{hocket.parent}{os.pathsep}{os.environ['PATH']}",
                           LC_ALL="C")
        with tempfile.TemporaryDirectory() as folder:
            for name, text in self.files.items():
                pathlib.Path(folder, name).write_text(text)
            done = subprocess.run(["bash", "-o", "pipefail", "-c", self.command], cwd=folder,
                                  env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                                  timeout=timeout, check=False)
        return (clean(done.stdout), clean(done.stderr), done.returncode)

    def text(self, answer):
        """The file as it should be if `answer` is right."""
        stdout, stderr, code = answer
        parts = [self.about]
        parts += [f"%% file {name}\n{ended(text)}" for name, text in self.files.items()]
        parts.append(f"%% run {self.command}\n")
        if stdout:
            parts.append(f"%% stdout\n{ended(stdout)}")
        if stderr:
            parts.append(f"%% stderr\n{ended(stderr)}")
        if code:
            parts.append(f"%% exit {code}\n")
        return "".join(parts)


def clean(output):
    return LIBRARY_LINE.sub(r"\1:N", output.decode(errors="backslashreplace"))


def ended(text):
    return text if text.endswith("\n") or not text else text + "\n" + NO_NEWLINE


def judge(path, options):
    """(path, complaint): an empty complaint is a pass."""
    name = path.relative_to(options.folder)
    try:
        case = Case(path)
        answer = case.run(options.hocket, options.timeout)
    except (ValueError, UnicodeDecodeError) as error:
        return name, f"{error}\n"
    except subprocess.TimeoutExpired:
        return name, f"still running after {options.timeout} s\n"
    right = case.text((case.expected["stdout"], case.expected["stderr"], case.exit))
    found = case.text(answer)
    if options.bless:
        if path.read_text() != found:
            path.write_text(found)
            return name, "blessed\n"
        return name, ""
    if right == found:
        return name, ""
    return name, "".join(difflib.unified_diff(right.splitlines(keepends=True),
                                              found.splitlines(keepends=True),
                                              "expected", "found"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hocket", type=pathlib.Path, required=True, help="the command to test")
    parser.add_argument("--bless", action="store_true",
                        default=os.environ.get("HOCKET_BLESS", "0") not in ("", "0"), help="write the answers into the files")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--timeout", type=float, default=60, help="seconds a case may take")
    parser.add_argument("--folder", type=pathlib.Path, default=HERE, help="where the cases are")
    parser.add_argument("only", nargs="*", help="folders or files, relative to --folder")
    options = parser.parse_args()
    options.hocket = options.hocket.resolve()
    options.folder = options.folder.resolve()
    if not options.hocket.is_file():
        parser.error(f"there is no {options.hocket}")

    chosen = [options.folder / name for name in options.only] or [options.folder]
    paths = sorted({p for c in chosen for p in ([c] if c.is_file() else c.rglob("*.golden"))})
    if not paths:
        parser.error("no cases there")
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for name, complaint in pool.map(lambda path: judge(path, options), paths):
            if complaint == "blessed\n":
                print(f"blessed {name}")
            elif complaint:
                failed += 1
                print(f"FAILED {name}\n{complaint}")
    print(f"{len(paths)} golden cases, {failed} failed")
    if failed and not options.bless:
        print("If the new answers are right: "
              f"{pathlib.Path(sys.argv[0])} --hocket {options.hocket} --bless {' '.join(options.only)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
