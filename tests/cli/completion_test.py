# SPDX-License-Identifier: BSD-3-Clause
"""The completion of three shells, asked as each shell asks it. A shell that is not here is skipped by name."""
import os
import pty
import select
import shutil
import subprocess
import time
import unittest

from kit import ENVIRONMENT, Case, main


class Questions:
    """What every shell must answer. `complete(*words)`: candidates for the last word of `furrow WORDS`."""

    def run_shell(self, *command):
        done = subprocess.run(command, cwd=self.folder, env={**ENVIRONMENT, "HOME": str(self.folder)}, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_subcommands(self):
        self.assertGreaterEqual(self.complete(""), {"info", "solve", "spmv", "generate", "convert", "doctor", "completion", "help"})
        self.assertEqual(self.complete("so"), {"solve"})
        self.assertGreaterEqual(self.complete("--"), {"--help", "--version"})

    def test_options(self):
        self.assertGreaterEqual(self.complete("solve", "--"), {"--solver", "--precond", "--rtol", "--json", "--help", "--x0"})
        self.assertEqual(self.complete("spmv", "poisson3d:9", "--ch"), {"--check"})
        self.assertNotIn("--solver", self.complete("spmv", "--"))

    def test_subcommands_of_subcommands(self):
        self.assertGreaterEqual(self.complete("bench", ""), {"cg", "gemv", "paper", "spmv"})
        self.assertEqual(self.complete("bench", "spmv", "--col"), {"--cold"})
        self.assertGreaterEqual(self.complete("bench", "spmv", "--precision", ""), {"both", "f64", "f32"})
        self.assertEqual(self.complete("cheb", "den"), {"density"})

    def test_values(self):
        self.assertGreaterEqual(self.complete("solve", "--format", ""), {"auto", "csr", "coo"})
        self.assertGreaterEqual(self.complete("spmv", "--format", ""), {"auto", "all", "csr", "coo"})
        self.assertEqual(self.complete("solve", "--precond", "ja"), {"jacobi"})
        self.assertIn("cg", self.complete("solve", "--solver", ""))
        self.assertEqual(self.complete("solve", "--device", ""), {"auto", "cpu", "gpu", "play"})
        self.assertEqual(self.complete("completion", ""), {"bash", "zsh", "fish"})
        self.assertGreaterEqual(self.complete("teach", ""), {"scalar", "vector", "hyb", "chebyshev"})
        self.assertEqual(self.complete("gemv", "9x9", "--device", ""), {"auto", "cpu", "gpu", "play"})
        self.assertEqual(self.complete("solve", "--rtol", ""), set())
        self.assertGreaterEqual(self.complete("help", ""), {"environment", "solve"})

    def test_files_and_generators(self):
        self.write("poisson_like.mtx", "")
        self.assertEqual(self.complete("solve", "poisson"), {"poisson1d:", "poisson2d:", "poisson3d:", "poisson_like.mtx"})
        self.assertEqual(self.complete("solve", "-b", "poi"), {"poisson_like.mtx"})
        self.assertIn("random:", self.complete("generate", "r"))


@unittest.skipUnless(shutil.which("bash"), "needs bash")
class Bash(Questions, Case):
    def complete(self, *words):
        line = " ".join(f"'{w}'" for w in ("furrow", *words))
        script = (f"source <(furrow completion bash); COMP_WORDS=({line}); COMP_CWORD={len(words)}; "
                  "_furrow; printf '%s\\n' \"${COMPREPLY[@]}\"")
        return set(self.run_shell("bash", "--norc", "-c", script).split())


@unittest.skipUnless(shutil.which("zsh"), "needs zsh")
class Zsh(Questions, Case):
    # What zsh's own functions are given, instead of its list.
    STUBS = """
    compdef() { : }
    compadd() { while [[ $1 != -- ]]; do shift; done; shift; print -rl -- "$@" }
    _describe() { local item; for item in "${(@P)2}"; do print -r -- "${item%%:*}"; done }
    _files() { print -rl -- *(N) }
    """

    def complete(self, *words):
        line = " ".join(f"'{w}'" for w in ("furrow", *words))
        script = f"{self.STUBS}\nsource <(furrow completion zsh); words=({line}); CURRENT={len(words) + 1}; _furrow"
        return {w for w in self.run_shell("zsh", "-f", "-c", script).split() if w.startswith(words[-1])}

    def test_on_a_terminal(self):
        ours, theirs = pty.openpty()
        shell = subprocess.Popen(["zsh", "-f", "-i"], cwd=self.folder, stdin=theirs, stdout=theirs, stderr=theirs,
                                 env={**ENVIRONMENT, "HOME": str(self.folder), "TERM": "xterm"}, start_new_session=True)
        os.close(theirs)
        os.write(ours, b"autoload -Uz compinit; compinit -D; source <(furrow completion zsh); bindkey '^I' complete-word; "
                       b"show() { print -r -- \"<<$BUFFER>>\" }; zle -N show; bindkey '^X' show; print re''ady\n")
        seen, end = b"", time.monotonic() + 60
        for asked, answer in ((b"furrow compl\tz\t\x18", b"ready"), (b"", b"<<furrow completion zsh >>")):
            while answer not in seen and time.monotonic() < end:
                if select.select([ours], [], [], 1)[0]:
                    seen += os.read(ours, 4096)
            self.assertIn(answer, seen)
            os.write(ours, asked)
        shell.kill()
        shell.wait()
        os.close(ours)


@unittest.skipUnless(shutil.which("fish"), "needs fish")
class Fish(Questions, Case):
    def complete(self, *words):
        line = " ".join(("furrow", *words))
        out = self.run_shell("fish", "--no-config", "-c", f"source (furrow completion fish | psub); complete -C '{line}'")
        return {row.split("\t")[0] for row in out.splitlines()}


if __name__ == "__main__":
    main()
