# SPDX-License-Identifier: BSD-3-Clause
"""The Python package beside SciPy and, where it is installed, PyAMG: ratios of times, in turns in one run.

    PYTHONPATH=build/release/python build/venv/bin/python bench/python.py [-o FILE.json] [--parts calls,solve,sweep,interrupt,import]

Each ratio is the median over rounds of (rival's time / Furrow's time) of neighbours in time; above 1 Furrow is faster.

calls   products, cg and a prepared Solver
solve   the first call of furrow.solve, which looks, chooses and sets up, beside the first call of others, set-up included;
        each answer's |b - A x| / |b| is worked out here, and one that misses the goal is marked
sweep   Matrix @ x beside csr_array @ x on matrices of every kind, from 100 rows on
interrupt  seconds from Ctrl-C to KeyboardInterrupt in reading, generating, setting up and solving 5 million rows; not run
           unless it is named, for it writes a file of 365 MB into the folder for temporary ones
import  processor time that `import furrow` adds to `import scipy.sparse.linalg`, of new processes; not run unless named
"""
import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):  # dots of the rivals: with as many threads as Furrow
    os.environ.setdefault(name, str(len(os.sched_getaffinity(0))))

import numpy as np
import scipy
import scipy.sparse as sp
import scipy.sparse.linalg as sla

import furrow

try:
    import pyamg
    from pyamg.krylov import cg as pyamg_cg
except ImportError:
    pyamg = pyamg_cg = None

PARTS = ("calls", "solve", "sweep")
NAMED = ("interrupt", "import")  # run where they are asked for
SWEEP = ("poisson1d:100", "poisson2d:10", "poisson1d:1000", "poisson3d:10", "poisson2d:100", "poisson1d:100000",
         "poisson3d:40", "poisson2d:1000", "poisson3d:100", "stencil2d9:300", "stencil3d27:10", "stencil3d27:50",
         "anisotropic2d:300:0.01", "convection2d:300:10", "elasticity3d:5", "elasticity3d:20", "random:1000:8",
         "random:200000:16", "banded:100000:12:60", "powerlaw:100000:12:2.5", "dense:100", "dense:1000")


def seconds(f, least=0.02):
    """Of one call: as many in a row as take 20 ms."""
    f()
    count = 1
    while True:
        began = time.perf_counter()
        for _ in range(count):
            f()
        took = time.perf_counter() - began
        if took >= least:
            return took / count
        count = max(2 * count, int(count * least / max(took, 1e-9)) + 1)


def compare(name, ours, theirs, rounds):
    pairs = [(seconds(ours), seconds(theirs)) for _ in range(rounds)]
    return row_of(name, *zip(*pairs))


def row_of(name, ours, theirs):
    """What is written of a rival, and printed: medians of times in turns."""
    ratios = sorted(t / o for o, t in zip(ours, theirs))
    row = {"what": name, "ratio": statistics.median(ratios), "least": ratios[0], "most": ratios[-1],
           "seconds": statistics.median(ours), "rival_seconds": statistics.median(theirs)}
    print(f"{name:68} {row['ratio']:6.2f}  ({row['least']:.2f} to {row['most']:.2f})  {row['seconds'] * 1e6:12.2f} us",
          flush=True)
    return row


def product(spec, rounds):
    """Furrow's product beside SciPy's."""
    A = sp.csr_array(furrow.generate(spec))
    P, x = furrow.Matrix(A), np.random.default_rng(1).standard_normal(A.shape[1])
    return compare(f"Matrix @ x, {spec}, to csr_array @ x", lambda: P @ x, lambda: A @ x, rounds)


def system(spec):
    A = sp.csr_array(furrow.generate(spec))
    d = 1 / A.diagonal()
    return A, A @ np.ones(A.shape[0]), sla.LinearOperator(A.shape, lambda r: d * r, dtype=float)


def calls(rounds):
    rows = [product(spec, rounds) for spec in ("poisson1d:100", "poisson3d:20", "poisson3d:60", "poisson3d:120")]
    A, b, M = system("poisson3d:60")
    solver = furrow.Solver(A, M="none", rtol=1e-8)
    scipy_cg = lambda: sla.cg(A, b, rtol=1e-8)
    rows.append(compare("cg, poisson3d:60, first call, to scipy's", lambda: furrow.cg(A, b, rtol=1e-8), scipy_cg, rounds))
    rows.append(compare("cg, jacobi, poisson3d:60, first call, to scipy's",
                        lambda: furrow.cg(A, b, rtol=1e-8, M="jacobi"), lambda: sla.cg(A, b, rtol=1e-8, M=M), rounds))
    rows.append(compare("Solver.solve, poisson3d:60, to scipy's cg", lambda: solver.solve(b), scipy_cg, rounds))
    if pyamg_cg:
        rows.append(compare("cg, poisson3d:60, first call, to pyamg's", lambda: furrow.cg(A, b, rtol=1e-8),
                            lambda: pyamg_cg(A, b, tol=1e-8), rounds))
    return rows


def solvers(A, b, M, rtol):
    """Whole calls by name, Furrow's first: each makes x of A and b, set-up included."""
    ways = {"furrow.solve": lambda: furrow.solve(A, b, rtol=rtol).x}
    if pyamg:
        theirs = sp.csr_matrix(A)  # the class that PyAMG is made for; it shares the arrays
        for name, make in (("pyamg smoothed aggregation + cg", pyamg.smoothed_aggregation_solver),
                           ("pyamg Ruge-Stueben + cg", pyamg.ruge_stuben_solver)):
            ways[name] = lambda make=make: make(theirs).solve(b, tol=rtol, accel="cg", maxiter=1000)
    ways["scipy cg"] = lambda: sla.cg(A, b, rtol=rtol)[0]
    ways["scipy cg + Jacobi"] = lambda: sla.cg(A, b, rtol=rtol, M=M)[0]
    return ways


