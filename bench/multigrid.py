#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Multigrid beside Jacobi and beside AMGCL, hypre and PyAMG, on symmetric positive definite systems and the CPU; with
--nonsymmetric on others, by bicgstab, beside incomplete factors and PyAMG.

  multigrid.py FURROW SYSTEM... [--nonsymmetric] [--turns 3] [--rtol 1e-8] [--threads 2] [--amgcl PROGRAM] [--hypre PROGRAM] [--json FILE]

SYSTEM is a Matrix Market file, a folder of them, or a generator such as poisson3d:100.
b is A * ones. All contenders take turns; each has the best of its turns of set-up plus solve, reading not counted, and
what the matrix and the answer say of it: a residual above the goal is no answer. The programs of AMGCL and hypre are
multigrid_amgcl and multigrid_hypre beside this file; hypre has a rank a thread. PyAMG, SciPy and NumPy are optional, and
run on one core.
"""
import argparse
import json
import os
import pathlib
import subprocess
import tempfile
import time

try:
    import numpy
    import pyamg
    import scipy.io
except ImportError:
    pyamg = None

METHODS = {"jacobi": ["--solver", "cg", "--precond", "jacobi"], "amg": ["--solver", "cg", "--precond", "amg"],
           "amg:sa": ["--solver", "cg", "--precond", "amg:sa"], "auto": []}
NONSYMMETRIC = {**{name: ["--solver", "bicgstab", "--precond", name] for name in ("jacobi", "ilut", "amg:sa")}, "auto": []}


def by_furrow(options, system, arguments):
    command = [options.furrow, "solve", system, "--device", "cpu", "--threads", str(options.threads), "--rtol", str(options.rtol), "--json"]
    done = subprocess.run(command + arguments, capture_output=True, text=True, timeout=600)
    if done.returncode not in (0, 1):
        return {"status": "refused", "message": (done.stderr.strip().splitlines() or ["?"])[-1]}
    said = json.loads(done.stdout)
    way = " > ".join(f"{r['solver']}+{r['precond']}" for r in said.get("rungs", [])) or said.get("precond_says", "")
    seconds = said["seconds"]
    return {"status": said["status"], "iterations": said["iterations"], "setup": seconds["setup"], "solve": seconds["solve"], "way": way}


def by_program(options, command):
    """A rival that prints what `by_furrow` gives. Its threads sleep while they wait: others are at work on these cores too."""
    told = {"OMP_NUM_THREADS": str(options.threads), "OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": "0",
            "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, env=os.environ | told)
    if done.returncode:
        raise RuntimeError((done.stderr.strip().splitlines() or ["?"])[-1])
    return json.loads(done.stdout)


def by_pyamg(options, a, make):
    b = a @ numpy.ones(a.shape[0])
    began = time.perf_counter()
    solver = make(a)
    made = time.perf_counter()
    residuals = []
    method = "bicgstab" if options.nonsymmetric else "cg"
    x = solver.solve(b, tol=options.rtol, accel=method, maxiter=1000, residuals=residuals)
    done = time.perf_counter()
    good = numpy.linalg.norm(b - a @ x) <= 1.001 * options.rtol * numpy.linalg.norm(b)
    return {"status": "converged" if good else "not solved", "iterations": len(residuals) - 1, "setup": made - began, "solve": done - made}


def matrix_of(options, system):
    if pathlib.Path(system).exists():
        return scipy.io.mmread(system).tocsr()
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "a.mtx"
        subprocess.run([options.furrow, "generate", system, "-o", file], check=True, capture_output=True)
        return scipy.io.mmread(file).tocsr()


def contenders(options, system):
    calls = {f"furrow {name}": lambda arguments=arguments: by_furrow(options, system, arguments) for name, arguments in (NONSYMMETRIC if options.nonsymmetric else METHODS).items()}
    if options.amgcl:
        for kind in ("sa", "sa32", "rs"):
            calls[f"amgcl {kind}"] = lambda kind=kind: by_program(options, [options.amgcl, kind, system, str(options.rtol)])
    if options.hypre:
        ranks = ["mpirun", "--oversubscribe", "-n", str(options.threads)]
        calls["hypre"] = lambda: by_program(options, ranks + [options.hypre, system, str(options.rtol)])
    if pyamg:
        a = matrix_of(options, system)
        symmetry = "nonsymmetric" if options.nonsymmetric else "hermitian"
        calls["pyamg sa"] = lambda: by_pyamg(options, a, lambda a: pyamg.smoothed_aggregation_solver(a, symmetry=symmetry))
        calls["pyamg rs"] = lambda: by_pyamg(options, a, pyamg.ruge_stuben_solver)
    return calls


def seconds_of(found):
    """Of set-up and solve; of what failed more than of anything else."""
    return found["setup"] + found["solve"] if "solve" in found else float("inf")


def best_of_turns(calls, turns):
    best = {}
    for _ in range(turns):
        for name, call in calls.items():
            try:
                found = call()
            except Exception as problem:  # a rival's failure is a result
                found = {"status": "failed", "message": str(problem)[:200]}
            if name not in best or seconds_of(found) < seconds_of(best[name]):
                best[name] = found
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("furrow")
    parser.add_argument("systems", nargs="+")
    parser.add_argument("--nonsymmetric", action="store_true")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--rtol", type=float, default=1e-8)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--amgcl")
    parser.add_argument("--hypre")
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_intermixed_args()
    if options.nonsymmetric and (options.amgcl or options.hypre):
        parser.error("the programs of AMGCL and hypre are conjugate gradients: leave --nonsymmetric")
    systems = []
    for s in options.systems:
        systems += sorted(map(str, pathlib.Path(s).glob("*.mtx*"))) if pathlib.Path(s).is_dir() else [s]
    results = {}
    for system in systems:
        name = pathlib.Path(system).name.split(".mtx")[0]
        results[name] = best_of_turns(contenders(options, system), options.turns)
        cells = [f"{who} {r['status'] if r['status'] != 'converged' else ''} {r.get('iterations', '')} it {1e3 * (r.get('setup', 0) + r.get('solve', 0)):.4g} ms"
                 for who, r in results[name].items()]
        print(f"{name}: " + "; ".join(cells), flush=True)
    if options.json:
        doctor = json.loads(subprocess.run([options.furrow, "doctor", "--json"], capture_output=True, text=True).stdout)
        options.json.write_text(json.dumps({"doctor": doctor, "rtol": options.rtol, "turns": options.turns, "threads": options.threads,
                                            "results": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()
