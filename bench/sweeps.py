#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares sweeps of Jacobi on triangular factors with exact solves: iterations, set-up and solve.

  sweeps.py FURROW MATRIX... --method cg+ic0 [--sweeps 0 1 2 3 5] [--device cpu] [--repeat 3] [--rtol 1e-8]
            [--seconds 60] [--json FILE]

Sweeps of 0 are exact solves. Each solve is run `repeat` times and the fastest counts. Prints a Markdown table for each
matrix. Standard library only.
"""
import argparse
import json
import subprocess

KEEP = ("status", "iterations", "relative_residual", "device", "threads", "format", "precond", "precond_says", "message")


def solve(options, matrix, precond):
    solver = options.method.split("+")[0]
    command = [options.furrow, "solve", matrix, "--device", options.device, "--solver", solver, "--precond", precond, "--rtol",
               options.rtol, "--time-limit", options.seconds, "--json"]
    best = None
    for _ in range(options.repeat):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode not in (0, 1):
            return {"status": "refused", "message": (done.stderr.strip().splitlines() or ["?"])[-1], "precond": precond}
        said = json.loads(done.stdout)
        seconds = said["seconds"]
        kept = {key: said[key] for key in KEEP if key in said}
        kept |= {"setup": seconds["setup"], "solve": seconds["solve"]}
        if best is None or kept["solve"] < best["solve"]:
            best = kept
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("furrow")
    parser.add_argument("matrices", nargs="+")
    parser.add_argument("--method", default="cg+ic0")
    parser.add_argument("--sweeps", type=int, nargs="+", default=[0, 1, 2, 3, 5])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--rtol", default="1e-8")
    parser.add_argument("--seconds", default="60")
    parser.add_argument("--json")
    options = parser.parse_args()

    doctor = json.loads(subprocess.run([options.furrow, "doctor", "--json"], capture_output=True, text=True, check=True).stdout)
    results = {"doctor": doctor, "method": options.method, "rtol": options.rtol, "matrices": {}}
    name = options.method.split("+")[1]
    for matrix in options.matrices:
        print(f"\n| {matrix.rsplit('/', 1)[-1]} | iterations | set-up, s | solve, s |\n|---|---|---|---|")
        results["matrices"][matrix.rsplit("/", 1)[-1]] = rows = []
        for count in options.sweeps:
            precond = f"{name}:sweeps={count}" if count else name
            row = solve(options, matrix, precond)
            rows.append(row)
            if row["status"] == "converged":
                print(f"| `{precond}` | {row['iterations']} | {row['setup']:.3f} | {row['solve']:.4f} |", flush=True)
            else:
                print(f"| `{precond}` | {row['status']}: {row['message']} | | |", flush=True)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)


if __name__ == "__main__":
    main()
