#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fits the costs of kernels (struct kernel_costs) to what `furrow bench spmv` measured.

usage: fit_costs.py [--write] RESULTS.json...       needs NumPy and SciPy; all of one kind of device and maker

For every kernel: the sum that src/tune/model.cpp works out, its numbers all non-negative, such that the relative errors
over all matrices and precisions are least. Prints the initialisers, and how good the choices by them would be: the time
of the way that the model puts first over the time of the fastest, on the matrices themselves and, honestly, on each
matrix by costs that were fitted without it; and how good those were that were made. --write puts the costs into
src/formats/NAME/costs.hpp, kernel by kernel: those of processors that are not by Intel into amd_KERNEL.

Runs of a CPU may be on any number of threads. What a kernel costs is fitted with as much of the machine as they had;
the choice is that of the two threads that src/tune/machine.cpp always tells of, as in the library.
"""
import json
import pathlib
import re
import subprocess
import sys

import numpy as np
from scipy.optimize import nnls

NAMES = ["start", "memory", "by_row", "by_slice", "by_window", "rows", "places", "uneven", "surprising", "longest",
         "beyond"]
# Rows whose lengths a branch predictor of Zen 4 knows by heart after some products: of 0 to 80,000 the choices are best.
LEARNED = {"amd": 32768}


def of_threads(machine, threads):
    """What so many threads have of a machine."""
    share = threads / machine["processors"]
    return machine | {name: machine[name] * share for name in ["read", "cache_read", "cache", "processors"]}


def features(result, stats, machine, kind):
    """What the numbers of kernel_costs stand beside: src/tune/model.cpp."""
    value = 8 if result["precision"] == "f64" else 4
    rate = machine["cache_read"] if result["bytes"] < machine["cache"] else machine["read"]
    sector = value * 4 / machine["cache_read"] * stats["nnz"]
    processors = machine["processors"]
    return [machine["latency"], result["bytes"] / rate, sector * stats["sectors_by_row"],
            sector * stats["sectors_by_slice"], sector * stats["sectors_by_window"],
            1e-9 * stats["rows"] / processors, 1e-9 * result["places"] / processors,
            1e-9 * stats["rows"] * stats["row_deviation"] / processors,
            1e-9 * max(stats["rows"] - LEARNED.get(kind, 0), 0) * stats["mispredicted_lengths"] / processors,
            1e-9 * result["longest"],
            result["bytes"] / machine["read"] if result["bytes"] > machine.get("last_cache", np.inf) else 0]


def fit(rows, seconds):
    """Weights of least relative error; the outliers of a first fit count less in a second one."""
    a, weight = np.array(rows) / np.array(seconds)[:, None], np.ones(len(seconds))
    for _ in range(8):
        costs, _ = nnls(a * weight[:, None], weight, maxiter=1000)
        weight = 1 / np.sqrt(1 + (np.abs(a @ costs - 1) / 0.5) ** 2)
    return costs


def read(files):
    """Per (matrix, precision, threads): {(format, kernel): one measured product}; and the kind of costs."""
    cases, kinds = {}, set()
    for file in files:
        with open(file, encoding="utf-8") as f:
            data = json.load(f)
        kind = "gpu" if data["device"].startswith("gpu") else "cpu" if data["machine"].get("by_intel", True) else "amd"
        kinds.add(kind)
        threads = data["threads"] if data["device"] == "cpu" else data["machine"]["processors"]
        there = of_threads(data["machine"], threads)
        for matrix in data["matrices"]:
            for r in matrix.get("results", []):
                if r["library"] != "furrow":
                    continue
                case = cases.setdefault((matrix["matrix"], r["precision"], threads), {})
                case[(r["format"], r["kernel"])] = {
                    "seconds": r["seconds"], "chosen": r["chosen"], "features": features(r, matrix["stats"], there, kind),
                    "guessed": features(r, matrix["stats"], data["machine"], kind)}
    if len(kinds) != 1:
        sys.exit("the results are of several kinds, " + ", ".join(sorted(kinds)) + ": give those of one at a time")
    return cases, kinds.pop()


def fit_all(cases, kind, without=None):
    ways = sorted({way for case in cases.values() for way in case})
    costs = {}
    for way in ways:
        known = [case[way] for key, case in cases.items() if way in case and key[0] != without]
        if len(known) >= 5:
            costs[way] = fit([one["features"] for one in known], [one["seconds"] for one in known])
            if kind != "gpu":
                at_least(way, costs[way])
    return costs


def at_least(way, costs):
    """What a fit to few large matrices does not see: elements of x from beyond the cache cost every kernel of a CPU but
    that of stencil something, and an entry of the longest row costs a kernel that does not split rows what the others
    cost on all threads together."""
    by_window, places, longest = (NAMES.index(n) for n in ["by_window", "places", "longest"])
    if way[0] != "stencil":
        costs[by_window] = max(costs[by_window], 0.2)
    if way[0] == "csr" and way[1] != "merge":
        costs[longest] = max(costs[longest], costs[places])


def first(case, costs):
    """The way that the library would take: what is not csr or coo must promise 5 %."""
    guesses = {way: float(np.dot(costs[way], one["guessed"])) * (1 if way[0] in ("csr", "coo") else 1.05)
               for way, one in case.items() if way in costs}
    return min(guesses, key=guesses.get)


def ratio(case, way):
    """Seconds of that way over those of the fastest."""
    return case[way]["seconds"] / min(one["seconds"] for one in case.values())


def report(label, ratios):
    r = np.array(list(ratios.values()))
    worst = sorted(ratios, key=ratios.get)[-5:]
    print(f"{label}: {np.exp(np.mean(np.log(r))):.3f} in the geometric mean of {len(r)}, worst {r.max():.2f}:",
          ", ".join(f"{m} {p} {t} threads {ratios[m, p, t]:.2f}" for m, p, t in reversed(worst)))


def initialiser(c, *more):
    return "{" + ", ".join([f".{n} = {v:.3g}" for n, v in zip(NAMES, c) if v > 1e-12] + list(more)) + "}"


def write(costs, kind, formats):
    """Replaces the numbers of the kernels that were fitted; the others stay."""
    files = set()
    for (name, kernel), c in costs.items():
        file = formats / name / "costs.hpp"
        more = [f".on_amd = &amd_{kernel}"] if kind == "cpu" else [f".learned = {LEARNED[kind]}"] if kind in LEARNED else []
        text, count = re.subn(rf"(kernel_costs {kind}_{kernel})\{{[^}}]*}};",
                              lambda m: m[1] + initialiser(c, *more) + ";", file.read_text())
        if count != 1:
            sys.exit(f"{file} has no costs of {kind}_{kernel}: declare 'inline constexpr kernel_costs {kind}_{kernel}{{}};' there "
                     "and name it in the list of kernels")
        file.write_text(text)
        files.add(file)
    subprocess.run(["clang-format", "-i", *sorted(files)], check=True)


def main():
    arguments = sys.argv[1:]
    writes = arguments[:1] == ["--write"]
    cases, kind = read(arguments[writes:])
    costs = fit_all(cases, kind)
    for (format_name, kernel), c in costs.items():
        known = [case[format_name, kernel] for case in cases.values() if (format_name, kernel) in case]
        error = np.array([np.dot(c, one["features"]) / one["seconds"] for one in known])
        print(f"{format_name:8} {kernel:10} {initialiser(c)}  // {len(known)} cases, "
              f"{np.exp(np.mean(np.abs(np.log(np.maximum(error, 1e-9))))):.2f}x off in the mean")
    chosen = {key: [way for way, one in case.items() if one["chosen"]] for key, case in cases.items()}
    made = {key: ratio(cases[key], ways[0]) for key, ways in chosen.items() if ways}
    if made:
        report("choice that was made", made)
    report("choice", {key: ratio(case, first(case, costs)) for key, case in cases.items()})
    by_matrix = {m: fit_all(cases, kind, without=m) for m in {key[0] for key in cases}}
    report("choice, each matrix left out of its fit",
           {key: ratio(case, first(case, by_matrix[key[0]])) for key, case in cases.items()})
    if writes:
        write(costs, kind, pathlib.Path(__file__).resolve().parent.parent / "src" / "formats")


if __name__ == "__main__":
    main()
