#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The tables of docs/gemv.md from a results.json of `furrow bench gemv`: gemv_table.py FILE [TYPES]"""
import json
import math
import sys

file = sys.argv[1]
types = sys.argv[2].split(",") if len(sys.argv) > 2 else ["f64", "f32", "f16"]
with open(file, encoding="utf-8") as f:
    run = json.load(f)
rows = [x for x in run["results"] if x["layout"] == "col"]
cases = [(t, op) for t in types for op in ("n", "t")]


def cell(shape, kind):
    found = [x for x in rows if (x["rows"], x["cols"]) == shape and (x["type"], x["op"]) == kind]
    if not found:
        return ""
    ratios = [f' ({y["ratio"]:.2f})' for y in found[0]["rivals"]]
    return f'{found[0]["fraction"]:.2f}' + "".join(ratios)


print("| matrix | " + " | ".join(f"{t} {op}" for t, op in cases) + " |")
print("|---" * (len(cases) + 1) + "|")
for shape in dict.fromkeys((x["rows"], x["cols"]) for x in rows):
    print(f"| {shape[0]} x {shape[1]} | " + " | ".join(cell(shape, kind) for kind in cases) + " |")

print(f'\n{run["device"]}, ceiling {run["ceiling_gbps"]:.0f} GB/s, commit {run["commit"]}')
size = {"f64": 8, "f32": 4, "f16": 2, "bf16": 2}
large = [x for x in run["results"] if x["rows"] * x["cols"] * size[x["type"]] >= 256e6]
low = [x for x in large if x["fraction"] < 0.92]
print(f"of {len(large)} products with a matrix of 256 MB or more, {len(low)} are below 0.92 of the ceiling")
for library in run["summary"]:
    ratios = [(y["ratio"], x) for x in run["results"] for y in x["rivals"] if y["library"] == library]
    mean = math.exp(sum(math.log(r) for r, _ in ratios) / len(ratios))
    slow = [r for r, _ in ratios if r < 1 / 1.03]
    worst, at = min(ratios, key=lambda r: r[0])
    print(f'{library}: mean {mean:.3f} of {len(ratios)}, {len(slow)} more than 3 percent slower, worst {worst:.3f}: '
          f'{at["rows"]} x {at["cols"]} {at["type"]} {at["layout"]} {at["op"]}')
