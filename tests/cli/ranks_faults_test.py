# SPDX-License-Identifier: BSD-3-Clause
"""What ranks cannot do, and ranks that fail: said once, with nothing half left behind, and nobody waits for who is gone."""
import json
import os
import pathlib
import signal
import subprocess
import time
import unittest

from kit import ENDLESS, ENVIRONMENT, FURROW, Case, main
from ranks_kit import ByMpirun, ByMpirunWithGpus, sentences

LIBRARY = os.environ.get("FURROW_FAULTS", "")


class Threads(Case):
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


class Killed:
    """Of a test by mpirun: its processes, and their end."""

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


class Mpi(Killed, ByMpirun):
    def fails_to_sync(self, rank, which):
        """Words before a program of which one rank has that call of fsync fail."""
        if not LIBRARY:
            self.skipTest("FURROW_FAULTS names no library")
        return ["sh", "-c", f'[ "$OMPI_COMM_WORLD_RANK" = {rank} ] && export LD_PRELOAD="{LIBRARY}" FURROW_FAULT=fsync:{which}; exec "$@"', "sh"]

    def test_one_rank_cannot_bring_its_part_of_a_checkpoint_to_the_disk(self):
        """The one before stays, it is said, and the exit code tells that the last one is missing."""
        for rank in (0, 2):
            self.furrow("solve", "poisson2d:300", "--solver", "cg", "--max-iterations", "5", "--checkpoint", "run.ckpt", code=1)
            old = (self.folder / "run.ckpt").read_bytes()
            out, said = self.run_ranks(3, "solve", "poisson2d:300", "--solver", "cg", "--rtol", "0.5", "--checkpoint", "run.ckpt",
                                       before=self.fails_to_sync(rank, 1), code=3)
            self.assertEqual(sentences(said), ["furrow: run.ckpt: cannot be written: Input/output error: the last checkpoint, of x where the "
                                               "solve ended, is missing"])
            self.assertIn("Converged in", out)
            self.assertEqual((self.folder / "run.ckpt").read_bytes(), old)
            self.assertEqual([f.name for f in self.folder.iterdir()], ["run.ckpt"])

    def test_one_rank_cannot_bring_its_part_to_the_disk(self):
        for rank in (0, 2):
            before = self.fails_to_sync(rank, 1)
            out, said = self.run_ranks(3, "solve", "poisson2d:300", "--solver", "cg", "--rtol", "0.5", "-o", "x.npy", code=3, before=before)
            self.assertEqual(sentences(said), ["furrow: x.npy: cannot be written: Input/output error"])
            self.assertIn("Converged in", out)
            self.assertEqual(list(self.folder.iterdir()), [])

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

    def test_ranks_of_other_words_stop_in_one_sentence(self):
        """They would wait for each other for ever, or do what the first one says."""
        solve = ("solve", "poisson2d:20")
        for first, second in ((solve, ("info", "poisson2d:20")), (("info", "poisson2d:20"), solve), (solve, ("solve", "poisson2d:21")),
                              (solve, (*solve, "--bogus"))):
            out, said = self.run_ranks(1, *first, ":", "-n", "1", FURROW, *second, code=2)
            self.assertEqual(len(sentences(said)), 1, said)
            self.assertIn("rank 1 was begun with other arguments than rank 0", said)
            self.assertEqual(out, "")
        out, _ = self.run_ranks(2, "info", "poisson2d:5", "--no-picture")
        self.assertEqual(out.count("25 x 25"), 2)

    def test_what_one_rank_alone_refuses_before_it_works_ends_all(self):
        wrong = ["sh", "-c", '[ "$OMPI_COMM_WORLD_RANK" = 1 ] && export FURROW_GRAPHS=maybe; exec "$@"', "sh"]
        _, said = self.run_ranks(2, "solve", "poisson2d:20", before=wrong, code=2)
        self.assertEqual(sentences(said), ["furrow: rank 1: FURROW_GRAPHS=maybe: choose off, or leave it unset"])

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


class MpiWithGpus(Killed, ByMpirunWithGpus):
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


if __name__ == "__main__":
    main()
