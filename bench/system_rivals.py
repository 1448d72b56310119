# SPDX-License-Identifier: BSD-3-Clause
"""Rivals of real_systems.py: a preset of another library is an entry of RIVALS, and LEAST_SQUARES has those for rectangular systems.

SciPy has to be there. Others join where they are installed, and nothing is fetched: PyAMG from PyPI; Eigen, AMGCL and PETSc by the program system_rivals
beside this file, which has those of them whose headers were found when it was built (--program names it).
"""
import contextlib
import functools
import importlib
import json
import multiprocessing
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import typing
import warnings

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spl

MOST_ITERATIONS = 10000


REPEATS, SECONDS_OF_REPEATS, LONG = 25, 0.1, 0.05  # as in system_rivals.cpp


class Answer(typing.NamedTuple):
    x: np.ndarray
    said: bool  # that it converged
    seconds: float | None = None  # where the rival has measured them itself
    again: float | None = None


def again(solve, first):
    """Seconds of a solve in a process that has made it before: the median of repeats; those of the first one where it was long. `solve` returns seconds, or
    None and is timed from here."""
    took, began = [first], time.perf_counter()
    while first <= LONG and len(took) <= REPEATS and time.perf_counter() - began < SECONDS_OF_REPEATS:
        start = time.perf_counter()
        took.append(solve() or time.perf_counter() - start)
    return statistics.median(took[1:] or took)


class Rival(typing.NamedTuple):
    solve: typing.Callable[[sp.csr_array, np.ndarray, float], Answer]
    module: str = "scipy"  # imported before the clock starts


def scipy_lu(a, b, _):
    return Answer(spl.splu(a.tocsc()).solve(b), True)


def scipy_krylov(method, a, b, rtol, m):
    x, info = getattr(spl, method)(a, b, rtol=rtol, maxiter=MOST_ITERATIONS, M=m)
    return Answer(x, info == 0)


def scipy_spilu(method):
    return lambda a, b, rtol: scipy_krylov(method, a, b, rtol, spl.LinearOperator(a.shape, spl.spilu(a.tocsc()).solve))


def scipy_jacobi(a, b, rtol):
    d = a.diagonal()
    return scipy_krylov("cg", a, b, rtol, sp.diags_array(1 / np.where(d == 0, 1, d)))


def pyamg_solve(a, b, rtol):
    import pyamg
    residuals = []
    x = pyamg.solve(a, b, tol=rtol, verb=False, residuals=residuals)
    return Answer(x, bool(residuals) and residuals[-1] <= rtol * residuals[0])


def scipy_least_squares(method, limit):
    """Scaled by columns, as Furrow's `jacobi` does. SciPy holds its goals against norms that are larger than those of Furrow, so that they are a
    hundredth; its limits on the condition number are off."""
    def solve(a, b, rtol):
        size = np.sqrt(np.asarray(a.multiply(a).sum(axis=0)).ravel())
        d = 1 / np.where(size == 0, 1, size)
        y, stop = getattr(spl, method)(sp.csr_array(a @ sp.diags_array(d)), b, atol=rtol / 100, btol=rtol / 100, conlim=0, **{limit: 100000})[:2]
        return Answer(d * y, stop in (1, 2, 4, 5))
    return solve


def program(path, name):
    """A preset of system_rivals.cpp, which says how A and b lie in the file and measures by itself."""
    def solve(a, b, rtol):
        with tempfile.TemporaryDirectory() as folder:
            system, x = f"{folder}/system", f"{folder}/x"
            parts = (np.array([a.shape[0], a.nnz], np.int64), a.indptr.astype(np.int32), a.indices.astype(np.int32), a.data, np.asarray(b, float))
            with open(system, "wb") as file:
                for part in parts:
                    part.tofile(file)
            done = subprocess.run([path, name, system, repr(rtol), x], capture_output=True, text=True)
            said = json.loads(done.stdout) if done.returncode == 0 else {"why": f"ended with {done.returncode}"}
            if "why" in said:
                raise RuntimeError(said["why"])
            return Answer(np.fromfile(x), said["said"], said["seconds"], said["again"])
    return solve


def furrow(device):
    """Furrow's own package, for a process that solves more than once."""
    def solve(a, b, rtol):
        import furrow as package
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            got = package.solve(a, b, rtol=rtol, device=device)
        return Answer(got.x, got.status in ("converged", "least_squares"), got.seconds["setup"] + got.seconds["solve"])
    return Rival(solve, "furrow")


RIVALS = {
    "splu": Rival(scipy_lu),
    "bicgstab+spilu": Rival(scipy_spilu("bicgstab")),
    "gmres+spilu": Rival(scipy_spilu("gmres")),
    "cg+jacobi": Rival(scipy_jacobi),
    "pyamg": Rival(pyamg_solve, "pyamg"),
}
LEAST_SQUARES = {"scipy_lsmr": Rival(scipy_least_squares("lsmr", "maxiter")), "scipy_lsqr": Rival(scipy_least_squares("lsqr", "iter_lim"))}


@functools.cache
def all_of(path):
    """RIVALS, and those that the program at `path` has; None: no program."""
    if path is None:
        return RIVALS
    names = subprocess.run([path], capture_output=True, text=True, check=True).stdout.split()
    return {**RIVALS, **{name: Rival(program(path, name)) for name in names}}


@functools.cache
def why_not(module):
    """Why a module cannot be imported here; empty where it can. Looked at in a process of its own: some libraries start more than this one wants."""
    done = subprocess.run([sys.executable, "-c", f"import {module}"], capture_output=True, text=True)
    return "" if done.returncode == 0 else (done.stderr.strip().splitlines() or ["no import"])[-1]


def run(rival, a, b, rtol, folder, answer):
    os.setpgid(0, 0)  # with what it starts
    tempfile.tempdir = folder
    try:
        importlib.import_module(rival.module)
        began = time.perf_counter()
        got = rival.solve(a, b, rtol)
        seconds = got.seconds or time.perf_counter() - began
        repeated = got.again or again(lambda: rival.solve(a, b, rtol).seconds, seconds)
        answer.send({"x": got.x, "said": got.said, "seconds": seconds, "again": repeated})
    except Exception as e:
        answer.send({"why": f"{type(e).__name__}: {e}"[:200]})


def answer_of(rival, a, b, rtol, seconds):
    """What a rival makes of A x = b in a process of its own, within so many seconds: x, said, seconds, again; or why it made nothing."""
    own = multiprocessing.get_context("fork")  # nothing is imported anew, or sent
    ours, theirs = own.Pipe(False)
    got = {"why": "too slow"}
    with tempfile.TemporaryDirectory() as folder:
        child = own.Process(target=run, args=(rival, a, b, rtol, folder, theirs))
        child.start()
        theirs.close()
        try:
            if ours.poll(seconds):
                got = ours.recv()
        except EOFError:
            got = {"why": "died"}
        child.kill()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.join()
    return got