def solves(rounds, spec="poisson3d:60", rtol=1e-8):
    A, b, M = system(spec)
    ways = solvers(A, b, M, rtol)
    residual = {name: float(np.linalg.norm(b - A @ f()) / np.linalg.norm(b)) for name, f in ways.items()}
    took = {name: [] for name in ways}
    for _ in range(rounds):
        for name, f in ways.items():
            began = time.perf_counter()
            f()
            took[name].append(time.perf_counter() - began)
    own, rows = next(iter(ways)), []
    for name in list(ways)[1:]:
        row = row_of(f"solve, {spec}, first call, to {name}", took[own], took[name])
        row |= {"rtol": rtol, "residual": residual[own], "rival_residual": residual[name]}
        for who in (own, name):
            if residual[who] > rtol:
                print(f"    {who} ends with a residual of {residual[who]:.1e}: more than {rtol:g}")
        rows.append(row)
    return rows


def sweep(rounds):
    rows = [product(spec, rounds) for spec in SWEEP]
    ratios = [row["ratio"] for row in rows]
    mean = float(np.exp(np.mean(np.log(ratios))))
    print(f"{f'Matrix @ x, {len(SWEEP)} matrices, geometric mean':68} {mean:6.2f}  ({min(ratios):.2f} to {max(ratios):.2f})")
    return [*rows, {"what": "Matrix @ x, geometric mean of the sweep", "ratio": mean, "least": min(ratios),
                    "most": max(ratios)}]


#: What is interrupted when it has run for so many seconds, and what it needs first.
INTERRUPTED = {
    "reading a file": (0.5, "pass", "furrow.read(sys.argv[1])"),
    "generating": (0.3, "pass", "furrow.generate('poisson3d:171')"),
    "set-up, auto": (0.3, "A = furrow.generate('poisson3d:171')", "furrow.Solver(A)"),
    "set-up, amg": (1.0, "A = furrow.generate('poisson3d:171')", "furrow.Solver(A, 'cg', M='amg')"),
    "solving": (0.3, "A = furrow.generate('poisson3d:171'); b = np.ones(5000211)", "furrow.cg(A, b, rtol=1e-15, monitor=lambda step: running.set())"),
}
INTERRUPT = """
import furrow, numpy as np, os, signal, sys, threading, time
sent, running = [], threading.Event()
def send():
    running.wait()
    time.sleep({after})
    sent.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)
{first}
threading.Thread(target=send, daemon=True).start()
try:
    if "running" not in {call!r}:  # a solve says itself when it has begun
        running.set()
    {call}
    print("done before", flush=True)
except KeyboardInterrupt as e:
    print(time.monotonic() - sent[0], hasattr(e, "partial"), flush=True)
os._exit(0)
"""


def interrupts(rounds):
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "a.mtx")
        furrow.write(file, furrow.generate("poisson3d:171"))
        for what, (after, first, call) in INTERRUPTED.items():
            took = []
            for _ in range(rounds):
                said = subprocess.run([sys.executable, "-c", INTERRUPT.format(after=after, first=first, call=call), file],
                                      capture_output=True, text=True, check=True).stdout.split()
                if said[0] != "done":
                    took.append(float(said[0]))
                    if (said[1] == "True") != (what == "solving"):
                        raise SystemExit(f"{what}: the exception {'has' if said[1] == 'True' else 'lacks'} partial")
            if not took:
                raise SystemExit(f"{what} was done before it was interrupted")
            row = {"what": f"Ctrl-C, 5 million rows, {what}", "seconds": statistics.median(took), "most": max(took)}
            print(f"{row['what']:68} {row['seconds'] * 1e3:8.1f} ms, at most {row['most'] * 1e3:.1f}", flush=True)
            rows.append(row)
    return rows


IMPORT = """
import time
import scipy.sparse.linalg
began = time.process_time()
import furrow
print(time.process_time() - began)
"""


def imports(rounds):
    took = [float(subprocess.run([sys.executable, "-c", IMPORT], capture_output=True, text=True, check=True).stdout)
            for _ in range(rounds + 1)][1:]  # the first one compiles
    row = {"what": "import furrow beside scipy.sparse.linalg", "seconds": statistics.median(took), "most": max(took)}
    print(f"{row['what']:68} {row['seconds'] * 1e3:8.1f} ms, at most {row['most'] * 1e3:.1f}", flush=True)
    return [row]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--parts", default=",".join(PARTS), help="what to time, with commas between")
    args = parser.parse_args()
    parts = args.parts.split(",")
    if wrong := [part for part in parts if part not in PARTS + NAMED]:
        parser.error(f"there is no part {wrong[0]}: choose among {', '.join(PARTS + NAMED)}")
    rows = []
    run = {"calls": calls, "solve": solves, "sweep": sweep, "interrupt": interrupts, "import": imports}
    for part in parts:
        rows += run[part](args.rounds)
    if args.output:
        model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo", encoding="utf-8")
                      if line.startswith("model name")), platform.machine())
        conditions = {"cpu": model, "threads": int(furrow.threads()), "scipy": scipy.__version__,
                      "numpy": np.__version__, "pyamg": getattr(pyamg, "__version__", None),
                      "python": platform.python_version(), "rounds": args.rounds, "load": os.getloadavg()[0]}
        with open(args.output, "w", encoding="utf-8") as to:
            json.dump({"conditions": conditions, "rows": rows}, to, indent=1)
            to.write("\n")


if __name__ == "__main__":
    main()
