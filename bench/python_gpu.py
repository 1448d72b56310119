# SPDX-License-Identifier: BSD-3-Clause
"""The Python package on a GPU beside CuPy: conjugate gradients with Jacobi's preconditioner, arrays of CuPy in and out.

    PYTHONPATH=build/release/python python3 bench/python_gpu.py [-o FILE.json]

In turns, each turn ended by a synchronised device; the first turn of each, which loads its kernels, does not count. Ratios
are medians of (CuPy's time / Furrow's time) of neighbours in time. CuPy's cg is given its best preconditioner here, a
function that multiplies by a vector. Bytes between host and GPU are the library's own count: a solve reads residuals.
"""
import argparse
import inspect
import json
import os
import statistics
import time

import cupy
import cupyx.scipy.sparse as csp
import cupyx.scipy.sparse.linalg as cla
import numpy as np

import furrow
from furrow import _core

RTOL = 1e-8


def seconds(f):
    cupy.cuda.get_current_stream().synchronize()
    began = time.perf_counter()
    f()
    cupy.cuda.get_current_stream().synchronize()
    return time.perf_counter() - began


def in_turns(calls, rounds):
    """Medians by name, and the turns."""
    for f in calls.values():
        f()
    turns = [{name: seconds(f) for name, f in calls.items()} for _ in range(rounds)]
    return {name: statistics.median(t[name] for t in turns) for name in calls}, turns


def ratio(turns, ours, theirs):
    return statistics.median(t[theirs] / t[ours] for t in turns)


def moved(f):
    before = _core.copied_bytes(0)
    f()
    return _core.copied_bytes(0) - before


def row_of(spec, rounds):
    home = furrow.generate(spec)
    A = csp.csr_matrix((cupy.asarray(home.data), cupy.asarray(home.indices), cupy.asarray(home.indptr)), shape=home.shape)
    n = A.shape[0]
    b = A @ cupy.ones(n)
    d = 1 / A.diagonal()
    M = cla.LinearOperator(A.shape, matvec=lambda r: d * r, dtype=np.float64)
    goal = "rtol" if "rtol" in inspect.signature(cla.cg).parameters else "tol"
    kept, P = furrow.Solver(A, "cg", M="jacobi", rtol=RTOL), furrow.Matrix(A)
    y = cupy.empty(n)
    calls = {"solver": lambda: kept.solve(b), "cg": lambda: furrow.cg(A, b, rtol=RTOL, M="jacobi"),
             "cg_function": lambda: furrow.cg(A, b, rtol=RTOL, M=lambda r: d * r),
             "cupy_cg": lambda: cla.cg(A, b, M=M, **{goal: RTOL}),
             "matrix": lambda: P @ b, "matrix_out": lambda: P.apply(b, out=y), "cupy_product": lambda: A @ b}
    median, turns = in_turns(calls, rounds)
    theirs, info = cla.cg(A, b, M=M, **{goal: RTOL})
    r, scale = kept.solve(b), float(cupy.linalg.norm(b))
    row = {
        "matrix": spec, "rows": n, "entries": int(A.nnz), "iterations": r.iterations, "status": r.status,
        "format": r.format, "kernel": r.kernel,
        "residual": float(cupy.linalg.norm(b - A @ r.x)) / scale,
        "cupy_residual": float(cupy.linalg.norm(b - A @ theirs)) / scale, "cupy_info": int(info), "seconds": median,
        "setup_seconds": kept.setup_seconds,
        "ratio_solver": ratio(turns, "solver", "cupy_cg"), "ratio_cg": ratio(turns, "cg", "cupy_cg"),
        "ratio_function": ratio(turns, "cg_function", "cupy_cg"), "ratio_matrix": ratio(turns, "matrix_out", "cupy_product"),
        "vector_bytes": 8 * n, "bytes_through_host_solve": moved(lambda: kept.solve(b)),
        "bytes_through_host_product": moved(lambda: P @ b),
        "bytes_through_host_setup": moved(lambda: furrow.Solver(A, "cg", M="jacobi", rtol=RTOL)),
    }
    ours = float(cupy.abs(P @ b - A @ b).max())
    assert row["bytes_through_host_product"] == 0 and row["bytes_through_host_solve"] < row["vector_bytes"]
    assert row["bytes_through_host_setup"] < 12 * A.nnz / 2
    assert r.success and row["residual"] <= RTOL and ours < 1e-12
    assert isinstance(r.x, cupy.ndarray)
    return row


def crossover(rounds):
    """Whole calls on arrays in host memory, on either device: from which size on a GPU pays."""
    rows = []
    for side in (10, 20, 30, 40, 60, 80):
        A = furrow.generate(f"poisson3d:{side}")
        b = A @ np.ones(A.shape[0])
        calls = {where: lambda where=where: furrow.cg(A, b, rtol=RTOL, M="jacobi", device=where) for where in ("cpu", "gpu")}
        median, _ = in_turns(calls, rounds)
        rows.append({"side": side, "entries": int(A.nnz), **median})
        print(f"poisson3d:{side:<4} {A.nnz:9,} entries: cpu {median['cpu'] * 1e3:9.3f} ms, gpu {median['gpu'] * 1e3:9.3f} ms", flush=True)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output")
    parser.add_argument("--rounds", type=int, default=9)
    args = parser.parse_args()
    rows = []
    for spec in ("poisson3d:60", "poisson3d:100"):
        row = row_of(spec, args.rounds)
        rows.append(row)
        ms = {name: f"{s * 1e3:.3f}" for name, s in row["seconds"].items()}
        print(f"{spec}: {row['iterations']} iterations, {row['format']} ({row['kernel']}); ms: {ms}\n"
              f"  Solver {row['ratio_solver']:.2f} times CuPy's cg, a whole call {row['ratio_cg']:.2f}, with M as "
              f"a function {row['ratio_function']:.2f}, a product "
              f"{row['ratio_matrix']:.2f}; through the host: {row['bytes_through_host_solve']} bytes of a solve, "
              f"{row['bytes_through_host_product']} of a product, "
              f"{row['bytes_through_host_setup']} of a set-up; a vector has {row['vector_bytes']}", flush=True)
    whole = crossover(min(args.rounds, 5))
    if args.output:
        properties = cupy.cuda.runtime.getDeviceProperties(0)
        conditions = {"gpu": properties["name"].decode(), "driver": cupy.cuda.runtime.driverGetVersion(),
                      "cupy": cupy.__version__, "numpy": np.__version__, "threads": int(furrow.threads()),
                      "rounds": args.rounds, "rtol": RTOL, "commit": os.environ.get("FURROW_COMMIT", "")}
        with open(args.output, "w", encoding="utf-8") as to:
            json.dump({"conditions": conditions, "rows": rows, "host_arrays": whole}, to, indent=1)
            to.write("\n")


if __name__ == "__main__":
    main()
