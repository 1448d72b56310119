# SPDX-License-Identifier: BSD-3-Clause
"""Every matrix of a folder: each with the verdict and the bits of a solve by itself."""
import bz2
import gzip
import json
import os
import shutil
import signal
import subprocess
import time

from kit import ENVIRONMENT, FURROW, Case, main

SYSTEMS = {"body": "elasticity3d:4", "flow": "convection2d:20:10", "grid": "poisson2d:30"}


class Batch(Case):
    def setUp(self):
        super().setUp()
        for folder in ("systems", "answers"):
            (self.folder / folder).mkdir()
        for name, spec in SYSTEMS.items():
            self.furrow("generate", spec, "-o", f"systems/{name}.mtx")

    def batch(self, *words, code=0):
        return json.loads(self.furrow("solve", "--batch", "systems", "--json", *words, code=code).stdout)

    def test_each_is_solved_as_by_itself(self):
        for threads in ("1", "2"):
            said = self.batch("-o", "answers", "--threads", threads)
            self.assertEqual([s["matrix"] for s in said["systems"]], sorted(SYSTEMS))
            self.assertEqual(said["solved"], 3)
            for one in said["systems"]:
                self.assertEqual(one["way"], "by one thread, beside others")
                alone = json.loads(self.furrow("solve", one["file"], "--json", "-o", "x.mtx").stdout)
                for key in ("status", "message", "iterations", "relative_residual", "relative_error", "solver", "precond", "rows", "nnz",
                            "condition_estimate", "error_estimate", "warning"):
                    self.assertEqual(one[key], alone[key], f"{one['matrix']}: {key}")
                self.assertEqual((self.folder / "answers" / f"{one['matrix']}_x.mtx").read_bytes(), (self.folder / "x.mtx").read_bytes())

    def test_each_is_doubted_as_by_itself(self):
        rows = range(8)  # Hilbert's matrix, whose condition number is 1.5e10
        entries = [f"{i + 1} {j + 1} {1 / (i + j + 1)!r}" for i in rows for j in rows]
        self.write("systems/hilbert.mtx", "\n".join(["%%MatrixMarket matrix coordinate real general", "8 8 64", *entries]) + "\n")
        b = [sum((-1) ** (j + 1) / (i + j + 1) for j in rows) for i in rows]
        self.write("systems/hilbert_b.txt", "".join(f"{v!r}\n" for v in b))
        said = {s["matrix"]: s for s in self.batch("-o", "answers")["systems"]}
        x = [float(v) for v in (self.folder / "answers/hilbert_x.mtx").read_text().split("\n")[2:] if v]
        error = max(abs(v - (-1) ** (j + 1)) for j, v in enumerate(x)) / max(abs(v) for v in x)
        self.assertGreater(error, 0.1)
        self.assertGreater(said["hilbert"]["error_estimate"], error / 3)
        self.assertGreater(said["hilbert"]["condition_estimate"], 1e9)
        self.assertIn("x may be off by", said["hilbert"]["warning"])
        self.assertEqual(said["grid"]["warning"], "")
        self.assertLess(said["grid"]["error_estimate"], 1e-5)
        shown = self.furrow("solve", "--batch", "systems").stdout
        self.assertRegex(shown, r"\n  hilbert .* error \d\.\de[-+]\d\d ")
        self.assertIn("x may be off by", shown)

    def test_right_hand_sides_lie_beside_their_matrices(self):
        self.write("systems/flow_b.txt", "2\n" * 400)
        self.write("systems/lonely_b.mtx", "%%MatrixMarket matrix array real general\n1 1\n2\n")  # of no matrix: it is one
        said = {s["matrix"]: s for s in self.batch()["systems"]}
        self.assertEqual(sorted(said), ["body", "flow", "grid", "lonely_b"])
        self.assertEqual(said["flow"]["rhs"], "systems/flow_b.txt")
        self.assertIsNone(said["flow"]["relative_error"])
        self.assertEqual(said["grid"]["rhs"], "ones")

    def test_what_fails_is_said_and_the_others_are_solved(self):
        self.write("systems/broken.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 5\n")
        self.write("systems/grid_b.txt", "1\n2\n")
        said = {s["matrix"]: s for s in self.batch(code=3)["systems"]}
        self.assertEqual(said["broken"]["status"], "refused")
        self.assertIn("systems/broken.mtx:3: ", said["broken"]["message"])
        self.assertEqual(said["grid"]["status"], "refused")
        self.assertIn("systems/grid_b.txt", said["grid"]["message"])
        self.assertEqual({said[name]["status"] for name in ("body", "flow")}, {"converged"})
        done = self.furrow("solve", "--batch", "systems", code=3)
        self.assertIn("  broken            refused: systems/broken.mtx:3: ", done.stdout)
        self.assertIn("\n2 of 4 solved, ", done.stdout)

    def test_a_system_that_stops_short_is_the_exit_code(self):
        said = self.batch("--solver", "gmres", "--max-iterations", "2", code=1)
        self.assertEqual({s["status"] for s in said["systems"]}, {"max_iterations"})

    def test_what_belongs_to_one_system_is_refused(self):
        self.write("b.txt", "1\n")
        for words, code, what in ((["-b", "b.txt"], 2, "leave -b out"), (["--plot", "p.svg"], 2, "leave --plot out"),
                                  (["--ranks", "2"], 2, "leave --ranks out"), (["--explain"], 2, "leave --explain out"),
                                  (["--trace", "s.svg"], 2, "leave --trace out"), (["--play", "seed=1"], 2, "leave --play out"),
                                  (["--checkpoint", "c"], 2, "leave --checkpoint out"),
                                  (["--device", "play"], 2, "leave --device play out"),
                                  (["poisson2d:5"], 2, "name a folder or a matrix, not both"),
                                  (["-o", "nowhere"], 3, "nowhere: is no folder"),
                                  (["--solver", "cgg"], 2, "did you mean 'cg'?")):
            self.assertIn(what, self.furrow("solve", "--batch", "systems", *words, code=code).stderr)
        self.assertIn("b.txt: is no folder", self.furrow("solve", "--batch", "b.txt", code=3).stderr)
        self.assertIn("answers: holds no matrix", self.furrow("solve", "--batch", "answers", code=3).stderr)
        self.assertIn("FILE is missing", self.furrow("solve", code=2).stderr)

    def test_two_of_the_same_name_are_refused_alone(self):
        for name in ("grid_b.npy", "grid_b.txt", "flow.petsc"):
            self.write("systems/" + name, "")
        said = {s["matrix"]: (s["status"], s["message"]) for s in self.batch(code=3)["systems"]}
        self.assertEqual(said["body"][0], "converged")
        self.assertRegex(said["grid"][1], "grid_b.npy and .*grid_b.txt have the same name: leave one of them in systems")
        self.assertRegex(said["flow"][1], "flow.mtx and .*flow.petsc have the same name")

    def test_what_an_editor_left_is_no_second_right_hand_side(self):
        self.write("systems/flow_b.txt", "2\n" * 400)
        for ending in ("txt~", "bak", "txt.bak", "txt.swp"):
            self.write("systems/flow_b." + ending, "3\n")
        said = {s["matrix"]: s for s in self.batch()["systems"]}
        self.assertEqual(said["flow"]["rhs"], "systems/flow_b.txt")

    def test_whatever_is_named_as_a_part_of_a_system_is_read(self):
        for name, ending in (("flow", "csv.gz"), ("grid", "dat"), ("body", "txt.bz2")):
            rows = self.batch("--max-iterations", "1", code=1)["systems"][sorted(SYSTEMS).index(name)]["rows"]
            text = ("2\n" * rows).encode()
            packed = {"gz": gzip.compress, "bz2": bz2.compress}.get(ending.split(".")[-1], bytes)(text)
            (self.folder / f"systems/{name}_b.{ending}").write_bytes(packed)
        said = {s["matrix"]: s for s in self.batch()["systems"]}
        self.assertEqual({name: s["rhs"] for name, s in said.items()},
                         {"flow": "systems/flow_b.csv.gz", "grid": "systems/grid_b.dat", "body": "systems/body_b.txt.bz2"})
        (self.folder / "systems/grid_b.dat").unlink()
        (self.folder / "systems/grid_b.txt").symlink_to("nothing.txt")
        (self.folder / "systems/gone.mtx").symlink_to("nothing.mtx")
        os.mkfifo(self.folder / "systems/pipe.mtx")
        self.furrow("convert", "poisson2d:5", "p.petsc")
        (self.folder / "systems/p.petsc.gz").write_bytes(gzip.compress((self.folder / "p.petsc").read_bytes()))
        (self.folder / "systems/flow_b").mkdir()
        said = {s["matrix"]: s for s in self.batch(code=3)["systems"]}
        self.assertEqual({name: s["status"] for name, s in said.items()},
                         {"body": "converged", "flow": "converged", "p": "converged", "gone": "refused", "grid": "refused", "pipe": "refused"})
        self.assertRegex(said["gone"]["message"], "systems/gone.mtx: ")
        self.assertRegex(said["grid"]["message"], "systems/grid_b.txt: ")

    def test_no_answer_replaces_what_is_read(self):
        (self.folder / "answers/flow_x.mtx").symlink_to("../systems/grid.mtx")
        before = (self.folder / "systems/grid.mtx").read_bytes()
        self.assertIn("systems/grid.mtx and answers/flow_x.mtx are the same file",
                      self.furrow("solve", "--batch", "systems", "-o", "answers", code=2).stderr)
        self.assertEqual((self.folder / "systems/grid.mtx").read_bytes(), before)
        (self.folder / "answers/flow_x.mtx").unlink()
        (self.folder / "answers/flow_x.mtx").symlink_to("body_x.mtx")
        self.assertIn("are the same file", self.furrow("solve", "--batch", "systems", "-o", "answers", code=2).stderr)

    def test_the_sentence_of_what_was_not_solved(self):
        self.write("systems/nan.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 nan\n2 2 1\n")
        self.write("systems/ring.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 4\n1 1 1\n1 2 -1\n2 1 -1\n2 2 1\n")
        done = self.furrow("solve", "--batch", "systems", "--max-iterations", "2", "--solver", "bicgstab", code=1)
        self.assertEqual(done.stdout.count("\n  ended "), 4, done.stdout)
        self.assertIn("ring: A * ones is zero", done.stderr)
        said = {s["matrix"]: s for s in self.batch(code=1)["systems"]}
        self.assertEqual(said["ring"]["rhs"], "random")
        alone = json.loads(self.furrow("solve", "systems/nan.mtx", "--json", code=1).stdout)
        for key in ("status", "relative_error", "solver", "precond"):
            self.assertEqual(said["nan"][key], alone[key], key)

    def test_ctrl_c_prints_what_there_is(self):
        self.furrow("generate", "poisson2d:1000", "-o", "systems/long.furrow")
        shutil.copy(self.folder / "systems/long.furrow", self.folder / "systems/longer.furrow")
        process = subprocess.Popen([FURROW, "solve", "--batch", "systems", "--solver", "cg", "--precond", "none", "--rtol", "1e-15",
                                    "--max-iterations", "100000000", "--json", "-o", "answers"], cwd=self.folder, env=ENVIRONMENT,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(2)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        said = {s["matrix"]: s["status"] for s in json.loads(out)["systems"]}
        self.assertEqual((said["long"], said["longer"]), ("interrupted", "interrupted"))
        self.assertEqual([f.name for f in (self.folder / "answers").glob("long*")], ["long_x.mtx"])  # the other never began

    def test_ctrl_c_loses_nothing_while_a_file_is_read(self):
        self.furrow("generate", "poisson3d:70", "-o", "long.mtx")
        (self.folder / "systems/long.mtx.bz2").write_bytes(bz2.compress((self.folder / "long.mtx").read_bytes(), 1))
        process = subprocess.Popen([FURROW, "solve", "--batch", "systems", "--solver", "cg", "--precond", "none", "--rtol", "1e-15",
                                    "--max-iterations", "100000000", "--json"], cwd=self.folder, env=ENVIRONMENT,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(0.2)
        for what, seconds in ((signal.SIGINT, 0.05), (signal.SIGSTOP, 1), (signal.SIGCONT, 0)):  # nobody asks for a second
            process.send_signal(what)
            time.sleep(seconds)
        out, _ = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        said = {s["matrix"]: s["status"] for s in json.loads(out)["systems"]}
        self.assertEqual((len(said), said["long"]), (4, "interrupted"))


if __name__ == "__main__":
    main()
