# SPDX-License-Identifier: BSD-3-Clause
"""Checkpoints of a running solve: killed at any moment, it goes on from the last one, also on another number of ranks."""
import json
import os
import shutil
import signal
import subprocess
import time
import unittest

from kit import ENDLESS, ENVIRONMENT, FURROW, Case, main
from ranks_kit import MODULE

SYSTEM = ENDLESS[1]


class Checkpoints(Case):
    def solve(self, *words, code=0):
        return json.loads(self.furrow("solve", *words, "--json", code=code).stdout)

    def kill_after_checkpoints(self, *words, before=()):
        """Starts the endless solve and kills it, and whatever it began, a while after its first checkpoint."""
        environment = {**ENVIRONMENT, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        process = subprocess.Popen([*before, FURROW, *ENDLESS, *words, "--checkpoint", "run.ckpt", "--every", "0.05"], cwd=self.folder,
                                   env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        file = self.folder / "run.ckpt"
        until = time.monotonic() + 60
        while not file.exists() and process.poll() is None and time.monotonic() < until:
            time.sleep(0.002)
        time.sleep(0.3)
        self.assertIsNone(process.poll(), "the solve ended before it could be killed")
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def check_resumed(self, then):
        """Another preconditioner takes it to its end, so that nobody waits for the whole of it."""
        report = self.solve(SYSTEM, *then, "--precond", "amg:sa", "--rtol", "1e-10", "--resume", "run.ckpt")
        was = report["resumed"]
        self.assertEqual(report["status"], "converged")
        self.assertGreater(was["iterations"], 0)
        self.assertGreater(was["seconds"], 0)
        self.assertEqual((was["solver"], was["precond"]), ("cg", "none"))
        self.assertLess(abs(report["history"][0] - was["relative_residual"]), 1e-3 * was["relative_residual"])
        self.assertLess(report["relative_error"], 1e-4)

    def test_killed_and_resumed(self):
        for then in (["--solver", "cg"], ["--solver", "cg", "--ranks", "3"], ["--solver", "minres"]):
            self.kill_after_checkpoints()
            self.check_resumed(then)

    def test_killed_again_and_again(self):
        """Whenever it is killed, there is a whole checkpoint, and none is older than the one before."""
        self.kill_after_checkpoints()
        before = 0
        for _ in range(3):
            self.kill_after_checkpoints("--resume", "run.ckpt")
            report = self.solve(*ENDLESS[1:], "--resume", "run.ckpt", "--max-iterations", "1", code=1)
            self.assertGreaterEqual(report["resumed"]["iterations"], before)
            before = report["resumed"]["iterations"]
            self.assertGreater(before, 0)

    def test_killed_on_ranks_and_resumed_on_another_number(self):
        for before, then in (("1", "3"), ("3", "2"), ("4", "1")):
            self.kill_after_checkpoints("--ranks", before)
            self.check_resumed(["--solver", "cg", "--ranks", then])

    @unittest.skipUnless(shutil.which("mpirun") and MODULE.exists(), "there is no mpirun, or the module for MPI was not built")
    def test_killed_under_mpi_and_resumed_on_another_number(self):
        self.kill_after_checkpoints(before=["mpirun", "--oversubscribe", "--quiet", "-n", "2"])
        self.check_resumed(["--solver", "cg", "--ranks", "4"])
        self.check_resumed(["--solver", "cg"])

    def test_the_last_checkpoint_is_the_end(self):
        first = self.solve("poisson2d:30", "--solver", "cg", "--max-iterations", "20", "--checkpoint", "run.ckpt", code=1)
        self.assertEqual(first["checkpoints"], 1)
        second = self.solve("poisson2d:30", "--solver", "cg", "--resume", "run.ckpt", "--checkpoint", "run.ckpt")
        self.assertEqual(second["resumed"]["iterations"], 20)
        third = self.solve("poisson2d:30", "--solver", "cg", "--resume", "run.ckpt", "--ranks", "2")
        self.assertEqual(third["resumed"]["iterations"], 20 + second["iterations"])
        self.assertEqual(third["iterations"], 0)
        text = self.furrow("solve", "poisson2d:30", "--solver", "cg", "--resume", "run.ckpt", "--checkpoint", "run.ckpt").stdout
        self.assertIn("\n  resumed     after ", text)
        self.assertIn("\n  checkpoint  run.ckpt, written 1 time\n", text)

    def test_wrong_words_and_files_are_refused(self):
        self.solve("poisson2d:30", "--checkpoint", "run.ckpt")
        whole = (self.folder / "run.ckpt").read_bytes()
        (self.folder / "short.ckpt").write_bytes(whole[:-8])
        (self.folder / "wrong.ckpt").write_bytes(whole[:-5] + b"\x55" + whole[-4:])
        self.write("text.ckpt", "1\n2\n")
        self.write("x.txt", "1\n" * 900)
        self.write("b.mtx", "%%MatrixMarket matrix array real general\n900 2\n" + "1\n" * 1800)
        for words, code, what in (
                (["--every", "5"], 2, "--every says how often --checkpoint writes: name its file"),
                (["--resume", "run.ckpt", "--x0", "x.txt"], 2, "--resume and --x0 both say what x begins with"),
                (["--checkpoint", "-"], 2, "not standard output"),
                (["--checkpoint", "/dev/null"], 2, "/dev/null: is no file that can be replaced, as a checkpoint is: choose another name for it"),
                (["--checkpoint", "run.ckpt", "--every", "0"], 2, "--every"),
                (["--checkpoint", "run.ckpt", "-b", "b.mtx"], 2, "a checkpoint holds one x, and there are 2 right-hand sides"),
                (["--resume", "absent.ckpt"], 3, "absent.ckpt: there is no such file"),
                (["--resume", "text.ckpt"], 3, "text.ckpt: is no checkpoint of Furrow"),
                (["--resume", "short.ckpt"], 3, "short.ckpt: the checkpoint has 7416 bytes in place of 7424"),
                (["--resume", "wrong.ckpt"], 3, "wrong.ckpt: the checkpoint is damaged: the checksum of its x"),
                (["--resume", "run.ckpt", "-b", "x.txt"], 3, "of the same matrix with another right-hand side")):
            said = self.furrow("solve", "poisson2d:30", *words, code=code).stderr
            self.assertIn(what, said)
            self.assertEqual(said.count("\n"), said.count("furrow: "), said)
        for ranks in ([], ["--ranks", "3"]):
            self.assertEqual(self.solve("poisson2d:30", "--x0", "run.ckpt", *ranks)["iterations"], 0)
            self.assertIn("wrong.ckpt: the checkpoint is damaged", self.furrow("solve", "poisson2d:30", "--x0", "wrong.ckpt", *ranks, code=3).stderr)
        self.assertIn("run.ckpt: has 900 elements", self.furrow("solve", "poisson2d:31", "--x0", "run.ckpt", code=3).stderr)
        for matrix in ("poisson2d:31", "convection2d:30:5"):
            self.assertIn("run.ckpt: is a checkpoint of", self.furrow("solve", matrix, "--resume", "run.ckpt", code=3).stderr)
        for words in (["poisson2d:30", "--resume", "wrong.ckpt"], ["poisson2d:30", "--resume", "absent.ckpt"],
                      ["poisson2d:30", "--resume", "short.ckpt"], ["poisson2d:31", "--resume", "run.ckpt"]):
            one, three = (self.furrow("solve", *words, *ranks, code=3).stderr for ranks in ([], ["--ranks", "3"]))
            self.assertEqual(three, one)

    def test_only_a_checkpoint_is_replaced(self):
        precious = b"the only copy"
        for words in ((), ("--ranks", "2")):
            (self.folder / "notes.txt").write_bytes(precious)
            done = self.furrow("solve", "poisson2d:20", *words, "--checkpoint", "notes.txt", code=3)
            self.assertIn("notes.txt: is there and is no checkpoint of Furrow", done.stderr)
            self.assertEqual((self.folder / "notes.txt").read_bytes(), precious)
            (self.folder / "empty.ckpt").write_bytes(b"")
            for _ in range(2):
                self.furrow("solve", "poisson2d:20", *words, "--checkpoint", "empty.ckpt")

    def test_a_checkpoint_that_cannot_be_written_is_said_once_and_ends_with_a_failure(self):
        there = self.folder / "there"
        there.mkdir()
        process = subprocess.Popen([FURROW, *ENDLESS, "--max-iterations", "400", "--checkpoint", "there/run.ckpt", "--every", "0.02"],
                                   cwd=self.folder, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while not (there / "run.ckpt").exists() and process.poll() is None:
            time.sleep(0.002)
        there.rename(self.folder / "gone")
        out, said = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 3, said)
        self.assertIn("Stopped at the limit of 400 iterations", out)
        self.assertEqual(said.count("the solve goes on without this checkpoint"), 1, said)
        self.assertEqual(said.count("the last checkpoint, of x where the solve ended, is missing"), 1, said)
        self.assertRegex(out, r"\n  checkpoint  there/run.ckpt, written \d+ times?; the last one is missing: there/run.ckpt: ")

    def test_the_object_tells_of_a_checkpoint_that_is_missing(self):
        there = self.folder / "there"
        there.mkdir()
        words = [FURROW, *ENDLESS, "--max-iterations", "400", "--checkpoint", "there/run.ckpt", "--every", "0.02", "--json", "-o", "x.npy"]
        process = subprocess.Popen(words, cwd=self.folder, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        while not (there / "run.ckpt").exists() and process.poll() is None:
            time.sleep(0.002)
        there.rename(self.folder / "gone")
        report = json.loads(process.communicate(timeout=120)[0])
        self.assertEqual(process.returncode, 3)
        self.assertIn("there/run.ckpt: ", report["checkpoint_failure"])
        self.assertTrue((self.folder / "x.npy").exists())
        whole = self.solve("poisson2d:30", "--checkpoint", "run.ckpt")
        self.assertEqual((whole["checkpoints"], whole["checkpoint_failure"]), (1, None))


if __name__ == "__main__":
    main()
