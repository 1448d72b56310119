# SPDX-License-Identifier: BSD-3-Clause
"""Under limits of processes, address space, descriptors and file sizes: done, or an exit code and a sentence."""
import os
import pathlib
import resource
import subprocess
import tempfile
import unittest

from commands import COMMANDS, SLOW, Inputs, left_behind, outputs
from kit import ENVIRONMENT, FURROW, SANITIZED, Case, main

NOBODY = 65534


def limited(**limits):
    """What a child does before it becomes the program; processes are counted for ordinary users only."""
    def prepare():
        for name, most in limits.items():
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (most, most))
        if "NPROC" in limits and os.getuid() == 0:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
    return prepare


def least_to_load(kind):
    """Megabytes under which the program starts at all: its libraries take most of them."""
    for megabytes in range(10, 4000, 10):
        done = subprocess.run([FURROW, "--version"], preexec_fn=limited(**{kind: megabytes << 20}), capture_output=True)
        if done.returncode == 0:
            return megabytes
    raise AssertionError("the program does not start within 4 GB")


class Limits(Case):
    def setUp(self):
        super().setUp()
        self.inputs = Inputs(self.folder)
        os.chmod(self.folder, 0o755)

    def run_under(self, words, **limits):
        with tempfile.TemporaryDirectory(dir=self.folder) as name:
            folder = pathlib.Path(name)
            os.chmod(folder, 0o777)
            self.inputs.copy_to(folder)
            done = subprocess.run([FURROW, *words], cwd=folder, env={**ENVIRONMENT, "FURROW_CACHE": "off"}, capture_output=True,
                                  text=True, preexec_fn=limited(**limits), timeout=300)
            what = f"{limits}: furrow {' '.join(words)}: {done.returncode}\n{done.stderr}"
            self.assertIn(done.returncode, (0, 1, 2, 3, 4), what)
            if done.returncode > 1:
                self.assertIn("furrow: ", done.stderr, what)
            self.assertEqual(left_behind(folder), [], what)
            return done, {out: (folder / out).read_bytes() for out in outputs(words) if (folder / out).exists()}

    @unittest.skipIf(SANITIZED, "they need threads of their own")
    def test_of_processes(self):
        try:
            self.run_under(("--version",), NPROC=100)
        except PermissionError:
            self.skipTest("an ordinary user may not run the program where it is")
        for most in (1, 2, 3):  # those of the user count, whoever they belong to
            for words in (("solve", "poisson3d:20", "--threads", "8"), ("gemv", "50x50", "--threads", "5", "--repeat", "1"),
                          COMMANDS["solve"], COMMANDS["convert_back"]):
                done, _ = self.run_under(words, NPROC=most)
                self.assertEqual(done.returncode, 0, done.stderr)
        done, _ = self.run_under(("solve", "poisson3d:20", "--threads", "8"), NPROC=1)
        self.assertEqual(done.stderr.count("furrow: 8 threads cannot be started: going on with 1\n"), 1, done.stderr)
        self.assertIn("cpu, 1 thread\n", done.stdout)

    @unittest.skipIf(SANITIZED, "sanitizers take address space of their own")
    def test_of_address_space(self):
        bare = least_to_load("AS")
        least = None
        for megabytes in range(bare, bare + 200, 10):
            for words in (("solve", "poisson3d:40", "--threads", "16"), ("solve", "in.mtx", "--threads", "4", "-o", "out.mtx")):
                done, _ = self.run_under(words, AS=megabytes << 20)
                said = f"{megabytes} MB\n{done.stdout}{done.stderr}"
                if done.returncode == 1:  # one method fitted, and those that were to follow did not
                    self.assertRegex(done.stdout, r"can(not)? be had", said)
                else:
                    self.assertIn(done.returncode, (0, 4), said)
                if done.returncode == 0 and words[1] == "poisson3d:40" and least is None:
                    least = megabytes
        self.assertIsNotNone(least)
        done, _ = self.run_under(("solve", "poisson3d:40"), AS=bare + 200 << 20)
        self.assertRegex(done.stderr, r"at the peak, [12]?\d?\d MB available")
        done, _ = self.run_under(("solve", "poisson3d:150"), AS=bare + 200 << 20)
        self.assertEqual(done.returncode, 4)
        self.assertRegex(done.stderr, r"this takes about \d+ MB of memory and [12]?\d?\d MB are available")

    @unittest.skipIf(SANITIZED, "sanitizers take memory of their own")
    def test_of_data(self):
        done, _ = self.run_under(("solve", "poisson3d:150"), DATA=least_to_load("DATA") + 130 << 20)
        self.assertEqual(done.returncode, 4)
        self.assertRegex(done.stderr, r"this takes about \d+ MB of memory and 1?\d\d MB are available")

    @unittest.skipIf(SANITIZED, "sanitizers open files of their own")
    def test_of_descriptors(self):
        for name, words in COMMANDS.items():
            if name not in SLOW:
                for most in range(4, 9):
                    self.run_under(words, NOFILE=most)

    def test_of_file_sizes(self):
        for name, words in COMMANDS.items():
            if not outputs(words):
                continue
            for most in (0, 10, 400):
                done, written = self.run_under(words, FSIZE=most)
                self.assertTrue(all(len(data) <= most for data in written.values()))
                if done.returncode == 3:
                    self.assertIn(": cannot be written: File too large\n", done.stderr)

    def test_a_report_is_worth_more_than_its_files(self):
        done, written = self.run_under(("solve", "poisson2d:40", "-o", "out.mtx", "--history", "out.csv"), FSIZE=4000)
        self.assertEqual(done.returncode, 3)
        self.assertIn("furrow: out.mtx: cannot be written: File too large\n", done.stderr)
        self.assertIn("Converged", done.stdout)
        self.assertIn("history     out.csv", done.stdout)
        self.assertNotIn("out.mtx", done.stdout)
        self.assertEqual(list(written), ["out.csv"])


if __name__ == "__main__":
    main()
