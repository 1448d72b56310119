# SPDX-License-Identifier: BSD-3-Clause
"""Files that are written: whole or not at all, with the mode they had, behind links, and never over an input."""
import os
import stat
import subprocess
import threading

from commands import left_behind
from kit import ENVIRONMENT, FURROW, Case, main

HEAD = "iteration,relative_residual\n0,1\n"


class Outputs(Case):
    def mode(self, name):
        return stat.S_IMODE(os.stat(self.folder / name).st_mode)

    def test_a_replaced_file_keeps_its_mode(self):
        self.furrow("generate", "poisson1d:5", "-o", "in.mtx")
        self.write("s.txt", "1\n2\n")
        for name, *words in (("m.mtx", "solve", "poisson2d:9", "-o", "m.mtx"), ("h.csv", "solve", "poisson2d:9", "--history", "h.csv"),
                             ("g.mtx", "generate", "poisson1d:4", "-o", "g.mtx"), ("c.furrow", "convert", "in.mtx", "c.furrow"),
                             ("f.txt", "cheb", "fit", "exp(x)", "-o", "f.txt"), ("p.txt", "cheb", "multiply", "s.txt", "s.txt", "-o", "p.txt"),
                             ("density.json", "cheb", "density", "poisson2d:4", "--moments", "4", "--vectors", "1", "-o", ".")):
            for mode in (0o600, 0o640):
                self.write(name, "old")
                os.chmod(self.folder / name, mode)
                self.furrow(*words)
                self.assertEqual(self.mode(name), mode, name)
                self.assertNotEqual((self.folder / name).read_bytes(), b"old")

    def test_links_are_followed(self):
        (self.folder / "deep").mkdir()
        for target in ("real.csv", "deep/new.csv"):
            link = self.folder / "link.csv"
            link.symlink_to(target)
            self.furrow("solve", "poisson2d:10", "--history", "link.csv", "-o", "x.mtx")
            self.assertTrue(link.is_symlink())
            self.assertTrue((self.folder / target).read_text().startswith(HEAD))
            link.unlink()

    def test_what_lies_beside_is_left_alone(self):
        """Files with the names of the process, as one that was killed in a container leaves them; links among them."""
        self.write("victim", "precious")
        script = """import os, sys
for name in ("x.mtx", "h.csv"):
    for k in range(4):
        beside = f"{name}.part-{os.getpid()}-{k}"
        os.symlink("victim", beside) if k % 2 else open(beside, "w").close()
os.execv(sys.argv[1], sys.argv[1:])"""
        words = ("solve", "poisson2d:5", "-o", "x.mtx", "--history", "h.csv")
        done = subprocess.run(["python3", "-c", script, FURROW, *words], cwd=self.folder, env=ENVIRONMENT, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((self.folder / "victim").read_text(), "precious")
        self.assertTrue((self.folder / "h.csv").is_file() and not (self.folder / "h.csv").is_symlink())
        self.assertEqual(len(left_behind(self.folder)), 8)

    def test_pipes_and_devices_are_written_directly(self):
        os.mkfifo(self.folder / "p")
        got = []
        reader = threading.Thread(target=lambda: got.append((self.folder / "p").read_text()))
        reader.start()
        self.furrow("solve", "poisson2d:10", "--history", "p")
        reader.join()
        self.assertTrue(got[0].startswith(HEAD))
        self.assertTrue((self.folder / "p").is_fifo())
        self.furrow("solve", "poisson2d:10", "--history", "/dev/null", "-o", "/dev/null")
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/null").st_mode))
        done = self.furrow("solve", "poisson2d:10", "--history", "/dev/full", code=3)
        self.assertIn("furrow: /dev/full: cannot be written: No space left on device\n", done.stderr)
        self.assertIn("Converged", done.stdout)
        self.assertNotIn("history", done.stdout)
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/full").st_mode))

    def test_dev_stdout_goes_before_the_report(self):
        words = ("solve", "poisson2d:10", "--history", "/dev/stdout")
        through_a_pipe = self.furrow(*words).stdout
        with open(self.folder / "file", "w") as file:
            self.assertEqual(subprocess.run([FURROW, *words], stdout=file, stderr=subprocess.DEVNULL, env=ENVIRONMENT).returncode, 0)
        for text in (through_a_pipe, (self.folder / "file").read_text()):
            self.assertTrue(text.startswith(HEAD))
            self.assertIn("Converged", text)

    def test_one_file_has_one_purpose(self):
        self.furrow("generate", "poisson1d:4", "-o", "a.mtx")
        self.write("b.txt", "1\n2\n3\n4\n")
        (self.folder / "link").symlink_to("new.csv")
        os.link(self.folder / "b.txt", self.folder / "hard.txt")
        self.write("starts.txt", "0\n2\n")
        self.furrow("solve", "a.mtx", "--checkpoint", "run.ckpt")
        self.furrow("solve", "a.mtx", "--resume", "run.ckpt", "--checkpoint", "run.ckpt")
        self.write("x.txt", "1\n2\n3\n4\n")
        self.furrow("solve", "a.mtx", "--x0", "x.txt", "-o", "x.txt")
        for words in (("solve", "a.mtx", "-o", "same.csv", "--history", "same.csv"), ("solve", "a.mtx", "-o", "same.csv", "--history", "./same.csv"),
                      ("solve", "a.mtx", "-o", "link", "--history", "new.csv"), ("solve", "a.mtx", "-b", "b.txt", "-o", "b.txt"),
                      ("solve", "a.mtx", "-b", "b.txt", "--history", "hard.txt"), ("solve", "a.mtx", "--history", "a.mtx"),
                      ("solve", "a.mtx", "-o", str(self.folder / "a.mtx")), ("convert", "a.mtx", "./a.mtx"),
                      ("cheb", "multiply", "b.txt", "hard.txt", "-o", "hard.txt"), ("solve", "a.mtx", "--resume", "run.ckpt", "-o", "run.ckpt"),
                      ("solve", "a.mtx", "--resume", "run.ckpt", "--history", "./run.ckpt"), ("solve", "a.mtx", "--x0", "b.txt", "--history", "b.txt"),
                      ("solve", "a.mtx", "--checkpoint", "same.csv", "--history", "same.csv"),
                      ("solve", "a.mtx", "--precond", "block_jacobi:starts=starts.txt", "-o", "starts.txt")):
            before = {f.name: f.read_bytes() for f in self.folder.iterdir() if f.exists()}
            done = self.furrow(*words, code=2)
            self.assertIn("are the same file: choose another name for", done.stderr)
            self.assertEqual(done.stdout, "")
            self.assertEqual({f.name: f.read_bytes() for f in self.folder.iterdir() if f.exists()}, before)

    def test_endings_count_in_any_case(self):
        for name in ("x.npy", "x.txt", "x.csv.gz", "x.petsc", "x.mtx.gz"):
            self.furrow("solve", "poisson1d:4", "--solver", "direct", "-o", name)
            self.furrow("solve", "poisson1d:4", "--solver", "direct", "-o", "Y" + name[1:].upper())
            lower, upper = ((self.folder / n).read_bytes() for n in (name, "Y" + name[1:].upper()))
            self.assertEqual(lower, upper, name)
        for name in ("P.MTX", "P.Mtx.GZ", "P.FURROW", "P.PETSC"):
            self.furrow("generate", "poisson1d:4", "-o", name)
            self.assertIn("4 x 4", self.furrow("info", name).stdout)
        self.assertTrue(self.furrow("info", "P.Mtx.GZ").stdout.startswith("P  "))
        self.assertEqual((self.folder / "P.Mtx.GZ").read_bytes()[:2], b"\x1f\x8b")
        self.assertEqual((self.folder / "P.FURROW").read_bytes()[:7], b"\x89FURROW")
        self.assertIn("is written as", self.furrow("solve", "poisson1d:4", "-o", "x.MAT", code=2).stderr)

    def test_names_that_cannot_be_written_are_refused_before_the_work(self):
        (self.folder / "loop.mtx").symlink_to("loop.mtx")
        for name, why in (("x" * 300 + ".mtx", "File name too long"), ("loop.mtx", "Too many levels of symbolic links"),
                          ("/proc/x.mtx", "its folder takes no new files"), ("/proc/x/y.mtx", "its folder does not exist")):
            for words in (("solve", "poisson2d:10", "-o", name), ("generate", "poisson1d:4", "-o", name)):
                done = self.furrow(*words, code=3)
                self.assertIn(f"furrow: {name}: cannot be written: {why}", done.stderr)
                self.assertEqual(done.stdout, "")
        self.assertEqual([f.name for f in self.folder.iterdir()], ["loop.mtx"])

    def test_a_folder_that_is_gone(self):
        words = ("solve", "poisson2d:10", "-o", "x.mtx")
        script = "import os, sys; os.mkdir('gone'); os.chdir('gone'); os.rmdir('../gone'); os.execv(sys.argv[1], sys.argv[1:])"
        done = subprocess.run(["python3", "-c", script, FURROW, *words], cwd=self.folder, env=ENVIRONMENT, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertIn("furrow: x.mtx: cannot be written: its folder does not exist", done.stderr)

    def test_names_as_long_as_the_system_allows(self):
        name = "x" * 251 + ".mtx"
        self.furrow("generate", "poisson1d:4", "-o", name)
        self.assertEqual([f.name for f in self.folder.iterdir()], [name])


if __name__ == "__main__":
    main()
