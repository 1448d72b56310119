#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What a solver takes to get other values of A in the same places, beside a set-up from the beginning, on the CPU.

  new_values.py SYSTEM... [--precond amg:sa ...] [--turns 5] [--json FILE]

SYSTEM is a Matrix Market file or a generator. Values change by D A D, D between 1 and 1.02. Each time is the CPU time of
the process, with one thread, for a solver of a stored matrix up to its first residual: the solve begins with the answer,
so that it takes no iteration. The least of the turns counts.
"""
import argparse
import json
import pathlib
import platform
import time

import numpy as np
import scipy.io
import scipy.sparse as sp

import furrow


def measure(system, precond, turns):
    A = sp.csr_array(scipy.io.mmread(system)) if pathlib.Path(system).exists() else furrow.generate(system)
    A.sort_indices()
    n = A.shape[0]
    d = 1 + np.arange(n) * 7 % 11 / 500
    values = [A.data.copy(), A.data * np.repeat(d, np.diff(A.indptr)) * d[A.indices]]
    solver = "fcg" if "pairwise" in precond else "cg"
    P, b = furrow.Matrix(A), np.ones(n)
    answers, iterations = [], []
    for v in values:
        P.update_values(v)
        r = furrow.Solver(P, solver, M=precond, rtol=1e-8, maxiter=100).solve(b)
        if not r.success:
            return None
        answers.append(r.x)
        iterations.append(r.iterations)

    def timed(f, k):
        began = time.process_time()
        r = f().solve(b, x0=answers[k])
        assert r.iterations == 0, r
        return time.process_time() - began

    least = {"set_up": 1e9, "first": 1e9, "later": 1e9}
    renewed = 0
    for _ in range(turns):
        P.update_values(values[0])
        least["set_up"] = min(least["set_up"], timed(lambda: furrow.Solver(P, solver, M=precond, rtol=1.1e-8), 0))
        s = furrow.Solver(P, solver, M=precond, rtol=1.1e-8)
        for step in range(5):
            k = (step + 1) % 2
            P.update_values(values[k])
            which = "first" if step == 0 else "later"
            least[which] = min(least[which], timed(lambda: s, k))
        P.update_values(values[1])
        renewed = s.solve(b).iterations
    return {"system": system, "precond": precond, "rows": n, "entries": int(A.nnz), "seconds": least,
            "iterations": {"set_up": iterations[1], "later": renewed}}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("systems", nargs="+")
    parser.add_argument("--precond", nargs="+", default=["amg:sa", "amg:pairwise"])
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--json")
    options = parser.parse_args()
    furrow.threads(1)
    results = []
    for system in options.systems:
        for precond in options.precond:
            try:
                r = measure(system, precond, options.turns)
            except furrow.Error as e:
                print(f"{system} {precond}: {e}")
                continue
            if r is None:
                print(f"{system} {precond}: more than 100 iterations")
                continue
            results.append(r)
            s, i = r["seconds"], r["iterations"]
            print(f"{pathlib.Path(system).name:28} {precond:14} set-up {1e3 * s['set_up']:6.1f} ms, first {1e3 * s['first']:6.1f}, "
                  f"later {1e3 * s['later']:6.1f} ({s['later'] / s['set_up']:.2f}); iterations {i['set_up']} and {i['later']}", flush=True)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(
            {"cpu": platform.processor() or platform.machine(), "furrow": furrow.__version__, "results": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()
