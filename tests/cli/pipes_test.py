# SPDX-License-Identifier: BSD-3-Clause
"""Where bytes come from and go to: standard input and output, pipes, compressed files, files that change."""
import bz2
import io
import json
import lzma
import os
import re
import subprocess
import tarfile
import threading
import time
import xml.dom.minidom

from kit import ENVIRONMENT, FURROW, Case, main

MATRIX = "%%MatrixMarket matrix coordinate real symmetric\n3 3 5\n1 1 4\n2 1 -1\n2 2 4\n3 2 -1\n3 3 4\n"


def tar_of(**members):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name, text in members.items():
            entry = tarfile.TarInfo(name.replace("__", "/") + ".mtx")
            entry.size = len(text)
            tar.addfile(entry, io.BytesIO(text.encode()))
    return out.getvalue()


class Pipes(Case):
    def run_with(self, bytes_in, *words, code=0):
        done = subprocess.run([FURROW, *words], cwd=self.folder, env=ENVIRONMENT, input=bytes_in, capture_output=True, timeout=60)
        self.assertEqual(done.returncode, code, (words, done))
        return done.stdout.decode(), done.stderr.decode()

    def test_a_pipe_that_nobody_reads_is_said_once(self):
        reader, writer = os.pipe()
        os.close(reader)
        with os.fdopen(writer, "w") as gone:
            done = subprocess.run([FURROW, "solve", "poisson2d:100", "-o", "-"], env=ENVIRONMENT, stdout=gone, stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 3)
        self.assertEqual(done.stderr.count("Broken pipe"), 1, done.stderr)
        self.assertIn("Converged", done.stderr)

    def writes_later(self, name, data, seconds):
        def write():
            time.sleep(seconds)
            (self.folder / name).write_bytes(data)
        thread = threading.Thread(target=write)
        thread.start()
        self.addCleanup(thread.join)

    def test_standard_input(self):
        self.write("m.mtx", MATRIX)
        plain = self.furrow("info", "m.mtx", "--json").stdout.replace('"name":"m"', '"name":"-"')
        for data in (MATRIX.encode(), bz2.compress(MATRIX.encode()), lzma.compress(MATRIX.encode())):
            for file in ("-", "/dev/stdin", "/dev/fd/0"):
                out, _ = self.run_with(data, "info", file, "--json")
                self.assertEqual(re.sub('"name":"[^"]*"', '"name":"-"', out), plain)
        out, _ = self.run_with(tar_of(m__m=MATRIX, m__m_b="%%MatrixMarket matrix array real general\n3 1\n1\n2\n3\n"),
                               "solve", "-", "--json")
        self.assertEqual((json.loads(out)["status"], json.loads(out)["rhs"]), ("converged", "stored"))
        for subcommand in (("spmv", "-", "--repeat", "1"), ("cheb", "density", "-", "--moments", "4"), ("convert", "-", "c.furrow")):
            self.run_with(MATRIX.encode(), *subcommand)
        self.run_with((self.folder / "c.furrow").read_bytes(), "info", "-")
        self.assertEqual(self.run_with(b"1\n2\n", "cheb", "roots", "-")[0], "-0.5\n")
        with open(self.folder / "m.mtx") as file:  # a file, of which somebody has read the beginning
            os.lseek(file.fileno(), 3, os.SEEK_SET)
            done = subprocess.run([FURROW, "info", "-"], env=ENVIRONMENT, stdin=file, capture_output=True, text=True)
        self.assertEqual(done.returncode, 3)
        self.assertIn("-:1: no Matrix Market file", done.stderr)

    def test_messages_name_standard_input_and_the_line(self):
        _, said = self.run_with(MATRIX.replace("3 2 -1", "3 2 x").encode(), "solve", "-", code=3)
        self.assertIn("furrow: -:6: the value 'x' is no number\n", said)
        _, said = self.run_with(b"", "solve", "-", code=3)
        self.assertIn("furrow: -: the file is empty\n", said)
        _, said = self.run_with(MATRIX.encode(), "solve", "-", "-b", "-", code=2)
        self.assertIn("'-' is standard input, which can be read once", said)
        done = subprocess.run([FURROW, "info", "-"], env=ENVIRONMENT, capture_output=True, text=True,
                              preexec_fn=lambda: os.close(0))
        self.assertEqual(done.returncode, 3)
        self.assertRegex(done.stderr, "furrow: -: .*cannot be read")

    def test_right_hand_side_from_a_pipe(self):
        self.write("m.mtx", MATRIX)
        for data in (b"3\n2\n3\n", bz2.compress(b"3\n2\n3\n"), b"%%MatrixMarket matrix array real general\n3 1\n3\n2\n3\n"):
            out, _ = self.run_with(data, "solve", "m.mtx", "-b", "-", "-o", "x.mtx")
            self.assertRegex(out, r"\n  b           -\n")
            x = [float(v) for v in (self.folder / "x.mtx").read_text().split("\n")[2:5]]
            self.assertEqual([round(v, 6) for v in x], [1, 1, 1])
        _, said = self.run_with(b"3\nx\n3\n", "solve", "m.mtx", "-b", "-", code=3)
        self.assertIn("furrow: -:2: ", said)

    def test_fifos(self):
        self.write("m.mtx", MATRIX)
        os.mkfifo(self.folder / "f")
        for words in (("solve", "f"), ("info", "f"), ("solve", "m.mtx", "-b", "f"), ("cheb", "eval", "f", "--at", "0")):
            began = time.monotonic()
            said = self.furrow(*words, code=3).stderr
            self.assertIn("furrow: f: is not a regular file but a pipe that nobody writes into\n", said)
            self.assertLess(time.monotonic() - began, 20)
        self.writes_later("f", MATRIX.encode(), 0.3)
        self.assertIn("3 x 3", self.furrow("solve", "f").stdout)
        self.writes_later("f", b"3\n2\n3\n", 0.3)
        self.assertIn("Converged", self.furrow("solve", "m.mtx", "-b", "f").stdout)
        done = subprocess.run(["bash", "-c", f"'{FURROW}' solve <(sleep 1.5; cat m.mtx) -b <(printf '3\\n2\\n3\\n')"],
                              cwd=self.folder, env=ENVIRONMENT, capture_output=True, text=True)
        self.assertIn("Converged", done.stdout, done.stderr)

    def test_standard_output(self):
        self.furrow("generate", "poisson2d:4", "-o", "p.mtx")
        out = self.furrow("generate", "poisson2d:4", "-o", "-").stdout
        self.assertEqual(out, (self.folder / "p.mtx").read_text())
        body = [line for line in out.split("\n") if not line.startswith("% ")]
        out = self.furrow("convert", "p.mtx", "-").stdout
        self.assertEqual([line for line in out.split("\n") if not line.startswith("% ")], body)
        self.furrow("solve", "p.mtx", "-o", "x.mtx")
        done = self.furrow("solve", "p.mtx", "-o", "-")
        self.assertEqual(done.stdout, (self.folder / "x.mtx").read_text())
        self.assertIn("Converged", done.stderr)
        self.assertIn("x           standard output\n", done.stderr)
        for series in ("a.txt", "b.txt"):
            self.write(series, "1\n2\n")
        coefficients = self.furrow("cheb", "multiply", "a.txt", "b.txt").stdout
        self.assertEqual(self.furrow("cheb", "multiply", "a.txt", "b.txt", "-o", "-").stdout, coefficients)
        fitted = self.furrow("cheb", "fit", "x", "-o", "-")
        self.assertEqual([line for line in fitted.stdout.splitlines() if not line.startswith("%")], ["0", "1"])
        self.assertIn("2 coefficients", fitted.stderr)
        for words, picture in ((("info", "poisson1d:3"), "--picture"), (("solve", "poisson1d:3"), "--plot"),
                               (("spmv", "poisson1d:3", "--device", "play"), "--trace"), (("gemv", "4x4", "--device", "play"), "--trace"),
                               (("cheb", "multiply", "a.txt", "b.txt", "--device", "play"), "--trace"),
                               (("solve", "poisson1d:3", "--device", "play", "--solver", "cg_tutorial"), "--trace")):
            done = self.furrow(*words, picture, "-")
            xml.dom.minidom.parseString(done.stdout)
            self.assertRegex(done.stderr, r"\n  (picture|plot) +standard output\n")
        done = self.furrow("solve", "poisson1d:3", "--history", "-")
        self.assertRegex(done.stdout, r"^iteration,relative_residual\n(\d+,\S+\n)+$")
        self.assertIn("Converged", done.stderr)
        self.assertNotIn("-", os.listdir(self.folder))

    def test_a_matrix_goes_into_a_pipe_or_a_device(self):
        wanted = self.furrow("generate", "poisson2d:4", "-o", "-").stdout
        for words in (("generate", "poisson2d:4", "-o"), ("convert", "poisson2d:4")):
            self.assertEqual(self.furrow(*words, "/dev/stdout").stdout, wanted)
            with open(self.folder / "file.mtx", "w") as file:
                subprocess.run([FURROW, *words, "/dev/stdout"], stdout=file, stderr=subprocess.DEVNULL, env=ENVIRONMENT, check=True)
            self.assertEqual((self.folder / "file.mtx").read_text(), wanted)
            self.furrow(*words, "/dev/null")
        (self.folder / "m.tar").write_bytes(tar_of(m__m=MATRIX, m__m_b="%%MatrixMarket matrix array real general\n3 1\n1\n2\n3\n"))
        for name in ("f", "f.mtx", "f.petsc"):
            os.mkfifo(self.folder / name)
            got = []
            reader = threading.Thread(target=lambda: got.append((self.folder / name).read_bytes()))
            reader.start()
            said = self.furrow("convert", "m.tar", name)
            reader.join()
            self.assertEqual(got[0].startswith(b"%%MatrixMarket"), name != "f.petsc")
            self.assertEqual("right-hand side that came with the matrix is left out: f holds one matrix" in said.stderr, name == "f")
            self.assertTrue((self.folder / name).is_fifo())
        self.assertTrue((self.folder / "f_b.mtx").exists())
        os.mkfifo(self.folder / "f.furrow")
        self.assertIn("f.furrow: a .furrow file is not written from its beginning to its end, as a pipe takes it",
                      self.furrow("convert", "m.tar", "f.furrow", code=2).stderr)

    def test_standard_output_holds_one_result(self):
        self.write("a.txt", "1\n2\n")
        for words in (("solve", "poisson1d:3"), ("cheb", "multiply", "a.txt", "a.txt"), ("cheb", "fit", "x")):
            said = self.furrow(*words, "-o", "-", "--json", code=2)
            self.assertIn("--json and '-' for the output both want standard output", said.stderr)
            self.assertEqual(json.loads(said.stdout)["exit_code"], 2)
        for words in (("solve", "poisson1d:3", "--history", "-"), ("solve", "poisson1d:3", "--plot", "-"), ("info", "poisson1d:3", "--picture", "-")):
            self.assertIn("both want standard output", self.furrow(*words, "--json", code=2).stderr)
        for words in (("solve", "poisson1d:3", "-o", "-", "--history", "-"), ("solve", "poisson1d:3", "--plot", "-", "--report", "-"),
                      ("generate", "elasticity3d:1", "-o", "-", "--coordinates", "-")):
            self.assertIn("'-' is given for 2 outputs", self.furrow(*words, code=2).stderr)
        (self.folder / "m.tar").write_bytes(tar_of(m__m=MATRIX, m__m_b="%%MatrixMarket matrix array real general\n3 1\n1\n2\n3\n"))
        self.assertIn("right-hand side that came with the matrix is left out", self.furrow("convert", "m.tar", "-").stderr)
        (self.folder / "m.tar").rename(self.folder / "own_b.mtx")  # an archive by what it holds
        self.assertIn("own_b.mtx are the same file", self.furrow("convert", "own_b.mtx", "own.mtx", code=2).stderr)
        self.assertFalse((self.folder / "own.mtx").exists())
        with open("/dev/full", "w") as full:
            done = subprocess.run([FURROW, "generate", "poisson1d:9", "-o", "-"], stdout=full, stderr=subprocess.PIPE,
                                  text=True, env=ENVIRONMENT)
        self.assertEqual(done.returncode, 3)
        self.assertIn("-: cannot be written: No space left", done.stderr)

    def test_a_file_that_gets_shorter(self):
        self.furrow("generate", "poisson2d:700", "-o", "good.mtx")
        data = (self.folder / "good.mtx").read_bytes()
        refused = 0
        for k in range(8):
            (self.folder / "m.mtx").write_bytes(data)
            p = subprocess.Popen([FURROW, "info", "m.mtx", "--no-picture"], cwd=self.folder, env=ENVIRONMENT,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            p.stderr.readline()  # "memory: about": the file is open, and is read from now on
            os.truncate(self.folder / "m.mtx", len(data) * k // 8)
            said = p.communicate()[1]
            self.assertIn(p.returncode, (0, 3))  # 0: it had read everything
            if p.returncode == 3:
                refused += 1
                self.assertEqual(said, "furrow: m.mtx: the file changed while it was read\n")
        self.assertGreater(refused, 0)

    def test_an_archive_with_other_right_hand_sides(self):
        huge = "%%MatrixMarket matrix coordinate real general\n200000000 1 1\n1 1 1\n"
        (self.folder / "m.tar").write_bytes(tar_of(x__x0_b=huge, m__m=MATRIX, x__x1_b=huge, m__other_b=huge))
        p = subprocess.Popen([FURROW, "convert", "m.tar", "m.furrow"], cwd=self.folder, env=ENVIRONMENT,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(p.pid, 0)
        p.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(p.returncode, 0)
        self.assertLess(usage.ru_maxrss, 500_000)  # kB; each of the others would take 1.6 GB


if __name__ == "__main__":
    main()
