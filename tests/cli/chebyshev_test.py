# SPDX-License-Identifier: BSD-3-Clause
"""furrow cheb, beside numpy and SciPy where they are installed."""
import json
import math
import unittest

from kit import Case, main

try:
    import numpy
    from numpy.polynomial import chebyshev
except ImportError:
    numpy = None


class Cheb(Case):
    def json(self, *words, code=0):
        return json.loads(self.furrow("cheb", *words, "--json", code=code).stdout)

    def says(self, code, pattern, *words):
        done = self.furrow("cheb", *words, code=code)
        complaints = [line for line in done.stderr.splitlines() if not line.startswith("furrow: memory: ")]
        self.assertEqual(len(complaints), 1, done.stderr)
        self.assertRegex(complaints[0], pattern)
        self.assertEqual(done.stdout, "")

    def test_fit_eval_and_roots_agree(self):
        r = self.json("fit", "exp(sin(5*x))", "--on", "-1,1", "-o", "f.txt")
        self.assertEqual(r["interval"], [-1, 1])
        self.assertEqual(r["length"], len(r["coefficients"]))
        self.assertEqual([float(line) for line in (self.folder / "f.txt").read_text().split()], r["coefficients"])
        points = [-1, -0.3, 0, 0.5, 1]
        values = self.json("eval", "f.txt", "--at", ",".join(map(str, points)))["values"]
        for x, y in zip(points, values):
            self.assertAlmostEqual(y, math.exp(math.sin(5 * x)), delta=1e-14)
        self.write("points.txt", "0.25\n-0.75\n")
        values = self.json("eval", "f.txt", "--points", "points.txt")["values"]
        self.assertAlmostEqual(values[1], math.exp(math.sin(-3.75)), delta=1e-14)
        self.assertEqual(self.json("roots", "f.txt")["roots"], [])
        found = self.json("roots", "sin(pi*x)", "--on", "0.5,4.5")["roots"]
        self.assertEqual(len(found), 4)
        for k, x in enumerate(found):
            self.assertAlmostEqual(x, k + 1, delta=1e-14)

    def test_an_interval_moves_the_series(self):
        self.write("t.txt", "0\n1\n")  # t = (2 x - 4) / 6 on [-1, 5]
        self.assertEqual(self.json("eval", "t.txt", "--at", "-1,2,5", "--on", "-1,5")["values"], [-1, 0, 1])
        self.assertEqual(self.json("roots", "t.txt", "--on", "-1,5")["roots"], [2])

    def test_a_tolerance_shortens(self):
        whole, rough = (self.json("fit", "1/(1+25*x^2)", *more)["length"] for more in ([], ["--tolerance", "1e-6"]))
        self.assertLess(rough, whole / 2)

    def test_density(self):
        n = 24
        r = self.json("density", f"poisson2d:{n}", "--moments", "128", "--vectors", "8", "--device", "cpu", "-o", "out")
        self.assertEqual(json.loads((self.folder / "out" / "density.json").read_text())["moments"], r["moments"])
        self.assertIn("<svg", (self.folder / "out" / "density.svg").read_text())
        exact = [4 - 2 * math.cos(math.pi * j / (n + 1)) - 2 * math.cos(math.pi * k / (n + 1))
                 for j in range(1, n + 1) for k in range(1, n + 1)]
        self.assertLessEqual(r["interval"][0], min(exact))
        self.assertGreaterEqual(r["interval"][1], max(exact))
        self.assertAlmostEqual(r["moments"][0], 1, delta=1e-12)
        for x, below in zip(r["points"], r["count_below"]):
            self.assertAlmostEqual(below, sum(v < x for v in exact), delta=0.05 * n * n)
        again = self.json("density", f"poisson2d:{n}", "--moments", "128", "--device", "cpu", "--threads", "1")
        self.assertEqual(again["moments"], r["moments"])

    def test_refusals(self):
        self.write("bad.txt", "1\n2\nthree\n")
        self.write("empty.txt", "")
        self.write("nan.txt", "1\nnan\n")
        self.says(2, "cannot be understood as a function of x", "fit", "sin(x")
        self.says(2, "cannot be understood as a function of x", "fit", "y+1")
        self.says(2, "--on: '1' is no interval", "fit", "x", "--on", "1")
        self.says(2, "--on: 'a' is not a finite number", "fit", "x", "--on", "a,2")
        self.says(2, r"\[2, 1\] is no interval", "fit", "x", "--on", "2,1")
        self.says(2, "a tolerance of -1", "fit", "x", "--tolerance", "-1")
        self.says(3, "the function is inf at x = 0", "fit", "1/x")
        self.says(3, "not resolved by 65537 points", "fit", "abs(x-0.3)")
        self.says(3, "no-folder/f.txt: .*folder does not exist", "fit", "x", "-o", "no-folder/f.txt")
        self.says(3, "bad.txt:3: ", "eval", "bad.txt", "--at", "0")
        self.says(3, "empty.txt: ", "eval", "empty.txt", "--at", "0")
        self.says(3, "nan.txt: coefficient 1 is nan", "roots", "nan.txt")
        self.says(3, "no-such.txt: ", "roots", "no-such.txt")
        self.says(2, "either --at X,... or --points FILE", "eval", "nan.txt")
        self.says(3, "every point is a root", "roots", "0*x")
        self.says(3, "convection2d:4:2: is not symmetric", "density", "convection2d:4:2")

    @unittest.skipUnless(numpy, "needs numpy")
    def test_numpy_says_the_same(self):
        random = numpy.random.default_rng(1)
        a = random.uniform(-1, 1, 200)
        x = random.uniform(-1, 1, 1000)
        self.write("a.txt", "".join(f"{float(v)!r}\n" for v in a))
        self.write("x.txt", "".join(f"{float(v)!r}\n" for v in x))
        values = self.json("eval", "a.txt", "--points", "x.txt")["values"]
        numpy.testing.assert_allclose(values, chebyshev.chebval(x, a), atol=1e-12 * numpy.abs(a).sum())
        wanted = chebyshev.chebroots(a)
        wanted = numpy.sort(wanted[(numpy.abs(wanted.imag) < 1e-12) & (numpy.abs(wanted.real) <= 1)].real)
        numpy.testing.assert_allclose(self.json("roots", "a.txt")["roots"], wanted, atol=1e-10)
        fitted = self.json("fit", "exp(x)")["coefficients"]
        numpy.testing.assert_allclose(fitted, chebyshev.chebinterpolate(numpy.exp, len(fitted) - 1), atol=1e-14)


if __name__ == "__main__":
    main()
