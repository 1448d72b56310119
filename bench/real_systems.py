#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Solves every square system of some folders by Furrow's `auto` and by rivals, and judges all answers alike.

  real_systems.py FURROW FOLDER... [--rivals NAME,...] [--seconds 60] [--rtol 1e-8] [--device cpu] [--variant NAME] [--json FILE]

b is A * ones. An answer counts as solved where |b - A x| <= 1.1 rtol |b| in long double, whatever its tool says; `false` are
answers that a tool called converged and that are not. Rivals: splu, bicgstab+spilu, gmres+spilu, cg+jacobi (SciPy), pyamg (where
it is installed); each runs in a process of its own. Times are set-up and solve without reading. Needs NumPy and SciPy.

Variants are systems that no threshold was fitted to: `permuted` (rows and columns, alike where A is symmetric), `scaled` (rows and
columns by powers of 2 from 2^-10 to 2^10, D A D where A is symmetric), `perturbed` (each value by up to 1e-6 of itself).
"""
import argparse
import json
import math
import multiprocessing
import pathlib
import subprocess
import tempfile
import time
import warnings

import numpy as np
import scipy.io
import scipy.sparse as sp
import scipy.sparse.linalg as spl

warnings.simplefilter("ignore")


def of_scipy(method, a, b, rtol):
    """x, whether SciPy says that it converged."""
    solver, precond = method.split("+")
    if precond == "spilu":
        factors = spl.spilu(a.tocsc())
        m = spl.LinearOperator(a.shape, factors.solve)
    else:
        d = a.diagonal()
        m = sp.diags_array(1 / np.where(d == 0, 1, d))
    x, info = getattr(spl, solver)(a, b, rtol=rtol, maxiter=10000, M=m)
    return x, info == 0


def of_pyamg(a, b, rtol):
    import pyamg
    residuals = []
    x = pyamg.solve(a, b, tol=rtol, verb=False, residuals=residuals)
    return x, bool(residuals) and residuals[-1] <= rtol * residuals[0]


def rival(name, a, b, rtol):
    if name == "splu":
        return spl.splu(a.tocsc()).solve(b), True
    return of_pyamg(a, b, rtol) if name == "pyamg" else of_scipy(name, a, b, rtol)


def run_rival(name, a, b, rtol, answer):
    began = time.perf_counter()
    try:
        x, said = rival(name, a, b, rtol)
        answer.send({"x": x, "said": said, "seconds": time.perf_counter() - began})
    except Exception as e:
        answer.send({"why": f"{type(e).__name__}: {e}"[:200]})


def by_rival(name, a, b, options):
    ours, theirs = multiprocessing.Pipe(False)
    child = multiprocessing.Process(target=run_rival, args=(name, a, b, options.rtol, theirs))
    child.start()
    got = {"why": "too slow"}
    try:
        if ours.poll(options.seconds):
            got = ours.recv()
    except EOFError:
        got = {"why": "died"}
    child.kill()
    child.join()
    return got


def by_furrow(file, b, folder, options):
    np.save(folder / "b.npy", b)
    x = folder / "x.npy"
    x.unlink(missing_ok=True)
    command = [options.furrow, "solve", file, "-b", folder / "b.npy", "-o", x, "--rtol", str(options.rtol), "--device", options.device,
               "--time-limit", str(options.seconds), "--json"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=4 * options.seconds)
        said = json.loads(done.stdout)
    except (subprocess.TimeoutExpired, ValueError):
        return {"why": "no report"}
    if "seconds" not in said:
        return {"why": said.get("message", "?")}
    return {"x": np.load(x) if x.exists() else None, "said": said["status"] == "converged",
            "seconds": said["seconds"]["setup"] + said["seconds"]["solve"], "why": said["message"], "warning": said.get("warning", ""),
            "way": " > ".join(f"{r['solver']}+{r['precond']}" for r in said["rungs"])}


def judge(got, a, b, rtol):
    """Replaces x by the residual and the error that it has."""
    x = got.pop("x", None)
    if x is None or not np.isfinite(x).all():
        return {**got, "solved": False, "false": bool(got.get("said"))}
    wide = x.astype(np.longdouble)
    residual = float(np.linalg.norm(b - a.astype(np.longdouble) @ wide) / np.linalg.norm(b))
    solved = bool(residual <= 1.1 * rtol)
    got["said"] = bool(got.get("said"))
    return {**got, "solved": solved, "false": got["said"] and not solved, "residual": residual,
            "error": float(abs(wide - 1).max())}


def varied(a, variant):
    """Drawn from a fixed seed; a symmetric matrix stays symmetric."""
    draw = np.random.default_rng(1)
    n = a.shape[0]
    symmetric = abs(a - a.T).max() == 0
    if variant == "permuted":
        rows = draw.permutation(n)
        columns = rows if symmetric else draw.permutation(n)
        return sp.csr_array(a[rows][:, columns])
    if variant == "scaled":
        rows = np.exp2(draw.integers(-10, 11, n))
        columns = rows if symmetric else np.exp2(draw.integers(-10, 11, n))
        return sp.csr_array(sp.diags_array(rows) @ a @ sp.diags_array(columns))
    entries = a.tocoo()
    row, column = entries.coords
    low, high = (np.minimum(row, column), np.maximum(row, column)) if symmetric else (row, column)
    places = np.unique(low.astype(np.int64) * n + high, return_inverse=True)[1]
    change = 1 + 1e-6 * draw.uniform(-1, 1, places.max(initial=0) + 1)
    return sp.csr_array(sp.coo_array((entries.data * change[places], (row, column)), a.shape))


def systems(folders, variant, scratch):
    """The file that Furrow is given, its name, and A."""
    for folder in folders:
        for file in sorted(folder.glob("*.mtx*")):
            a = scipy.io.mmread(file)
            if not sp.issparse(a) or a.shape[0] != a.shape[1] or np.iscomplexobj(a):
                continue
            a = sp.csr_array(a.astype(float))
            name = file.name.split(".")[0]
            if variant:
                a = varied(a, variant)
                file = scratch / "a.mtx"
                scipy.io.mmwrite(file, a, symmetry="general", precision=17)
            yield file, name, a


def table(tools, results):
    """Markdown: what each tool solves, and its seconds beside Furrow's where both do."""
    lines = [f"| {len(results)} systems | solved | false | seconds over Furrow's, geometric mean |", "|---|---|---|---|"]
    for tool in tools:
        both = [r for r in results.values() if r[tool]["solved"] and r["furrow"]["solved"]]
        ratios = [math.log(r[tool]["seconds"] / r["furrow"]["seconds"]) for r in both]
        mean = f"{math.exp(sum(ratios) / len(ratios)):.2f}" if ratios else ""
        lines.append(f"| {tool} | {sum(r[tool]['solved'] for r in results.values())} | {sum(r[tool]['false'] for r in results.values())} "
                     f"| {mean} |")
    return "\n".join(lines)


