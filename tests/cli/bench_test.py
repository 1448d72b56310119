# SPDX-License-Identifier: BSD-3-Clause
"""furrow bench: its JSON, its pictures, what one bad file does to the others, exit codes."""
import json
import re
import xml.etree.ElementTree

from kit import Case, main

CPU = ("--device", "cpu", "--threads", "2")
QUICK = (*CPU, "--seconds", "0.001", "--no-rivals")
SVG = "{http://www.w3.org/2000/svg}"


class Bench(Case):
    def json(self, *words, code=0):
        done = self.furrow("bench", *words, "--json", code=code)
        self.assertEqual(done.stdout.count("\n"), 1)
        return json.loads(done.stdout)

    def test_spmv(self):
        r = self.json("spmv", "poisson2d:20", "rectangular:30:500:9", *QUICK, "--check")
        self.assertEqual((r["bench"], r["device"], r["threads"], r["cold"], r["failed"]), ("spmv", "cpu", 2, False, []))
        self.assertGreater(r["ceiling_gbps"], 0)
        self.assertEqual({x["library"] for x in r["rivals"]}, {"Eigen", "MKL"})
        self.assertEqual([m["matrix"] for m in r["matrices"]], ["poisson2d:20", "rectangular:30:500:9"])
        stats = r["matrices"][0]["stats"]
        self.assertEqual([stats[k] for k in ("rows", "cols", "nnz", "row_min", "row_max", "diagonals", "empty_rows")],
                         [400, 400, 1920, 3, 5, 5, 0])
        self.assertEqual((stats["row_mean"], stats["lower_bandwidth"], stats["upper_bandwidth"]), (4.8, 20, 20))
        self.assertEqual(sum(stats["row_histogram"]), 400)
        for m in r["matrices"]:
            for precision in ("f64", "f32"):
                rows = [x for x in m["results"] if x["precision"] == precision]
                self.assertGreaterEqual({x["format"] for x in rows}, {"csr", "coo"})
                names = [(x["format"], x["kernel"]) for x in rows]
                self.assertEqual(len(names), len(set(names)), "a way is measured once")
                self.assertEqual([x["chosen"] for x in rows].count(True), 1)
                best, chosen = (next(x for x in rows if x[mark]) for mark in ("best", "chosen"))
                self.assertEqual(best["seconds"], min(x["seconds"] for x in rows))
                self.assertAlmostEqual(m["auto"][precision]["of_the_best"], best["seconds"] / chosen["seconds"])
                self.assertEqual(m["best"][precision]["kernel"], best["kernel"])
            for x in m["results"]:
                self.assertEqual(x["library"], "furrow")
                self.assertLessEqual(x["max_row_error"], 1)
                self.assertAlmostEqual(x["gflops"], 2e-9 * m["stats"]["nnz"] / x["seconds"])
                self.assertAlmostEqual(x["gbps"], 1e-9 * x["bytes"] / x["seconds"])
                self.assertAlmostEqual(x["fraction"], x["gbps"] / x["ceiling_gbps"])
                self.assertAlmostEqual(x["setup_products"], x["setup_seconds"] / x["seconds"])
        for precision in ("f64", "f32"):
            s = r["summary"][precision]
            ratios = [m["auto"][precision]["of_the_best"] for m in r["matrices"]]
            self.assertAlmostEqual(s["auto_to_best"]["geometric_mean"], (ratios[0] * ratios[1]) ** 0.5)
            self.assertEqual(s["auto_to_best"]["matrices"], 2)
            self.assertEqual(sum(s["wins"].values()), 2)
            self.assertIn("coo", s["format_to_csr"])

    def test_nothing_is_no_success(self):
        done = self.furrow("bench", "spmv", "poisson2d:5", *QUICK, "--no-ceiling", "--format", "csr", "--kernel", "strips", code=2)
        self.assertIn("nothing was measured: every format and kernel that was asked for is left out", done.stderr)

    def test_what_tuning_chooses_is_marked_and_copies_stand_on_the_diagonal(self):
        done = self.furrow("bench", "spmv", "poisson2d:12", *QUICK, "--precision", "f64", "--tune", "--copies", "3", "--turns", "2", "--check",
                           "--json", env={"FURROW_CACHE": "off"})
        r = json.loads(done.stdout)
        self.assertEqual(r["turns"], 2)
        (m,) = r["matrices"]
        self.assertEqual((m["matrix"], m["stats"]["rows"], m["stats"]["nnz"], m["stats"]["diagonals"]),
                         ("poisson2d:12 x 3", 432, 3 * 672, 5))
        names = [(x["format"], x["kernel"]) for x in m["results"]]
        self.assertEqual(len(names), len(set(names)), "two turns are one row")
        (tuned,) = [x for x in m["results"] if x.get("tuned")]
        best = min(x["seconds"] for x in m["results"])
        self.assertAlmostEqual(r["summary"]["f64"]["tuned_to_best"]["worst"], best / tuned["seconds"])
        self.assertTrue(all(x["max_row_error"] <= 1 for x in m["results"]))
        self.furrow("bench", "spmv", "poisson2d:1000", *QUICK, "--copies", "3000", code=2)

    def test_named_formats_and_kernels(self):
        r = self.json("spmv", "poisson1d:50", *QUICK, "--format", "coo,csr", "--kernel", "scalar", "--precision", "f32")
        (m,) = r["matrices"]
        self.assertEqual([(x["format"], x["kernel"], x["precision"], x["repeats"]) for x in m["results"]],
                         [("csr", "scalar", "f32", m["results"][0]["repeats"])])
        self.assertEqual([(x["format"], x["why"]) for x in m["left_out"]], [("coo", "has no kernel 'scalar' on the CPU")])
        self.assertNotIn("auto", m)
        r = self.json("spmv", "poisson1d:50", *CPU, "--no-rivals", "--format", "auto", "--repeat", "4", "--cold")
        self.assertEqual([x["repeats"] for x in r["matrices"][0]["results"]], [4, 4])
        self.assertTrue(r["cold"])

    def test_one_bad_file_among_good_ones(self):
        self.write("broken.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n9 1 1\n")
        done = self.furrow("bench", "spmv", "poisson1d:50", "broken.mtx", "absent.mtx", "poisson1d:60", *QUICK, "-o", "out",
                           code=3)
        self.assertIn("furrow: broken.mtx:3:", done.stderr)
        self.assertIn("furrow: absent.mtx:", done.stderr)
        for name in ("poisson1d:50", "poisson1d:60"):
            self.assertIn(name, done.stdout)
        r = json.loads((self.folder / "out" / "results.json").read_text())
        self.assertEqual([m["matrix"] for m in r["matrices"]], ["poisson1d:50", "poisson1d:60"])
        self.assertEqual([f["file"] for f in r["failed"]], ["broken.mtx", "absent.mtx"])

    def colours(self, name):
        """Of the squares of the legend, by the name beside them."""
        return dict(reversed(pair) for pair in re.findall(r'height="10" fill="(#\w+)"/>\n.*?>(.*?)</text>',
                                                          (self.folder / "out" / name).read_text()))

    def test_pictures(self):
        self.write("one&two.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2 1\n")
        self.furrow("bench", "spmv", "one&two.mtx", "poisson2d:30", *QUICK, "-o", "out")
        names = {f.name for f in (self.folder / "out").iterdir()}
        self.assertEqual(names, {"results.json", "gflops_f64.svg", "gflops_f32.svg", "roofline_f64.svg", "roofline_f32.svg"})
        for name in names - {"results.json"}:
            root = xml.etree.ElementTree.parse(self.folder / "out" / name).getroot()
            self.assertEqual(root.tag, SVG + "svg")
            words = [t.text for t in root.iter(SVG + "text")]
            self.assertIn("csr", words)
            self.assertIn("GFLOP/s", words)
        self.assertIn("refused or left out", (self.folder / "out" / "gflops_f64.svg").read_text())
        roofline = (self.folder / "out" / "roofline_f64.svg").read_text()
        self.assertRegex(roofline, r">(memory|cache), [\d]+ GB/s<")
        self.assertRegex(roofline, ">(poisson2d:30|one&amp;two)</text>")
        self.assertEqual(self.colours("gflops_f64.svg")["csr"], self.colours("roofline_f32.svg")["csr"])
        bars = xml.etree.ElementTree.parse(self.folder / "out" / "gflops_f64.svg").getroot()
        self.assertIn("one&two", [t.text for t in bars.iter(SVG + "text")])

    def test_folders(self):
        (self.folder / "matrices").mkdir()
        for n in (5, 4):
            self.furrow("generate", f"poisson1d:{n}", "-o", f"matrices/p{n}.mtx")
        self.write("matrices/notes.txt", "no matrix")
        r = self.json("spmv", "matrices", *QUICK, "--precision", "f64")
        self.assertEqual([m["matrix"] for m in r["matrices"]], ["p4", "p5"])

    def test_gemv(self):
        r = self.json("gemv", "30x40", "7x300", *QUICK, "--type", "f64,bf16", "--layout", "col", "-o", "out")
        self.assertEqual((r["bench"], r["device"], r["threads"], r["cold"]), ("gemv", "cpu", 2, False))
        self.assertEqual({x["library"] for x in r["rivals"]}, {"OpenBLAS"})
        self.assertEqual([(x["rows"], x["cols"], x["type"], x["op"], x["kernel"]) for x in r["results"]],
                         [(m, n, t, op, kernel) for t in ("f64", "bf16") for m, n in ((30, 40), (7, 300))
                          for op, kernel in (("n", "across"), ("t", "along"))])
        for x in r["results"]:
            a, v = (8, 8) if x["type"] == "f64" else (2, 4)
            self.assertEqual(x["bytes"], a * x["rows"] * x["cols"] + v * (x["rows"] + x["cols"]))
            self.assertAlmostEqual(x["gbps"], 1e-9 * x["bytes"] / x["seconds"])
            self.assertAlmostEqual(x["fraction"], x["gbps"] / x["ceiling_gbps"])
            self.assertEqual(x["rivals"], [])
        self.assertEqual(r["summary"], {})
        self.assertEqual(json.loads((self.folder / "out" / "results.json").read_text()), r)
        names = {f.name for f in (self.folder / "out").iterdir()}
        self.assertEqual(names, {"results.json", "gemv_f64.svg", "gemv_bf16.svg"})
        words = [t.text for t in xml.etree.ElementTree.parse(self.folder / "out" / "gemv_f64.svg").getroot().iter(SVG + "text")]
        for word in ("30x40", "7x300", "col n", "col t", "of the read ceiling"):
            self.assertIn(word, words)

    def test_gemv_beside_a_rival(self):
        r = self.json("gemv", "50x60", *CPU, "--op", "t", "--repeat", "3", "--cold")
        rivals = [y for x in r["results"] for y in x["rivals"]]
        self.assertTrue(r["cold"])
        self.assertEqual({x["repeats"] for x in r["results"]}, {3})
        if not any(x["version"] for x in r["rivals"]):
            self.skipTest("OpenBLAS is not here")
        self.assertEqual([len(x["rivals"]) for x in r["results"]], [1, 1, 1, 1, 0, 0, 0, 0])
        for x in r["results"]:
            for y in x["rivals"]:
                self.assertAlmostEqual(y["ratio"], y["seconds"] / x["seconds"])
        self.assertEqual(r["summary"]["OpenBLAS"]["products"], len(rivals))

    def test_usage(self):
        for words, says in (
            (("bench", "gemv", "30"), "'30' is no shape"),
            (("bench", "gemv", "--type", "f64,f23"), "did you mean 'f32'?"),
            (("bench", "gemv", "--layout", "rows"), "there is no layout 'rows'"),
            (("bench", "spvm"), "there is no 'bench' subcommand 'spvm': did you mean 'spmv'?"),
            (("bench", "spmv", "poisson1d:5", "--format", "crs"), "there is no format 'crs': did you mean 'csr'?"),
            (("bench", "spmv", "poisson1d:5", "--format", "csr:9"), "it takes no parameters"),
            (("bench", "spmv", "poisson1d:5", "--kernel", "x"), "there is no kernel 'x'"),
            (("bench", "spmv", "poisson1d:5", "--clod"), "did you mean '--cold'? see 'furrow bench spmv -h'"),
            (("bench", "spmv", "poison1d:5"), "there is no generator 'poison1d'"),
            (("bench", "cg", "poison3d:5"), "there is no generator 'poison3d'"),
            (("bench", "cg", "poisson3d:5", "--format", "crs"), "there is no format 'crs': did you mean 'csr'?"),
            (("bench", "cg", "poisson3d:5", "--turns", "0"), "--turns: must be at least 1"),
            (("bench", "cg", "poisson3d:5", "--rtol", "0"), "--rtol: "),
            (("bench", "paper", "--only", "Denes"), "did you mean 'Dense'?"),
        ):
            self.assertIn(says, self.furrow(*words, code=2).stderr)
        self.write("file", "")
        self.furrow("bench", "spmv", "poisson1d:5", "-o", "file/x", code=3)

    def test_cg(self):
        words = ("--device", "cpu", "--threads", "2", "--turns", "2")
        r = self.json("cg", "poisson3d:8", "poisson2d:20", *words, "-o", "out")
        self.assertEqual((r["bench"], r["turns"], r["rtol"], r["failed"]), ("cg", 2, 1e-8, []))
        self.assertEqual(r["matrices"], json.loads((self.folder / "out" / "results.json").read_text())["matrices"])
        self.assertEqual([(m["matrix"], m["rows"]) for m in r["matrices"]], [("poisson3d:8", 512), ("poisson2d:20", 400)])
        for m in r["matrices"]:
            self.assertEqual([f["form"] for f in m["forms"]], ["tutorial", "fused", "beside"])
            self.assertEqual([f["form"] for f in m["left_out"]], ["ahead", "graph"])
            for f in m["left_out"]:
                self.assertIn("a CPU", f["why"])
            tutorial, fused, cg = m["forms"]
            self.assertEqual([f["is_cg"] for f in m["forms"]], [False, False, True])
            for f in m["forms"]:
                self.assertEqual(f["status"], "converged")
                self.assertLessEqual(f["relative_residual"], 1e-8)
                self.assertGreater(f["iterations"], 10)
                self.assertLessEqual(abs(f["iterations"] - cg["iterations"]), 1)
                self.assertLessEqual(f["seconds_fastest"], f["seconds"])
                self.assertAlmostEqual(f["seconds_per_iteration"], f["seconds"] / f["iterations"])
                self.assertAlmostEqual(f["waits_per_iteration"], f["waits"] / f["iterations"])
                self.assertAlmostEqual(f["gbps"], 1e-9 * f["bytes_per_iteration"] / f["seconds_per_iteration"])
                self.assertAlmostEqual(f["fraction"], f["gbps"] / f["ceiling_gbps"])
                self.assertAlmostEqual(f["of_tutorial"], f["seconds_per_iteration"] / tutorial["seconds_per_iteration"])
            self.assertEqual(tutorial["bytes_per_iteration"] - cg["bytes_per_iteration"], 5 * 8 * m["rows"])
            self.assertEqual(fused["bytes_per_iteration"], cg["bytes_per_iteration"])
            self.assertEqual(fused["iterations"], cg["iterations"])
            for f in (tutorial, fused):
                self.assertGreaterEqual(f["waits"], 2 * f["iterations"])
            self.assertLess(cg["waits"], cg["iterations"])
        self.assertEqual({f.name for f in (self.folder / "out").iterdir()}, {"results.json", "cg_f64.svg"})
        root = xml.etree.ElementTree.parse(self.folder / "out" / "cg_f64.svg").getroot()
        said = [t.text for t in root.iter(SVG + "text")]
        for word in ("poisson3d:8", "poisson2d:20", "tutorial: an operation a pass, scalars on the host"):
            self.assertIn(word, said)

    def test_cg_in_single_precision_by_one_format(self):
        r = self.json("cg", "poisson2d:20", "--device", "cpu", "--turns", "1", "--precision", "f32", "--format", "csr",
                      "--kernel", "rows", "--no-ceiling")
        (m,) = r["matrices"]
        self.assertEqual((r["rtol"], m["precision"], m["format"], m["kernel"]), (1e-4, "f32", "csr", "rows"))
        self.assertEqual({f["status"] for f in m["forms"]}, {"converged"})
        self.assertEqual({f["fraction"] for f in m["forms"]}, {None})

    def test_cg_says_what_it_cannot_solve(self):
        self.write("indefinite.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2 -1e3\n")
        words = ("--device", "cpu", "--turns", "1")
        done = self.furrow("bench", "cg", "convection2d:9:10", "rectangular:5:4:2", "absent.mtx", "poisson1d:9", *words, code=3)
        self.assertIn("furrow: convection2d:9:10: the matrix is not symmetric", done.stderr)
        self.assertIn("furrow: rectangular:5:4:2: it is 5 x 4: conjugate gradients take a square matrix", done.stderr)
        self.assertIn("furrow: absent.mtx:", done.stderr)
        self.assertIn("poisson1d:9  9 rows", done.stdout)
        done = self.furrow("bench", "cg", "indefinite.mtx", *words, code=1)
        self.assertEqual(done.stdout.count("did not converge: "), 3)
        self.assertIn("not positive definite", done.stdout)

    def test_paper(self):
        (self.folder / "suite").mkdir()
        self.furrow("generate", "banded:3000:5:9", "-o", "suite/mc2depi.mtx")
        r = self.json("paper", "--only", "Epidemiology,QCD", "--matrices", "suite", "-o", "out", *QUICK)
        first, second = (m["paper"] for m in r["matrices"])
        self.assertEqual((first["name"], first["stand_in"], second["name"], second["stand_in"]),
                         ("QCD", True, "Epidemiology", False))
        then = {(x["method"], x["precision"]): x["gflops_then"] for x in first["rows"]}
        self.assertEqual(then, {("HYB", "f64"): 12.7, ("CSR vector", "f64"): 4.6, ("HYB", "f32"): 21.7, ("CSR vector", "f32"): 10.2})
        self.assertEqual([m["matrix"] for m in r["matrices"]], ["QCD (stand-in)", "Epidemiology"])
        self.assertEqual((first["generator"], first["matrix_of_the_paper"]), ("banded:49152:39:6000", "conf5_4-8x8-05"))
        self.assertNotIn("generator", second)
        for name in ("paper_matrices_f64", "paper_matrices_f32_per_bandwidth", "gflops_f64"):
            picture = (self.folder / "out" / f"{name}.svg").read_text()
            self.assertIn("QCD (stand-in)", picture)
            self.assertNotIn("banded:49152", picture)
        self.assertIn("HYB, GTX 280", (self.folder / "out" / "paper_matrices_f64.svg").read_text())
        self.assertFalse((self.folder / "out" / "paper_grids_f64.svg").exists())
        for m in r["matrices"]:
            self.assertEqual([c["precision"] for c in m["paper"]["chosen"]], ["f64", "f32"])
            here = {x["method"]: x.get("kernel") for x in m["paper"]["rows"]}
            self.assertEqual(here, {"HYB": "scalar", "CSR vector": None})  # a CPU has nothing like a warp a row
            for x in m["paper"]["rows"]:
                if x["gflops_now"] is not None:
                    self.assertAlmostEqual(x["ratio"], x["gflops_now"] / x["gflops_then"])
                    self.assertAlmostEqual(x["ratio_per_bandwidth"], x["ratio"] * 141.7 / r["ceiling_gbps"])

    def test_paper_finds_a_matrix_in_the_folder_of_its_group(self):
        (self.folder / "suite" / "QCD" / "conf5_4-8x8-05").mkdir(parents=True)
        self.furrow("generate", "banded:3000:5:9", "-o", "suite/QCD/conf5_4-8x8-05/conf5_4-8x8-05.mtx")
        (self.folder / "williams").mkdir()
        self.furrow("generate", "banded:3000:5:9", "-o", "williams/qcd5_4.mtx")
        for folder in ("suite", "williams"):
            r = self.json("paper", "--only", "QCD", "--matrices", folder, "--precision", "f64", *QUICK)
            self.assertFalse(r["matrices"][0]["paper"]["stand_in"])
            self.assertEqual(r["matrices"][0]["matrix"], "QCD")


if __name__ == "__main__":
    main()
