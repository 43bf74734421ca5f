#!/usr/bin/env python3
"""The golden runner's own tests, with a shell script in the place of the hocket command."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

RUNNER = pathlib.Path(__file__).resolve().parent / "run.py"
# Says its arguments, complains about `bad`, prints files, and one line without its end.
SCRIPT = """#!/bin/sh
case "$1" in
  say) shift; echo "$@" ;;
  bad) echo "src/algorithms/ring.cpp:17: error: no" >&2; exit 2 ;;
  cat) cat "$2" ;;
  part) printf 'no end' ;;
esac
"""


class Runner(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name)
        self.tool = self.root / "hocket"
        self.tool.write_text(SCRIPT)
        self.tool.chmod(0o755)
        self.cases = self.root / "cases"
        self.cases.mkdir()

    def write(self, name, text):
        path = self.cases / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def run_it(self, *arguments, **variables):
        environment = {k: v for k, v in os.environ.items() if k != "HOCKET_BLESS"}
        return subprocess.run([sys.executable, RUNNER, "--hocket", self.tool, "--folder",
                               self.cases, *arguments], env=environment | variables,
                              capture_output=True, text=True, check=False)

    def test_a_right_answer_passes(self):
        self.write("a.golden", "Says hi.\n%% run hocket say hi\n%% stdout\nhi\n")
        done = self.run_it()
        self.assertEqual((done.returncode, done.stdout), (0, "1 golden cases, 0 failed\n"))

    def test_a_wrong_answer_fails_and_shows_the_difference(self):
        self.write("a.golden", "%% run hocket say ho\n%% stdout\nhi\n")
        done = self.run_it()
        self.assertEqual(done.returncode, 1)
        self.assertIn("FAILED a.golden", done.stdout)
        self.assertIn("-hi\n+ho\n", done.stdout)
        self.assertIn("--bless", done.stdout)

    def test_an_unexpected_exit_code_or_complaint_fails(self):
        self.write("a.golden", "%% run hocket bad\n")
        done = self.run_it()
        self.assertEqual(done.returncode, 1)
        self.assertIn("+%% exit 2\n", done.stdout)
        self.assertIn("+src/algorithms/ring.cpp:N: error: no\n", done.stdout)

    def test_expected_complaints_pass_whatever_the_line_of_the_library(self):
        self.write("a.golden",
                   "%% run hocket bad\n%% stderr\nsrc/algorithms/ring.cpp:N: error: no\n%% exit 2\n")
        self.assertEqual(self.run_it().returncode, 0)

    def test_files_are_there_and_lines_without_an_end_are_kept(self):
        self.write("a.golden", "%% file in.txt\none\ntwo\n%% run hocket cat in.txt\n"
                   "%% stdout\none\ntwo\n")
        self.write("b.golden", "%% run hocket part\n%% stdout\nno end\n"
                   "%% (no newline at the end)\n")
        self.write("c.golden", "%% run hocket part\n%% stdout\nno end\n")
        done = self.run_it()
        self.assertIn("3 golden cases, 1 failed", done.stdout)
        self.assertIn("FAILED c.golden", done.stdout)

    def test_a_pipe_fails_when_its_first_command_does(self):
        self.write("a.golden", "%% run hocket bad 2>&1 | cat\n%% stdout\n"
                   "src/algorithms/ring.cpp:N: error: no\n%% exit 2\n")
        self.assertEqual(self.run_it().returncode, 0)

    def test_bless_writes_what_is_answered_and_then_all_pass(self):
        path = self.write("a.golden", "About.\n%% file x\nfile\n%% run hocket cat x\n%% stdout\nold\n")
        done = self.run_it("--bless")
        self.assertEqual((done.returncode, done.stdout.splitlines()[0]), (0, "blessed a.golden"))
        self.assertEqual(path.read_text(),
                         "About.\n%% file x\nfile\n%% run hocket cat x\n%% stdout\nfile\n")
        self.assertEqual(self.run_it().returncode, 0)

    def test_the_environment_blesses_too(self):
        path = self.write("a.golden", "%% run hocket say a\n")
        self.run_it(HOCKET_BLESS="1")
        self.assertEqual(path.read_text(), "%% run hocket say a\n%% stdout\na\n")

    def test_only_what_is_named_runs(self):
        self.write("one/a.golden", "%% run hocket say a\n%% stdout\na\n")
        self.write("two/b.golden", "%% run hocket say b\n")
        self.assertEqual(self.run_it("one").returncode, 0)
        self.assertEqual(self.run_it("two/b.golden").returncode, 1)

    def test_a_broken_case_or_none_is_a_failure(self):
        self.assertNotEqual(self.run_it().returncode, 0)
        self.write("a.golden", "no command\n")
        self.write("b.golden", "%% run hocket say x\n%% stdot\nx\n")
        done = self.run_it()
        self.assertEqual(done.returncode, 1)
        self.assertIn("no `%% run`", done.stdout)
        self.assertIn("unknown section `%% stdot`", done.stdout)


if __name__ == "__main__":
    unittest.main()
