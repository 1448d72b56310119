# SPDX-License-Identifier: BSD-3-Clause
"""Ctrl-C: within a second, with 130, the best x written and nothing half-written left behind."""
import json
import os
import pty
import signal
import struct
import subprocess
import time
import unittest

from kit import ENDLESS, ENVIRONMENT, FURROW, SANITIZED, Case, main


class Interrupt(Case):
    def start(self, *words, **streams):
        return subprocess.Popen([FURROW, *words], cwd=self.folder, env=ENVIRONMENT, **streams)

    def interrupt(self, process):
        """Seconds from the signal to the end."""
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        process.wait(timeout=20)
        return time.monotonic() - began

    @unittest.skipIf(SANITIZED, "sanitizers are too slow for this")
    def test_during_a_solve(self):
        ours, theirs = pty.openpty()
        p = self.start(*ENDLESS, "-o", "x.mtx", stdout=subprocess.PIPE, stderr=theirs, text=True)
        os.close(theirs)
        seen = b""
        while b"iterations" not in seen:  # the progress line: the solver is running
            seen += os.read(ours, 4096)
        took = self.interrupt(p)
        out = p.stdout.read()
        p.stdout.close()
        os.close(ours)
        self.assertEqual(p.returncode, 130, out)
        self.assertLess(took, 1.0)
        self.assertRegex(out, r"Interrupted after \d+ iterations")
        self.assertEqual([f.name for f in self.folder.iterdir()], ["x.mtx"])
        with open(self.folder / "x.mtx") as x:
            self.assertIn("array", x.readline())
            self.assertEqual(x.readline().split(), [str(1000**2), "1"])
            self.assertEqual(sum(1 for _ in x), 1000**2)

    @unittest.skipIf(SANITIZED, "sanitizers are too slow for this")
    def test_while_the_next_method_is_set_up(self):
        """A few iterations with a diagonal, then multigrid of three million rows, which takes seconds to set up."""
        for pause in (0.3, 0.6):
            ours, theirs = pty.openpty()
            p = self.start("solve", "poisson3d:150", "--device", "cpu", "--rtol", "1e-13", "-o", "x.npy", "--checkpoint", "x.ckpt",
                           stdout=subprocess.PIPE, stderr=theirs, text=True)
            os.close(theirs)
            seen = b""
            while b"iterations" not in seen:
                seen += os.read(ours, 4096)
            time.sleep(pause)
            self.interrupt(p)
            out = p.stdout.read()
            p.stdout.close()
            os.close(ours)
            self.assertEqual(p.returncode, 130, out)
            self.assertRegex(out, "(?i)interrupted")
            self.assertEqual(sorted(f.name for f in self.folder.iterdir()), ["x.ckpt", "x.npy"])
            for name in ("x.ckpt", "x.npy"):
                (self.folder / name).unlink()

    @unittest.skipIf(SANITIZED, "sanitizers are too slow for this")
    def test_json_says_interrupted(self):
        p = self.start(*ENDLESS, "--json", stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        time.sleep(1.5)
        self.assertLess(self.interrupt(p), 1.0)
        report = json.loads(p.stdout.read())
        p.stdout.close()
        self.assertEqual((p.returncode, report["status"]), (130, "interrupted"))
        self.assertGreater(report["iterations"], 0)

    @unittest.skipIf(SANITIZED, "sanitizers are too slow for this")
    def test_right_hand_sides_that_have_not_begun_do_not(self):
        head = "{'descr': '<f8', 'fortran_order': True, 'shape': (1000000, 3), }".ljust(117) + "\n"
        ones = struct.pack("<d", 1) * 3 * 1000**2
        (self.folder / "b.npy").write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + ones)
        p = self.start(*ENDLESS, "-b", "b.npy", "--json", stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        time.sleep(1.5)
        self.assertLess(self.interrupt(p), 1.0)
        report = json.loads(p.stdout.read())
        p.stdout.close()
        self.assertEqual((p.returncode, report["status"]), (130, "interrupted"))
        self.assertGreater(report["iterations"], 0)  # of the one that was at work
        self.assertEqual([c["status"] for c in report["columns"]], ["interrupted"] * 3)
        self.assertEqual([c["message"] for c in report["columns"][1:]], ["interrupted before it began"] * 2)

    def test_elsewhere_it_ends_at_once_and_leaves_nothing(self):
        for pause in (0.2, 0.9):
            p = self.start("generate", "poisson3d:190", "-o", "p.mtx", stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            time.sleep(pause)
            took = self.interrupt(p)
            complaint = p.stderr.read()
            p.stderr.close()
            self.assertEqual(p.returncode, 130, complaint)
            self.assertLess(took, 1.0)
            self.assertIn("furrow: interrupted\n", complaint)
            self.assertEqual(list(self.folder.iterdir()), [])


if __name__ == "__main__":
    main()
