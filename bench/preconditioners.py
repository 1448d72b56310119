#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Counts how many systems of a folder a solver with a preconditioner solves on the CPU.

  preconditioners.py FURROW FOLDER METHOD... [--seconds 20] [--rtol 1e-8] [--json FILE] [--each]

METHOD is SOLVER+PRECONDITIONER, e.g. bicgstab+ilu:1. b is A * ones; a system counts as solved where the program says
`converged`, which it does of a recomputed residual alone, within the seconds. Prints a row of a Markdown table for each
method: solved, those that another method solved and it did not, and its seconds over the systems that it solved.
Standard library only.
"""
import argparse
import json
import pathlib
import subprocess

KEEP = ("status", "iterations", "relative_residual", "relative_error", "rows", "nnz", "seconds", "precond_says", "message")


def solve(options, file, method):
    solver, precond = method.split("+")
    command = [options.furrow, "solve", file, "--device", "cpu", "--solver", solver, "--precond", precond, "--rtol", options.rtol,
               "--json"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=options.seconds)
    except subprocess.TimeoutExpired:
        return {"status": "too slow"}
    if done.returncode not in (0, 1):
        return {"status": "refused", "message": (done.stderr.strip().splitlines() or ["?"])[-1], "exit": done.returncode}
    said = json.loads(done.stdout)
    return {key: said[key] for key in KEEP if key in said and not (key == "message" and said["status"] == "converged")}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("furrow")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("methods", nargs="+")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--rtol", default="1e-8")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--each", action="store_true", help="a line for each system too")
    options = parser.parse_intermixed_args()
    files = sorted(options.folder.glob("*.mtx*"))
    results = {method: {f.name.split(".")[0]: solve(options, f, method) for f in files} for method in options.methods}
    solved = {m: {name for name, r in each.items() if r["status"] == "converged"} for m, each in results.items()}
    if options.each:
        for name in sorted(results[options.methods[0]]):
            cells = [results[m][name] for m in options.methods]
            print(name, *(f"{c['status']}:{c.get('iterations', '')}" for c in cells), sep="\t")
    any_solved = set().union(*solved.values())
    print(f"| {len(files)} systems of {options.folder.name} | solved | not, but by another | seconds |\n|---|---|---|---|")
    for method in options.methods:
        seconds = sum(sum(results[method][name]["seconds"][part] for part in ("setup", "solve")) for name in solved[method])
        print(f"| {method.replace('+', ' + ')} | {len(solved[method])} | {' '.join(sorted(any_solved - solved[method]))} | {seconds:.3g} |")
    if options.json:
        doctor = json.loads(subprocess.run([options.furrow, "doctor", "--json"], capture_output=True, text=True).stdout)
        options.json.write_text(json.dumps({"doctor": doctor, "rtol": options.rtol, "seconds": options.seconds, "results": results}, indent=1) + "\n")


main()
