#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Seconds and memory of reading a matrix on ranks, threads and processes of mpirun, one thread each.

usage: read_on_ranks.py FURROW [SPEC [RESULTS.json]]      SPEC: a generator, random:700000:12 where none is given

The matrix is written as .mtx and .furrow into TMPDIR, and solved for in one step; seconds are the better of five turns, in which
the numbers of ranks take turns. Peaks are the largest resident set of a rank of MPI, without that of a matrix of nine rows.
"""
import json
import os
import pathlib
import platform
import subprocess
import sys
import tempfile

TURNS = 5
NUMBERS = (1, 2, 4)
WATCHED = ("import os, resource, subprocess, sys\ncode = subprocess.call(sys.argv[1:])\n"
           "peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss\n"
           "open('peak.' + os.environ['OMPI_COMM_WORLD_RANK'], 'w').write(str(peak))\nsys.exit(code)")


def solve(furrow, folder, name, *words, before=()):
    command = [*before, furrow, "solve", name, "--solver", "cg", "--precond", "none", "--max-iterations", "1", "--json", *words]
    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        sys.exit(done.stderr)
    return json.loads(done.stdout)


def on_mpi(furrow, folder, name, n):
    """Seconds of reading, and the largest peak of a rank in MB."""
    before = ["mpirun", "--oversubscribe", "--quiet", "-n", str(n), sys.executable, "-c", WATCHED]
    report = solve(furrow, folder, name, "--ranks", "mpi", "--threads", "1", before=before)
    return report["seconds"]["read"], max(int((folder / f"peak.{r}").read_text()) for r in range(n)) * 1024e-6


def measure(furrow, folder, name):
    rows = {n: {"ranks": n, "threads_seconds": [], "mpi_seconds": [], "peak_mb": 0} for n in NUMBERS}
    base = {n: on_mpi(furrow, folder, "poisson1d:9", n)[1] for n in NUMBERS}
    for _ in range(TURNS):
        for n, row in rows.items():
            report = solve(furrow, folder, name, "--ranks", str(n), "--threads", str(n))
            row["threads_seconds"].append(report["seconds"]["read"])
            seconds, peak = on_mpi(furrow, folder, name, n)
            row["mpi_seconds"].append(seconds)
            row["peak_mb"] = max(row["peak_mb"], round(peak - base[n], 1))
    for row in rows.values():
        for key in ("threads_seconds", "mpi_seconds"):
            row[key] = round(min(row[key]), 4)
        print(f"{name:>20} {row['ranks']:>2} ranks  threads {row['threads_seconds']:.3f} s  mpi {row['mpi_seconds']:.3f} s  "
              f"largest peak {row['peak_mb']:.0f} MB")
    return list(rows.values())


def main(furrow, spec="random:700000:12", results=None):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        out = {"benchmark": "read_on_ranks", "matrix": spec, "processors": os.cpu_count(), "cpu": platform.processor() or platform.machine(),
               "turns": TURNS, "files": {}}
        for name in ("a.mtx", "a.furrow", spec):
            if name != spec:
                subprocess.run([furrow, "convert", spec, name], cwd=folder, check=True, capture_output=True)
            size = (folder / name).stat().st_size if name != spec else 0
            out["files"][name] = {"bytes": size, "ranks": measure(furrow, folder, name)}
        if results:
            pathlib.Path(results).write_text(json.dumps(out, indent=1) + "\n")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(*sys.argv[1:])
