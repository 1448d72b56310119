# SPDX-License-Identifier: BSD-3-Clause
"""The estimate that is printed before work starts is within 10 % of the peak that the system measured."""
import os
import re
import subprocess
import unittest

from kit import ENVIRONMENT, FURROW, SANITIZED, Case, main

UNITS = {"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9}


@unittest.skipIf(SANITIZED, "sanitizers take memory of their own")
class Memory(Case):
    def estimate_holds(self, *words):
        p = subprocess.Popen([FURROW, *words], cwd=self.folder, env=ENVIRONMENT, stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE, text=True)
        remark = p.stderr.read()
        p.stderr.close()
        _, status, usage = os.wait4(p.pid, 0)
        p.returncode = os.waitstatus_to_exitcode(status)
        self.assertIn(p.returncode, (0, 1), remark)
        value, unit = re.match(r"furrow: memory: about ([\d.]+) (\w+) at the peak", remark).groups()
        estimate, peak = float(value) * UNITS[unit], usage.ru_maxrss * 1024
        self.assertLess(abs(estimate / peak - 1), 0.1, f"{' '.join(words)}: {estimate:.4g} estimated, {peak:.4g} taken")

    def test_solve_of_generators(self):
        few = ("--device", "cpu", "--max-iterations", "2")
        self.estimate_holds("solve", "poisson3d:120", *few)
        self.estimate_holds("solve", "poisson3d:120", *few, "--precision", "f32")
        self.estimate_holds("solve", "poisson3d:120", *few, "--format", "coo", "--precond", "none")
        self.estimate_holds("solve", "random:300000:24", *few)

    def test_solve_of_files(self):
        self.furrow("generate", "poisson3d:90", "-o", "p.mtx")
        self.furrow("convert", "p.mtx", "p.furrow")
        self.furrow("convert", "convection2d:600:0", "g.mtx.gz")
        for file in ("p.mtx", "p.furrow", "g.mtx.gz"):
            self.estimate_holds("solve", file, "--device", "cpu", "--max-iterations", "2")

    def test_spmv_of_every_format(self):
        self.estimate_holds("spmv", "poisson3d:110", "--device", "cpu", "--format", "all", "--repeat", "2")
        self.estimate_holds("spmv", "poisson3d:140", "--device", "cpu", "--repeat", "2", "--precision", "f32")

    def test_far_more_rows_than_entries_are_written_without_room_for_them(self):
        for rows, cols in ((2**31 - 1, 2**31 - 1), (2**31 - 1, 3)):
            self.write("few.mtx", f"%%MatrixMarket matrix coordinate real general\n{rows} {cols} 1\n1 1 1\n")
            self.assertRegex(self.furrow("convert", "few.mtx", "out.mtx").stderr, r"memory: about [\d.]+ MB at the peak")

    def test_the_other_subcommands(self):
        self.estimate_holds("info", "poisson3d:110")
        self.estimate_holds("generate", "poisson3d:90", "-o", "p.mtx")
        self.estimate_holds("spmv", "poisson3d:140", "--device", "cpu", "--format", "csr", "--repeat", "2")
        self.estimate_holds("spmv", "poisson3d:110", "--device", "cpu", "--format", "csr", "--repeat", "2", "--check")


if __name__ == "__main__":
    main()
