# SPDX-License-Identifier: BSD-3-Clause
"""furrow cheb, beside numpy and SciPy where they are installed."""
import gzip
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
        first, *rest = (self.folder / "f.txt").read_text().splitlines()
        self.assertEqual(first, "% interval: -1,1")
        self.assertEqual([float(line) for line in rest], r["coefficients"])
        points = [-1, -0.3, 0, 0.5, 1]
        values = self.json("eval", "f.txt", "--at", ",".join(map(str, points)))["values"]
        for x, y in zip(points, values):
            self.assertAlmostEqual(y, math.exp(math.sin(5 * x)), delta=1e-14)
        self.write("points.txt", "0.25\n-0.75\n")
        values = self.json("eval", "f.txt", "--points", "points.txt")["values"]
        self.assertAlmostEqual(values[1], math.exp(math.sin(-3.75)), delta=1e-14)
        self.assertEqual(self.json("roots", "f.txt")["roots"], [])
        narrow = self.furrow("cheb", "roots", "1-2*exp(-1e7*(x-0.3)^2)")  # a peak between all points
        self.assertIn("roots may be missing: the series is off by 1.1e+00 of the largest value", narrow.stderr)
        found = self.json("roots", "sin(pi*x)", "--on", "0.5,4.5")["roots"]
        self.assertEqual(len(found), 4)
        for k, x in enumerate(found):
            self.assertAlmostEqual(x, k + 1, delta=1e-14)

    def test_an_interval_moves_the_series(self):
        self.write("t.txt", "0\n1\n")  # t = (2 x - 4) / 6 on [-1, 5]
        self.assertEqual(self.json("eval", "t.txt", "--at", "-1,2,5", "--on", "-1,5")["values"], [-1, 0, 1])
        self.assertEqual(self.json("roots", "t.txt", "--on", "-1,5")["roots"], [2])

    def test_a_file_knows_its_interval(self):
        self.furrow("cheb", "fit", "log(x)", "--on", "0.1,3.3", "-o", "f.txt")
        for more in ([], ["--on", "0.1,3.3"]):
            r = self.json("eval", "f.txt", "--at", "0.5,3", *more)
            self.assertEqual(r["interval"], [0.1, 3.3])
            self.assertAlmostEqual(r["values"][1], math.log(3), delta=1e-14)
            self.assertAlmostEqual(self.json("roots", "f.txt", *more)["roots"][0], 1, delta=1e-14)
        self.says(2, r"f.txt says that its series lives on \[0.1, 3.3\], --on says \[0, 3\]", "eval", "f.txt", "--at", "1", "--on", "0,3")
        self.says(2, "f.txt says that", "roots", "f.txt", "--on", "-1,1")
        done = self.furrow("cheb", "eval", "f.txt", "--at", "4,1,5")
        self.assertIn(r"2 of 3 points lie outside of [0.1, 3.3], the first at 4", done.stderr)
        self.assertEqual(self.furrow("cheb", "eval", "f.txt", "--at", "0.1,3.3").stderr, "")
        # From anywhere: compressed, with other comments, from another system, as an array.
        text = (self.folder / "f.txt").read_text()
        with gzip.open(self.folder / "f.gz", "wt") as packed:
            packed.write(text)
        self.write("g.txt", "% made by hand\n\n" + text.replace("\n", "\r\n").replace("interval: 0.1,3.3", "interval:  0.1,3.3 "))
        lines = text.splitlines()[1:]
        for end in ("% interval: 0.1,3.3", "% interval: 0.1,3.3\n"):  # behind the numbers
            self.write("late.txt", "\n".join(lines) + "\n" + end)
            self.assertEqual(self.json("roots", "late.txt")["interval"], [0.1, 3.3])
        for name, own in (("bom.txt", "\ufeff" + text), ("cr.txt", text.replace("\n", "\r")), ("loud.txt", text.replace("% interval:", "%% Interval :"))):
            (self.folder / name).write_bytes(own.encode())
            self.assertEqual(self.json("roots", name)["interval"], [0.1, 3.3], name)
        self.write("long.txt", "% a comment\n" * 400 + text)
        self.says(3, "long.txt: its comments are so long that an interval", "roots", "long.txt")
        self.write("f.mtx", f"%%MatrixMarket matrix array real general\n% interval: 0.1,3.3\n{len(lines)} 1\n" + "\n".join(lines))
        for file in ("f.gz", "g.txt", "f.mtx"):
            self.assertEqual(self.json("eval", file, "--at", "2")["values"], self.json("eval", "f.txt", "--at", "2")["values"], file)
        for wrong, why in {"1": "cannot be understood", "a,b": "cannot be understood", "0,inf": "cannot be understood",
                           "": "cannot be understood", "2,1": r"\[2, 1\] is no interval", "-1e308,1e308": ".* is too long"}.items():
            self.write("w.txt", f"% interval: {wrong}\n1\n2\n")
            self.says(3, f"w.txt: its interval {why}", "eval", "w.txt", "--at", "0")
        self.write("w.txt", "% interval: 0,1\n% interval: 0,2\n1\n")
        self.says(3, r"w.txt: says two intervals, \[0, 1\] and \[0, 2\]", "roots", "w.txt")

    def test_products_keep_the_interval(self):
        self.furrow("cheb", "fit", "x-3", "--on", "2,6", "-o", "a.txt")
        self.furrow("cheb", "fit", "x-5", "--on", "2,6", "-o", "b.txt")
        self.furrow("cheb", "fit", "x", "--on", "2,7", "-o", "c.txt")
        self.write("d.txt", "1\n2\n")
        self.furrow("cheb", "multiply", "a.txt", "b.txt", "-o", "ab.txt", "--device", "cpu")
        for x, wanted in zip(self.json("roots", "ab.txt")["roots"], (3, 5), strict=True):
            self.assertAlmostEqual(x, wanted, delta=1e-14)
        (self.folder / "shown.txt").write_text(self.furrow("cheb", "multiply", "a.txt", "b.txt", "--device", "cpu").stdout)
        self.assertEqual((self.folder / "shown.txt").read_text(), (self.folder / "ab.txt").read_text())
        self.assertEqual(self.json("multiply", "a.txt", "b.txt", "--device", "cpu")["interval"], [2, 6])
        self.assertEqual(self.json("multiply", "a.txt", "d.txt", "--on", "2,6", "--device", "cpu")["interval"], [2, 6])
        self.assertNotIn("interval", self.json("multiply", "d.txt", "d.txt", "--device", "cpu"))
        self.says(2, r"a.txt lives on \[2, 6\], c.txt lives on \[2, 7\]", "multiply", "a.txt", "c.txt", "--device", "cpu")
        self.says(2, r"d.txt says no interval, so it lives on \[-1, 1\]", "multiply", "a.txt", "d.txt", "--device", "cpu")
        self.says(2, "a.txt says that", "multiply", "a.txt", "d.txt", "--on", "2,7", "--device", "cpu")

    def test_an_expression_means_what_it_says(self):
        for text, value in (
            ("2^3^2", 512), ("-2^2", -4), ("2^-2", 0.25), ("-2^-2", -0.25), ("7/2/2", 1.75), ("1-2-3", -4), ("2--3", 5), ("6/-3*2", -4),
            ("2*3^2", 18), ("(1+2)*3", 9), (".5+5.", 5.5), ("1.5e-3", 1.5e-3), ("2E2", 200), ("pi", math.pi), ("e", math.e),
            ("log(e)", 1), ("ln(e)", 1), ("log2(8)", 3), ("log10(1000)", 3), ("asinh(1e-10)", math.asinh(1e-10)),
            ("atanh(1e-10)", math.atanh(1e-10)), ("acosh(1.0000001)", math.acosh(1.0000001)), ("rint(2.5)", 2),
            ("rint(0.49999999999999994)+1", 1), ("sign(-3)", -1), ("abs(-3)", 3), ("sum(1,2,4)", 7), ("avg(1,2)", 1.5), ("min(3,1,2)", 1),
            ("max(1,3,2)", 3), ("atan2(1,-1)", math.atan2(1, -1)), ("erf(0.5)", math.erf(0.5)), ("gamma(5)", 24), ("sqrt(2)", math.sqrt(2)),
        ):
            self.assertEqual(self.json("fit", text)["coefficients"], [value], text)
        for text, root in (("2-x^2", math.sqrt(2)), ("3*x-pi", math.pi / 3), ("exp(x)-2", math.log(2)), ("min(1,2)-x", 1)):
            (found,) = self.json("roots", text, "--on", "0,2")["roots"]
            self.assertAlmostEqual(found, root, delta=3e-16, msg=text)

    def test_what_is_no_formula_is_refused(self):
        for text, why in (
            ("2,5*x", "character 2: a comma outside of a call.*write 1.5, not 1,5"), ("(1,2)*x", "character 3: a comma"),
            ("max(1,(2,3))*x", "character 9: a comma"), ("x,", "a comma"), ("x=0.25", "character 2: an equation"), ("x==1", "an equation"),
            ("x+=1", "an equation"), ("x<1", "comparisons"), ("x>=1", "comparisons"), ("x!=1", "gamma"), ("(x&&1)", "comparisons"),
            ("x||1", "comparisons"), ("x?1:2", "comparisons"), ("3!", "gamma"), ("x-_pi", "character 3: a formula"), ("_e", "a formula"),
            ("x**2", r"character 3: powers are written x\^2"), ("x%2", "a formula"), ('"a"', "a formula"), ("x²", "character 2: a formula"),
            ("[x]", "a formula"), ("x;2", "character 2: one formula"), ("2x", r"as in 2\*sin"), ("2(x)", r"as in 2\*sin"), ("sin x", "as in"),
            ("X", "'X' cannot"), ("PI", "'PI' cannot"), ("()", "cannot"), ("(x", "arenthesis"), ("x)", "arenthesis"),
            ("sin()", "Too few"), ("sin(1,x)", "Too many"), ("atan2(x)", "Too few"), ("max()", "Too few"), ("1e400", "character 1: 1e400 is larger than any number"), ("x-1e400*x", "character 3: 1e400 is larger"), ("2e", "cannot"),
            ("0x10", "cannot"), ("1.5.2", "cannot"), ("x x", "cannot"), ("inf", "cannot"), ("nan", "cannot"), ("1e", "cannot"),
            ("x+q", '"q" found at character 3'), ("sin(1,x)", "at character 8"), ("x++", "it is no complete formula"), ("x+", "character 3"),
        ):
            self.says(2, f"cannot be understood as a function of x.*{why}" if why not in ("cannot", "'X' cannot", "'PI' cannot") else why,
                      "fit", text)
        self.says(2, "EXPRESSION: is empty", "fit", "")
        for text, shown in (("+".join(["sin(x)"] * 500) + "+q", r"'\.\.\..*\+q'"), ("x=" + "1+" * 500, r"'x=1\+.*\.\.\.' .* character 2: an equation"),
                            ("x+" * 500 + "!" + "+x" * 500, r"'\.\.\.[x+]*![x+]*\.\.\.' .* character 1001: the factorial"), ("q" * 3000, "qqq")):
            self.says(2, "^.{0,400}$", "fit", text)
            self.says(2, shown, "fit", text)

    def test_scales_at_both_ends_of_the_range(self):
        self.write("huge.txt", "1.7e308\n1.7e308\n")
        self.write("tiny.txt", "-1e-320\n2e-320\n")
        self.assertEqual(self.json("roots", "huge.txt")["roots"], [-1])
        self.assertAlmostEqual(self.json("roots", "tiny.txt")["roots"][0], 0.5, delta=1e-15)
        self.assertEqual(self.json("eval", "huge.txt", "--at", "-1,0,1")["values"], [0, 1.7e308, None])
        self.assertAlmostEqual(self.json("roots", "1e-310*(x-0.25)")["roots"][0], 0.25, delta=1e-13)
        self.assertAlmostEqual(self.json("roots", "1e308*(x-0.25)")["roots"][0], 0.25, delta=1e-15)

    def laplacian(self, name, n, scale):
        entries = [(i, j, (2 if i == j else -1) * scale) for i in range(n) for j in range(max(i - 1, 0), min(i + 2, n))]
        self.write(name, f"%%MatrixMarket matrix coordinate real general\n{n} {n} {len(entries)}\n"
                   + "".join(f"{i + 1} {j + 1} {v!r}\n" for i, j, v in entries))

    def test_density_does_not_depend_on_the_scale(self):
        self.laplacian("one.mtx", 41, 1.0)
        for precision in ("f64", "f32"):
            words = ("--moments", "32", "--device", "cpu", "--precision", precision)
            wanted = self.json("density", "one.mtx", *words)
            for scale in (2.0**-1060, 2.0**-1000, 2.0**-140, 2.0**140, 2.0**1000, 2.0**1020):
                self.laplacian("scaled.mtx", 41, scale)
                r = self.json("density", "scaled.mtx", *words)
                self.assertEqual(r["moments"], wanted["moments"], scale)
                self.assertEqual(r["count_below"], wanted["count_below"], scale)
                self.assertAlmostEqual(r["interval"][1] / scale, wanted["interval"][1], delta=1e-3, msg=scale)
        self.laplacian("largest.mtx", 5, 2.0**1022)
        self.says(3, "largest.mtx: the eigenvalues may lie anywhere in .* times 2.1023, beyond the range of f64: scale the matrix",
                  "density", "largest.mtx", "--device", "cpu")

    def test_columns_of_a_density_do_not_run_together(self):
        self.laplacian("large.mtx", 9, 2.0**1020)
        out = self.furrow("cheb", "density", "large.mtx", "--moments", "8", "--device", "cpu").stdout
        rows = [line.split() for line in out[out.index("eigenvalues\n"):].splitlines()[1:]]
        self.assertEqual(len(rows), 10)
        for low, high, share, *_ in rows:
            self.assertLess(float(low), float(high))

    def test_density_of_the_plainest_matrices(self):
        head = "%%MatrixMarket matrix coordinate real general\n"
        for name, text, value, n in (("zero", "4 4 0\n", 0, 4), ("zeros", "2 2 2\n1 1 0\n2 1 0\n", 0, 2), ("one", "1 1 1\n1 1 -7\n", -7, 1),
                                     ("tiny", "2 2 2\n1 1 5e-324\n2 2 5e-324\n", 5e-324, 2)):
            self.write(f"{name}.mtx", head + text)
            r = self.json("density", f"{name}.mtx", "--moments", "16", "--device", "cpu")
            self.assertEqual(r["only_eigenvalue"], value)
            self.assertEqual(r["moments"][:1], [1])
            self.assertAlmostEqual(r["count_below"][-1], n, delta=1e-3)
            done = self.furrow("cheb", "density", f"{name}.mtx", "--moments", "16", "--device", "cpu", "-o", "out")
            self.assertIn(f"all eigenvalues are {value}", done.stdout)
        self.write("two.mtx", head + "2 2 4\n1 1 2\n1 2 1\n2 1 1\n2 2 2\n")
        r = self.json("density", "two.mtx", "--moments", "64", "--device", "cpu")
        self.assertLess(r["interval"][0], 1)
        self.assertGreater(r["interval"][1], 3)
        self.write("empty.mtx", head + "0 0 0\n")
        self.says(3, "empty.mtx: has no rows", "density", "empty.mtx")
        self.write("nan.mtx", head + "2 2 2\n1 1 1\n2 2 nan\n")
        self.says(3, "nan.mtx: holds nan in row 2, column 2", "density", "nan.mtx")
        self.write("wide.mtx", head + "2 3 1\n1 1 1\n")
        self.says(3, "wide.mtx: is 2 x 3: only a square matrix", "density", "wide.mtx")

    def test_a_tolerance_shortens(self):
        whole, rough = (self.json("fit", "1/(1+25*x^2)", *more)["length"] for more in ([], ["--tolerance", "1e-6"]))
        self.assertLess(rough, whole / 2)

    def test_a_tolerance_that_is_missed_is_said(self):
        for text, least in (("abs(x)^3", 1e-10), ("exp(-1e6*(x-0.341)^2)", 0.5)):
            self.assertGreater(self.json("fit", text)["error_between"], least, text)
            self.assertRegex(self.furrow("cheb", "fit", text).stdout, "off by +.* of the largest value between its points")
        for text in ("exp(x)", "sin(1000*x)", "exp(40*x)", "0*x"):
            self.assertNotIn("off by", self.furrow("cheb", "fit", text).stdout, text)
        self.assertNotIn("off by", self.furrow("cheb", "fit", "sin(x)", "--on", "1e7,10000010").stdout)  # x is rounded there

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
        self.says(2, "--tolerance: must be at least 2.22", "fit", "x", "--tolerance", "-1")
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
