# SPDX-License-Identifier: BSD-3-Clause
"""What the program prints, word for word."""
from kit import Case, furrow, main

SMALL = """%%MatrixMarket matrix coordinate real symmetric
% a small one
3 3 5
1 1 4
2 1 -1
2 2 4
3 2 -1
3 3 4
"""


def without_other_formats(line):
    """The memory table of info lists every format that there is; new ones are no news to this test."""
    words = line.split()
    return not (len(words) >= 5 and words[2] in ("B", "kB") and words[4] in ("B", "kB") and words[0] != "csr")


class Golden(Case):
    def test_solve(self):
        self.golden("solve", "solve", "poisson3d:20", "--format", "csr", "--device", "cpu")
        self.golden("solve_f32", "solve", "poisson2d:20", "--format", "csr", "--device", "cpu", "--precision", "f32",
                    "--rtol", "1e-4", "--precond", "none")
        self.golden("solve_stopped", "solve", "poisson3d:20", "--format", "csr", "--device", "cpu", "--max-iterations",
                    "3", code=1)

    def test_solve_file(self):
        self.write("small.mtx", SMALL)
        self.write("rhs.txt", "1\n2\n3\n")
        self.golden("solve_file", "solve", "small.mtx", "-b", "rhs.txt", "-o", "x.mtx", "--history", "residuals.csv",
                    "--format", "csr", "--device", "cpu")
        self.assertTrue((self.folder / "residuals.csv").read_text().startswith("iteration,relative_residual\n0,1\n1,"))
        x = (self.folder / "x.mtx").read_text().splitlines()[-3:]
        for got, want in zip(map(float, x), (26 / 56, 48 / 56, 54 / 56)):
            self.assertAlmostEqual(got, want, places=7)

    def test_spmv(self):
        self.golden("spmv", "spmv", "poisson2d:30", "--format", "csr", "--kernel", "rows", "--device", "cpu", "--repeat", "2", "--check")

    def test_info(self):
        self.write("small.mtx", SMALL)
        self.golden("info_file", "info", "small.mtx", keep_sizes=True, only=without_other_formats)
        self.golden("info_poisson", "info", "poisson2d:12", keep_sizes=True, only=without_other_formats)
        self.golden("info_ascii", "info", "powerlaw:300:5:2.5:7", "--ascii", keep_sizes=True, only=without_other_formats)
        self.golden("info_no_picture", "info", "convection2d:9:2", "--no-picture", keep_sizes=True,
                    only=without_other_formats)

    def test_generate_and_convert(self):
        self.golden("generate", "generate", "poisson1d:4", "-o", "p.mtx")
        self.golden("convert", "convert", "p.mtx", "p.furrow")
        self.furrow("convert", "p.furrow", "again.mtx.gz")
        self.furrow("convert", "again.mtx.gz", "again.mtx")
        body = [[line for line in (self.folder / name).read_text().splitlines() if not line.startswith("% ")]
                for name in ("p.mtx", "again.mtx")]
        self.assertEqual(body[0], body[1])
        self.assertEqual(sorted(f.name for f in self.folder.iterdir()), ["again.mtx", "again.mtx.gz", "p.furrow", "p.mtx"])

    def test_helps(self):
        root = self.furrow("-h").stdout
        for bench in ("cg", "gemv", "paper", "spmv"):
            self.golden(f"help_bench_{bench}", "bench", bench, "-h")
        for name in ("density", "eval", "fit", "roots"):
            self.golden(f"help_cheb_{name}", "cheb", name, "-h")
        self.golden("help_environment", "help", "environment")
        for name in ("bench", "cheb", "completion", "convert", "doctor", "gemv", "generate", "help", "info", "solve", "spmv",
                     "teach", "version"):
            self.assertRegex(root, rf"(?m)^  {name} ")
            self.golden(f"help_{name}", name, "-h")

    def test_version(self):
        self.assertRegex(self.furrow("--version").stdout, r"^furrow \d+\.\d+\.\d+\n$")

    def test_bare_call_shows_help_and_fails(self):
        done = furrow()
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("Subcommands:", done.stderr)


if __name__ == "__main__":
    main()
