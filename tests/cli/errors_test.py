# SPDX-License-Identifier: BSD-3-Clause
"""Exit codes, and one line on stderr that says what is wrong and what would do."""
import json
import subprocess

from kit import ENVIRONMENT, FURROW, Case, main


class Errors(Case):
    def says(self, code, pattern, *words):
        done = self.furrow(*words, code=code)
        complaints = [line for line in done.stderr.splitlines() if not line.startswith("furrow: memory: ")]
        self.assertEqual(len(complaints), 1, done.stderr)
        self.assertTrue(complaints[0].startswith("furrow: "), complaints[0])
        self.assertRegex(complaints[0], pattern)
        self.assertEqual(done.stdout, "")

    def test_usage(self):
        self.says(2, "no subcommand 'slove': did you mean 'solve'", "slove", "poisson1d:3")
        self.says(2, "no option '--sovler': did you mean '--solver'\\? see 'furrow solve -h'", "solve", "--sovler", "cg",
                  "poisson1d:3")
        self.says(2, "no option '--fomat=csr': did you mean '--format'", "spmv", "poisson1d:3", "--fomat=csr")
        self.says(2, "no option '--vrsion': did you mean '--version'", "--vrsion")
        self.says(2, "FILE is missing; see 'furrow solve -h'", "solve")
        self.says(2, "'more' is one argument too many", "info", "poisson1d:3", "more")
        self.says(2, "no format 'scr': did you mean 'csr'.*auto, .*coo", "solve", "poisson1d:3", "--format", "scr")
        self.says(2, "no format 'zzzzzz': choose one of", "spmv", "poisson1d:3", "--format", "zzzzzz")
        self.says(2, "no solver 'gc'", "solve", "poisson1d:3", "--solver", "gc")
        self.says(2, "no preconditioner 'jacoby': did you mean 'jacobi'", "solve", "poisson1d:3", "--precond", "jacoby")
        self.says(2, "no kernel 'fast'", "spmv", "poisson1d:3", "--kernel", "fast")
        self.says(2, "no precision 'f16'", "spmv", "poisson1d:3", "--precision", "f16")
        self.says(2, "no device 'tpu'", "solve", "poisson1d:3", "--device", "tpu")
        self.says(2, "--rtol: 'abc' is not a number", "solve", "poisson1d:3", "--rtol", "abc")
        self.says(2, "--rtol: must be at least 0, not -1", "solve", "poisson1d:3", "--rtol", "-1")
        self.says(2, "--threads", "solve", "poisson1d:3", "--threads", "0")
        self.says(2, "--max-iterations", "solve", "poisson1d:3", "--max-iterations", "-5")
        self.says(2, "no shell 'fihs': did you mean 'fish'", "completion", "fihs")
        self.says(2, "no shell 'tcsh': choose one of bash, zsh, fish$", "completion", "tcsh")
        self.says(2, "no device 'cuda': choose one of auto, cpu, gpu, gpu:N, gpu:all, play$", "solve", "poisson1d:3", "--device", "cuda")
        self.says(2, "no device 'cuda': choose one of auto, cpu, gpu, gpu:N, play$", "spmv", "poisson1d:3", "--device", "cuda")
        self.says(2, "no kernel 'foo': choose one of auto, rows, [a-z_, ]*vector", "solve", "poisson1d:3", "--format", "csr", "--kernel", "foo")
        self.assertNotIn("segmented", self.furrow("solve", "poisson1d:3", "--format", "csr", "--kernel", "foo", code=2).stderr)
        self.says(2, "the seed 12345678901234567890123 is not below 2\\^64", "info", "random:10:2:12345678901234567890123")

    def test_a_kernel_of_gpus_says_where_it_runs(self):
        cpu = ("poisson1d:3", "--device", "cpu", "--kernel")
        plays = "--kernel {}: runs on a GPU alone, and this runs on the CPU: give --device gpu, or --device play, which plays it on the CPU$"
        for words in (("spmv", *cpu, "vector:lanes=4"), ("spmv", *cpu, "half_warp", "--format", "csr"), ("spmv", *cpu, "tiled", "--format", "all"),
                      ("solve", *cpu, "half_warp", "--solver", "cg_tutorial"), ("gemv", "3x3", "--device", "cpu", "--kernel", "naive:block=64")):
            self.says(2, plays.format(words[words.index("--kernel") + 1]), *words)
        for words in (("spmv", *cpu, "stream"), ("solve", *cpu, "half_warp"), ("gemv", "3x3", "--device", "cpu", "--kernel", "lines")):
            self.says(2, "runs on a GPU alone, and this runs on the CPU: give --device gpu$", *words)
        self.furrow("spmv", *cpu, "scalar")  # both have it

    def test_names_in_other_alphabets(self):
        self.write("ünï ćode 日本.mtx", "")
        self.says(3, "furrow: nope.mtx: there is no such file$", "info", "nope.mtx")
        self.says(3, "did you mean 'ünï ćode 日本.mtx'", "info", "ünï ćode 日木.mtx")

    def test_folders_for_results(self):
        for words in (("cheb", "density", "poisson2d:4"), ("bench", "cg", "poisson2d:5", "--turns", "1")):
            self.says(3, "a/b: cannot be made: the folder that it is to be in does not exist", *words, "-o", "a/b")
            self.says(3, "a/b/: cannot be made: the folder that it is to be in does not exist", *words, "-o", "a/b/")
        self.assertEqual(list(self.folder.iterdir()), [])
        self.furrow("cheb", "density", "poisson2d:4", "--moments", "4", "--vectors", "1", "-o", "a/")
        self.assertEqual(len(list((self.folder / "a").iterdir())), 2)

    def test_play(self):
        play = ("spmv", "poisson1d:3", "--device", "play")
        self.says(2, "kernel stream of format csr is not a classic one.*csr \\(vector, scalar, warp_per_row, half_warp, naive\\)",
                  *play, "--kernel", "stream")
        self.says(2, "format sell has no classic kernel to play: choose one of coo \\(segmented\\)", *play, "--format", "sell")
        self.says(2, "a wave has 32 or 64 lanes, not '48'", *play, "--play", "wave=48")
        self.says(2, "no setting of --play 'sed': did you mean 'seed'", *play, "--play", "order=random,sed=3")
        self.says(2, "no order of warps 'up'", *play, "--play", "order=up")
        self.says(2, "--play: seed is a whole number, not 'x'", *play, "--play", "seed=x")
        self.says(2, "kernel 'vector:lanes=3': lanes=3 is no power of two from 2 to 64: give one of these",
                  *play, "--kernel", "vector:lanes=3")
        self.says(2, "kernel 'vector:lanes=64': a row has at most the 32 lanes of a warp", *play, "--kernel", "vector:lanes=64")
        self.says(2, "the 64 lanes of a row do not fit into a block of 32", *play, "--kernel", "vector:lanes=64,block=32",
                  "--play", "wave=64")
        self.says(2, "kernel 'naive:lanes=2': it has no use for 'lanes=2': give naive\\[:block=B\\]", *play, "--kernel", "naive:lanes=2")
        self.says(2, "no kernel 'vectr'.* did you mean 'vector'", *play, "--kernel", "vectr:lanes=2")
        self.says(2, "has 1,084,752 entries, and kernels of a sweep are played for up to 666,666", "spmv", "poisson3d:54", "--device", "play", "--sweep")
        self.says(2, "--repeat times products, and a kernel that is played has no speed", *play, "--repeat", "3")
        self.says(2, "--alpha 0 multiplies nothing", *play, "--alpha", "0")
        self.says(2, "--trace is for kernels that are played: add --device play", "spmv", "poisson1d:3", "--trace", "a.svg")
        self.says(2, "a.png: a picture is written as .svg", *play, "--trace", "a.png")
        self.says(2, "has 70,263,936 entries, and a kernel is played for up to 20,000,000", "spmv", "poisson3d:216", "--device", "play")
        self.says(2, "no device 'play'", "bench", "spmv", "poisson1d:3", "--device", "play")

    def test_numbers_that_leave_the_range(self):
        """Entries that are finite, and whose sums are not."""
        self.write("huge.mtx", "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 1e308\n2 1 1e308\n")
        for words in ((), ("--device", "play", "--solver", "cg_tutorial")):
            self.says(3, "huge: A \\* ones is beyond the range of f64 in row 1: name a right-hand side by -b", "solve", "huge.mtx", *words)
        done = self.furrow("spmv", "huge.mtx", "--check", "--no-ceiling", "--device", "cpu", "-o", "y.txt")
        self.assertIn("1 of 2 rows may leave the range of f64: they are not checked", done.stderr)
        self.write("s.txt", "1\n2\n3\n")
        self.write("points.txt", "0\nnan\n")
        self.says(3, "points.txt: point 2 is nan: only finite points have values", "cheb", "eval", "s.txt", "--points", "points.txt")
        done = self.furrow("cheb", "eval", "s.txt", "--at", "0,1e308")
        self.assertIn("1 of 2 values lie beyond the range of f64, the first at 1e+308", done.stderr)

    def test_a_product_that_is_not_finite_is_not_written_without_a_word(self):
        self.write("nan.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 nan\n")
        done = self.furrow("spmv", "nan.mtx", "--no-ceiling", "--device", "cpu", "-o", "y.txt")
        self.assertIn("y.txt: holds a NaN or an infinity: A, x or their product does", done.stderr)

    def test_f32_says_what_it_cannot_reach_and_what_it_measures(self):
        few = ("solve", "poisson2d:4", "--device", "cpu", "--precision", "f32")
        done = self.furrow(*few, "--rtol", "1e-5")
        self.assertIn("|b - A x| / |b| of A and b in f32, recomputed", done.stdout)
        self.assertNotIn("--rtol", done.stderr)
        self.assertNotIn("--rtol", self.furrow(*few).stderr)  # nobody has asked for 1e-8
        self.assertIn("--rtol 1e-09 is less than what f32 rounds off, 1.2e-07", self.furrow(*few, "--rtol", "1e-9").stderr)

    def test_one_iteration_is_no_iterations(self):
        done = self.furrow("solve", "poisson2d:30", "--device", "cpu", "--solver", "cg", "--max-iterations", "1", code=1)
        self.assertIn("Stopped at the limit of 1 iteration with", done.stdout)

    def test_a_method_for_the_chip_of_a_gpu_is_refused_on_the_cpu_for_that(self):
        self.says(4, "cg_resident keeps the system on the chip of a GPU, and has no part for the CPU: take cg there", "solve",
                  "poisson2d:10", "--device", "cpu", "--solver", "cg_resident")

    def test_play_of_a_solve(self):
        play = ("solve", "poisson1d:3", "--device", "play")
        self.says(2, "of the solvers the tutorial's is played, not auto: add --solver cg_tutorial", *play)
        play += ("--solver", "cg_tutorial")
        self.says(2, "the tutorial's method has no preconditioner, not ic0: leave --precond out", *play, "--precond", "ic0")
        self.says(2, "--tune measures, and a kernel that is played has no speed", *play, "--tune")
        self.says(2, "it writes x with -o and a picture with --trace: leave --history out", *play, "--history", "a.csv")
        self.says(2, "kernel stream of format csr is not a classic one", *play, "--kernel", "stream")
        self.says(2, "format sell has no classic kernel to play", *play, "--format", "sell")
        self.says(2, "a wave has 32 or 64 lanes, not '48'", *play, "--play", "wave=48")
        self.says(2, "has 1,084,752 entries, and a solve is played for up to 200,000", "solve", "poisson3d:54", *play[2:])
        self.says(2, "--play is for kernels that are played: add --device play", "solve", "poisson1d:3", "--play", "wave=64")
        self.says(3, "the matrix is not symmetric", "solve", "convection2d:5:10", *play[2:])

    def test_play_of_a_product_of_series(self):
        (self.folder / "a.txt").write_text("1\n2\n")
        play = ("cheb", "multiply", "a.txt", "a.txt", "--device", "play", "--algorithm")
        self.says(2, "algorithm fft is no classic kernel, .* choose thread, block, block_sweep or warp", *play, "fft")
        self.says(2, "no algorithm 'blok_sweep': did you mean 'block_sweep'", *play, "blok_sweep")
        self.says(2, "kernel 'block:block=48': block=48 is no power of two from 32 to 1024", *play, "block:block=48")
        self.says(2, "kernel 'warp:lanes=8': it has no use for 'lanes=8': give warp\\[:block=B\\]", *play, "warp:lanes=8")
        self.says(2, "algorithm 'warp': a block of 32 threads is less than a warp of 64 lanes", *play, "warp:block=32",
                  "--play", "wave=64")

    def test_dense_play(self):
        play = ("gemv", "9x8", "--device", "play")
        self.says(2, "no classic kernel 'tield': did you mean 'tiled'", *play, "--kernel", "tield")
        self.says(2, "no classic kernel 'along': choose one of auto, all, tiled, naive", *play, "--kernel", "along")
        self.says(2, "--op t takes --layout col", *play, "--op", "t")
        self.says(2, "--op n takes --layout row", *play, "--layout", "col")
        self.says(2, "take one vector, not 3", *play, "--rhs", "3")
        self.says(2, "a kernel is played in f64 or f32, not in bf16", *play, "--type", "bf16")
        self.says(2, "a kernel is played for up to 20,000,000 elements", "gemv", "5000x5000", "--device", "play")
        self.says(2, "a kernel is played for up to 20,000,000 elements", "gemv", "4611686018427387904x4", "--device", "play")
        self.says(2, "--repeat times products, and a kernel that is played has no speed", *play, "--repeat", "3")
        self.says(2, "--play is for kernels that are played: add --device play", "gemv", "9x8", "--play", "wave=64")
        self.says(2, "a.png: a picture is written as .svg", *play, "--trace", "a.png")

    def test_sweep(self):
        sweep = ("spmv", "poisson1d:3", "--device", "cpu", "--sweep")
        self.says(2, "--sweep: tries lanes and blocks of a GPU's kernels, and this runs on the CPU: give --device gpu, or play", *sweep)
        self.says(2, "--sweep: tries the numbers of one format's kernel: name it", *sweep, "--format", "all")
        self.says(2, "--sweep: format sell has no kernel whose lanes and blocks are free: take csr", *sweep, "--format", "sell")
        self.says(2, "'stream' is none: choose one of vector, scalar, warp_per_row, half_warp, naive", *sweep, "--kernel", "stream")
        self.says(2, "'vector:lanes=8' is none", *sweep, "--kernel", "vector:lanes=8")
        self.says(2, "kernel 'scalar:block=64': it has no use for 'block=64': give scalar alone", "spmv", "poisson1d:3",
                  "--device", "cpu", "--kernel", "scalar:block=64", "--format", "csr")

    def test_generators(self):
        self.says(2, "no generator 'poison3d': did you mean 'poisson3d'", "solve", "poison3d:9")
        self.says(2, "poisson3d: its argument is missing; usage: poisson3d:N, for example poisson3d:100", "info",
                  "poisson3d")
        self.says(2, "'x' is not a whole number .* usage: poisson3d:N", "info", "poisson3d:x")
        self.says(2, "more than 2\\^31 - 1 rows", "info", "poisson3d:2000")

    def test_an_option_before_the_subcommand(self):
        self.says(2, "--ascii stands before the subcommand: options come behind it", "--ascii", "info", "poisson1d:3")
        self.says(2, "-o stands before the subcommand: options come behind it", "-o", "x.mtx", "solve", "poisson1d:3")

    def test_an_entry_beyond_single_precision_has_its_place_in_the_file(self):
        self.write("t.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 2\n1 3 1e300\n2 2 1\n")
        for more in ((), ("--transpose",), ("--transpose", "--device", "play")):
            self.says(3, r"entry \(1, 3\) = 1e\+300 is too large", "spmv", "t.mtx", "--precision", "f32", *more)

    def test_generate_reads_no_file(self):
        self.says(2, "no generator 'foo'", "generate", "foo", "-o", "x.mtx")

    def test_what_is_not_known_is_null(self):
        self.write("n.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 nan\n2 2 1\n")
        said = json.loads(self.furrow("info", "n.mtx", "--json").stdout)
        self.assertIsNone(said["largest"])
        said = json.loads(self.furrow("spmv", "poisson2d:5", "--alpha", "1e308", "--check", "--repeat", "1", "--no-ceiling", "--json").stdout)
        self.assertEqual((said["results"][0]["max_row_error"], said["results"][0]["rows_not_checked"]), (None, 25))
        shown = self.furrow("spmv", "poisson2d:5", "--alpha", "1e308", "--check", "--repeat", "1", "--no-ceiling").stdout
        self.assertRegex(shown, r"\n\* .*   not checked\n")

    def test_an_empty_checkpoint(self):
        self.write("empty", "")
        self.says(3, "empty: is empty, or a pipe: a checkpoint", "solve", "poisson1d:3", "--resume", "empty")

    def test_files(self):
        self.write("bad.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1.0\n2 x 1.0\n")
        self.write("short.txt", "1\n2\n")
        self.write("rhs.txt", "1\nx\n")
        self.says(3, "no-such.mtx: ", "info", "no-such.mtx")
        self.says(3, "bad.mtx:4: ", "info", "bad.mtx")
        self.says(3, "bad.mtx:4: ", "solve", "bad.mtx")
        self.says(3, "short.txt: has 2 elements, but the matrix has 3 rows", "solve", "poisson1d:3", "-b", "short.txt")
        self.says(3, "rhs.txt:2: ", "solve", "poisson1d:3", "-b", "rhs.txt")
        self.write("long.mtx", "%%MatrixMarket vector coordinate real general\n2147483647 1\n7 1\n")
        self.says(3, "long.mtx: has 2147483647 elements, but the matrix has 3 rows", "solve", "poisson1d:3", "-b", "long.mtx")
        self.says(3, "long.mtx:1: the object is a 'vector', where a 'matrix' is wanted", "info", "long.mtx")
        (self.folder / "b.mat").write_bytes(b"MATLAB 5.0 MAT-file, \x00\x01")
        self.says(3, "b.mat: .* it is a MATLAB file; scipy.io.mmwrite", "solve", "poisson1d:3", "-b", "b.mat")
        self.says(3, "not symmetric: A\\(1, 2\\) = -1 but A\\(2, 1\\) = -2", "solve", "convection2d:3:1", "--solver", "cg")
        self.says(3, "nowhere/x.mtx: .*folder does not exist", "solve", "poisson1d:3", "-o", "nowhere/x.mtx")
        self.says(3, "is a folder", "solve", "poisson1d:3", "-o", ".")

    def test_coordinates(self):
        self.furrow("generate", "elasticity3d:3", "-o", "e.mtx", "--coordinates", "nodes.mtx")
        solve = ("solve", "e.mtx", "--coordinates", "nodes.mtx", "--precond")
        self.furrow(*solve, "amg:sa")
        self.says(2, "^furrow: coordinates are for the preconditioner amg:sa: name it$", *solve, "auto")
        self.says(2, "the preconditioner jacobi makes no use of coordinates: take amg:sa, or leave them out", *solve, "jacobi")
        self.says(2, "the preconditioner amg:grid makes no use of coordinates", *solve, "amg:grid")
        self.says(3, "nodes.mtx: has 48 lines of 3 coordinates, but the matrix has 54 rows: --coordinates wants a line for each "
                  "node of 3 unknowns", "solve", "elasticity3d:2", *solve[2:], "amg:sa")
        head, size, *numbers = (self.folder / "nodes.mtx").read_text().split("\n")
        self.write("one.mtx", "\n".join([head, "144 1", *numbers]))
        self.says(3, "one.mtx: has 1 column: --coordinates wants 2 or 3, a line for each node",
                  "solve", "e.mtx", "--precond", "amg:sa", "--coordinates", "one.mtx")
        self.write("nan.mtx", "\n".join([head, size, *numbers[:5], "nan", *numbers[6:]]))
        self.says(3, "coordinate 1 of node 6 is nan: all must be finite", "solve", "e.mtx", "--precond", "amg:sa",
                  "--coordinates", "nan.mtx")
        self.write("plane.mtx", "\n".join([head, "72 2", *numbers]))
        self.says(3, "the coordinates are in 2 dimensions, but A has no nodes of 2 unknowns: blocks of 2 x 2 have 2.0 places an "
                  "entry", "solve", "poisson1d:144", "--precond", "amg:sa", "--coordinates", "plane.mtx")
        self.says(2, "the unknowns of poisson2d:5 are no displacements of nodes", "generate", "poisson2d:5", "-o", "p.mtx",
                  "--coordinates", "x.mtx")
        self.says(3, "no.mtx", "solve", "e.mtx", "--precond", "amg:sa", "--coordinates", "no.mtx")

    def test_scaling_and_order(self):
        solve = ("solve", "poisson2d:5")
        self.says(2, "there is no scaling 'mathcing': did you mean 'matching'", *solve, "--scale", "mathcing")
        self.says(2, "there is no order 'amd': choose one of", *solve, "--reorder", "amd")
        self.says(2, "cg needs a symmetric matrix, which matching does not leave: take symmetric scaling", *solve, "--solver", "cg",
                  "--scale", "matching")
        self.says(2, "amg scales by the diagonal itself", *solve, "--precond", "amg", "--scale", "symmetric")
        self.says(2, "lsmr scales the columns itself", *solve, "--solver", "lsmr", "--scale", "symmetric")
        self.says(2, "ranks solve the rows as they stand: leave reorder out", *solve, "--ranks", "2", "--reorder", "rcm")
        self.says(2, "takes the rows as they stand: leave --scale out", *solve, "--device", "play", "--solver", "cg_tutorial",
                  "--scale", "symmetric")
        self.says(2, "--batch solves every matrix of a folder: leave --reorder out", "solve", "--batch", ".", "--reorder", "rcm")
        self.says(3, "only square ones are scaled or reordered", "solve", "rectangular:9:5:2", "--reorder", "rcm")
        self.says(2, "coordinates are of nodes whose rows follow each other, which rcm would part", "solve", "elasticity3d:2",
                  "--precond", "amg:sa", "--coordinates", self.nodes("elasticity3d:2"), "--reorder", "rcm")
        self.write("s.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 4\n1 1 1\n1 2 2\n2 1 3\n2 2 5\n")
        done = self.furrow("solve", "s.mtx", "--solver", "gmres", "--scale", "matching", "-b", self.ones(3), code=1)
        self.assertIn("structurally singular, rank 2 of 3, whatever its values: row 3 has no column of its own", done.stdout)

    def nodes(self, matrix):
        self.furrow("generate", matrix, "-o", "e.mtx", "--coordinates", "nodes.mtx")
        return "nodes.mtx"

    def ones(self, n):
        self.write("ones.txt", "1\n" * n)
        return "ones.txt"

    def test_outputs(self):
        self.furrow("generate", "poisson1d:5", "-o", "p.mtx")
        before = (self.folder / "p.mtx").read_bytes()
        self.says(2, "same file", "convert", "p.mtx", "./p.mtx")
        self.says(2, "same file", "solve", "p.mtx", "-o", "p.mtx")
        self.says(2, "choose one of these endings", "convert", "p.mtx", "p.txt")
        self.says(2, "choose one of these endings", "generate", "poisson1d:5", "-o", "p")
        self.assertEqual((self.folder / "p.mtx").read_bytes(), before)
        self.assertEqual([f.name for f in self.folder.iterdir()], ["p.mtx"])

    def test_resources(self):
        self.says(4, "memory", "solve", "dense:2000000")
        self.says(4, "memory", "generate", "dense:2000000", "-o", "d.mtx")
        self.says(4, "no GPU can be used", "solve", "poisson1d:3", "--device", "gpu")

    def test_solver_stops_short(self):
        self.assertIn("limit of 2 iterations", self.furrow("solve", "poisson1d:90", "--max-iterations", "2", code=1).stdout)
        self.write("indefinite.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2 -1\n")
        self.write("b.txt", "1\n2\n")
        done = self.furrow("solve", "indefinite.mtx", "--solver", "cg", "--precond", "none", "-b", "b.txt", code=1)
        self.assertIn("not positive definite", done.stdout)

    def test_numbers_that_are_none(self):
        self.write("nan.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 3\n1 1 1\n2 3 nan\n3 2 1\n")
        for words in ([], ["--ranks", "2"]):
            done = self.furrow("solve", "nan.mtx", *words, code=1)
            self.assertIn("the matrix holds a NaN in row 2, column 3", done.stdout)
            self.assertNotIn("residual", done.stdout)
            self.assertNotIn("(): ", done.stdout)
        self.says(3, "nan.mtx: holds a NaN", "spmv", "nan.mtx", "--check")

    def test_a_product_with_ones_is_called_zero_where_it_is(self):
        head = "%%MatrixMarket matrix coordinate real general\n"
        self.write("stiff.mtx", head + "2 2 4\n1 1 1e20\n1 2 -1e20\n2 1 1\n2 2 1\n")
        self.write("inf.mtx", head + "2 2 2\n1 1 inf\n2 2 1\n")
        self.write("graph.mtx", head + "3 3 5\n1 1 1e20\n1 2 -1e20\n2 1 -0.3\n2 2 0.1\n2 3 0.2\n")
        for words in ([], ["--ranks", "2"]):
            for name, code in (("stiff", 0), ("inf", 1)):
                self.assertNotIn("is zero", self.furrow("solve", name + ".mtx", *words, code=code).stderr)
            self.assertIn("A * ones is zero", self.furrow("solve", "graph.mtx", *words).stderr)

    def test_a_full_disk_is_noticed(self):
        with open("/dev/full", "w") as full:
            done = subprocess.run([FURROW, "solve", "poisson1d:9"], stdout=full, stderr=subprocess.PIPE, text=True,
                                  env=ENVIRONMENT)
        self.assertEqual(done.returncode, 3)
        self.assertIn("standard output cannot be written", done.stderr)

    def test_counts_of_one_and_of_none(self):
        self.write("one.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 4\n")
        self.write("one.txt", "1\n")
        self.write("none.mtx", "%%MatrixMarket matrix coordinate real general\n0 0 0\n")
        for words in (("solve", "one.mtx", "--solver", "direct"), ("solve", "one.mtx", "--solver", "cg", "--ranks", "1"), ("spmv", "one.mtx", "--repeat", "1"), ("info", "one.mtx"),
                      ("solve", "one.mtx", "--precond", "amg:sa", "--solver", "cg"), ("convert", "one.mtx", "copy.mtx"), ("cheb", "fit", "1"),
                      ("solve", "one.mtx", "--device", "play", "--solver", "cg_tutorial"), ("solve", "one.mtx", "--reorder", "rcm")):
            out = self.furrow(*words).stdout
            self.assertNotRegex(out, r"(?<![\d.,e+])1 (entries|rows|coefficients|iterations|blocks|places|shuffles|launches)\b")
        self.says(3, "one.txt: has 1 element, but the matrix has 3 columns", "solve", "poisson1d:3", "--x0", "one.txt")
        self.says(2, "convection2d:3: 1 of 2 arguments is missing", "info", "convection2d:3")
        self.assertIn("symmetric: scales none", self.furrow("solve", "none.mtx", "--scale", "symmetric").stdout)


if __name__ == "__main__":
    main()
