# SPDX-License-Identifier: BSD-3-Clause
"""The bash completion, asked as bash asks it."""
import shutil
import subprocess
import unittest

from kit import ENVIRONMENT, Case, main


@unittest.skipUnless(shutil.which("bash"), "needs bash")
class Completion(Case):
    def complete(self, *words):
        """Candidates for the last word of `furrow WORDS`."""
        line = " ".join(f"'{w}'" for w in ("furrow", *words))
        script = (f"source <(furrow completion bash); COMP_WORDS=({line}); COMP_CWORD={len(words)}; "
                  "_furrow; printf '%s\\n' \"${COMPREPLY[@]}\"")
        done = subprocess.run(["bash", "--norc", "-c", script], cwd=self.folder, env=ENVIRONMENT, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return set(done.stdout.split())

    def test_subcommands(self):
        self.assertGreaterEqual(self.complete(""), {"info", "solve", "spmv", "generate", "convert", "doctor", "completion"})
        self.assertEqual(self.complete("so"), {"solve"})

    def test_options(self):
        self.assertGreaterEqual(self.complete("solve", "--"), {"--solver", "--precond", "--rtol", "--json", "--help"})
        self.assertEqual(self.complete("spmv", "poisson3d:9", "--ch"), {"--check"})
        self.assertNotIn("--solver", self.complete("spmv", "--"))

    def test_subcommands_of_subcommands(self):
        self.assertGreaterEqual(self.complete("bench", ""), {"gemv", "paper", "spmv"})
        self.assertEqual(self.complete("bench", "spmv", "--col"), {"--cold"})
        self.assertGreaterEqual(self.complete("bench", "spmv", "--precision", ""), {"both", "f64", "f32"})

    def test_values(self):
        self.assertGreaterEqual(self.complete("solve", "--format", ""), {"auto", "csr", "coo"})
        self.assertGreaterEqual(self.complete("spmv", "--format", ""), {"auto", "all", "csr", "coo"})
        self.assertEqual(self.complete("solve", "--precond", "ja"), {"jacobi"})
        self.assertIn("cg", self.complete("solve", "--solver", ""))
        self.assertEqual(self.complete("solve", "--device", ""), {"auto", "cpu", "gpu"})
        self.assertEqual(self.complete("completion", ""), {"bash"})
        self.assertEqual(self.complete("solve", "--rtol", ""), set())

    def test_files_and_generators(self):
        self.write("poisson_like.mtx", "")
        self.assertEqual(self.complete("solve", "poisson"), {"poisson1d:", "poisson2d:", "poisson3d:", "poisson_like.mtx"})
        self.assertEqual(self.complete("solve", "-b", ""), {"poisson_like.mtx"})
        self.assertIn("random:", self.complete("generate", "r"))


if __name__ == "__main__":
    main()
