# SPDX-License-Identifier: BSD-3-Clause
"""One JSON object on stdout, with the fields of the design and their types."""
import json
import pathlib
import re

from kit import Case, main

NUMBER = (int, float)
SOLVE = {
    "status": str, "message": str, "iterations": int, "relative_residual": NUMBER, "relative_error": (*NUMBER, type(None)),
    "rows": int, "cols": int, "nnz": int, "solver": str, "precond": str, "format": str, "kernel": str, "precision": str,
    "device": str, "threads": int, "seconds": dict, "bytes_per_iteration": NUMBER, "history": list,
    "scale": str, "reorder": str, "arranged": str, "factors_at_most": bool, "factor_entries": (int, type(None)),
    "factor_bytes": (int, type(None)), "factor_entries_expected": (int, type(None)), "factor_bytes_expected": (int, type(None)),
}
SPMV = {
    "format": str, "kernel": str, "precision": str, "seconds": NUMBER, "bytes": NUMBER, "gflops": NUMBER, "gbps": NUMBER,
    "fraction": NUMBER,
}
STATUS = {"converged", "max_iterations", "not_positive_definite", "breakdown", "nan", "stagnated", "diverged", "interrupted",
          "least_squares"}


class Json(Case):
    def json(self, *words, code=0):
        done = self.furrow(*words, "--json", code=code)
        self.assertEqual(done.stdout.count("\n"), 1)
        return json.loads(done.stdout)

    def has(self, fields, value):
        for name, kind in fields.items():
            self.assertIn(name, value)
            self.assertIsInstance(value[name], kind, name)

    def test_solve(self):
        for precision, rtol in (("f64", "1e-8"), ("f32", "1e-4")):
            r = self.json("solve", "poisson3d:15", "--device", "cpu", "--threads", "2", "--precision", precision, "--rtol", rtol)
            self.has(SOLVE, r)
            self.assertEqual(set(r["seconds"]), {"read", "setup", "solve", "parts"})
            self.assertEqual((r["status"], r["rows"], r["cols"], r["nnz"]), ("converged", 3375, 3375, 22275))
            self.assertEqual((r["precision"], r["device"], r["threads"]), (precision, "cpu", 2))
            self.assertEqual((r["solver"], r["precond"]), ("cg", "jacobi"))
            self.assertLessEqual(r["relative_residual"], float(rtol))
            self.assertLess(r["relative_error"], 100 * float(rtol))
            self.assertEqual(len(r["history"]), r["iterations"] + 1)
            self.assertEqual(r["history"][0], 1)

    def test_the_tolerance_that_nobody_names_is_one_that_the_precision_holds(self):
        for precision, rtol in (("f64", 1e-8), ("f32", 1e-5)):
            r = self.json("solve", "poisson2d:20", "--device", "cpu", "--precision", precision)
            self.assertEqual((r["status"], r["rtol"]), ("converged", rtol))
            self.assertLessEqual(r["relative_residual"], rtol)

    def test_the_reason_for_a_format_is_that_of_this_solve(self):
        for precond, few in (("lu", True), ("auto", True), ("jacobi", False)):
            r = self.json("solve", "poisson2d:20", "--device", "cpu", "--solver", "direct", "--precond", precond, "--rtol", "1e-3")
            self.assertEqual(r["reason"] == "a factorisation comes first, which leaves few products", few, r["reason"])
            self.assertEqual(r["iterations"] < 10, few)

    def test_solve_says_how_the_matrix_was_arranged_and_how_large_factors_are(self):
        r = self.json("solve", "convection2d:9:2", "--device", "cpu", "--solver", "direct", "--scale", "matching", "--reorder", "rcm")
        self.has(SOLVE, r)
        self.assertEqual((r["status"], r["scale"], r["reorder"]), ("converged", "matching", "rcm"))
        self.assertRegex(r["arranged"], "matching: .*; rcm: ")
        self.assertGreaterEqual(r["factor_entries"], r["nnz"])
        self.assertGreaterEqual(r["factor_entries_expected"], r["nnz"])
        r = self.json("solve", "poisson2d:9", "--device", "cpu", "--solver", "cg")
        self.assertEqual((r["scale"], r["reorder"], r["arranged"], r["factor_entries"]), ("none", "none", "", None))

    def test_solve_with_a_right_hand_side_knows_no_error(self):
        self.write("b.txt", "1\n" * 9)
        r = self.json("solve", "poisson2d:3", "--device", "cpu", "-b", "b.txt")
        self.has(SOLVE, r)
        self.assertIsNone(r["relative_error"])
        self.assertEqual(r["rhs"], "b.txt")

    def test_solve_with_several_right_hand_sides(self):
        self.write("b.mtx", "%%MatrixMarket matrix array real general\n9 3\n" + "1\n" * 9 + "0\n" * 9 + "2\n" * 9)
        for words in ((), ("--solver", "block_cg"), ("--solver", "bicgstab"), ("--precision", "f32", "--rtol", "1e-4")):
            r = self.json("solve", "poisson2d:3", "--device", "cpu", "-b", "b.mtx", "-o", "x.mtx", *words)
            self.has(SOLVE, r)
            self.assertEqual((r["right_hand_sides"], len(r["columns"])), (3, 3))
            for column in r["columns"]:
                self.has({"status": str, "message": str, "iterations": int, "relative_residual": NUMBER, "warning": str,
                          "error_estimate": (*NUMBER, type(None)), "seconds": dict}, column)
                self.assertEqual(column["status"], "converged")
            self.assertEqual(r["relative_residual"], max(c["relative_residual"] for c in r["columns"]))
            self.assertEqual(r["columns"][1]["relative_residual"], 0)
            head, size, *numbers = (self.folder / "x.mtx").read_text().splitlines()
            self.assertEqual(size, "9 3")
            x = [float(number) for number in numbers]
            self.assertEqual(x[9:18], [0] * 9)
            for one, two in zip(x[:9], x[18:]):
                self.assertAlmostEqual(2 * one, two, delta=1e-3)

    def test_estimates_of_a_named_solver_alone_are_said_to_be_so(self):
        alone = "the steps of {} alone; the solver auto looks further"
        for solver, by in (("cg", "cg"), ("minres", "minres"), ("lsmr", "lsmr"), ("auto", None), ("direct", None)):
            words = ("solve", "poisson2d:20", "--device", "cpu", "--solver", solver)
            r = self.json(*words)
            self.assertGreater(r["error_estimate"], 0)
            self.assertEqual(r["estimated_by"], alone.format(by) if by else "")
            said = self.furrow(*words).stdout
            self.assertEqual(said.count("looks further"), 1 if by else 0, said)
        for matrix, by in (("rectangular:40:20:3", alone.format("lsmr")), ("rectangular:20:40:3", "")):
            self.assertEqual(self.json("solve", matrix, "--device", "cpu", "--solver", "lsmr")["estimated_by"], by)
        self.assertEqual(self.json("solve", "poisson2d:20", "--device", "cpu", "--solver", "cg", "--max-iterations", "9",
                                   code=1)["estimated_by"], "")

    def test_the_worst_right_hand_side_decides(self):
        self.write("b.mtx", "%%MatrixMarket matrix array real general\n4 2\n" + "1\n" * 4 + "nan\n" * 4)
        r = self.json("solve", "poisson2d:2", "--device", "cpu", "-b", "b.mtx", code=1)
        self.assertEqual((r["status"], r["columns"][0]["status"], r["columns"][1]["status"]), ("nan", "converged", "nan"))
        done = self.furrow("solve", "poisson2d:2", "--device", "cpu", "-b", "b.mtx", code=1)
        self.assertRegex(done.stdout, r"columns +2 right-hand sides, 1 solved; the figures below are of the worst one\n"
                                      r"  1 +converged, .*\n  2 +nan, ")

    def test_right_hand_sides_that_do_not_fit(self):
        self.write("b.mtx", "%%MatrixMarket matrix array real general\n4 2\n" + "1\n" * 8)
        for words, said in (
            (("poisson2d:3", "-b", "b.mtx"), "b.mtx: has 4 elements, but the matrix has 9 rows"),
            (("poisson2d:2", "-b", "b.mtx", "--x0", "x.txt"), "x.txt: holds 1 first guess for 2 right-hand sides: --x0 wants one for each"),
        ):
            self.write("x.txt", "1\n" * 4)
            self.assertIn(said, self.furrow("solve", "--device", "cpu", *words, code=3).stderr)
        done = self.furrow("solve", "poisson2d:2", "-b", "b.mtx", "-o", "x.txt", "--device", "cpu", code=2)
        self.assertIn("x.txt", done.stderr)

    def test_solve_stopped_short(self):
        r = self.json("solve", "poisson2d:30", "--device", "cpu", "--max-iterations", "5", code=1)
        self.has(SOLVE, r)
        self.assertIn(r["status"], STATUS)
        self.assertEqual((r["status"], r["iterations"]), ("max_iterations", 5))

    def test_least_squares(self):
        self.furrow("spmv", "rectangular:60:30:4:7", "--device", "cpu", "-o", "b.txt")
        r = self.json("solve", "rectangular:60:20:4", "--device", "cpu", "-b", "b.txt")
        self.has(SOLVE, r)
        self.assertEqual((r["status"], r["rows"], r["cols"], r["solver"]), ("least_squares", 60, 20, "lsmr"))
        self.assertLessEqual(r["normal_residual"], 1e-8)
        self.assertGreater(r["relative_residual"], 0.1)
        r = self.json("solve", "rectangular:60:20:4", "--device", "cpu")
        self.assertEqual((r["status"], r["rhs"]), ("converged", "ones"))
        self.assertIsNone(r["relative_error"])
        self.assertIsNone(r["normal_residual"])

    def test_a_square_system_without_an_answer_is_not_solved(self):
        self.write("a.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 1 1\n")
        self.write("b.txt", "1\n0\n")
        r = self.json("solve", "a.mtx", "--device", "cpu", "-b", "b.txt", code=1)
        self.assertEqual(r["status"], "least_squares")

    def test_zero_right_hand_side(self):
        self.write("b.txt", "0\n" * 9)
        r = self.json("solve", "poisson2d:3", "--device", "cpu", "-b", "b.txt")
        self.assertEqual((r["status"], r["iterations"], r["relative_residual"]), ("converged", 0, 0))

    def test_spmv(self):
        for precision in ("f64", "f32"):
            r = self.json("spmv", "powerlaw:3000:9:2.5", "--device", "cpu", "--format", "all", "--kernel", "all", "--check",
                          "--repeat", "3", "--precision", precision)
            self.assertGreater(r["ceiling_gbps"], 0)
            self.assertEqual(r["device"], "cpu")
            names = {x["format"] for x in r["results"]} | {x["format"] for x in r["skipped"]}
            self.assertGreaterEqual(names, {"csr", "coo"})
            for one in r["results"]:
                self.has({**SPMV, "max_row_error": NUMBER}, one)
                self.assertEqual(one["precision"], precision)
                self.assertLessEqual(one["max_row_error"], 1)
                self.assertAlmostEqual(one["gbps"], 1e-9 * one["bytes"] / one["seconds"])
                self.assertAlmostEqual(one["fraction"], one["gbps"] / one["ceiling_gbps"])

    def test_what_is_not_touched_does_not_count(self):
        self.write("wide.mtx", "%%MatrixMarket matrix coordinate real general\n5 1000000 3\n1 1 1\n2 500000 1\n5 1000000 1\n")
        r = self.json("spmv", "wide.mtx", "--device", "cpu", "--format", "csr", "--repeat", "9")
        self.assertLess(r["results"][0]["bytes"], 1000)
        full = self.json("spmv", "poisson1d:1000", "--device", "cpu", "--format", "csr", "--repeat", "1")["results"][0]
        self.assertEqual(full["bytes"], 4 * 1001 + 12 * 2998 + 16 * 1000)

    def test_a_matrix_in_the_cache_has_the_ceiling_of_the_cache(self):
        for matrix in ("poisson2d:60", "poisson2d:200"):
            r = self.json("spmv", matrix, "--device", "cpu", "--threads", "1", "--format", "dia")
            self.assertLess(r["results"][0]["fraction"], 3)

    def test_spmv_without_check_has_no_row_error(self):
        r = self.json("spmv", "poisson1d:100", "--device", "cpu", "--format", "csr", "--repeat", "1")
        self.assertEqual(len(r["results"]), 1)
        self.assertNotIn("max_row_error", r["results"][0])

    def test_the_page_of_the_command_line_names_all_that_info_says(self):
        page = (pathlib.Path(__file__).parents[2] / "docs/command-line.md").read_text()
        table = page.split("## furrow info")[1].split("## furrow generate")[0]
        named = set(re.findall(r"`([a-z_0-9]+)(?:\[\])?`", table))

        def fields(value):
            for one in value if isinstance(value, list) else [value]:
                if isinstance(one, dict):
                    yield from one
                    for below in one.values():
                        yield from fields(below)

        self.assertEqual(set(fields(self.json("info", "powerlaw:200:4:2.5"))) - named, set())

    def test_info(self):
        r = self.json("info", "convection2d:4:2")
        self.assertEqual((r["rows"], r["cols"], r["nnz"]), (16, 16, 64))
        self.assertEqual((r["symmetric"], r["structurally_symmetric"], r["skew_symmetric"]), (False, True, False))
        self.assertEqual((r["lower_bandwidth"], r["upper_bandwidth"], r["diagonals"], r["zero_diagonal"]), (4, 4, 5, 0))
        self.assertEqual(sum(h["rows"] for h in r["row_histogram"]), 16)
        self.assertIn("csr", {m["format"] for m in r["memory"]})
        self.write("skew.mtx", "%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 1\n2 1 5\n")
        r = self.json("info", "skew.mtx")
        self.assertEqual((r["symmetric"], r["skew_symmetric"], r["zero_diagonal"], r["empty_rows"]), (False, True, 3, 1))
        self.write("wide.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 5 2\n1 5\n2 1\n")
        r = self.json("info", "wide.mtx")
        self.assertEqual((r["rows"], r["cols"], r["symmetric"]), (2, 5, False))

    def test_a_played_solve_says_what_each_of_its_kernels_did(self):
        for precision, way in (("f64", "wave=32"), ("f32", "wave=64,order=random,seed=2")):
            r = self.json("solve", "poisson2d:8", "--solver", "cg_tutorial", "--device", "play", "--play", way, "--precision", precision,
                          "--rtol", "1e-4", "-o", "x.mtx")
            steps = r["iterations"]
            self.assertEqual((r["status"], r["device"], r["kernel"], r["precond"]), ("converged", "play", "half_warp", "none"))
            launches = {k["kernel"]: k["launches"] for k in r["kernels"]}
            self.assertEqual(launches["dot"], 1 + 2 * steps)
            self.assertEqual(launches["add"], 3 * steps)
            self.assertGreaterEqual(launches["half_warp"], steps + 2)
            self.assertLess(r["max_error"], 1e-2)
            self.assertEqual([f for k in r["kernels"] for f in k["faults"]], [])
            self.assertTrue((self.folder / "x.mtx").exists())
        usual = self.json("solve", "poisson2d:8", "--solver", "cg_tutorial", "--device", "cpu")
        played = self.json("solve", "poisson2d:8", "--solver", "cg_tutorial", "--device", "play")
        self.assertEqual(usual["iterations"], played["iterations"])

    def test_where_the_bytes_of_a_dense_product_lie(self):
        small = self.json("gemv", "64x64", "--device", "cpu", "--no-ceiling", "--repeat", "1")
        large = self.json("gemv", "10000x5000", "--type", "f32", "--device", "cpu", "--no-ceiling", "--repeat", "1")
        self.assertEqual(small["lies_in"], "L2")
        self.assertIn(large["lies_in"], ("L3", "memory"))

    def test_a_played_dense_product_reads_what_the_format_reads(self):
        for how in ("wave=32", "wave=64,order=descending", "order=random,seed=7"):
            for precision in ("f64", "f32"):
                format = self.json("spmv", "dense:200", "--device", "play", "--format", "dense", "--kernel", "all", "--play", how,
                                   "--precision", precision)["results"]
                for case in ((), ("--op", "t", "--layout", "col")):
                    r = self.json("gemv", "200x200", "--device", "play", "--kernel", "all", "--play", how, "--type", precision, *case)
                    self.assertEqual((r["device"], r["rows"], r["type"]), ("play", 200, precision))
                    self.assertEqual([k["kernel"] for k in r["results"]], ["tiled", "naive"])
                    for mine, theirs in zip(r["results"], format):
                        self.assertTrue(0 <= mine["max_row_error"] <= 1, mine["max_row_error"])
                        self.assertEqual(mine["kernels"], theirs["kernels"])
        sides = [self.json("gemv", shape, "--op", op, "--layout", layout, "--device", "play", "--kernel", "naive")["results"][0]["kernels"]
                 for shape, op, layout in (("300x50", "n", "row"), ("50x300", "t", "col"))]
        self.assertEqual(*sides)  # the same lines of memory
        self.assertEqual(sides[0][0]["arrays"][0]["lanes"], 300 * 50)

    def test_doctor(self):
        r = self.json("doctor")
        self.assertGreater(r["memory"]["total_bytes"], 0)
        self.assertIn(r["processor"]["isa"], ("baseline", "avx2", "avx512"))
        self.assertEqual(r["gpu"]["devices"], [])
        self.assertTrue(all(m["what"] and m["remedy"] for m in r["missing"]))
        done = self.furrow("doctor", env={"FURROW_ISA": "baseline"})
        self.assertIn("FURROW_ISA=baseline", done.stdout)
        self.assertIn("leave it unset", " ".join(self.furrow("doctor", env={"FURROW_ISA": "sse9"}).stdout.split()))


if __name__ == "__main__":
    main()
