# SPDX-License-Identifier: BSD-3-Clause
"""Solving on ranks that are processes of mpirun: the bits of as many threads, and the memory of a part."""
import json
import sys

from kit import Case, main
from ranks_kit import NUMBERS, SOLVES, ByMpirun, ByMpirunWithGpus, sentences

WATCHED = """import os, resource, subprocess, sys
code = subprocess.call(sys.argv[1:])
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
open('peak.' + os.environ['OMPI_COMM_WORLD_RANK'], 'w').write(str(peak))
sys.exit(0 if code == 1 else code)  # 1 says that the solver came to its limit; at a rank that ends so, mpirun would kill the others
"""


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

    def test_a_batch_is_of_one_process(self):
        self.assertIn("start it without mpirun", self.run_ranks(2, "solve", "--batch", ".", code=2)[1])

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


class MpiWithGpus(ByMpirunWithGpus):
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


class WithoutModule(Case):
    def test_says_what_is_missing(self):
        said = self.furrow("solve", "poisson2d:20", "--ranks", "mpi", code=4, env={"FURROW_MPI": "absent.so"}).stderr
        self.assertEqual(len(sentences(said)), 1, said)
        self.assertIn("ranks of MPI need the module", said)
        self.assertIn("libopenmpi-dev", said)


if __name__ == "__main__":
    main()
