#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Microseconds of a step of CG with Jacobi on one GPU and on several of one host, and seconds of CG with multigrid.

  several_gpus.py FURROW [--devices gpu:0,1] [--turns 3] [--copies FILE]... [--commit HASH] [--json FILE]

Strong scaling: the same system on one GPU and on all. Weak scaling: as many times the rows as there are GPUs; where cubes do not have just that many, seconds a
row are compared. --copies: the matrix of FILE as often on the diagonal as makes 100 M entries (with numpy). One GPU and several take turns; a figure is the median of all turns. Every solve has to converge, with steps that differ by 2 % at most.
Kernels are loaded before (CUDA_MODULE_LOADING=EAGER): where that happens inside a solve it takes 10 ms, 22 us on each of 457 steps, whatever the number of GPUs.
With multigrid (amg:sa) whole solves are compared, without and with their set-up: their steps may differ by two, since aggregates are inside ranks.
"""
import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile

STRONG = ("poisson3d:200", "poisson3d:400", "stencil3d27:256", "elasticity3d:75")
WEAK_SIDE = 252
MULTIGRID = ("poisson3d:300",)
COPIED_ENTRIES = 100_000_000


def on_diagonal(furrow, file, folder):
    """A file in the binary format of PETSc with copies of a matrix on its diagonal, and its name."""
    import numpy

    one = os.path.join(folder, "one.petsc")
    subprocess.run([furrow, "convert", file, one], check=True, capture_output=True)
    with open(one, "rb") as f:
        kind, rows, cols, entries = numpy.fromfile(f, ">i4", 4)
        lengths, col, val = numpy.fromfile(f, ">i4", rows), numpy.fromfile(f, ">i4", entries), numpy.fromfile(f, ">f8", entries)
    copies = -(-COPIED_ENTRIES // int(entries))
    name = f"{os.path.basename(file).split('.')[0]}, {copies} times"
    path = os.path.join(folder, "copies.petsc")
    with open(path, "wb") as f:
        numpy.array([kind, rows * copies, cols * copies, entries * copies], ">i4").tofile(f)
        numpy.tile(lengths, copies).tofile(f)
        for k in range(copies):
            (col + k * cols).astype(">i4").tofile(f)
        for _ in range(copies):
            val.tofile(f)
    return path, name


def solve(furrow, system, device, precond="jacobi"):
    """The report of a solve, with us a step and us of these that the slowest rank waited."""
    command = [furrow, "solve", system, "--device", device, "--solver", "cg", "--precond", precond, "--rtol", "1e-8", "--max-iterations", "20000", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, "FURROW_CACHE": "off", "CUDA_MODULE_LOADING": "EAGER"})
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stderr}")
    report = json.loads(done.stdout)
    step = 1e6 / report["iterations"]
    waiting = max((p["seconds"]["waiting"] for p in report.get("parts", [])), default=0)
    return {"us": report["seconds"]["solve"] * step, "waiting_us": waiting * step, "iterations": report["iterations"], "rows": report["rows"],
            "format": report["format"], "setup_seconds": report["seconds"]["setup"], "solve_seconds": report["seconds"]["solve"], "through": report.get("ranks_talk_through", "")}


def median(turns):
    """One of them with the medians of their numbers."""
    return {k: statistics.median(t[k] for t in turns) if isinstance(v, float) else v for k, v in turns[0].items()}


def compare(furrow, one, all_of_them, turns, systems, precond="jacobi"):
    runs = ([], [])
    for _ in range(turns):
        for device, system, kept in zip((one, all_of_them), systems, runs):
            kept.append(solve(furrow, system, device, precond))
    return [median(r) for r in runs]


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("furrow")
    options.add_argument("--devices", default="gpu:0,1")
    options.add_argument("--turns", type=int, default=3)
    options.add_argument("--copies", action="append", default=[], metavar="FILE")
    options.add_argument("--commit", default=os.environ.get("FURROW_COMMIT", "unknown"))
    options.add_argument("--json")
    o = options.parse_args()
    count = len(o.devices.split(","))
    wide = round(WEAK_SIDE * count ** (1 / 3))
    results = []

    def measure(kind, systems, names):
        one, many = compare(o.furrow, o.devices.split(",")[0], o.devices, o.turns, systems)
        if kind == "strong" and abs(one["iterations"] - many["iterations"]) > 0.02 * one["iterations"]:
            sys.exit(f"{names[0]}: {one['iterations']} steps on one GPU, {many['iterations']} on {count}")
        per_row = (one["us"] / one["rows"]) / (many["us"] / many["rows"])
        gain = per_row if kind == "strong" else per_row / count
        results.append({"kind": kind, "systems": list(names), "one": one, "all": many, "gain": gain})
        print(f"{kind:>6} {names[-1]:>16} {one['us']:9.1f} us on one, {many['us']:9.1f} on {count} (of these {many['waiting_us']:.1f} waiting; {many['through']}): "
              f"{gain:.2f}{' times' if kind == 'strong' else ' of one'}", flush=True)

    for system in STRONG:
        measure("strong", (system, system), (system, system))
    measure("weak", *2 * ((f"poisson3d:{WEAK_SIDE}", f"poisson3d:{wide}"),))
    for file in o.copies:
        with tempfile.TemporaryDirectory() as folder:
            path, name = on_diagonal(o.furrow, file, folder)
            measure("strong", (path, path), (name, name))
    for system in MULTIGRID:
        one, many = compare(o.furrow, o.devices.split(",")[0], o.devices, o.turns, (system, system), "amg:sa")
        if abs(one["iterations"] - many["iterations"]) > 2:
            sys.exit(f"{system} with amg:sa: {one['iterations']} steps on one GPU, {many['iterations']} on {count}")
        gain = one["solve_seconds"] / many["solve_seconds"]
        whole = (one["setup_seconds"] + one["solve_seconds"]) / (many["setup_seconds"] + many["solve_seconds"])
        results.append({"kind": "multigrid", "systems": [system, system], "one": one, "all": many, "gain": gain, "gain_with_setup": whole})
        print(f"amg:sa {system:>16} {1e3 * one['solve_seconds']:9.1f} ms on one, {1e3 * many['solve_seconds']:9.1f} on {count} ({one['iterations']} and "
              f"{many['iterations']} steps; set-up {1e3 * one['setup_seconds']:.0f} and {1e3 * many['setup_seconds']:.0f} ms): {gain:.2f} times, {whole:.2f} with set-up", flush=True)
    if o.json:
        version = subprocess.run([o.furrow, "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
        info = subprocess.run(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"], capture_output=True, text=True, check=False).stdout.split("\n")[0]
        with open(o.json, "w", encoding="utf-8") as f:
            json.dump({"bench": "several_gpus", "version": version, "commit": o.commit, "gpu": info, "gpus": count, "turns": o.turns,
                       "machine": platform.machine(), "results": results}, f, indent=1)


if __name__ == "__main__":
    main()
