# SPDX-License-Identifier: BSD-3-Clause
"""One call of the system fails: an exit code of the table, a sentence, and outputs that are old or new and whole."""
import concurrent.futures
import os
import pathlib
import subprocess
import tempfile
import unittest

from commands import COMMANDS, SLOW, Inputs, left_behind, outputs
from kit import ENVIRONMENT, FURROW, Case, main

LIBRARY = os.environ.get("FURROW_FAULTS", "")
NOT_OURS = {"doctor"} if os.path.exists("/dev/nvidiactl") else set()  # it asks the driver
KINDS = ("malloc", "mmap", "open", "write", "rename", "fsync", "ftruncate", "thread")
RUNS = 36  # of one command with faults of one kind: all where there are no more calls, otherwise spread over them


def run(words, folder, **env):
    env = {**ENVIRONMENT, "FURROW_CACHE": str(folder), "LD_PRELOAD": LIBRARY, **env}
    return subprocess.run([FURROW, *words], cwd=folder, env=env, capture_output=True, timeout=300)


@unittest.skipUnless(LIBRARY, "FURROW_FAULTS names no library")
class Faults(Case):
    def setUp(self):
        super().setUp()
        self.inputs = Inputs(self.folder)

    def one(self, words, fault, right):
        with tempfile.TemporaryDirectory(dir=self.folder) as name:
            folder = pathlib.Path(name)
            self.inputs.copy_to(folder)
            for out in outputs(words):
                (folder / out).write_text("old")
            done = run(words, folder, FURROW_FAULT=fault)
            what = f"{fault}: furrow {' '.join(words)}: {done.returncode}\n{done.stderr.decode()}"
            self.assertIn(done.returncode, range(5), what)
            if done.returncode > 1 and not fault.startswith("write"):
                self.assertIn(b"furrow: ", done.stderr, what)
            self.assertEqual(left_behind(folder), [], what)
            for out in outputs(words):
                self.assertIn((folder / out).read_bytes(), (b"old", right[out]), what)

    def runs_of(self, words, kind):
        with tempfile.TemporaryDirectory(dir=self.folder) as name:
            folder = pathlib.Path(name)
            self.inputs.copy_to(folder)
            done = run(words, folder, FURROW_FAULT=f"{kind}:0", FURROW_FAULT_COUNT="count")
            self.assertIn(done.returncode, (0, 2), done.stderr)
            calls = int((folder / "count").read_text())
            right = {out: (folder / out).read_bytes() for out in outputs(words)}
        few = min(calls, RUNS)
        numbers = [1 + k * (calls - 1) // max(few - 1, 1) for k in range(few)]
        last_ones = numbers[:: max(1, few // 6)]  # that call and all after it
        return [(words, f"{kind}:{n}", right) for n in numbers] + [(words, f"{kind}:{n}+", right) for n in last_ones]

    def check(self, kind):
        jobs = [job for name, words in COMMANDS.items() if name not in SLOW | NOT_OURS for job in self.runs_of(words, kind)]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            failures = [str(e) for e in (f.exception() for f in [pool.submit(self.one, *job) for job in jobs]) if e]
        self.assertFalse(failures, f"{len(failures)} of {len(jobs)} runs:\n" + "\n".join(failures[:8]))


for kind in KINDS:
    setattr(Faults, f"test_{kind}", lambda self, kind=kind: self.check(kind))

if __name__ == "__main__":
    main()
