#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Solves every matrix of a folder with the program and writes down what it says.

  real_matrices.py run FURROW FOLDER --device cpu --json FILE [-- OPTIONS OF SOLVE...]     default: --solver cg --precond jacobi
  real_matrices.py table FILE... > docs/real-matrices.md

`run` keeps status, iterations, true residual, error and seconds of each matrix; `table` sets several runs side by side.
Standard library only.
"""
import argparse
import json
import pathlib
import subprocess
import sys

METHOD = ("--solver", "cg", "--precond", "jacobi")
KEEP = ("status", "message", "iterations", "restarts", "relative_residual", "relative_error", "rows", "nnz", "kernel",
        "device", "threads", "seconds", "rtol", "precond")


def name_of(file):
    return file.name.split(".")[0]


def run(options):
    results = []
    for file in sorted(pathlib.Path(options.folder).glob("*.mtx*")):
        done = subprocess.run([options.furrow, "solve", file, "--device", options.device, "--json", *(options.more or METHOD)],
                              capture_output=True, text=True)
        if done.returncode not in (0, 1):
            results.append({"matrix": name_of(file), "status": "refused", "message": done.stderr.strip().splitlines()[-1]})
        else:
            said = json.loads(done.stdout)
            results.append({"matrix": name_of(file), **{key: said[key] for key in KEEP}})
        print(results[-1]["matrix"], results[-1]["status"], results[-1].get("iterations"), file=sys.stderr)
    doctor = json.loads(subprocess.run([options.furrow, "doctor", "--json"], capture_output=True, text=True).stdout)
    pathlib.Path(options.json).write_text(json.dumps({"doctor": doctor, "options": options.more, "results": results}, indent=1) + "\n")


def cell(result):
    if result is None:
        return "", "", "", ""
    if result["status"] == "refused":
        return "refused", "", "", ""
    seconds = result["seconds"]["solve"]
    return result["status"], f"{result['iterations']:,}", f"{result['relative_residual']:.1e}", f"{seconds:.3g} s"


def table(options):
    runs = [json.loads(pathlib.Path(file).read_text()) for file in options.files]
    by_name = [{r["matrix"]: r for r in run["results"]} for run in runs]
    devices = [next(r["device"] for r in run["results"] if "device" in r) for run in runs]
    names = sorted({name for run in by_name for name in run},
                   key=lambda name: -max(run.get(name, {}).get("nnz", 0) for run in by_name))
    print(options.text.read_text() if options.text else "", end="")
    print("| matrix | rows | entries |" + "".join(f" {d} | iterations | residual | time |" for d in devices))
    print("|---|---|---|" + "---|---|---|---|" * len(devices))
    for name in names:
        known = next(run[name] for run in by_name if name in run and "rows" in run[name])
        cells = [value for run in by_name for value in cell(run.get(name))]
        print(f"| {name} | {known['rows']:,} | {known['nnz']:,} | " + " | ".join(cells) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("run")
    one.add_argument("furrow")
    one.add_argument("folder")
    one.add_argument("--device", default="cpu")
    one.add_argument("--json", required=True)
    one.add_argument("more", nargs="*")
    one.set_defaults(work=run)
    other = commands.add_parser("table")
    other.add_argument("files", nargs="+")
    other.add_argument("--text", type=pathlib.Path, help="what goes above the table")
    other.set_defaults(work=table)
    options = parser.parse_args()
    options.work(options)


main()
