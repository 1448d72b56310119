# SPDX-License-Identifier: BSD-3-Clause
"""Standard streams that are closed, full, or that nobody reads: remarks are dropped, the work goes on."""
import os
import pathlib
import subprocess
import tempfile

from commands import COMMANDS, SLOW, Inputs, left_behind, outputs
from kit import ENVIRONMENT, FURROW, Case, main


class Streams(Case):
    @classmethod
    def setUpClass(cls):
        cls.common = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.common.cleanup)
        cls.inputs = Inputs(cls.common.name)
        cls.expected = {name: cls.run_in_a_folder(words, None, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                        for name, words in COMMANDS.items()}

    @classmethod
    def run_in_a_folder(cls, words, prepare, **streams):
        """Exit code, what it printed, what it left in its files."""
        with tempfile.TemporaryDirectory(dir=cls.common.name) as name:
            folder = pathlib.Path(name)
            cls.inputs.copy_to(folder)
            done = subprocess.run([FURROW, *words], cwd=folder, env={**ENVIRONMENT, "FURROW_CACHE": "off"},
                                  preexec_fn=prepare, timeout=60, **streams)
            assert not left_behind(folder), words
            return done.returncode, done.stdout, {out: cls.content(folder / out) for out in outputs(words) if (folder / out).exists()}

    @staticmethod
    def content(file):
        """The bytes; of a page, which holds times, whether it is whole."""
        data = file.read_bytes()
        return data.endswith(b"</html>\n") if file.suffix == ".html" else data

    def without(self, prepare, code=None, slow=False, **streams):
        """Every command with a stream that is no use: `code` where it would print its results there and exit with 0."""
        for name, words in COMMANDS.items():
            if name in SLOW and not slow:
                continue
            with self.subTest(name):
                right, results, files = self.expected[name]
                got, _, written = self.run_in_a_folder(words, prepare, **streams)
                self.assertEqual(got, code if code and right == 0 and results else right)
                self.assertEqual(written, files)

    def test_stderr_closed(self):
        self.without(lambda: os.close(2), stdout=subprocess.DEVNULL)

    def test_stderr_full(self):
        with open("/dev/full", "w") as full:
            self.without(None, slow=True, stdout=subprocess.DEVNULL, stderr=full)

    def test_stderr_that_nobody_reads(self):
        ours, theirs = os.pipe()
        os.close(ours)
        self.without(None, stdout=subprocess.DEVNULL, stderr=theirs)
        os.close(theirs)

    def test_stdout_closed(self):
        self.without(lambda: os.close(1), code=3, stderr=subprocess.DEVNULL)

    def test_stdout_full(self):
        with open("/dev/full", "w") as full:
            self.without(None, code=3, slow=True, stdout=full, stderr=subprocess.DEVNULL)

    def test_stdout_that_nobody_reads(self):
        ours, theirs = os.pipe()
        os.close(ours)
        self.without(None, code=3, stdout=theirs, stderr=subprocess.DEVNULL)
        os.close(theirs)

    def test_all_closed(self):
        self.without(lambda: os.closerange(0, 3), code=3)

    def test_stdin_closed(self):
        self.without(lambda: os.close(0), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def test_failures_keep_their_codes(self):
        with open("/dev/full", "w") as full:
            for code, *words in ((3, "info", "nowhere.mtx"), (2, "solve", "poisson1d:3", "--solver", "none"),
                                 (4, "solve", "dense:2000000"), (1, "solve", "poisson1d:90", "--max-iterations", "2")):
                for streams in ({"stderr": full}, {"preexec_fn": lambda: os.close(2)}):
                    done = subprocess.run([FURROW, *words], cwd=self.folder, env=ENVIRONMENT, stdout=subprocess.DEVNULL,
                                          **streams)
                    self.assertEqual(done.returncode, code, words)

    def test_a_full_stdout_is_said(self):
        with open("/dev/full", "w") as full:
            for words in (("solve", "poisson1d:9"), ("--help",), ("--version",), ("cheb", "-h"), ("bench", "spmv", "-h")):
                done = subprocess.run([FURROW, *words], stdout=full, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)
                self.assertEqual(done.returncode, 3, words)
                self.assertIn("furrow: standard output cannot be written: No space left on device\n", done.stderr)


if __name__ == "__main__":
    main()
