# SPDX-License-Identifier: BSD-3-Clause
"""Signals that end the program: the best x is written, nothing half-written stays, 128 + signal; at any moment."""
import random
import signal
import subprocess
import time
import unittest

from commands import left_behind
from kit import ENDLESS, ENVIRONMENT, FURROW, SANITIZED, Case, main

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Signals(Case):
    def start(self, *words, **more):
        return subprocess.Popen([FURROW, *words], cwd=self.folder, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True, **more)

    def check_x(self, n):
        lines = (self.folder / "x.mtx").read_text().splitlines()
        self.assertEqual(lines[:2], ["%%MatrixMarket matrix array real general", f"{n} 1"])
        self.assertEqual(len(lines), n + 2)

    @unittest.skipIf(SANITIZED, "sanitizers are too slow for this")
    def test_the_best_x_is_written(self):
        for one in ENDING:
            p = self.start(*ENDLESS, "-o", "x.mtx")
            time.sleep(1.5)
            p.send_signal(one)
            out, errors = p.communicate(timeout=300)
            self.assertEqual(p.returncode, 128 + one, errors)
            self.assertRegex(out, r"Interrupted after \d+ iterations")
            self.check_x(1000**2)
            self.assertEqual([f.name for f in self.folder.iterdir()], ["x.mtx"])
            (self.folder / "x.mtx").unlink()

    def test_elsewhere_they_end_it_at_once(self):
        for one in ENDING:
            p = self.start("generate", "poisson3d:190", "-o", "p.mtx")
            time.sleep(0.3)
            p.send_signal(one)
            _, errors = p.communicate(timeout=300)
            self.assertEqual(p.returncode, 128 + one)
            self.assertIn("furrow: interrupted\n", errors)
            self.assertEqual(list(self.folder.iterdir()), [])

    def test_what_the_caller_ignores_stays_ignored(self):
        for one in ENDING:
            p = self.start("solve", "--solver", "cg", "--precond", "jacobi", "poisson3d:60", "--device", "cpu", preexec_fn=lambda: signal.signal(one, signal.SIG_IGN))
            while p.poll() is None:
                p.send_signal(one)
                time.sleep(0.02)
            self.assertEqual(p.returncode, 0, p.communicate())
            p.communicate()

    def test_at_any_moment(self):
        """Whole files only, whatever the moment. Nobody can help what SIGKILL leaves beside a file."""
        dice = random.Random(4)
        words = ("solve", "--solver", "cg", "--precond", "jacobi", "poisson2d:150", "--device", "cpu", "-o", "x.mtx", "--history", "h.csv")
        began = time.monotonic()
        first = self.start(*words)
        first.communicate(timeout=300)
        self.assertEqual(first.returncode, 0)
        whole = time.monotonic() - began
        for k in range(48):
            one = (*ENDING, signal.SIGKILL)[k % 4]
            for name in ("x.mtx", "h.csv"):
                (self.folder / name).write_text("old")
            p = self.start(*words)
            time.sleep(dice.uniform(0, 1.2 * whole))
            p.send_signal(one)
            _, errors = p.communicate(timeout=300)
            # Before the program has come to its first lines, a signal ends it as the system does.
            self.assertIn(p.returncode, (0, -one) if one == signal.SIGKILL else (0, 128 + one, -one), errors)
            for name, head in (("x.mtx", "%%MatrixMarket"), ("h.csv", "iteration")):
                text = (self.folder / name).read_text()
                self.assertTrue(text == "old" or (text.startswith(head) and text.endswith("\n")), text[:99])
            if (self.folder / "x.mtx").read_text() != "old":
                self.check_x(150**2)
            for name in left_behind(self.folder):
                self.assertEqual(one, signal.SIGKILL, name)
                (self.folder / name).unlink()


if __name__ == "__main__":
    main()
