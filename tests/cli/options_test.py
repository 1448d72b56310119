# SPDX-License-Identifier: BSD-3-Clause
"""Options as people write them: numbers that are none, near misses, the end of options, help wherever it is asked for."""
import json
import pathlib
import re
import subprocess

from kit import ENVIRONMENT, FURROW, Case, main

ROOT = pathlib.Path(__file__).resolve().parents[2]
MATRIX = "poisson2d:4"


def commands(text):
    """The subcommands that a help lists."""
    part = re.search(r"\nSubcommands:\n((?:  .*\n?)*)", text)
    return re.findall(r"(?m)^  (\S+)", part.group(1)) if part else []


class Options(Case):
    def helps(self):
        """(words, help) of the root and of every subcommand, those of subcommands too."""
        found, open_ends = [], [()]
        while open_ends:
            words = open_ends.pop()
            text = self.furrow(*words, "-h").stdout
            found.append((words, text))
            open_ends += [(*words, name) for name in commands(text)]
        return found

    def complaint(self, *words, code=2, env=None):
        done = self.furrow(*words, code=code, env=env)
        lines = [line for line in done.stderr.splitlines() if not line.startswith("furrow: memory: ")]
        self.assertEqual(len(lines), 1, done.stderr)
        return lines[0].removeprefix("furrow: ")

    def test_every_number_refuses_what_is_none_and_says_so_shortly(self):
        numbers = 0
        for words, text in self.helps():
            for names, kind in re.findall(r"(?m)^  (-\S+) ([NRS]|N,\.\.\.) ", text):
                name = names.split(",")[-1]
                numbers += 1
                for value in ("nan", "inf", "-inf", "x", "1x", "1e999", ""):
                    said = self.complaint(*words, f"{name}={value}" if value else name, *([""] if not value else []))
                    self.assertTrue(said.startswith(name), said)
                    self.assertLess(len(said), 120)
                if kind.startswith("N") and name != "--applies":
                    self.assertIn("'1.5' is not a whole number", self.complaint(*words, f"{name}=1.5"))
        self.assertGreater(numbers, 20)

    def test_limits_are_said_as_a_person_would(self):
        for words, says in (
            (("solve", MATRIX, "--max-iterations", "-1"), "--max-iterations: must be at least 1, not -1; see 'furrow solve -h'"),
            (("solve", MATRIX, "--max-iterations", "0"), "must be at least 1, not 0"),
            (("spmv", MATRIX, "--applies", "0"), "--applies: must be at least 1, not 0"),
            (("spmv", MATRIX, "--repeat", "1000001"), "must be at most 1000000, not 1000001"),
            (("gemv", "4x4", "--rhs", "9"), "must be at most 8, not 9"),
            (("solve", MATRIX, "--threads", "99999999999999999999"), "must be at most 65536"),
            (("solve", MATRIX, "--rtol", "1"), "--rtol: must be below 1, not 1"),
            (("solve", MATRIX, "--rtol", "2"), "--rtol: must be below 1, not 2"),
            (("solve", MATRIX, "--rtol", "1,5"), "--rtol: '1,5' is not a number"),
            (("solve", MATRIX, "--atol", "-1e-9"), "--atol: must be at least 0"),
            (("cheb", "fit", "x", "--tolerance", "0"), "--tolerance: must be at least 2.220446049250313e-16, not 0"),
            (("cheb", "fit", "x", "--tolerance", "1e-30"), "must be at least 2.220446049250313e-16, not 1e-30"),
            (("solve", MATRIX, "--rtol"), "--rtol needs a value"),
            (("solve", MATRIX, "--rtol", "1e-3", "--rtol", "1e-4"), "--rtol is given twice"),
            (("solve", MATRIX, "-o", ""), "--output: is empty"),
        ):
            self.assertIn(says, self.complaint(*words))
        self.furrow("solve", MATRIX, "--max-iterations", "1e3", "--threads", "+1", "--device", "cpu")

    def test_a_number_has_one_sign(self):
        self.write("s.txt", "1\n2\n")
        for name in ("--alpha", "--repeat"):
            self.assertRegex(self.complaint("spmv", MATRIX, f"{name}=+-5"), f"{name}: '\\+-5' is not a (whole )?number")
        self.assertIn("'+-5' is not a finite number", self.complaint("cheb", "eval", "s.txt", "--at", "+-5"))
        self.assertEqual(self.furrow("cheb", "eval", "s.txt", "--at", "+0.5,-1", "--on", "-1,+1").stdout, "0.5 2\n-1 -1\n")

    def test_what_would_have_no_effect_is_refused(self):
        self.write("s.txt", "1\n2\n3\n")
        (self.folder / "systems").mkdir()
        play = ("--device", "play")
        cg = ("solve", MATRIX, "--solver", "cg_tutorial", *play)
        named = ("--format", "csr", "--kernel", "rows")
        for words, says in (
            (("solve", MATRIX, "--tune", *named), "--tune helps to choose, and --format and --kernel leave nothing to choose: leave --tune out"),
            (("spmv", MATRIX, "--applies", "3", *named), "--applies helps to choose, and --format and --kernel leave nothing"),
            (("spmv", MATRIX, "--tune", "--format", "all"), "--tune helps to choose, and --format all takes every format: leave --tune out"),
            (("solve", "--batch", "systems", "--every", "5"), "--batch solves every matrix of a folder: leave --every out"),
            ((*cg, "--explain"), "the tutorial's method is chosen by its name: leave --explain out"),
            ((*cg, "--assume-symmetric"), "the tutorial's method asks for symmetry: leave --assume-symmetric out"),
            ((*cg, "--applies", "3"), "leave --applies out"),
            (("spmv", MATRIX, *play, "--applies", "3"), "leave --applies out"),
            (("spmv", MATRIX, *play, "--play", "wave=32,wave=64"), "--play: wave is given twice: give it once"),
            (("spmv", MATRIX, *play, "--play", "seed=3"), "--play: seed is of a random order: add order=random, or leave seed out"),
            (("cheb", "multiply", "s.txt", "s.txt", "--algorithm", "fft", "--accuracy", "componentwise"),
             "--accuracy componentwise: the FFT is accurate beside the largest coefficient alone"),
            (("cheb", "multiply", "s.txt", "s.txt", *play, "--accuracy", "normwise"),
             "--device play plays classic kernels, which are accurate componentwise: leave --accuracy normwise out"),
            (("solve", MATRIX, "--explain", "--solver", "cg"), "--explain says what auto found, and --solver cg is named: leave one of the two out"),
            (("solve", MATRIX, "--explain", "--json"), "--explain writes lines for a person: leave it out beside --json"),
            (("spmv", MATRIX, "--precision", "f32", "--alpha", "1e-100"), "--alpha: 1e-100 is too small for f32, in which it is 0"),
            (("info", MATRIX, "--json", "--ascii"), "--json draws nothing: leave --ascii out"),
            (("info", MATRIX, "--json", "--no-picture"), "--json draws nothing: leave --no-picture out"),
            (("bench", "spmv", MATRIX, "--repeat", "3", "--seconds", "0.1"), "--seconds and --repeat exclude each other: leave one of the two out"),
            (("bench", "gemv", "8x8", "--seconds", "0.1", "--repeat", "3"), "--seconds and --repeat exclude each other"),
            (("spmv", MATRIX, *play, "--no-ceiling"), "a kernel that is played has no speed: leave --no-ceiling out"),
            (("spmv", MATRIX, *play, "--check"), "every row is compared with a reference anyway: leave --check out"),
            (("gemv", "4x4", *play, "--no-ceiling"), "leave --no-ceiling out"),
            (("gemv", "4x4", *play, "--check"), "leave --check out"),
            (("bench", "gemv", "8x8", "--turns", "3", "--no-rivals"), "--turns takes turns with other libraries, and --no-rivals leaves them out"),
            ((*cg, "--threads", "2"), "a kernel is played by one thread, one lane after the other: leave --threads out"),
            (("spmv", MATRIX, *play, "--threads", "2"), "leave --threads out"),
            (("gemv", "4x4", *play, "--threads", "2"), "leave --threads out"),
            (("solve", MATRIX, "--solver", "auto:3"), "solver 'auto:3': auto takes no parameters"),
            (("solve", MATRIX, "--precond", "local:jacobi"), "--precond local:jacobi is made of the block of each rank: say --ranks"),
        ):
            self.assertIn(says, self.complaint(*words))

    def test_a_flag_takes_no_value(self):
        for value in ("-", "false", "true", "0", "5", "out.json"):
            self.assertIn("--json takes no value: give it alone, or leave it out", self.complaint("solve", MATRIX, f"--json={value}"))
        self.assertIn("--no-ceiling takes no value", self.complaint("spmv", MATRIX, "--no-ceiling=no"))
        for words in (("info", MATRIX, "--json="), ("solve", "--rtol=", "1e-3", MATRIX)):
            self.assertIn("=: nothing stands behind the '=': write the value there, or leave the '=' out", self.complaint(*words))

    def test_items_of_lists_are_not_empty(self):
        for words, option in ((("cheb", "bench"), "--sizes"), (("bench", "spmv", MATRIX), "--format"), (("bench", "gemv"), "--type"),
                              (("bench", "gemv"), "--layout"), (("bench", "gemv"), "--op"), (("bench", "paper"), "--only"),
                              (("spmv", MATRIX, "--device", "play"), "--play")):
            for items in ("n,", ",n", ",", "n,,n"):
                self.assertIn(f"{option}: '{items}' has an empty item: leave the comma beside it out", self.complaint(*words, option, items))

    def test_a_folder_of_results_is_not_standard_output(self):
        for words in (("cheb", "density", MATRIX), ("bench", "spmv", MATRIX, "--no-ceiling"), ("bench", "gemv", "4x4", "--no-ceiling"), ("bench", "cg", MATRIX, "--no-ceiling")):
            self.assertIn("'-' is standard output, and the results are several files: name a folder", self.complaint(*words, "-o", "-"))
        self.assertFalse((self.folder / "-").exists())

    def test_near_misses_get_a_hint(self):
        self.write("matrix.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2\n")
        for words, guess in (
            (("solve", MATRIX, "--maxiter", "5"), "--max-iterations"),
            (("solve", MATRIX, "--max_iterations", "5"), "--max-iterations"),
            (("solve", MATRIX, "--max-iters=5"), "--max-iterations"),
            (("solve", MATRIX, "--tol", "1e-5"), "--rtol"),
            (("solve", MATRIX, "--preconditioner", "none"), "--precond"),
            (("solve", MATRIX, "--nthreads", "1"), "--threads"),
            (("spmv", MATRIX, "--format", "ellpack"), "ell"),
            (("spmv", MATRIX, "--format", "CSR"), "csr"),
            (("spmv", MATRIX, "--kernel", "stagd"), "staged"),
            (("solve", MATRIX, "--precond", "jacobbi"), "jacobi"),
            (("solve", MATRIX, "--solver", "pcg"), "cg"),
            (("solve", "posson2d:5"), "poisson2d"),
            (("solve", MATRIX, "--device", "gpu0"), "gpu"),
            (("sovle", MATRIX), "solve"),
            (("cheb", "root"), "roots"),
            (("help", "infos"), "info"),
            (("completion", "bsh"), "bash"),
        ):
            self.assertIn(f"did you mean '{guess}'?", self.complaint(*words))
        self.assertIn("did you mean 'poisson2d:...'?", self.complaint("info", "posson2d", code=3))
        self.assertIn("did you mean 'matrix.mtx'?", self.complaint("info", "martix.mtx", code=3))
        self.write("series.txt", "1\n")
        for words in (("cheb", "roots", "serie.txt"), ("cheb", "multiply", "series.txt", "serie.txt"), ("cheb", "eval", "serie.txt", "--at", "0"),
                      ("cheb", "eval", "series.txt", "--points", "serie.txt")):
            self.assertRegex(self.complaint(*words, code=3), "^serie.txt: there is no such file for (a series|--points); did you mean 'series.txt'\\?$")
        for words in (("spmv", "martix.mtx", "--no-rivals", "--no-ceiling"), ("cg", "martix.mtx", "--no-ceiling")):
            self.assertIn("martix.mtx: there is no such file; did you mean 'matrix.mtx'?", self.furrow("bench", *words, code=3).stderr)
        for name in ("a.mtx", "long_name.mtx.gz", "long_name.txt"):
            self.write(name, "")
        for name, guess in (("b.mtx", None), ("xyz.mtx", None), ("longname.mtx.gz", "long_name.mtx.gz"), ("long_nmae.txt", "long_name.txt")):
            said = self.complaint("info", name, code=3)
            self.assertTrue(said.endswith(f"; did you mean '{guess}'?" if guess else "there is no such file"), said)
        self.assertIn("for -b; did you mean 'matrix.mtx'?", self.complaint("solve", MATRIX, "-b", "matrix.mt", code=3))
        self.assertNotIn("did you mean", self.complaint("solve", MATRIX, "--zzz"))

    def test_two_hyphens_end_the_options(self):
        self.write("-p.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2\n")
        self.write("p.mtx", (self.folder / "-p.mtx").read_text())
        for words in (("info", "--", "p.mtx"), ("info", "--", "-p.mtx"), ("--", "info", "p.mtx"), ("info", "p.mtx", "--"),
                      ("info", "--json", "--", "-p.mtx"), ("bench", "spmv", "--repeat", "1", "p.mtx", "--", "p.mtx"),
                      ("cheb", "--", "fit", "--", "-x")):
            self.furrow(*words)
        for words, says in ((("info", "--", "p.mtx", "q.mtx"), "'q.mtx' is one argument too many"),
                            (("info", "--", "p.mtx", "--json"), "'--json' is one argument too many"),
                            (("generate", "--", "poisson1d:3"), "--output is missing"),
                            (("info", "--"), "FILE is missing")):
            self.assertIn(says, self.complaint(*words))

    def test_every_subcommand_shows_examples_of_its_own(self):
        for words, text in self.helps():
            examples = re.search(r"\nExamples:\n((?:  .*\n)+)", text)
            self.assertTrue(examples, words)
            for line in examples.group(1).splitlines():
                self.assertIn(" ".join(("furrow", *words)), line)
            self.assertNotIn("{", text)
            self.assertNotRegex(text, r"\d{20}")

    def test_help_and_version_are_subcommands_too(self):
        self.assertEqual(self.furrow("version").stdout, self.furrow("--version").stdout)
        for words, text in self.helps():
            self.assertEqual(self.furrow("help", *words).stdout, text)
        self.assertIn("has no subcommand 'x'", self.complaint("help", "solve", "x"))

    def test_the_environment_is_listed_in_one_place(self):
        text = self.furrow("help", "environment").stdout
        listed = set(re.findall(r"(?m)^  ([A-Z_]+) ", text))
        for file in (f for folder in ("src", "apps", "bench", "tests") for f in (ROOT / folder).rglob("*")):
            if file.suffix in (".cpp", ".hpp", ".cu"):
                asked = re.findall(r'(?:getenv|environment|loaded_library \w+)\("(FURROW_\w+)"', file.read_text())
                self.assertLessEqual(set(asked), listed, file)
        page = (ROOT / "docs" / "command-line.md").read_text()
        self.assertEqual(listed - set(re.findall(r"(?m)^\| `([A-Z_]+)`", page)), set())

    def test_a_bad_value_in_the_environment_is_named(self):
        for name, value, words in (("FURROW_ISA", "avx3", ("solve", MATRIX)), ("FURROW_FORMAT", "ellpack", ("solve", MATRIX)),
                                   ("FURROW_FORMAT", "sell:x", ("spmv", MATRIX)), ("FURROW_KERNEL", "zz", ("spmv", MATRIX))):
            self.assertTrue(self.complaint(*words, "--device", "cpu", env={name: value}).startswith(f"{name}={value}: "))
        for name, value in (("FURROW_GRAPHS", "maybe"), ("FURROW_FORMAT", "nonsense"), ("FURROW_KERNEL", "zz"), ("OMPI_COMM_WORLD_SIZE", "abc"), ("PMI_SIZE", "-3"), ("PMI_RANK", "x"), ("FURROW_ISA", "avx3")):
            for words in (("solve", MATRIX), ("generate", "poisson1d:5", "-o", "-"), ("cheb", "fit", "x")):
                self.assertTrue(self.complaint(*words, env={name: value}).startswith(f"{name}={value}: "))
            self.assertIn(f"a value of {name} that makes sense", re.sub(r"\s+", " ", self.furrow("doctor", env={name: value}).stdout))
            self.furrow("help", "environment", env={name: value})
        self.assertIn("no such file", self.furrow("solve", "absent.mtx", code=3, env={"PMI_RANK": "9"}).stderr) # alone, no rank of MPI
        done = self.furrow("spmv", "powerlaw:2000:9:2.5", "--tune", "--device", "cpu", "--repeat", "1", env={"FURROW_CACHE": "/dev/null/x"})
        self.assertIn("not remembered: FURROW_CACHE=/dev/null/x: ", done.stdout)
        done = self.furrow("doctor", env={"FURROW_FORMT": "csr"})
        self.assertIn("FURROW_FORMT is no variable of Furrow; FURROW_FORMAT is.", re.sub(r"\s+", " ", done.stdout))

    def test_errors_are_objects_too_where_json_is_asked_for(self):
        for code, words in ((2, ("slove",)), (2, ("solve",)), (2, ("solve", MATRIX, "--rtol", "2")), (3, ("info", "no.mtx")),
                            (3, ("solve", MATRIX, "-o", "no/x.mtx")), (4, ("solve", MATRIX, "--device", "gpu"))):
            done = self.furrow(*words, "--json", code=code)
            self.assertEqual(done.stdout.count("\n"), 1)
            said = json.loads(done.stdout)
            self.assertEqual((said["status"], said["exit_code"]), ("error", code))
            self.assertIn(f"furrow: {said['message']}\n", done.stderr)
        self.assertEqual(self.furrow("solve", MATRIX, "--rtol", "2", code=2).stdout, "")

    def test_a_full_disk_is_noticed_by_help_too(self):
        for words in (("--version",), ("--help",), ("version",), ("help",), ("solve", "-h"), ("help", "environment")):
            with open("/dev/full", "w") as full:
                done = subprocess.run([FURROW, *words], stdout=full, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)
            self.assertEqual(done.returncode, 3, words)


if __name__ == "__main__":
    main()
