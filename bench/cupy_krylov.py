#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""CuPy's seconds of an iteration, added to what gpu_krylov wrote on the same machine.

  cupy_krylov.py FURROW RESULT.json

The same matrices, b = A * ones, no preconditioner, as many iterations: gmres(30), and bicgstab or, in a CuPy without it, cgs,
which has the same two products an iteration. A long call less a short one, the median of seven. Needs CuPy and SciPy.
"""
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import cupy
import cupyx.scipy.sparse as csp
import cupyx.scipy.sparse.linalg as cspl
import numpy as np
import scipy.io
import scipy.sparse as sp

TURNS = 7


def load(furrow, name):
    """NAME*COPIES: a generator's spec or a file, that often on the diagonal."""
    one, _, copies = name.partition("*")
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(one)
        if not file.exists():
            file = pathlib.Path(folder) / "a.mtx"
            subprocess.run([furrow, "generate", one, "-o", file], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        a = sp.csr_array(sp.coo_array(scipy.io.mmread(file)).astype(float))
    return sp.csr_matrix(sp.block_diag([a] * int(copies or 1), format="csr"))


def seconds(method, a, b, iterations):
    def run(n):
        if method == "gmres":
            cspl.gmres(a, b, rtol=1e-200, atol=0, restart=30, maxiter=n)
        else:
            getattr(cspl, method)(a, b, rtol=1e-200, atol=0, maxiter=n)
        cupy.cuda.Device().synchronize()

    def timed(n):
        began = time.perf_counter()
        run(n)
        return time.perf_counter() - began

    few = max(iterations // 5, 1)
    run(few)
    return statistics.median((timed(iterations) - timed(few)) / (iterations - few) for _ in range(TURNS))


def main():
    furrow, file = sys.argv[1], pathlib.Path(sys.argv[2])
    told = json.loads(file.read_text())
    told["cupy"] = cupy.__version__
    for result in told["results"]:
        host = load(furrow, result["matrix"])
        assert host.shape[0] == result["rows"] and host.nnz == result["nnz"], (host.shape, host.nnz)
        a, b = csp.csr_matrix(host), cupy.asarray(host @ np.ones(host.shape[1]))
        for method in ("bicgstab", "gmres", "gmres_basis_f32"):
            ours = result[method]
            theirs = "gmres" if method.startswith("gmres") else method if hasattr(cspl, method) else "cgs"
            # CuPy counts restarts of gmres in iterations too, rounded up to whole cycles.
            took = seconds(theirs, a, b, max(ours["iterations"], 150 if theirs == "gmres" else 0))
            ours["cupy"] = {"method": theirs, "seconds": took}
            print(f"{result['matrix']}: {method} {1e6 * ours['furrow']:.1f} us, CuPy's {theirs} {1e6 * took:.1f} us: {took / ours['furrow']:.1f} times")
    file.write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    main()
