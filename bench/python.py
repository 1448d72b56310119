# SPDX-License-Identifier: BSD-3-Clause
"""The Python package beside SciPy and, where it is installed, PyAMG: ratios of times, pair by pair in one run.

    PYTHONPATH=build/release/python build/venv/bin/python bench/python.py [-o FILE.json]

Each ratio is the median over rounds of (rival's time / Furrow's time) of neighbours in time; above 1 Furrow is faster.
"""
import argparse
import json
import os
import platform
import statistics
import time

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):  # dots of the rivals: with as many threads as Furrow
    os.environ.setdefault(name, str(len(os.sched_getaffinity(0))))

import numpy as np
import scipy
import scipy.sparse as sp
import scipy.sparse.linalg as sla

import furrow

try:
    from pyamg.krylov import cg as pyamg_cg
except ImportError:
    pyamg_cg = None


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
    ratios = sorted(t / o for o, t in pairs)
    row = {"what": name, "ratio": statistics.median(ratios), "least": ratios[0], "most": ratios[-1],
           "seconds": statistics.median(o for o, _ in pairs), "rival_seconds": statistics.median(t for _, t in pairs)}
    print(f"{name:55} {row['ratio']:6.2f}  ({row['least']:.2f} to {row['most']:.2f})  {row['seconds'] * 1e6:12.2f} us",
          flush=True)
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output")
    parser.add_argument("--rounds", type=int, default=7)
    args = parser.parse_args()
    rows = []
    for spec in ("poisson1d:100", "poisson3d:20", "poisson3d:60", "poisson3d:120"):
        A = sp.csr_array(furrow.generate(spec))
        P, x = furrow.Matrix(A), np.random.default_rng(1).standard_normal(A.shape[0])
        rows.append(compare(f"Matrix @ x, {spec}, to csr_array @ x", lambda: P @ x, lambda: A @ x, args.rounds))
    A = sp.csr_array(furrow.generate("poisson3d:60"))
    b = A @ np.ones(A.shape[0])
    solver = furrow.Solver(A, M="none", rtol=1e-8)
    d = 1 / A.diagonal()
    M = sla.LinearOperator(A.shape, lambda r: d * r, dtype=float)
    scipy_cg = lambda: sla.cg(A, b, rtol=1e-8)
    rows.append(compare("cg, poisson3d:60, first call, to scipy's", lambda: furrow.cg(A, b, rtol=1e-8), scipy_cg,
                        args.rounds))
    rows.append(compare("cg, jacobi, poisson3d:60, first call, to scipy's",
                        lambda: furrow.cg(A, b, rtol=1e-8, M="jacobi"), lambda: sla.cg(A, b, rtol=1e-8, M=M),
                        args.rounds))
    rows.append(compare("Solver.solve, poisson3d:60, to scipy's cg", lambda: solver.solve(b), scipy_cg, args.rounds))
    if pyamg_cg:
        rows.append(compare("cg, poisson3d:60, first call, to pyamg's", lambda: furrow.cg(A, b, rtol=1e-8),
                            lambda: pyamg_cg(A, b, tol=1e-8), args.rounds))
    if args.output:
        model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo", encoding="utf-8")
                      if line.startswith("model name")), platform.machine())
        conditions = {"cpu": model, "threads": int(furrow.threads()), "scipy": scipy.__version__,
                      "numpy": np.__version__, "python": platform.python_version(),
                      "rounds": args.rounds, "load": os.getloadavg()[0]}
        with open(args.output, "w", encoding="utf-8") as to:
            json.dump({"conditions": conditions, "rows": rows}, to, indent=1)
            to.write("\n")


if __name__ == "__main__":
    main()
