# SPDX-License-Identifier: BSD-3-Clause
"""Runs what the documentation shows. In each ```console block of README.md and docs/*.md:

    $ furrow ...      is run, in one temporary folder a document, and must exit 0
    # exit N          below it: must exit N instead
    ...               a line of three dots stands for any lines
    furrow: ...       a line that must be on stderr
    anything else     the output, numbers that change from run to run masked

Other commands ($ make, # apt) are not run. A command without output lines below it is only run.
"""
import pathlib
import re
import subprocess
import tempfile
import unittest

from kit import ENVIRONMENT, masked

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


class Docs(unittest.TestCase):
    def check(self, document):
        with tempfile.TemporaryDirectory() as folder:
            for number, command, shown, code in commands(document.read_text()):
                done = subprocess.run(["bash", "-c", command], cwd=folder, env=ENVIRONMENT, capture_output=True, text=True,
                                      timeout=300)
                where = f"{document.name}:{number}: $ {command}"
                self.assertEqual(done.returncode, code, f"{where}\n{done.stdout}{done.stderr}")
                remarks = [line for line in shown if line.startswith("furrow: ")]
                for line in smoothed("\n".join(remarks)):
                    self.assertIn(line, smoothed(done.stderr), where)
                output = smoothed("\n".join(line for line in shown if line not in remarks))
                if output:
                    self.assertTrue(matches(output, smoothed(done.stdout)),
                                    f"{where}\n--- shown\n" + "\n".join(output) + "\n--- printed\n" + done.stdout)


def add(document):
    name = "test_" + re.sub(r"\W", "_", document.stem)
    setattr(Docs, name, lambda self: self.check(document))


for document in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
    if document.exists():
        add(document)

if __name__ == "__main__":
    unittest.main()
