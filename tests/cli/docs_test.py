# SPDX-License-Identifier: BSD-3-Clause
"""Runs what the documentation shows. In each ```console block of README.md, docs/*.md and docs/kernels/*.md:

    $ furrow ...      is run, in one temporary folder a document, and must exit 0
    # exit N          below it: must exit N instead
    ...               a line of three dots stands for any lines
    furrow: ...       a line that must be on stderr
    anything else     the output, numbers that change from run to run masked

Other commands ($ make, # apt) are not run. A command without output lines below it is only run. One with --device gpu
runs where there is a GPU; elsewhere it must be refused for want of one, and for nothing else.

A ```cpp block whose first line names a file, as in ```cpp src/formats/csr/csr.hpp, holds lines of that file as they stand
there, indentation aside; where lines are left out stands a line of three dots. `python3 tests/cli/docs_test.py --update`
brings in what the source has now between the first and the last line of each piece.

The table of every classic kernel in docs/kernels.md is run cell by cell.
"""
import functools
import itertools
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from kit import ENVIRONMENT, UPDATE, furrow, main, masked

ROOT = pathlib.Path(__file__).resolve().parents[2]


def smoothed(text):
    """Masked further: what may differ between processors, and the widths of columns."""
    text = re.sub(r"\b[\d,]+ iterations", "# iterations", masked(text))
    return [re.sub(r"  +", "  ", line.rstrip()) for line in text.splitlines() if line.strip()]


def commands(text):
    """(line number, command, output lines, exit code) of every furrow command in the console blocks."""
    for block in re.finditer(r"^```console\n(.*?)^```", text, re.M | re.S):
        number = text[: block.start()].count("\n") + 1
        current = None
        for line in block.group(1).splitlines():
            number += 1
            if current and current[1].endswith("\\"):
                current[1] = current[1][:-1] + line
            elif line.startswith(("$ ", "# ")) and not line.startswith("# exit "):
                if current:
                    yield tuple(current)
                current = [number, line[2:], [], 0] if line.startswith("$ furrow") else None
            elif current and line.startswith("# exit "):
                current[3] = int(line[7:])
            elif current:
                current[2].append(line)
        if current:
            yield tuple(current)


def matches(expected, actual):
    """Whether the lines are the same, where a line of three dots stands for any lines."""
    if not expected:
        return not actual
    if expected[0].strip() == "...":
        return any(matches(expected[1:], actual[k:]) for k in range(len(actual) + 1))
    return bool(actual) and expected[0] == actual[0] and matches(expected[1:], actual[1:])


NO_DEVICE = 4


@functools.cache
def gpu_environment():
    """That of the person who runs the test, for commands that want a GPU."""
    seen = os.environ.get("CUDA_VISIBLE_DEVICES")
    environment = {k: v for k, v in ENVIRONMENT.items() if k != "CUDA_VISIBLE_DEVICES"}
    return environment if seen is None else {**environment, "CUDA_VISIBLE_DEVICES": seen}


@functools.cache
def has_gpu():
    words = ["furrow", "spmv", "poisson1d:9", "--device", "gpu", "--repeat", "1", "--no-ceiling"]
    return subprocess.run(words, env=gpu_environment(), capture_output=True).returncode != NO_DEVICE


def run(command, folder):
    """What the command did, and whether it wanted a GPU that is not there."""
    wants_gpu = "--device gpu" in command
    done = subprocess.run(["bash", "-c", command], cwd=folder, env=gpu_environment() if wants_gpu else ENVIRONMENT,
                          capture_output=True, text=True, timeout=300)
    return done, wants_gpu and not has_gpu()


def pieces(lines):
    """(whether it is lines of three dots, lines) of what an excerpt is made of."""
    for dots, piece in itertools.groupby(lines, lambda line: line.strip() == "..."):
        yield dots, list(piece)


def bare(lines):
    return [line.strip() for line in lines]


def place_of(piece, source, start):
    """Where the piece stands in the source, from line `start` on; None where it does not."""
    for at in range(start, len(source) - len(piece) + 1):
        if source[at : at + len(piece)] == piece:
            return at
    return None


