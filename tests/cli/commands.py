# SPDX-License-Identifier: BSD-3-Clause
"""Each subcommand at work on something small, for tests of what the system may do to it."""
import pathlib
import shutil

from kit import furrow

CPU = ("--device", "cpu")  # a driver for GPUs is none of ours to test
# The files that a command writes begin with "out". Where they hold x the solver is named: "auto" goes on to its next method, with another
# x, where the memory for one cannot be had.
COMMANDS = {
    "solve": ("solve", "poisson2d:12", "--solver", "cg", "-o", "out.mtx", "--history", "out.csv", "--threads", "2", *CPU),
    "solve_on_ranks": ("solve", "poisson2d:260", "--ranks", "3", "--solver", "cg", "--rtol", "0.5", "-o", "out.npy", *CPU),
    "solve_file": ("solve", "in.mtx", "-b", "b.txt", "--solver", "cg", "-o", "out.mtx.gz", "--precision", "f32", "--rtol", "1e-4", *CPU),
    "report": ("solve", "in.mtx", "--report", "out.html", *CPU),
    "solve_json": ("solve", "in.mtx.gz", "--json", *CPU),
    "tune": ("solve", "poisson2d:3", "--tune", *CPU),
    "generate": ("generate", "poisson2d:12", "-o", "out.mtx"),
    "generate_packed": ("generate", "poisson2d:12", "-o", "out.mtx.gz"),
    "convert": ("convert", "in.mtx", "out.furrow"),
    "convert_back": ("convert", "in.furrow", "out.mtx"),
    "info": ("info", "in.mtx"),
    "fit": ("cheb", "fit", "exp(x)", "-o", "out.txt"),
    "multiply": ("cheb", "multiply", "b.txt", "b.txt", "-o", "out.txt", *CPU),
    "roots": ("cheb", "roots", "cos(3*x)"),
    "density": ("cheb", "density", "poisson2d:5", "--moments", "8", "--vectors", "1", "-o", ".", *CPU),
    "gemv": ("gemv", "9x9", "--repeat", "1", *CPU),
    "spmv": ("spmv", "in.mtx", "--format", "csr", "--repeat", "1", *CPU),
    "bench": ("bench", "spmv", "in.mtx", "--format", "csr", "--precision", "f64", "--seconds", "0.001", "--no-rivals", *CPU),
    "doctor": ("doctor",),
    "completion": ("completion", "bash"),
    "teach": ("teach",),
    "lesson": ("teach", "dense"),
    "help": ("solve", "-h"),
    "version": ("--version",),
    "mistake": ("slove",),
}
# What is too slow to be run hundreds of times: it measures the memory first.
SLOW = {"gemv", "spmv", "bench", "report"}


def outputs(words):
    return [word for word in words if word.startswith("out.")]


class Inputs:
    """A folder with the inputs, to be copied."""

    def __init__(self, folder):
        self.source = pathlib.Path(folder) / "inputs"
        self.source.mkdir()
        for words in (("generate", "poisson2d:9", "-o", "in.mtx"), ("convert", "in.mtx", "in.mtx.gz"),
                      ("convert", "in.mtx", "in.furrow")):
            assert furrow(*words, cwd=self.source).returncode == 0
        (self.source / "b.txt").write_text("".join(f"{k}\n" for k in range(1, 82)))

    def copy_to(self, folder):
        for file in self.source.iterdir():
            shutil.copy(file, folder)


def left_behind(folder):
    """Names of what is half-written."""
    return [f.name for f in pathlib.Path(folder).iterdir() if ".part-" in f.name]
