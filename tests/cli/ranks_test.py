# SPDX-License-Identifier: BSD-3-Clause
"""Solving on ranks that are threads of one process."""
import json
import subprocess

from kit import Case, main
from ranks_kit import NUMBERS, SOLVES, sentences


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
                            (["--precond", "local:ilu"], "local:ilu is made of the block of each rank: say --ranks"),
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
        self.write("none.mtx", "%%MatrixMarket matrix coordinate real general\n0 0 0\n")
        self.assertNotIn("none ()", self.furrow("solve", "none.mtx", "--ranks", "2").stdout)
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
            said = self.furrow("solve", "a.mtx", "--ranks", "2", "--x0", "b.txt", code=3).stderr
            self.assertEqual(sentences(said), [f"furrow: b.txt: has {rows} elements, but the matrix has {cols} columns: --x0 wants a number for each"])
            said = self.furrow("solve", "a.mtx", "--ranks", "2", "--solver", "gmres", code=3).stderr
            self.assertEqual(sentences(said), [f"furrow: the matrix is {rows} x {cols}: ranks solve square systems, and others by auto, lsmr or "
                                               "lsqr, which the first rank does"])
            said = self.furrow("solve", "a.mtx", "--ranks", "2", "--precond", "local:ilu", code=2).stderr
            self.assertEqual(sentences(said), ["furrow: local:ilu is made of the block of each rank, and least squares are for one: leave "
                                               "'local:' out"])

    def test_one_right_hand_side(self):
        self.write("b.mtx", "%%MatrixMarket matrix array real general\n400 2\n" + "1\n" * 800)
        said = self.furrow("solve", "poisson2d:20", "-b", "b.mtx", "--ranks", "2", code=2).stderr
        self.assertIn("b.mtx: holds 2 vectors: ranks solve for one right-hand side", said)


if __name__ == "__main__":
    main()
