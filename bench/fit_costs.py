#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fits the costs of kernels (struct kernel_costs) to what `furrow bench spmv` measured.

usage: fit_costs.py [--write] RESULTS.json...       needs NumPy and SciPy; all of one kind of device

For every kernel: the sum that src/tune/model.cpp works out, its numbers all non-negative, such that the relative errors
over all matrices and precisions are least. Prints the initialisers, and how good the choices by them would be: the time
of the way that the model puts first over the time of the fastest, on the matrices themselves and, honestly, on each
matrix by costs that were fitted without it. --write puts them into src/formats/NAME/costs.hpp, kernel by kernel.
"""
import json
import pathlib
import re
import subprocess
import sys

import numpy as np
from scipy.optimize import nnls

NAMES = ["start", "memory", "by_row", "by_slice", "by_window", "rows", "places", "uneven", "surprising", "longest"]


def features(result, stats, machine):
    """What the numbers of kernel_costs stand beside: src/tune/model.cpp."""
    value = 8 if result["precision"] == "f64" else 4
    rate = machine["cache_read"] if result["bytes"] < machine["cache"] else machine["read"]
    sector = value * 4 / machine["cache_read"] * stats["nnz"]
    processors = machine["processors"]
    return [machine["latency"], result["bytes"] / rate, sector * stats["sectors_by_row"],
            sector * stats["sectors_by_slice"], sector * stats["sectors_by_window"],
            1e-9 * stats["rows"] / processors, 1e-9 * result["places"] / processors,
            1e-9 * stats["rows"] * stats["row_deviation"] / processors,
            1e-9 * stats["rows"] * stats["mispredicted_lengths"] / processors, 1e-9 * result["longest"]]


def fit(rows, seconds):
    """Weights of least relative error; the outliers of a first fit count less in a second one."""
    a, weight = np.array(rows) / np.array(seconds)[:, None], np.ones(len(seconds))
    for _ in range(8):
        costs, _ = nnls(a * weight[:, None], weight, maxiter=1000)
        weight = 1 / np.sqrt(1 + (np.abs(a @ costs - 1) / 0.5) ** 2)
    return costs


def read(files):
    """Per (matrix, precision): {(format, kernel): (features, seconds)}; and the kind of device."""
    cases, kinds = {}, set()
    for file in files:
        with open(file, encoding="utf-8") as f:
            data = json.load(f)
        kinds.add("gpu" if data["device"].startswith("gpu") else "cpu")
        for matrix in data["matrices"]:
            for r in matrix["results"]:
                if r["library"] != "furrow":
                    continue
                case = cases.setdefault((matrix["matrix"], r["precision"]), {})
                case[(r["format"], r["kernel"])] = (features(r, matrix["stats"], data["machine"]), r["seconds"])
    if len(kinds) != 1:
        sys.exit("the results are of a CPU and of a GPU: give those of one kind at a time")
    return cases, kinds.pop()


def fit_all(cases, without=None):
    ways = sorted({way for case in cases.values() for way in case})
    costs = {}
    for way in ways:
        known = [case[way] for (matrix, _), case in cases.items() if way in case and matrix != without]
        if len(known) >= 5:
            costs[way] = fit([f for f, _ in known], [s for _, s in known])
    return costs


def ratio(case, costs):
    """Seconds of the way that the model puts first over those of the fastest."""
    guesses = {way: float(np.dot(costs[way], f)) for way, (f, _) in case.items() if way in costs}
    return case[min(guesses, key=guesses.get)][1] / min(s for _, s in case.values())


def report(label, ratios):
    r = np.array(list(ratios.values()))
    worst = sorted(ratios, key=ratios.get)[-5:]
    print(f"{label}: {np.exp(np.mean(np.log(r))):.3f} in the geometric mean of {len(r)}, worst {r.max():.2f}:",
          ", ".join(f"{m} {p} {ratios[m, p]:.2f}" for m, p in reversed(worst)))


def initialiser(c):
    return "{" + ", ".join(f".{n} = {v:.3g}" for n, v in zip(NAMES, c) if v > 1e-12) + "}"


def write(costs, kind, formats):
    """Replaces the numbers of the kernels that were fitted; the others stay."""
    files = set()
    for (name, kernel), c in costs.items():
        file = formats / name / "costs.hpp"
        text, count = re.subn(rf"(kernel_costs {kind}_{kernel})\{{[^}}]*}};", lambda m: m[1] + initialiser(c) + ";",
                              file.read_text())
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
    costs = fit_all(cases)
    for (format_name, kernel), c in costs.items():
        known = [case[format_name, kernel] for case in cases.values() if (format_name, kernel) in case]
        error = np.array([np.dot(c, f) / s for f, s in known])
        print(f"{format_name:8} {kernel:10} {initialiser(c)}  // {len(known)} cases, "
              f"{np.exp(np.mean(np.abs(np.log(np.maximum(error, 1e-9))))):.2f}x off in the mean")
    report("choice", {key: ratio(case, costs) for key, case in cases.items()})
    by_matrix = {m: fit_all(cases, without=m) for m in {m for m, _ in cases}}
    report("choice, each matrix left out of its fit", {key: ratio(case, by_matrix[key[0]]) for key, case in cases.items()})
    if writes:
        write(costs, kind, pathlib.Path(__file__).resolve().parent.parent / "src" / "formats")


if __name__ == "__main__":
    main()
