# SPDX-License-Identifier: BSD-3-Clause
"""What a terminal gets that a pipe does not: a live line and colours, unless NO_COLOR."""
import os
import pty
import subprocess

from kit import ENVIRONMENT, FURROW, Case, main

LONG = ("solve", "poisson2d:800", "--device", "cpu", "--precond", "none", "--rtol", "1e-9", "--max-iterations", "900")


class Terminal(Case):
    def on_terminal(self, *words, env=None, stdout_too=False):
        """What arrives at a terminal that is stderr (and stdout)."""
        ours, theirs = pty.openpty()
        p = subprocess.Popen([FURROW, *words], env={**ENVIRONMENT, "TERM": "xterm", **(env or {})}, stderr=theirs,
                             stdout=theirs if stdout_too else subprocess.DEVNULL)
        os.close(theirs)
        seen = b""
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:  # the other side is closed
                break
            if not piece:
                break
            seen += piece
        os.close(ours)
        p.wait()
        return seen.decode()

    def test_progress_is_drawn_and_erased(self):
        seen = self.on_terminal(*LONG)
        self.assertRegex(seen, r"\r\x1b\[K  [\d,]+ iterations  residual \d\.\d\de[-+]\d\d  .*[━╌].* +\d+ %")
        self.assertRegex(seen, r"\d (ms|s) left")
        self.assertTrue(seen.endswith("\r\x1b[K"))

    def test_no_colour_where_it_is_not_wanted(self):
        self.assertIn("\x1b[32m", self.on_terminal(*LONG))
        plain = self.on_terminal(*LONG, env={"NO_COLOR": "1"})
        self.assertIn("iterations", plain)
        self.assertNotRegex(plain, r"\x1b\[\d+m")

    def test_no_progress_with_json_on_a_dumb_terminal_or_in_a_pipe(self):
        self.assertNotIn("iterations", self.on_terminal(*LONG, "--json"))
        self.assertNotIn("iterations", self.on_terminal(*LONG, env={"TERM": "dumb"}))
        done = subprocess.run([FURROW, *LONG], env={**ENVIRONMENT, "TERM": "xterm"}, capture_output=True, text=True)
        self.assertNotIn("\x1b", done.stdout + done.stderr)
        self.assertNotIn("iterations", done.stderr)

    def test_reports_have_colour_on_terminals_only(self):
        report = ("solve", "poisson2d:9", "--device", "cpu")
        self.assertIn("\x1b[1mpoisson2d:9\x1b[0m", self.on_terminal(*report, stdout_too=True))
        self.assertNotRegex(self.on_terminal(*report, stdout_too=True, env={"NO_COLOR": "1"}), r"\x1b\[\d+m")
        self.assertNotIn("\x1b", self.furrow(*report).stdout)

    def test_ascii_where_the_locale_has_nothing_else(self):
        self.assertIn("┌", self.furrow("info", "poisson1d:30").stdout)
        self.furrow("info", "poisson1d:30", env={"LC_ALL": "C"}).stdout.encode("ascii")


if __name__ == "__main__":
    main()
