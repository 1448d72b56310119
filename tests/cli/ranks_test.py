# SPDX-License-Identifier: BSD-3-Clause
"""Solving on ranks: threads of one process, and processes of mpirun. The same number of ranks gives the same bits on both."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
import unittest

from kit import ENDLESS, ENVIRONMENT, FURROW, Case, main

MODULE = pathlib.Path(FURROW).resolve().parent / "libfurrow_mpi.so"
LIBRARY = os.environ.get("FURROW_FAULTS", "")
NUMBERS = (1, 2, 3, 4, 7)
WATCHED = """import os, resource, subprocess, sys
code = subprocess.call(sys.argv[1:])
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
open('peak.' + os.environ['OMPI_COMM_WORLD_RANK'], 'w').write(str(peak))
sys.exit(0 if code == 1 else code)  # 1 says that the solver came to its limit; at a rank that ends so, mpirun would kill the others
"""
# Solver, a matrix that it serves, and iterations by which ranks may differ: sums of other pieces round elsewhere.
SYMMETRIC = ("cg", "cg_single_reduction", "fcg", "cr", "minres")
GENERAL = ("bicgstab", "bicgstab2", "tfqmr", "gmres", "fgmres", "idr")
SOLVES = [(solver, "poisson2d:20") for solver in SYMMETRIC] + [(solver, "convection2d:20:10") for solver in GENERAL]


def sentences(text):
    return [line for line in text.splitlines() if line.startswith("furrow: ") and not line.startswith("furrow: memory:")]


class Threads(Case):
    def solve(self, *words, code=0):
        return json.loads(self.furrow("solve", *words, "--json", code=code).stdout)

    def test_report_says_what_each_rank_has(self):
        report = self.solve("poisson2d:20", "--ranks", "3")
        self.assertEqual(report["status"], "converged")
        self.assertEqual(report["ranks"], 3)
        self.assertEqual(len(report["parts"]), 3)
        self.assertEqual(sum(p["rows"] for p in report["parts"]), 400)
        self.assertEqual(sum(p["entries"] for p in report["parts"]), 1920)
        for part in report["parts"]:
            self.assertGreater(part["seconds"]["solve"], 0)
            self.assertGreaterEqual(part["neighbours"], 1)
        text = self.furrow("solve", "poisson2d:20", "--ranks", "3").stdout
        self.assertIn("\n  ranks       3 in threads: at most ", text)
        self.assertEqual({part["device"] for part in report["parts"]}, {"cpu"})
        self.assertNotIn("ranks_talk_through", report)
        self.assertNotIn("ranks", self.solve("poisson2d:20"))

    def test_all_numbers_of_ranks_come_to_the_same(self):
        for solver, matrix in SOLVES:
            one = self.solve(matrix, "--solver", solver)
            for n in NUMBERS:
                report = self.solve(matrix, "--solver", solver, "--ranks", str(n))
                self.assertEqual(report["status"], one["status"], f"{solver} on {n}")
                self.assertAlmostEqual(report["iterations"], one["iterations"], delta=2 + one["iterations"] // 10)

    def test_wrong_words_are_refused(self):
        for words, what in ((["--ranks", "0"], "--ranks: must be a number from 1 to 256, of threads, or mpi, not '0'"),
                            (["--ranks", "two"], "--ranks: must be a number from 1 to 256, of threads, or mpi, not 'two'"),
                            (["--ranks", "2", "--precond", "ilu"], "ilu sees the rows of one rank only, on 2 ranks: say "
                             "local:ilu, block Jacobi over the ranks, or take amg:sa, jacobi or none"),
                            (["--ranks", "2", "--precond", "local:ilo"], "did you mean 'ilu'?"),
                            (["--precond", "local:ilu"], "there is no preconditioner"),
                            (["--partition", "metis"], "--partition cuts rows among ranks, and there is one"),
                            (["--ranks", "2", "--partition", "scotch"], "there is no partition 'scotch'"),
                            (["--ranks", "2", "--precision", "f32"], "ranks solve in the precision of the system"),
                            (["--device", "gpu:0,1", "--ranks", "2"], "--device gpu:0,1 is a rank on each of these GPUs: leave --ranks out"),
                            (["--device", "gpu:0,x"], "'gpu:0,x' names no GPUs: say gpu:all, or their numbers as in gpu:0,1"),
                            (["--device", "gpu:1,"], "'gpu:1,' names no GPUs"),
                            (["--ranks", "2", "--through", "host"], "--through host: no GPUs of ranks are to talk: say --device gpu:all"),
                            (["--through", "nccl"], "--through nccl: no GPUs of ranks are to talk"),
                            (["--device", "gpu:all", "--through", "nvcl"], "there is no way 'nvcl': did you mean 'nccl'?"),
                            (["--ranks", "2", "--solver", "lsqr"], "lsqr does not run on ranks yet")):
            said = self.furrow("solve", "convection2d:20:10", *words, code=2).stderr
            self.assertIn(what, said)
            self.assertEqual(len(sentences(said)), 1, said)

    def test_several_gpus_are_refused_where_there_is_none(self):
        for where in ("gpu:all", "gpu:0,1"):
            said = self.furrow("solve", "poisson2d:20", "--device", where, code=4).stderr
            self.assertEqual(len(sentences(said)), 1, said)
            self.assertIn("no GPU can be used", said)
            said = self.furrow("spmv", "poisson2d:20", "--device", where, code=2).stderr
            self.assertIn(f"there is no device '{where}'", said)

    def test_metis_cuts_less_and_x_stays_in_order(self):
        if subprocess.run(["sh", "-c", "ldconfig -p | grep -q libmetis.so.5"], check=False).returncode:
            self.skipTest("libmetis.so.5 is not installed")
        for n in NUMBERS:
            cut = {}
            for how in ("rows", "metis"):
                report = self.solve("stencil2d9:40", "--ranks", str(n), "--partition", how, "--rtol", "1e-10")
                self.assertEqual((report["status"], report["partition"]), ("converged", how))
                self.assertLess(report["relative_error"], 1e-6)  # b = A * ones says nothing of the order
                self.assertEqual(report["cut"], sum(p["coupled"] for p in report["parts"]))
                cut[how] = report["cut"]
            self.assertLessEqual(cut["metis"], (1.2 if n < 7 else 0.8) * cut["rows"])  # few strips of a square are hard to beat
            self.assertEqual(cut["rows"] == 0, n == 1)
        self.furrow("solve", "poisson2d:20", "-o", "b.npy")  # ones, nearly; its answer has an order
        for n in ("1", "4"):
            self.furrow("solve", "poisson2d:20", "-b", "b.npy", "--checkpoint", "cut.ckpt", "--ranks", n, "--partition", "metis", "-o", "cut.npy")
            self.assertEqual((self.folder / "cut.ckpt").read_bytes()[-3200:], (self.folder / "cut.npy").read_bytes()[-3200:])
            self.assertEqual(self.solve("poisson2d:20", "-b", "b.npy", "--resume", "cut.ckpt", "--ranks", "3", "--partition", "metis")["iterations"], 0)
        self.furrow("solve", "poisson2d:20", "-b", "b.npy", "--rtol", "1e-12", "-o", "one.txt")
        self.furrow("solve", "poisson2d:20", "-b", "b.npy", "--rtol", "1e-12", "-o", "cut.txt", "--ranks", "4", "--partition", "metis")
        one, other = ([float(v) for v in (self.folder / name).read_text().split()] for name in ("one.txt", "cut.txt"))
        self.assertLess(max(abs(a - b) for a, b in zip(one, other)), 1e-9 * max(one))

    def test_multigrid_over_ranks(self):
        one = self.solve("poisson3d:20", "--solver", "cg", "--precond", "amg:sa")
        for n in NUMBERS:
            report = self.solve("poisson3d:20", "--solver", "cg", "--precond", "amg:sa", "--ranks", str(n))
            self.assertEqual((report["status"], report["precond"]), ("converged", "amg:sa"))
            self.assertLessEqual(report["iterations"], 1.5 * one["iterations"])
            self.assertIn(f"amg:sa:2 over {n} rank", report["precond_says"])
            self.assertEqual(report["levels"][0]["rows"], 8000)

    def test_files_have_the_bits_of_what_they_were_made_of(self):
        self.furrow("convert", "stencil2d9:60", "a.mtx")
        self.furrow("convert", "stencil2d9:60", "a.furrow")
        self.furrow("convert", "stencil2d9:60", "a.mtx.gz")
        for n in NUMBERS:
            answers = []
            for name in ("stencil2d9:60", "a.mtx", "a.furrow", "a.mtx.gz"):
                process = self.furrow("solve", name, "--ranks", str(n), "-o", "x.npy")
                answers.append((self.folder / "x.npy").read_bytes())
                alone = "the first rank reads it for all: it is packed" in process.stderr
                self.assertEqual(alone, name.endswith("gz") and n > 1, process.stderr)
            self.assertEqual(len(set(answers)), 1, f"{n} ranks")

    def test_what_is_wrong_with_a_file_is_said_as_without_ranks(self):
        good = "%%MatrixMarket matrix coordinate real general\n200 200 200\n" + "".join(f"{i} {i} {i}.5\n" for i in range(1, 201))
        for text in (good.replace("\n150 150", "\n150 0"), good + "1 1 1\n", good[:-20], "nothing", "", good.replace("200 200", "200 300", 1)):
            self.write("a.mtx", text)
            square = "200 300" not in text
            said = sentences(self.furrow("solve", "a.mtx", "--solver", "cg", code=3).stderr)
            for n in NUMBERS:
                on_ranks = sentences(self.furrow("solve", "a.mtx", "--solver", "cg", "--ranks", str(n), code=3).stderr)
                self.assertEqual(len(on_ranks), 1)
                if square:
                    self.assertEqual(on_ranks, said)

    def test_right_hand_sides_checkpoints_and_reports(self):
        for words in (["--checkpoint", "run.ckpt"], ["--resume", "run.ckpt"], ["--report", "page.html"], ["--partition", "metis"]):
            if words[0] == "--partition" and subprocess.run(["sh", "-c", "ldconfig -p | grep -q libmetis.so.5"], check=False).returncode:
                continue
            report = self.solve("poisson2d:30", "--solver", "cg", "--ranks", "3", *words)
            self.assertEqual(report["status"], "converged", words)
        self.assertIn("900 × 900", (self.folder / "page.html").read_text())
        self.write("ring.mtx", "%%MatrixMarket matrix coordinate real symmetric\n40 40 80\n" +  # ones are in its null space
                   "".join(f"{i} {i} 2\n" for i in range(1, 41)) + "".join(f"{i + 1} {i} -1\n" for i in range(1, 40)) + "40 1 -1\n")
        for n in ("1", "3"):
            self.assertEqual(self.solve("ring.mtx", "--ranks", n)["rhs"], "random")
        self.furrow("solve", "poisson2d:20", "-o", "x.petsc")
        self.assertEqual(self.solve("poisson2d:20", "-b", "x.petsc", "--ranks", "2")["status"], "converged")

    def test_x_is_written_in_parts_as_one_writes_it(self):
        """x of several pieces of a file; the one of a checkpoint, which one rank reads and writes once more, has its bits."""
        self.furrow("solve", "poisson2d:300", "--max-iterations", "3", "-o", "b.npy", code=1)  # of many digits
        for n in ("1", "3", "7"):
            words = ("solve", "poisson2d:300", "-b", "b.npy", "--solver", "cg", "--max-iterations", "5", "--ranks", n)
            self.furrow(*words, "--checkpoint", "run.ckpt", code=1)
            x = (self.folder / "run.ckpt").read_bytes()[-8 * 90000:]
            for ending in ("npy", "mtx", "mtx.gz", "petsc", "txt", "txt.gz", "csv", "csv.gz"):
                self.write("x." + ending, "old")
                self.furrow(*words, "-o", "x." + ending, code=1)
                self.furrow("solve", "poisson2d:300", "-b", "b.npy", "--resume", "run.ckpt", "--rtol", "0.99", "--solver", "cg", "-o", "one." + ending)
                self.assertEqual((self.folder / ("one." + ending)).read_bytes(), (self.folder / ("x." + ending)).read_bytes(), ending)
            self.assertEqual((self.folder / "x.npy").read_bytes()[-8 * 90000:], x)
        self.assertEqual([f.name for f in self.folder.iterdir() if ".part-" in f.name], [])

    def test_x_goes_to_a_pipe_in_its_order(self):
        for n in ("1", "4"):
            out = self.furrow("solve", "poisson2d:200", "--ranks", n, "-o", "-")
            self.furrow("solve", "poisson2d:200", "--ranks", n, "-o", "x.mtx")
            self.assertEqual(out.stdout, (self.folder / "x.mtx").read_text())
            self.assertIn("Converged", out.stderr)

    def test_x_that_cannot_be_written_is_said_once_behind_the_report(self):
        """The disk is full for what a rank writes: the report comes all the same, and the old file stays."""
        if not LIBRARY:
            self.skipTest("FURROW_FAULTS names no library")
        for n in ("1", "3"):
            self.write("x.npy", "old")
            done = subprocess.run([FURROW, "solve", "poisson2d:300", "--ranks", n, "--solver", "cg", "--rtol", "0.5", "-o", "x.npy"],
                                  cwd=self.folder, env={**ENVIRONMENT, "LD_PRELOAD": LIBRARY, "FURROW_FAULT": "write:1"},
                                  capture_output=True, timeout=300, text=True)
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertEqual(sentences(done.stderr), ["furrow: x.npy: cannot be written: No space left on device"])
            self.assertIn("Converged in", done.stdout)
            self.assertEqual((self.folder / "x.npy").read_text(), "old")
            self.assertEqual([f.name for f in self.folder.iterdir()], ["x.npy"])

    def test_the_first_rank_gathers_what_all_cannot_solve(self):
        """A chain of 2,500 rows: a diagonal takes too many iterations, and the next rung of one rank has complete factors."""
        one = self.solve("poisson1d:2500")
        for n in NUMBERS:
            done = self.furrow("solve", "poisson1d:2500", "--ranks", str(n), "--json")
            report = json.loads(done.stdout)
            self.assertEqual(report["status"], "converged")
            self.assertEqual([(r["solver"], r["precond"], r["ranks"]) for r in report["rungs"]], [("cg", "jacobi", n), ("direct", "lu", 1)])
            self.assertEqual([r["solver"] for r in one["rungs"]], ["cg", "direct"])
            self.assertIn("take", report["rungs"][0]["outcome"])
            self.assertEqual(report["gathered"], "direct with lu is for one rank")
            self.assertGreater(report["condition_estimate"], 1e5)
            self.assertEqual(sum(p["rows"] for p in report["parts"]), 2500)
            told = ["furrow: poisson1d:2500: the first rank gathered all rows and solved alone: direct with lu is for one rank"]
            self.assertEqual(sentences(done.stderr), told if n > 1 else [])
        self.assertNotIn("gathered", one)
        self.assertNotIn("ranks", one["rungs"][0])
        self.assertEqual(self.solve("poisson2d:20", "--ranks", "2")["gathered"], "")
        text = self.furrow("solve", "poisson1d:2500", "--ranks", "2").stdout
        self.assertIn("\n  gathered    all rows on the first rank: direct with lu is for one rank\n", text)

    def test_the_first_ranks_answer_is_that_of_one_rank(self):
        self.furrow("solve", "convection2d:40:30", "-o", "one.npy")
        words = ["solve", "convection2d:40:30", "--ranks", "3", "-o", "ranks.npy"]
        self.furrow(*words)
        self.assertEqual((self.folder / "one.npy").read_bytes(), (self.folder / "ranks.npy").read_bytes())
        self.furrow(*words, "--checkpoint", "run.ckpt")
        self.assertEqual((self.folder / "one.npy").read_bytes()[-8 * 1600:], (self.folder / "run.ckpt").read_bytes()[-8 * 1600:])
        self.assertEqual(self.solve("convection2d:40:30", "--ranks", "2", "--resume", "run.ckpt")["status"], "converged")
        if not subprocess.run(["sh", "-c", "ldconfig -p | grep -q libmetis.so.5"], check=False).returncode:
            report = self.solve("convection2d:40:30", "--ranks", "3", "--partition", "metis")
            self.assertEqual((report["partition"], report["rungs"][0]["ranks"]), ("metis", 1))
            self.assertLess(report["relative_error"], 1e-8)
        report = self.solve("poisson1d:9000", "--ranks", "3", "--time-limit", "0", code=1)
        self.assertEqual(report["status"], "max_iterations")

    def test_rectangular_systems_are_the_first_ranks(self):
        for rows, cols in ((60, 25), (25, 60)):
            places = sorted({(i, j) for i in range(rows) for j in (i % cols, (3 * i + 1) % cols, (7 * i + 2) % cols)})
            self.write("a.mtx", f"%%MatrixMarket matrix coordinate real general\n{rows} {cols} {len(places)}\n"
                       + "".join(f"{i + 1} {j + 1} {1 + (i + j) % 5}\n" for i, j in places))
            self.write("b.txt", "".join(f"{(7 * i) % 11 - 5}\n" for i in range(rows)))
            self.write("x0.txt", "".join(f"{j % 3}\n" for j in range(cols)))
            for more in ([], ["--solver", "lsqr"], ["--x0", "x0.txt"]):
                words = ["solve", "a.mtx", "-b", "b.txt", "--json", *more]
                one = json.loads(self.furrow(*words, "-o", "one.npy").stdout)
                for n in ("1", "3"):
                    report = json.loads(self.furrow(*words, "--ranks", n, "-o", "ranks.npy").stdout)
                    self.assertEqual((report["status"], report["gathered"]), (one["status"], "least squares are for one rank"))
                    self.assertEqual((self.folder / "one.npy").read_bytes(), (self.folder / "ranks.npy").read_bytes())
            self.furrow("solve", "a.mtx", "-b", "b.txt", "--ranks", "3", "--checkpoint", "run.ckpt")
            self.solve("a.mtx", "-b", "b.txt", "--ranks", "2", "--resume", "run.ckpt")
            said = self.furrow("solve", "a.mtx", "--ranks", "2", "--solver", "gmres", code=3).stderr
            self.assertEqual(sentences(said), [f"furrow: the matrix is {rows} x {cols}: ranks solve square systems, and others by auto, lsmr or "
                                               "lsqr, which the first rank does"])

    def test_one_right_hand_side(self):
        self.write("b.mtx", "%%MatrixMarket matrix array real general\n400 2\n" + "1\n" * 800)
        said = self.furrow("solve", "poisson2d:20", "-b", "b.mtx", "--ranks", "2", code=2).stderr
        self.assertIn("b.mtx: holds 2 vectors: ranks solve for one right-hand side", said)


class ByMpirun(Case):
    more = {}  # of the environment

    def setUp(self):
        super().setUp()
        if not shutil.which("mpirun") or not MODULE.exists():
            self.skipTest("there is no mpirun, or the module for MPI was not built")

    def start(self, n, *words, before=(), program=FURROW):
        command = ["mpirun", "--oversubscribe", "--quiet", "-n", str(n), *before, program, *words]
        environment = {**ENVIRONMENT, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                       "NO_COLOR": "1", "FURROW_MPI": str(MODULE), **self.more}  # mpirun gives its ranks a terminal
        return subprocess.Popen(command, cwd=self.folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run_ranks(self, n, *words, code=0, before=()):
        process = self.start(n, *words, before=before)
        out, said = process.communicate(timeout=120)
        self.assertEqual(process.returncode, code, f"mpirun -n {n} furrow {' '.join(words)}\n{out}{said}")
        return out, said

    def processes_of(self, process, n):
        ranks = []
        for _ in range(300):  # until a busy machine has started them
            ranks = subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, text=True).stdout.split()
            if len(ranks) == n:
                break
            time.sleep(0.1)
        return ranks

    def kill_and_hear(self, process, ranks, which=1):
        """Kills one of `ranks`; the end of all must come within 10 s. What was said."""
        os.kill(int(ranks[which]), signal.SIGKILL)
        began = time.monotonic()
        _, said = process.communicate(timeout=60)
        self.assertLess(time.monotonic() - began, 10)
        return said

    def expect_nothing_left(self, process, ranks, said):
        self.assertNotEqual(process.returncode, 0)
        self.assertLessEqual(len(sentences(said)), 1, said)
        for rank in ranks:
            self.assertFalse(pathlib.Path(f"/proc/{rank}/exe").exists(), f"rank {rank} still runs")
        self.assertEqual(list(self.folder.iterdir()), [])


class Mpi(ByMpirun):
    def test_bits_are_those_of_as_many_threads(self):
        for solver, matrix in SOLVES:
            for n in NUMBERS:
                words = ["solve", matrix, "--solver", solver, "--json"]
                out, said = self.run_ranks(n, *words, "--ranks", "mpi", "-o", "mpi.npy")
                report = json.loads(out)
                self.assertEqual(report["status"], "converged", f"{solver} on {n}")
                self.assertEqual(report["ranks"], n)
                self.assertEqual(sum(p["rows"] for p in report["parts"]), 400)
                self.assertEqual(sentences(said), [])
                self.furrow(*words, "--ranks", str(n), "-o", "threads.npy")
                self.assertEqual((self.folder / "mpi.npy").read_bytes(), (self.folder / "threads.npy").read_bytes(), f"{solver} on {n}")

    def test_mpirun_is_noticed_and_one_report_is_printed(self):
        out, said = self.run_ranks(3, "solve", "poisson2d:20", "--precond", "local:ic0")
        self.assertEqual(out.count("Converged in"), 1, out)
        self.assertIn("\n  ranks       3 of MPI: at most ", out)
        self.assertEqual(said.count("furrow: memory:"), said.count("\n"), said)

    def test_multigrid_and_metis_have_the_bits_of_threads(self):
        for n in (2, 3):
            for words in (["--precond", "amg:sa"], ["--partition", "metis"]):
                all_words = ["solve", "poisson3d:18", "--solver", "cg", *words, "--json"]
                self.run_ranks(n, *all_words, "-o", "mpi.npy")
                self.furrow(*all_words, "--ranks", str(n), "-o", "threads.npy")
                self.assertEqual((self.folder / "mpi.npy").read_bytes(), (self.folder / "threads.npy").read_bytes(), f"{words} on {n}")

    def test_files_are_read_by_all(self):
        self.furrow("convert", "convection2d:120:3", "a.mtx")
        self.furrow("convert", "convection2d:120:3", "a.furrow")
        for n in NUMBERS:
            self.furrow("solve", "convection2d:120:3", "--solver", "bicgstab", "--ranks", str(n), "-o", "threads.npy")
            for name in ("a.mtx", "a.furrow"):
                _, said = self.run_ranks(n, "solve", name, "--solver", "bicgstab", "--ranks", "mpi", "-o", "mpi.npy")
                self.assertEqual(sentences(said), [])
                self.assertEqual((self.folder / "mpi.npy").read_bytes(), (self.folder / "threads.npy").read_bytes(), f"{name} on {n}")
        text = (self.folder / "a.mtx").read_text()
        self.write("wrong.mtx", text.replace("\n14000 14000 ", "\n14000 14000x "))
        _, said = self.run_ranks(3, "solve", "wrong.mtx", code=3)
        line = text.count("\n", 0, text.index("\n14000 14000 ")) + 2
        self.assertEqual(sentences(said), [f"furrow: wrong.mtx:{line}: '14000x' is no column index"])
        damaged = bytearray((self.folder / "a.furrow").read_bytes())
        damaged[int.from_bytes(damaged[136:144], "little") + 40] ^= 1  # where the header says that the values begin
        (self.folder / "a.furrow").write_bytes(damaged)
        _, said = self.run_ranks(3, "solve", "a.furrow", code=3)
        self.assertEqual(sentences(said), ["furrow: a.furrow: the cache is damaged: the checksum of its value section does not match"])

    def test_the_first_rank_gathers_and_all_get_x(self):
        for matrix in ("poisson1d:2500", "convection2d:40:30"):
            out, said = self.run_ranks(3, "solve", matrix, "--json", "-o", "mpi.npy")
            report = json.loads(out)
            self.assertEqual((report["status"], report["rungs"][-1]["ranks"]), ("converged", 1))
            self.assertEqual([s.split(": ")[2] for s in sentences(said)], ["the first rank gathered all rows and solved alone"])
            self.furrow("solve", matrix, "--ranks", "3", "-o", "threads.npy")
            self.assertEqual((self.folder / "mpi.npy").read_bytes(), (self.folder / "threads.npy").read_bytes(), matrix)

    def test_no_rank_takes_the_memory_of_all(self):
        watched = [sys.executable, "-c", WATCHED]

        def peak(n, name):  # the largest one, in KiB
            self.run_ranks(n, "solve", name, "--ranks", "mpi", "--solver", "cg", "--max-iterations", "3", before=watched)
            return max(int((self.folder / f"peak.{r}").read_text()) for r in range(n))

        self.furrow("convert", "random:100000:40", "a.mtx")
        self.furrow("convert", "random:100000:40", "a.furrow")
        for name in ("a.mtx", "a.furrow", "random:100000:40"):
            base = peak(4, "poisson1d:9")
            one, four = peak(1, name) - base, peak(4, name) - base
            self.assertGreater(one, 64000 * 0.9)  # the triplets alone
            self.assertLess(four, 0.6 * one, name)

    def test_no_rank_takes_the_memory_of_b_or_x(self):
        watched = [sys.executable, "-c", WATCHED]
        n, vector = 3000000, 8 * 3000000 / 1024  # KiB
        for words in (["-o", "x.npy"], ["-o", "x.txt"], ["-b", "x.npy", "--x0", "x.txt"]):
            self.run_ranks(3, "solve", f"poisson1d:{n}", "--solver", "cg", "--max-iterations", "2", *words, before=watched)
            peaks = [int((self.folder / f"peak.{r}").read_text()) for r in range(3)]
            self.assertLess(peaks[0] - min(peaks), 0.7 * vector, f"{words}: {peaks}")  # a buffer of 8 MiB is a third
        # Of six ranks, for the peak is that of reading a sixth of the rows.
        for words in (["--checkpoint", "run.ckpt", "--every", "0.01"], ["--resume", "run.ckpt"]):
            self.run_ranks(6, "solve", f"poisson1d:{n}", "--solver", "cg", "--max-iterations", "20", *words, before=watched)
            peaks = [int((self.folder / f"peak.{r}").read_text()) for r in range(6)]
            self.assertLess(peaks[0] - min(peaks), 0.45 * vector, f"{words}: {peaks}")  # 0.6 to 0.75 with all of x

    def fails_to_sync(self, rank, which):
        """Words before a program of which one rank has that call of fsync fail."""
        if not LIBRARY:
            self.skipTest("FURROW_FAULTS names no library")
        return ["sh", "-c", f'[ "$OMPI_COMM_WORLD_RANK" = {rank} ] && export LD_PRELOAD="{LIBRARY}" FURROW_FAULT=fsync:{which}; exec "$@"', "sh"]

    def test_one_rank_cannot_bring_its_part_of_a_checkpoint_to_the_disk(self):
        """The one before stays, it is said once, and the solve goes on."""
        for rank in (0, 2):
            self.furrow("solve", "poisson2d:300", "--solver", "cg", "--max-iterations", "5", "--checkpoint", "run.ckpt", code=1)
            old = (self.folder / "run.ckpt").read_bytes()
            out, said = self.run_ranks(3, "solve", "poisson2d:300", "--solver", "cg", "--rtol", "0.5", "--checkpoint", "run.ckpt",
                                       before=self.fails_to_sync(rank, 1))
            self.assertEqual(sentences(said), ["furrow: run.ckpt: cannot be written: Input/output error: the solve goes on without this checkpoint"])
            self.assertIn("Converged in", out)
            self.assertEqual((self.folder / "run.ckpt").read_bytes(), old)
            self.assertEqual([f.name for f in self.folder.iterdir()], ["run.ckpt"])

    def test_checkpoints_have_the_bits_of_threads_and_go_on_with_any_number(self):
        words = ("solve", "poisson2d:200", "--solver", "cg", "--max-iterations", "30", "--checkpoint")
        for n in (2, 3):
            self.furrow(*words, "threads.ckpt", "--ranks", str(n), code=1)
            self.run_ranks(n, *words, "mpi.ckpt", code=1)
            threads, mpi = ((self.folder / f"{name}.ckpt").read_bytes()[224:] for name in ("threads", "mpi"))
            self.assertEqual(mpi, threads)
        for n in NUMBERS:
            out, _ = self.run_ranks(n, "solve", "poisson2d:200", "--solver", "cg", "--resume", "mpi.ckpt", "--json", "--ranks", "mpi")
            report = json.loads(out)
            self.assertEqual((report["status"], report["resumed"]["iterations"]), ("converged", 30))
            self.assertLess(abs(report["history"][0] - report["resumed"]["relative_residual"]), 1e-9)

    def test_one_rank_cannot_bring_its_part_to_the_disk(self):
        for rank in (0, 2):
            before = self.fails_to_sync(rank, 1)
            out, said = self.run_ranks(3, "solve", "poisson2d:300", "--solver", "cg", "--rtol", "0.5", "-o", "x.npy", code=3, before=before)
            self.assertEqual(sentences(said), ["furrow: x.npy: cannot be written: Input/output error"])
            self.assertIn("Converged in", out)
            self.assertEqual(list(self.folder.iterdir()), [])

    def test_x_and_b_are_those_of_threads(self):
        self.furrow("solve", "poisson2d:200", "--max-iterations", "3", "-o", "b.txt", code=1)
        for ending in ("mtx.gz", "npy", "petsc", "csv"):
            words = ("solve", "poisson2d:200", "-b", "b.txt", "--x0", "b.txt", "--solver", "cg")
            self.run_ranks(3, *words, "-o", "mpi." + ending)
            self.furrow(*words, "--ranks", "3", "-o", "threads." + ending)
            self.assertEqual(*((self.folder / (name + ending)).read_bytes() for name in ("mpi.", "threads.")), ending)

    def test_more_ranks_than_rows(self):
        out, _ = self.run_ranks(4, "solve", "poisson1d:2", "--json")
        self.assertEqual(json.loads(out)["status"], "converged")

    def test_failures_are_said_once(self):
        for words, code, what in ((["absent.mtx"], 3, "there is no such file"),
                                  (["poisson2d:20", "--solver", "nonsense"], 2, "nonsense"),
                                  (["poisson2d:20", "--maxiter", "3"], 2, "--maxiter"),
                                  (["convection2d:20:10", "--solver", "cg"], 3, "the matrix is not symmetric"),
                                  (["poisson2d:20", "--precond", "amg:grid"], 2, "say local:amg:grid"),
                                  (["poisson2d:20", "--ranks", "2"], 2, "mpirun has begun 3 ranks already"),
                                  (["poisson2d:20", "--device", "gpu"], 4, "no GPU can be used"),
                                  (["poisson2d:20", "--device", "gpu:0,x"], 2, "'gpu:0,x' names no GPUs"),
                                  (["poisson2d:20", "--device", "gpu", "--through", "nvcl"], 2, "did you mean 'nccl'?"),
                                  (["poisson2d:20", "--through", "host"], 2, "no GPUs of ranks are to talk"),
                                  (["poisson2d:20", "--max-iterations", "2"], 1, None)):
            out, said = self.run_ranks(3, "solve", *words, code=code)
            if what:
                self.assertEqual(len(sentences(said)), 1, said)
                self.assertIn(what, sentences(said)[0])
            else:
                self.assertIn("Stopped", out)

    def test_a_rank_that_dies_ends_all(self):
        process = self.start(3, *ENDLESS, "-o", "x.npy")
        try:
            ranks = self.processes_of(process, 3)
            time.sleep(2)
            self.assertIsNone(process.poll(), "the solve ended before a rank could be killed")
            self.assertEqual(len(ranks), 3)
            said = self.kill_and_hear(process, ranks)
        finally:
            process.kill()
        self.expect_nothing_left(process, ranks, said)

    def test_a_rank_that_dies_leaves_a_whole_checkpoint(self):
        """Whichever it is, while checkpoints are written one after the other."""
        file = self.folder / "run.ckpt"
        for rank in range(3):
            file.unlink(missing_ok=True)
            process = self.start(3, *ENDLESS, "--checkpoint", "run.ckpt", "--every", "0.01")
            try:
                ranks = self.processes_of(process, 3)
                until = time.monotonic() + 60
                while not file.exists() and process.poll() is None and time.monotonic() < until:
                    time.sleep(0.01)
                time.sleep(0.2)
                self.assertIsNone(process.poll(), "the solve ended before a rank could be killed")
                self.kill_and_hear(process, ranks, rank)
            finally:
                process.kill()
            report = json.loads(self.furrow(*ENDLESS, "--resume", "run.ckpt", "--max-iterations", "1", "--json", code=1).stdout)
            self.assertGreater(report["resumed"]["iterations"], 0)

    @unittest.skipUnless(os.environ.get("FURROW_FAILS_ALONE"), "FURROW_FAILS_ALONE names no program on ranks of MPI")
    def test_a_rank_that_throws_alone_ends_all(self):
        for how, sentence in (("watcher", "furrow: rank 0: seen enough"), ("caller", "furrow: rank 2: its rows are not there"),
                              ("leaves", None)):
            began = time.monotonic()
            process = self.start(3, how, program=os.environ["FURROW_FAILS_ALONE"])
            _, said = process.communicate(timeout=60)
            self.assertLess(time.monotonic() - began, 10, how)
            self.assertNotEqual(process.returncode, 0)
            self.assertEqual(sentences(said), [sentence] if sentence else [], said)

    def test_a_rank_without_memory_ends_all(self):
        limited = ["sh", "-c", 'test "$OMPI_COMM_WORLD_RANK" != 1 || ulimit -v 450000; exec "$0" "$@"']
        began = time.monotonic()
        process = self.start(2, "solve", "poisson3d:150", before=limited)
        _, said = process.communicate(timeout=120)
        self.assertLess(time.monotonic() - began, 60)
        self.assertNotEqual(process.returncode, 0)
        self.assertEqual(len(sentences(said)), 1, said)
        self.assertIn("memory", sentences(said)[0])


class MpiWithGpus(ByMpirun):
    """Ranks of MPI with a GPU each, two of them where there are two, and otherwise both on one."""
    more = {"CUDA_VISIBLE_DEVICES": os.environ.get("CUDA_VISIBLE_DEVICES", "0,1,2,3,4,5,6,7")}

    def setUp(self):
        super().setUp()
        known = shutil.which("nvidia-smi") and subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, check=False).stdout
        self.gpus = known.count("GPU ") if known else 0
        if not self.gpus:
            self.skipTest("there is no GPU")

    def names_of_two(self):
        return ["gpu:0", "gpu:1" if self.gpus > 1 else "gpu:0"]

    def nccl(self):
        """Its name and version, as a report tells."""
        if self.gpus < 2:
            self.skipTest("one GPU, this needs two")
        process = self.start(2, "solve", "poisson2d:20", "--device", "gpu", "--through", "nccl", "--json")
        out, said = process.communicate(timeout=120)
        if process.returncode == 4 and "libnccl.so.2, " in said:
            self.skipTest(said)
        self.assertEqual(process.returncode, 0, said)
        return json.loads(out)["ranks_talk_through"]

    def check_bits(self, through, told):
        where = "gpu:" + ",".join(name[4:] for name in self.names_of_two())
        for solver, matrix in (("cg", "poisson2d:40"), ("bicgstab", "convection2d:40:10"), ("gmres", "convection2d:40:10")):
            words = ["solve", matrix, "--solver", solver, "--json"]
            out, said = self.run_ranks(2, *words, "--device", "gpu", "--through", through, "-o", "mpi.npy")
            report = json.loads(out)
            self.assertEqual(report["status"], "converged", solver)
            self.assertEqual(report["ranks_talk_through"], told)
            self.assertEqual([p["device"] for p in report["parts"]], self.names_of_two())
            self.assertEqual(sentences(said), [])
            self.furrow(*words, "--device", where, "--through", "host", "-o", "threads.npy", env=self.more)
            self.assertEqual((self.folder / "mpi.npy").read_bytes(), (self.folder / "threads.npy").read_bytes(), solver)

    def test_through_the_host_bits_are_those_of_threads(self):
        self.check_bits("host", "the host: as asked for")

    def test_through_nccl_bits_are_those_of_threads(self):
        told = self.nccl()
        self.assertRegex(told, r"^NCCL 2\.\d+\.\d+$")
        self.check_bits("nccl", told)
        self.check_bits("auto", told)

    def test_nccl_that_is_not_there_is_said(self):
        self.more = {**self.more, "FURROW_NCCL": "/none/libnccl.so.2"}
        several = "gpu:0 has several ranks"
        _, said = self.run_ranks(2, "solve", "poisson2d:20", "--device", "gpu", "--through", "nccl", code=4)
        self.assertEqual(len(sentences(said)), 1, said)
        self.assertIn("/none/libnccl.so.2" if self.gpus > 1 else several, said)
        out, _ = self.run_ranks(2, "solve", "poisson2d:20", "--device", "gpu", "--json")
        through = json.loads(out)["ranks_talk_through"]
        self.assertIn("the host: they are in several processes; ", through)
        self.assertIn("/none/libnccl.so.2" if self.gpus > 1 else several, through)
        _, said = self.run_ranks(2, "solve", "poisson2d:20", "--device", "gpu", "--through", "peer", code=4)
        self.assertIn("they are in several processes: take nccl or host", said)

    def test_the_reports_say_which_gpu_each_rank_has(self):
        words = ["solve", "poisson2d:40", "--device", "gpu", "--through", "host", "--report", "page.html"]
        who = "2 of MPI on {} and {}, through the host".format(*self.names_of_two())
        self.assertIn(who, self.run_ranks(2, *words)[0])
        self.assertIn(who, (self.folder / "page.html").read_text())

    def test_a_rank_that_dies_ends_all(self):
        """Also where the GPUs of others wait for its one, which no signal ends."""
        for through in ("nccl", "host") if self.gpus > 1 else ("host",):
            if through == "nccl":
                self.nccl()
            process = self.start(2, "solve", "poisson1d:3000000", "--device", "gpu", "--through", through, "--solver", "cg",
                                 "--precond", "none", "--rtol", "1e-13", "-o", "x.npy")
            try:
                time.sleep(8)
                self.assertIsNone(process.poll(), "the solve ended before a rank could be killed")
                ranks = subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, text=True, check=False).stdout.split()
                self.assertEqual(len(ranks), 2)
                said = self.kill_and_hear(process, ranks)
            finally:
                process.kill()
            self.expect_nothing_left(process, ranks, said)


class WithoutModule(Case):
    def test_says_what_is_missing(self):
        said = self.furrow("solve", "poisson2d:20", "--ranks", "mpi", code=4, env={"FURROW_MPI": "absent.so"}).stderr
        self.assertEqual(len(sentences(said)), 1, said)
        self.assertIn("ranks of MPI need the module", said)
        self.assertIn("libopenmpi-dev", said)


if __name__ == "__main__":
    main()
