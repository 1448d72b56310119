# SPDX-License-Identifier: BSD-3-Clause
"""Pictures that solve and info draw: SVG with the words and the marks that belong there."""
import json
import re
import xml.etree.ElementTree

from kit import Case, main

SVG = "{http://www.w3.org/2000/svg}"


class Pictures(Case):
    def drawn(self, name):
        root = xml.etree.ElementTree.parse(self.folder / name).getroot()
        self.assertEqual(root.tag, SVG + "svg")
        return root, [t.text for t in root.iter(SVG + "text")]

    def test_residuals(self):
        self.furrow("solve", "poisson2d:60", "--device", "cpu", "--solver", "cg", "--plot", "good.svg")
        root, words = self.drawn("good.svg")
        self.assertIn("goal 1e-08", words)
        self.assertIn("iteration", words)
        self.assertTrue(any(re.fullmatch(r"Converged in \d+ iterations\.", w) for w in words), words)
        self.assertEqual(len(list(root.iter(SVG + "circle"))), 1)  # the residual that was computed anew
        curve = max((p.get("d") for p in root.iter(SVG + "path")), key=len)
        heights = [float(y) for _, y in re.findall(r"([\d.]+) ([\d.]+)", curve)]
        self.assertGreater(len(heights), 20)
        self.assertLess(heights[0], heights[-1])  # down the paper

    def test_a_solve_that_stopped_short_is_drawn_too(self):
        self.furrow("solve", "poisson2d:60", "--device", "cpu", "--max-iterations", "9", "--plot", "short.svg", code=1)
        _, words = self.drawn("short.svg")
        self.assertTrue(any("limit of 9 iterations" in w for w in words), words)
        self.furrow("solve", "dense:1", "--device", "cpu", "--plot", "one.svg")
        self.write("nan.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 nan\n")
        self.furrow("solve", "nan.mtx", "--plot", "nan.svg", code=1)
        self.assertNotIn('"nan', (self.folder / "nan.svg").read_text())

    def test_entries(self):
        self.furrow("info", "poisson1d:5", "--picture", "small.svg")
        root, words = self.drawn("small.svg")
        self.assertIn("5 x 5, 13 entries, 52 % of all places", words)
        rows = next(p.get("d") for p in root.iter(SVG + "path"))
        self.assertEqual(rows.count("M"), 5)  # neighbours are one piece
        self.furrow("info", "rectangular:300:9000:50", "--picture", "large.svg")
        _, words = self.drawn("large.svg")
        self.assertTrue(any(w.startswith("up to ") for w in words), words)
        self.write("empty.mtx", "%%MatrixMarket matrix coordinate real general\n0 0 0\n")
        self.furrow("info", "empty.mtx", "--picture", "empty.svg")
        self.drawn("empty.svg")

    def test_lanes_of_a_played_kernel(self):
        said = json.loads(self.furrow("spmv", "poisson1d:20", "--device", "play", "--kernel", "scalar", "--trace", "lanes.svg",
                                      "--json").stdout)
        root, words = self.drawn("lanes.svg")
        self.assertIn("poisson1d:20: scalar of csr", words)
        cells = [title.text for title in root.iter(SVG + "title")][1:]  # the first one is that of the picture
        arrays = said["results"][0]["kernels"][0]["arrays"]
        self.assertEqual(len(cells), sum(a["lanes"] for a in arrays))  # one warp has all rows
        self.assertIn("step 1, lane 0: reads row_ptr[0]", cells)
        self.assertEqual(sum("writes y[" in c for c in cells), 20)

    def test_lanes_of_a_played_dense_kernel(self):
        said = json.loads(self.furrow("gemv", "32x3", "--device", "play", "--kernel", "naive", "--trace", "lanes.svg", "--json").stdout)
        root, words = self.drawn("lanes.svg")
        self.assertIn("32x3: naive of dense", words)
        cells = [title.text for title in root.iter(SVG + "title")][1:]
        self.assertEqual(len(cells), 32 * (3 + 3 + 1))  # of A, of x, of y
        self.assertIn("step 1, lane 5: reads A[15]", cells)
        kernel = said["results"][0]["kernels"][0]
        self.assertEqual({a["array"]: a["lanes"] for a in kernel["arrays"]}, {"A": 96, "x": 96, "y": 32})


if __name__ == "__main__":
    main()