def excerpts(text):
    """(match, file, lines) of the blocks that show source."""
    for block in re.finditer(r"^```cpp (\S+)\n(.*?)^```", text, re.M | re.S):
        yield block, block.group(1), block.group(2).splitlines()


def renewed(lines, source):
    """The excerpt with what the source has now between the first and the last line of each piece."""
    result, start = [], 0
    for dots, piece in pieces(lines):
        if dots:
            result += piece
            continue
        first = bare(source).index(piece[0].strip(), start)
        shift = source[first].index(piece[0].strip()) - piece[0].index(piece[0].strip())
        last = first if len(piece) == 1 else source.index(" " * shift + piece[-1], first + 1)
        result += [line[shift:] for line in source[first : last + 1]]
        start = last + 1
    return result


class Docs(unittest.TestCase):
    def check(self, document):
        self.check_excerpts(document)
        with tempfile.TemporaryDirectory() as folder:
            for number, command, shown, code in commands(document.read_text()):
                done, no_gpu = run(command, folder)
                where = f"{document.name}:{number}: $ {command}"
                self.assertEqual(done.returncode, NO_DEVICE if no_gpu else code, f"{where}\n{done.stdout}{done.stderr}")
                if no_gpu:
                    continue
                remarks = [line for line in shown if line.startswith("furrow: ")]
                for line in smoothed("\n".join(remarks)):
                    self.assertIn(line, smoothed(done.stderr), where)
                output = smoothed("\n".join(line for line in shown if line not in remarks))
                if output:
                    self.assertTrue(matches(output, smoothed(done.stdout)),
                                    f"{where}\n--- shown\n" + "\n".join(output) + "\n--- printed\n" + done.stdout)


    def check_excerpts(self, document):
        text = document.read_text()
        for block, file, lines in reversed(list(excerpts(text))):
            source = (ROOT / file).read_text().splitlines()
            if UPDATE:
                text = text[: block.start(2)] + "\n".join(renewed(lines, source)) + "\n" + text[block.end(2) :]
                continue
            start = 0
            for piece in [piece for dots, piece in pieces(lines) if not dots]:
                at = place_of(bare(piece), bare(source), start)
                self.assertIsNotNone(at, f"{document.name}: not in {file}, see --update:\n" + "\n".join(piece))
                start = at + len(piece)
        if UPDATE:
            document.write_text(text)

    def test_every_classic_kernel(self):
        """Each cell of the table runs, and each kernel that can be played is in it."""
        table = (ROOT / "docs/kernels.md").read_text().split("\n## Every classic kernel", 1)[1].split("\n## ")[0]
        cells = re.findall(r"`(furrow [^`]*)`", table)
        refusal = furrow("spmv", "poisson1d:9", "--device", "play", "--kernel", "stream").stderr
        formats = re.findall(r"(\w+) \(([\w, ]+)\)", refusal.split("choose one of")[1])
        self.assertGreaterEqual(len(formats), 6, refusal)
        for format, kernels in formats:
            for kernel in kernels.split(", "):
                for device in ("play", "gpu"):
                    self.assertTrue([c for c in cells if re.search(rf"--format {format}\b", c) and f"--kernel {kernel} " in c
                                     and f"--device {device}" in c], f"{format} {kernel} is not in the table for {device}")
        with tempfile.TemporaryDirectory() as folder:
            for command in cells:  # those that make what others read stand above the table
                done, no_gpu = run(command, folder)
                self.assertEqual(done.returncode, NO_DEVICE if no_gpu else 0, f"$ {command}\n{done.stdout}{done.stderr}")


def add(document):
    name = "test_" + re.sub(r"\W", "_", str(document.relative_to(ROOT).with_suffix("")).removeprefix("docs/"))
    setattr(Docs, name, lambda self: self.check(document))


for document in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs/kernels").glob("*.md"))]:
    if document.exists():
        add(document)

if __name__ == "__main__":
    main()
