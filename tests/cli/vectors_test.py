# SPDX-License-Identifier: BSD-3-Clause
"""Vectors that come from files and go into them: x and y of a product, the first guess and the answer of a solve."""
import gzip
import json
import struct

from kit import Case, main

# [1 2 0; 0 0 3]
MATRIX = "%%MatrixMarket matrix coordinate real general\n2 3 3\n1 1 1\n1 2 2\n2 3 3\n"
FAST = ("--device", "cpu", "--repeat", "1", "--no-ceiling")


def plain(text):
    return [float(line) for line in text.split()]


class Vectors(Case):
    def setUp(self):
        super().setUp()
        self.write("a.mtx", MATRIX)
        self.write("x.txt", "1\n10\n100\n")
        self.write("w.txt", "1\n10\n")

    def numpy(self, name):
        """The numbers of a .npy file, read by what its description says."""
        data = (self.folder / name).read_bytes()
        self.assertEqual(data[:8], b"\x93NUMPY\x01\x00")
        (length,) = struct.unpack("<H", data[8:10])
        self.assertEqual((10 + length) % 64, 0)
        head = eval(data[10:10 + length])
        self.assertEqual((head["descr"], head["fortran_order"]), ("<f8", False))
        return list(struct.unpack(f"<{head['shape'][0]}d", data[10 + length:]))

    def test_a_row_of_numpy_is_named(self):
        for shape, more in (((1, 3), ": give its transpose"), ((2, 4), "")):
            head = repr({"descr": "<f8", "fortran_order": False, "shape": shape}).ljust(117).encode() + b"\n"
            numbers = struct.pack("<d", 1) * shape[0] * shape[1]
            (self.folder / "b.npy").write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + numbers)
            done = self.furrow("solve", "poisson1d:3", "-b", "b.npy", code=3)
            self.assertIn(f"furrow: b.npy: is a NumPy array of shape {shape}, but the matrix has 3 rows{more}\n", done.stderr)

    def test_products(self):
        for words, x, want in ((("--alpha", "1"), "x.txt", [21, 300]), (("--alpha", "-2"), "x.txt", [-42, -600]),
                               (("--transpose",), "w.txt", [1, 2, 30]), (("--transpose", "--alpha", "0.5"), "w.txt", [0.5, 1, 15]),
                               (("--alpha", "0"), "x.txt", [0, 0])):
            for precision in ("f64", "f32"):
                for form in ("csr", "coo", "ell", "dense"):
                    self.furrow("spmv", "a.mtx", "-x", x, "-o", "y.npy", "--format", form, "--precision", precision, "--check",
                                *FAST, *words)
                    self.assertEqual(self.numpy("y.npy"), want, (words, form))
        done = self.furrow("spmv", "a.mtx", "-x", "w.txt", "--transpose", "-o", "y.txt", "--format", "all", *FAST)
        self.assertIn("y = A' x; the triplets were transposed first", done.stdout)
        self.assertRegex(done.stdout, r"\n  y +y.txt, by bcsr|\n  y +y.txt, by coo")
        r = json.loads(self.furrow("spmv", "a.mtx", "-x", "w.txt", "--transpose", "--json", *FAST).stdout)
        self.assertEqual((r["transpose"], r["alpha"], r["x"], r["rows"], r["cols"]), (True, 1, "w.txt", 2, 3))
        self.assertEqual((r["ceiling_gbps"], r["results"][0]["fraction"]), (None, None))

    def test_an_infinity_reaches_what_it_reaches_in_csr(self):
        entries = ["%%MatrixMarket matrix coordinate real general", "400 400 1198"]
        entries += [f"{i} {i + d} {1 + d}" for i in range(1, 401) for d in (-1, 0, 1) if 1 <= i + d <= 400][:-1] + ["400 1 7"]
        self.write("band.mtx", "\n".join(entries) + "\n")  # a corner in its last row instead of the diagonal
        self.write("inf.txt", "".join("inf\n" if i % 50 == 7 else "1\n" for i in range(400)))
        words = ("spmv", "band.mtx", "-x", "inf.txt", *FAST)
        for precision in ("f64", "f32"):
            self.furrow(*words, "--precision", precision, "--format", "csr", "-o", "csr.txt")
            chosen = self.furrow(*words, "--precision", precision, "-o", "auto.txt", "--json")
            self.assertEqual((self.folder / "auto.txt").read_text(), (self.folder / "csr.txt").read_text())
            self.assertIn("x is not finite", json.loads(chosen.stdout)["reason"])

    def test_the_ending_says_the_format(self):
        want = [21, 300]
        for name in ("y.txt", "y.csv"):
            self.furrow("spmv", "a.mtx", "-x", "x.txt", "-o", name, *FAST)
            self.assertEqual(plain((self.folder / name).read_text()), want)
        self.furrow("spmv", "a.mtx", "-x", "x.txt", "-o", "y.txt.gz", *FAST)
        self.assertEqual(plain(gzip.decompress((self.folder / "y.txt.gz").read_bytes()).decode()), want)
        for name in ("y.mtx", "y"):  # a name that promises nothing is a Matrix Market array
            self.furrow("spmv", "a.mtx", "-x", "x.txt", "-o", name, *FAST)
            lines = (self.folder / name).read_text().splitlines()
            self.assertEqual(lines[:2], ["%%MatrixMarket matrix array real general", "2 1"])
            self.assertEqual([float(v) for v in lines[2:]], want)
        for name in ("y.mat", "y.npz", "y.json", "y.h5", "y.furrow", "y.tar.gz"):
            for words in (("spmv", "a.mtx", *FAST), ("solve", "poisson1d:3")):
                done = self.furrow(*words, "-o", name, code=2)
                self.assertIn("is written as .mtx, .mtx.gz, .npy, .petsc, .txt,", done.stderr)
                self.assertFalse((self.folder / name).exists())
        self.assertIn("is written as .csv", self.furrow("solve", "poisson1d:3", "--history", "h.npy", code=2).stderr)
        self.assertIn("is written as .svg", self.furrow("solve", "poisson1d:3", "--plot", "h.png", code=2).stderr)
        self.assertIn("is written as .svg", self.furrow("info", "poisson1d:3", "--picture", "h.pdf", code=2).stderr)
        self.assertIn("is written as .txt, .csv", self.furrow("cheb", "fit", "x", "-o", "f.npy", code=2).stderr)

    def test_sizes_that_do_not_fit_name_file_and_option(self):
        self.assertIn("w.txt: has 2 elements, but the matrix has 3 columns: -x wants a number for each",
                      self.furrow("spmv", "a.mtx", "-x", "w.txt", code=3).stderr)
        self.assertIn("x.txt: has 3 elements, but the matrix has 2 rows",
                      self.furrow("spmv", "a.mtx", "-x", "x.txt", "--transpose", code=3).stderr)
        self.assertIn("w.txt: has 2 elements, but the matrix has 3 rows",
                      self.furrow("solve", "poisson1d:3", "-b", "w.txt", code=3).stderr)
        self.assertIn("w.txt: has 2 elements, but the matrix has 3 columns",
                      self.furrow("solve", "poisson1d:3", "--x0", "w.txt", code=3).stderr)
        self.write("huge.txt", "1\n1e300\n1\n")
        self.assertIn("huge.txt: element 2 is 1e+300, too large for f32",
                      self.furrow("spmv", "a.mtx", "-x", "huge.txt", "--precision", "f32", code=3).stderr)
        self.assertIn("--alpha: 1e+300 is too large for f32",
                      self.furrow("spmv", "a.mtx", "--alpha", "1e300", "--precision", "f32", code=2).stderr)
        self.write("nan.txt", "1\nnan\n1\n")
        self.assertIn("nan.txt: holds a NaN", self.furrow("spmv", "a.mtx", "-x", "nan.txt", "--check", code=3).stderr)

    def test_no_answer_is_known_of_a_matrix_of_zeros(self):
        head = "%%MatrixMarket matrix coordinate real general\n3 3 "
        self.write("none.mtx", head + "0\n")
        self.write("zero.mtx", head + "1\n1 1 0\n")
        for name in ("none", "zero"):
            done = self.furrow("solve", f"{name}.mtx", "--device", "cpu")
            self.assertIn(f"{name}: A * ones is zero, so ones are in the null space of A", done.stderr)
            self.assertNotIn("max |x - 1|", done.stdout)

    def test_a_first_guess(self):
        solve = ("solve", "poisson2d:40", "--device", "cpu", "--solver", "cg", "--json")
        cold = json.loads(self.furrow(*solve, "-o", "x.mtx").stdout)
        warm = json.loads(self.furrow(*solve, "--x0", "x.mtx").stdout)
        self.assertEqual((cold["x0"], warm["x0"], warm["status"]), ("zero", "x.mtx", "converged"))
        self.assertGreater(cold["iterations"], 10)
        self.assertLess(warm["iterations"], 3)
        self.write("zero.txt", "0\n" * 81)
        done = self.furrow("solve", "poisson2d:9", "--device", "cpu", "--precision", "f32", "--rtol", "1e-4", "--x0", "zero.txt")
        self.assertRegex(done.stdout, r"x0 +zero\.txt")


if __name__ == "__main__":
    main()
