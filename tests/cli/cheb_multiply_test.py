# SPDX-License-Identifier: BSD-3-Clause
"""furrow cheb multiply: results, JSON, files, exit codes."""
import json
import pathlib

from kit import Case, main


class Multiply(Case):
    def file(self, name, *lines):
        path = pathlib.Path(self.folder) / name
        path.write_text("".join(f"{line}\n" for line in lines))
        return str(path)

    def multiply(self, *words, code=0):
        return self.furrow("cheb", "multiply", *words, "--device", "cpu", code=code)

    def test_known_products(self):
        a, b = self.file("a", 1, 2, 3), self.file("b", 3, 2, 1)
        self.assertEqual(self.multiply(a, b).stdout.split(), ["6.5", "12", "12", "4", "1.5"])
        self.assertEqual(self.multiply(a, b, "--convention", "primed").stdout.split(), ["8.5", "8", "7", "4", "1.5"])
        self.assertEqual(self.multiply(a, b, "--keep", "2", "--precision", "f32").stdout.split(), ["6.5", "12"])
        self.assertEqual(self.multiply(a, b, "--keep", "7").stdout.split()[5:], ["0", "0"])

    def test_json_and_file(self):
        a, b, c = self.file("a", 1, 2, 3, 4), self.file("b", 5, 6), str(pathlib.Path(self.folder) / "c")
        said = json.loads(self.multiply(a, b, "--json", "--algorithm", "fft", "-o", c).stdout)
        self.assertEqual(list(said), ["coefficients", "convention", "algorithm", "precision", "device", "seconds", "error_bound"])
        self.assertEqual((said["convention"], said["algorithm"], said["device"]), ("plain", "fft", "cpu"))
        for found, true in zip(said["coefficients"], [11, 25, 33, 29, 12], strict=True):
            self.assertLessEqual(abs(found - true), said["error_bound"])
        self.assertEqual([float(line) for line in pathlib.Path(c).read_text().split()], said["coefficients"])

    def test_accuracy_chooses(self):
        a = self.file("a", *[1] * 5000)
        for accuracy, algorithm in (("componentwise", "direct"), ("normwise", "fft")):
            said = json.loads(self.multiply(a, a, "--json", "--accuracy", accuracy, "--keep", "3").stdout)
            self.assertEqual(said["algorithm"], algorithm)
            self.assertAlmostEqual(said["coefficients"][0], 2500.5, delta=1e-8)

    def test_the_ends_of_the_range(self):
        a, b = self.file("a", 1.2e308, 1.2e308), self.file("b", 1, -1, 0.5)
        for algorithm in ("direct", "fft"):  # 2.4e308 on the way
            said = json.loads(self.multiply(a, b, "--json", "--algorithm", algorithm).stdout)
            for found, true in zip(said["coefficients"], [6e307, 3e307, 0, 3e307], strict=True):
                self.assertLessEqual(abs(found - true), said["error_bound"])
        c = self.file("c", 3, 1)
        out = pathlib.Path(self.folder) / "out"
        done = self.multiply(a, c, "-o", str(out), code=3)
        self.assertIn("2 of the 3 coefficients of the product lie beyond the range of f64, the first of them is coefficient 0", done.stderr)
        self.assertNotIn("off by", done.stderr)
        self.assertFalse(out.exists())
        self.assertIn("range of f32", self.multiply(self.file("d", 3e38), c, "--precision", "f32", code=3).stderr)

    def test_refusals(self):
        a, bad, none, nan = self.file("a", 1), self.file("bad", 1, "x"), self.file("none"), self.file("nan", 1, "nan")
        for code, words, *arguments in (
            (3, "bad:2: ", a, bad),
            (3, "none: the file is empty", none, a),
            (3, "nan: coefficient 1 is nan", a, nan),
            (3, "missing", a, str(pathlib.Path(self.folder) / "missing")),
            (2, "needs a GPU", a, a, "--algorithm", "warp"),
            (2, "no algorithm 'ftf': did you mean 'fft'", a, a, "--algorithm", "ftf"),
            (2, "no convention 'prime'", a, a, "--convention", "prime"),
            (2, "--keep", a, a, "--keep", "0"),
            (4, "cannot be had|are available", a, a, "--keep", "99999999999999"),
        ):
            done = self.multiply(*arguments, code=code)
            self.assertRegex(done.stderr, words)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
            self.assertEqual(done.stdout, "")


if __name__ == "__main__":
    main()
