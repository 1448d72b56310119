# SPDX-License-Identifier: BSD-3-Clause
"""What the CLI tests share: running the program, masking what changes from run to run, golden files."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

FURROW = os.environ.get("FURROW", "furrow")
SANITIZED = bool(os.environ.get("FURROW_SANITIZED"))
GOLDEN = pathlib.Path(__file__).parent / "golden"
UPDATE = "--update" in sys.argv

# A solve that a test stops: ten seconds of one core, whatever the number of cores and the format that `auto` would take.
ENDLESS = ("solve", "poisson2d:1000", "--device", "cpu", "--threads", "1", "--format", "csr", "--solver", "cg", "--precond", "none",
           "--rtol", "1e-10")

ENVIRONMENT = {k: v for k, v in os.environ.items() if not k.startswith("FURROW_") and k not in ("NO_COLOR", "TERM")}
ENVIRONMENT.update(LC_ALL="C.UTF-8", CUDA_VISIBLE_DEVICES="", PATH=str(pathlib.Path(FURROW).parent) + ":" + os.environ["PATH"])


def furrow(*words, cwd=None, env=None):
    """Runs the program; stdout and stderr as text."""
    return subprocess.run([FURROW, *words], cwd=cwd, env={**ENVIRONMENT, **(env or {})}, capture_output=True, text=True)


MASKS = [
    # Times, sizes and speeds, whatever their unit; numbers with an exponent; what depends on the machine.
    (r"\d+ h \d+ min|\d+ min \d+ s|\d[\d.]* (?:us|ms|s)\b", "<time>"),
    (r"\d[\d.]* (?:B|kB|MB|GB|TB)/s", "<speed>"),
    (r"\d[\d.]* (?:B|kB|MB|GB|TB)\b", "<size>"),
    (r"\d[\d.]*e[-+]\d+", "<number>"),
    (r"\b\d+ threads?\b", "<threads>"),
    (r"(choose one of ).*", r"\1<names>"),
    (r"(?m)^(  (?:device|format)\s+).*", r"\1<machine>"),
    # A row of the table of spmv; the star is where the fastest one is.
    (r"(?m)^[* ] (\w+)( +\w+) +<time> +<size> +[\d.]+ +[\d.]+ +\d+ %( +[\d.]+)?$", r"  \1\2  <row>"),
]


def masked(text, keep_sizes=False):
    for pattern, replacement in MASKS:
        if not (keep_sizes and replacement == "<size>"):
            text = re.sub(pattern, replacement, text)
    return re.sub(r" +$", "", text, flags=re.M)


class Case(unittest.TestCase):
    """A test in a temporary folder of its own."""

    maxDiff = None

    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self._folder.name)

    def tearDown(self):
        self._folder.cleanup()

    def furrow(self, *words, code=0, env=None):
        done = furrow(*words, cwd=self.folder, env=env)
        self.assertEqual(done.returncode, code, f"furrow {' '.join(words)}\n{done.stdout}{done.stderr}")
        return done

    def write(self, name, text):
        (self.folder / name).write_text(text)

    def golden(self, name, *words, code=0, keep_sizes=False, only=lambda line: True):
        """Compares command, stdout, stderr and exit code with golden/NAME.txt. `only`: which lines of stdout count."""
        done = self.furrow(*words, code=code)
        lines = [line for line in done.stdout.splitlines() if only(line)]
        text = f"$ furrow {' '.join(words)}\n" + masked("\n".join(lines), keep_sizes) + "\n"
        if done.stderr:
            text += "--- stderr\n" + masked(done.stderr)
        text += f"--- exit {done.returncode}\n"
        file = GOLDEN / f"{name}.txt"
        if UPDATE:
            file.write_text(text)
        self.assertTrue(file.exists(), f"{file} is missing: run this test with --update")
        self.assertEqual(text, file.read_text(), f"see {file}; --update rewrites it")


def main():
    unittest.main(argv=[word for word in sys.argv if word != "--update"])
