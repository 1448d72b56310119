#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What 1 to 4,096 GPUs would take for an iteration, worked out from times that were measured on one and two of them.

  scaling.py [--check FILE]      prints the tables of docs/scaling.md; with --check, fails where FILE has others

A box of N^3 unknowns with seven points is cut into as many boxes of one shape as there are GPUs, eight of them a host. A step takes
  local      START + ROW a row: kernels in a graph, and memory
  exchange   six faces of 8 bytes an unknown, hidden behind the inner rows of the product, as far as that is long enough
  sums       an all-reduce of a few numbers, inside the host and then between the hosts; `pipelined` hides it behind the product
docs/scaling.md says which of the numbers were measured, and where.
"""
import argparse
import math
import pathlib
import sys

START = 15.5e-6  # of a step of cg: four kernels in a graph
ROW = 41.8e-12  # a row of a step of cg
PRODUCT = 8.0e-12  # of it, the product
CYCLE = 138e-12  # a row of the finest level, for that level's part of a cycle
GPUS_A_HOST = 8
FACES = 6

# Inside a host and between hosts: seconds until the first byte, bytes a second, seconds of a small sum (between hosts: a stage of its tree).
NCCL = {"first": 82e-6, "rate": 284e9, "sum": 15.3e-6}
PEER = {"first": 5e-6, "rate": 393e9, "sum": 5e-6}
NETWORK = {"first": 8e-6, "rate": 50e9, "sum": 5e-6}

GPUS = (1, 2, 8, 64, 512, 4096)
METHODS = {"cg": (2, False), "one reduction": (1, False), "pipelined": (1, True)}  # sums a step, and whether they are hidden
PIPELINED_ROW = 30e-12  # a row: its recurrences pass over more vectors


def exchange(rows, gpus, host):
    """Until all six faces are there."""
    if gpus == 1:
        return 0.0
    face = 8 * rows ** (2 / 3)
    if gpus <= GPUS_A_HOST:
        return host["first"] + min(FACES, gpus - 1) * face / host["rate"]
    # A cube of eight GPUs is a host: half of the faces leave it.
    return max(host["first"] + FACES / 2 * face / host["rate"], NETWORK["first"] + FACES / 2 * face / NETWORK["rate"])


def small_sum(gpus, host):
    if gpus == 1:
        return 0.0
    hosts = max(1, gpus // GPUS_A_HOST)
    return host["sum"] + 2 * math.ceil(math.log2(hosts)) * NETWORK["sum"]


def step(unknowns, gpus, method, host):
    rows = unknowns / gpus
    sums, hidden = METHODS[method]
    product = PRODUCT * rows
    local = START + (ROW + (PIPELINED_ROW if hidden else 0)) * rows
    waiting = max(0.0, exchange(rows, gpus, host) - product)
    total = sums * small_sum(gpus, host)
    if hidden:
        total = max(0.0, total - product - waiting)
    return local + waiting + total


def cycle(unknowns, gpus, host, products_a_level=4, transfers=2, growth=3.2, coarsest=2000):
    """A multigrid cycle: a level has an eighth of the rows of the one before, the second one more entries a row; a residual goes down and a
    correction comes up, which nothing hides; sums for the coarsest, which one GPU solves."""
    total, n, cost = 0.0, unknowns, CYCLE
    while n > coarsest:
        rows = n / gpus
        local = cost * rows / products_a_level
        total += products_a_level * (3e-6 + local + max(0.0, exchange(rows, gpus, host) - local))
        total += transfers * exchange(rows, gpus, host)
        cost *= growth if n == unknowns else 1
        n /= 8
    return total + 2 * small_sum(gpus, host) + 10e-6


def table(title, head, rows):
    yield f"{title}\n"
    yield "| GPUs | " + " | ".join(head) + " |"
    yield "|---|" + "---|" * len(head)
    for gpus, cells in rows:
        yield f"| {gpus:,} | " + " | ".join(cells) + " |"
    yield ""


def time_text(seconds):
    return f"{1e6 * seconds:.0f} us" if seconds < 1e-3 else f"{1e3 * seconds:.2f} ms"


def strong(unknowns, host):
    for gpus in GPUS:
        times = [step(unknowns, gpus, m, host) for m in METHODS]
        one = step(unknowns, 1, "cg", host)
        yield gpus, [time_text(t) for t in times] + [f"{100 * one / min(times) / gpus:.0f} %"]


def weak(rows, host):
    for gpus in GPUS:
        one = step(rows, 1, "cg", host)
        yield gpus, [f"{100 * one / step(rows * gpus, gpus, m, host):.0f} %" for m in METHODS] + [
            time_text(cycle(rows * gpus, gpus, host))]


def tables():
    heads = [*METHODS, "of the best one"]
    for host, name in ((PEER, "sums and faces through peer memory inside a host"), (NCCL, "both by NCCL")):
        yield from table(f"**400^3 unknowns, {name}:** a step", heads, strong(400**3, host))
    yield from table("**1,000^3 unknowns, through peer memory:** a step", heads, strong(1000**3, PEER))
    yield from table("**200^3 unknowns on each GPU, through peer memory:** of one GPU's speed; a multigrid cycle", [*METHODS, "amg:sa, a cycle"],
                     weak(200**3, PEER))


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--check")
    check = p.parse_args().check
    text = "\n".join(tables())
    if check is None:
        print(text)
    elif text.strip() not in pathlib.Path(check).read_text():
        sys.exit(f"{check} has other tables than bench/scaling.py prints: put these there\n\n{text}")


if __name__ == "__main__":
    main()