def beside_the_best(tools, results):
    """Furrow's seconds over those of the fastest rival that solves the system too: the mean, and the worst above 0.1 s."""
    ratios = {}
    for name, r in results.items():
        best = min((r[tool]["seconds"] for tool in tools[1:] if r[tool]["solved"]), default=None)
        if best and r["furrow"]["solved"]:
            ratios[name] = r["furrow"]["seconds"] / best
    if not ratios:
        return ""
    mean = math.exp(sum(map(math.log, ratios.values())) / len(ratios))
    long = {name: ratio for name, ratio in ratios.items() if results[name]["furrow"]["seconds"] > 0.1}
    worst = max(long, key=long.get, default=None)
    text = f"Furrow's seconds over the fastest rival's, {len(ratios)} systems: {mean:.2f} in the geometric mean"
    return text + (f", at worst {long[worst]:.2f} above 0.1 s ({worst})" if worst else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("furrow")
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    parser.add_argument("--rivals", default="")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--rtol", type=float, default=1e-8)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--variant", choices=["permuted", "scaled", "perturbed"])
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_intermixed_args()
    tools = ["furrow", *filter(None, options.rivals.split(","))]
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        for file, name, a in systems(options.folders, options.variant, pathlib.Path(folder)):
            b = a @ np.ones(a.shape[1])
            if not b.any():
                b = a @ np.random.default_rng(1).standard_normal(a.shape[1])
            got = {"furrow": by_furrow(file, b, pathlib.Path(folder), options)}
            got.update({name: by_rival(name, a, b, options) for name in tools[1:]})
            results[name] = {tool: judge(g, a, b, options.rtol) for tool, g in got.items()}
            f = results[name]["furrow"]
            print(f"{name:28} {a.shape[0]:7} {'solved' if f['solved'] else 'NOT   '} {f.get('seconds', 0):8.3f} s  {f.get('residual', 1):.1e}  "
                  f"{f.get('error', 1):.1e}  {f.get('way', '')}", flush=True)
    print(table(tools, results))
    print(beside_the_best(tools, results))
    if options.json:
        options.json.write_text(json.dumps({"rtol": options.rtol, "seconds": options.seconds, "device": options.device, "variant": options.variant,
                                            "results": results},
                                           indent=1, default=lambda v: v.item()) + "\n")


if __name__ == "__main__":
    main()
