#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Solves every system of some folders by Furrow's `auto` and by rivals, and judges all answers alike.

  real_systems.py FURROW FOLDER... [--rivals NAME,...] [--program FILE] [--seconds 60] [--rival-seconds S] [--rtol 1e-8] [--device cpu] [--variant NAME]
                  [--jobs N] [--cores 2] [--ranks N] [--commit HASH] [--json FILE]

b is A * ones. An answer counts as solved where |b - A x| <= 1.1 rtol |b| in long double, whatever its tool says; `false` are
answers that a tool called converged and that are not. Rivals are those of system_rivals.py by their names, or `all`: splu, bicgstab+spilu, gmres+spilu,
cg+jacobi (SciPy), pyamg, and with --program those of system_rivals.cpp, eigen:..., amgcl and petsc:...; one that is not installed is named and left out. Each
runs in a process of its own, for --rival-seconds at most, as many as Furrow where none are named. Times are set-up and solve without reading: `seconds` of the
first solve of a process, and, where the package `furrow` can be imported, `again`, of repeated ones (their median). Needs NumPy and SciPy.

Beside the fastest rival Furrow's times are compared three times: first solves, repeated ones, and these with the rivals alone whose x is right to 1 %.

Rectangular systems have a b outside the range of A, half A * ones and half noise, and are solved by Furrow's `auto`, `lsmr` and `lsqr` beside SciPy's
`lsmr` and `lsqr`. An answer counts as solved where |A'r| <= 1.1 rtol |A| |r|, r = b - A x in long double and |A| = sqrt(|A|_1 |A|_inf) as in Furrow, or
where |r| is as small as that of a square system.

--jobs N has N systems under way at a time, each with its reading and all its tools on --cores cores of its own, as `taskset` would; by itself one, on all of them.
--ranks N solves each system on N ranks, too, threads of one process, and prints where the verdict, the warning or the truth differ from those of one.

The JSON names the commit: --commit, FURROW_COMMIT, or that of this checkout.

Variants are systems that no threshold was fitted to: `permuted` (rows and columns, alike where A is symmetric), `scaled` (rows and
columns by powers of 2 from 2^-10 to 2^10, D A D where A is symmetric), `perturbed` (each value by up to 1e-6 of itself).
"""
import argparse
import json
import math
import multiprocessing
import os
import pathlib
import subprocess
import tempfile
import time
import warnings

import numpy as np
import scipy.io
import scipy.sparse as sp

import system_rivals

warnings.simplefilter("ignore")


def way_of(said):
    """The rungs; on ranks a star is behind those that the first one climbed alone."""
    rungs = said.get("rungs") or [said]
    return " > ".join(f"{r['solver']}+{r['precond']}{'*' if r.get('ranks') == 1 else ''}" for r in rungs)


def by_furrow(file, b, folder, options, method="auto", ranks=0):
    np.save(folder / "b.npy", b)
    x = folder / "x.npy"
    x.unlink(missing_ok=True)
    command = [options.furrow, "solve", file, "--solver", method, "-b", folder / "b.npy", "-o", x, "--rtol", str(options.rtol), "--device", options.device,
               "--time-limit", str(options.seconds), "--json", *(["--ranks", str(ranks)] if ranks else [])]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=4 * options.seconds)
        said = json.loads(done.stdout)
    except (subprocess.TimeoutExpired, ValueError):
        return {"why": "no report"}
    if "seconds" not in said:
        return {"why": said.get("message", "?")}
    return {"x": np.load(x) if x.exists() else None, "said": said["status"] in ("converged", "least_squares"),
            "seconds": said["seconds"]["setup"] + said["seconds"]["solve"], "why": said["message"], "warning": said.get("warning", ""),
            "status": said["status"], "way": way_of(said)}


def judge(got, a, b, rtol):
    """Replaces x by the residual and the error that it has."""
    x = got.pop("x", None)
    if x is None or x.shape != (a.shape[1],) or not np.isfinite(x).all():
        return {**got, "solved": False, "false": bool(got.get("said"))}
    wide = x.astype(np.longdouble)
    exact = a.astype(np.longdouble)
    r = b - exact @ wide
    residual = float(np.linalg.norm(r) / np.linalg.norm(b))
    solved = bool(residual <= 1.1 * rtol)
    got["said"] = bool(got.get("said"))
    if a.shape[0] == a.shape[1]:
        return {**got, "solved": solved, "false": got["said"] and not solved, "residual": residual,
                "error": float(abs(wide - 1).max())}
    size = math.sqrt(float(abs(a).sum(axis=0).max()) * float(abs(a).sum(axis=1).max()))
    normal = float(np.linalg.norm(exact.T @ r) / (size * np.linalg.norm(r))) if r.any() else 0.0
    solved = solved or normal <= 1.1 * rtol
    return {**got, "solved": solved, "false": got["said"] and not solved, "residual": residual, "normal_residual": normal}


def varied(a, variant):
    """Drawn from a fixed seed; a symmetric matrix stays symmetric."""
    draw = np.random.default_rng(1)
    n, m = a.shape
    symmetric = n == m and abs(a - a.T).max() == 0
    if variant == "permuted":
        rows = draw.permutation(n)
        columns = rows if symmetric else draw.permutation(m)
        return sp.csr_array(a[rows][:, columns])
    if variant == "scaled":
        rows = np.exp2(draw.integers(-10, 11, n))
        columns = rows if symmetric else np.exp2(draw.integers(-10, 11, m))
        return sp.csr_array(sp.diags_array(rows) @ a @ sp.diags_array(columns))
    entries = a.tocoo()
    row, column = entries.coords
    low, high = (np.minimum(row, column), np.maximum(row, column)) if symmetric else (row, column)
    places = np.unique(low.astype(np.int64) * m + high, return_inverse=True)[1]
    change = 1 + 1e-6 * draw.uniform(-1, 1, places.max(initial=0) + 1)
    return sp.csr_array(sp.coo_array((entries.data * change[places], (row, column)), a.shape))


def files_of(folders):
    """The largest first: nobody waits for one that was begun last."""
    return sorted((file for folder in folders for file in folder.glob("*.mtx*")), key=lambda file: (-file.stat().st_size, file.name))


def system_of(file, variant, scratch):
    """The file that Furrow is given, its name, and A; nothing of a complex or a dense one."""
    a = scipy.io.mmread(file)
    if not sp.issparse(a) or np.iscomplexobj(a):
        return None
    a = sp.csr_array(a.astype(float))
    name = file.name.split(".")[0]
    if variant:
        a = varied(a, variant)
        file = scratch / "a.mtx"
        scipy.io.mmwrite(file, a, symmetry="general", precision=17)
    return file, name, a


SQUARE, RECTANGULAR = ["furrow"], ["furrow", "furrow_lsmr", "furrow_lsqr", "scipy_lsmr", "scipy_lsqr"]


def right_hand_side(a):
    b = a @ np.ones(a.shape[1])
    draw = np.random.default_rng(1)
    if a.shape[0] != a.shape[1]:
        noise = draw.standard_normal(a.shape[0])
        return b + noise * (np.linalg.norm(b) or 1) / np.linalg.norm(noise)
    return b if b.any() else a @ draw.standard_normal(a.shape[1])


def solve_all(file, a, tools, folder, options):
    """What each tool makes of a system, judged."""
    b = right_hand_side(a)
    results, rivals = {}, {**system_rivals.all_of(options.program), **system_rivals.LEAST_SQUARES}
    for tool in tools:
        name, _, method = tool.partition("_")
        if tool == "furrow_ranks":
            got = by_furrow(file, b, folder, options, ranks=options.ranks)
        elif name == "furrow":
            got = by_furrow(file, b, folder, options, method or "auto")
            if options.again and not method and "seconds" in got:
                package = system_rivals.furrow(options.device)
                got["again"] = system_rivals.answer_of(package, a, b, options.rtol, 2 * options.seconds).get("again")
        else:
            got = system_rivals.answer_of(rivals[tool], a, b, options.rtol, options.rival_seconds or options.seconds)
        results[tool] = judge(got, a, b, options.rtol)
    return results


def line_of(name, a, results):
    f = results["furrow"]
    small = f.get("normal_residual", f.get("error", 1))
    return (f"{name:28} {a.shape[0]:7} {'solved' if f['solved'] else 'NOT   '} {f.get('seconds', 0):8.3f} s  {f.get('residual', 1):.1e}  {small:.1e}  "
            f"{f.get('way', '')}")


def work(options, files, taken, folder, told):
    """Takes one file after the other, and tells what has come of each: a name, its kind, results."""
    while True:
        with taken.get_lock():
            at = taken.value
            taken.value += 1
        if at >= len(files):
            return
        one = system_of(files[at], options.variant, folder)
        if one is None:
            continue
        file, name, a = one
        square = a.shape[0] == a.shape[1]
        results = solve_all(file, a, options.tools if square else options.rectangular, folder, options)
        print(line_of(name, a, results), flush=True)
        told((name, "square" if square else "rectangular", results))


def work_on(cores, options, files, taken, folder, results):
    os.sched_setaffinity(0, cores)
    work(options, files, taken, folder, results.put)


def run_jobs(options, folder):
    """Results of square and of rectangular systems, by their names."""
    done = {"square": {}, "rectangular": {}}

    def keep(one):
        done[one[1]][one[0]] = one[2]

    files = files_of(options.folders)
    context = multiprocessing.get_context("spawn")  # numpy starts anew, with as many threads as it is told
    taken = context.Value("l", 0)
    if options.jobs == 1:
        work(options, files, taken, folder, keep)
    else:
        os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = str(options.cores)
        there, results, workers = sorted(os.sched_getaffinity(0)), context.SimpleQueue(), []
        for k in range(options.jobs):
            own = folder / str(k)
            own.mkdir()
            cores = there[k * options.cores:(k + 1) * options.cores]
            workers.append(context.Process(target=work_on, args=(cores, options, files, taken, own, results)))
            workers[-1].start()
        while any(w.is_alive() for w in workers) or not results.empty():
            if results.empty():
                time.sleep(0.05)
            else:
                keep(results.get())
        for w in workers:
            w.join()
        if any(w.exitcode for w in workers):
            raise SystemExit("a worker died: its systems are missing")
    return {kind: dict(sorted(results.items())) for kind, results in done.items()}


def table(tools, results):
    """Markdown: what each tool solves, and its seconds beside those of Furrow's `auto` where both do."""
    lines = [f"| {len(results)} systems | solved | false | seconds over Furrow's, geometric mean |", "|---|---|---|---|"]
    for tool in tools:
        both = [r for r in results.values() if r[tool]["solved"] and r["furrow"]["solved"]]
        ratios = [math.log(r[tool]["seconds"] / r["furrow"]["seconds"]) for r in both]
        mean = f"{math.exp(sum(ratios) / len(ratios)):.2f}" if ratios else ""
        lines.append(f"| {tool} | {sum(r[tool]['solved'] for r in results.values())} | {sum(r[tool]['false'] for r in results.values())} "
                     f"| {mean} |")
    return "\n".join(lines)


def differences(results):
    """Lines about systems that ranks judge otherwise than one: what they say, and what is true."""
    lines = []
    for name, r in results.items():
        one, ranks = r["furrow"], r["furrow_ranks"]
        for what, of in (("status", lambda t: t.get("status", t.get("why"))), ("solved", lambda t: t["solved"]), ("false", lambda t: t["false"]),
                         ("warned", lambda t: bool(t.get("warning")))):
            if of(one) != of(ranks):
                lines.append(f"{name}: {what} {of(one)} on one rank, {of(ranks)} on several ({one.get('way')} | {ranks.get('way')})")
    return lines


def beside_the_best(tools, results, clock="seconds", most_error=math.inf):
    """Furrow's seconds over those of the fastest rival that solves the system too, with an error up to that one: the mean, and the worst above 0.1 s."""
    ratios = {}
    for name, r in results.items():
        best = min((r[tool][clock] for tool in tools[1:] if r[tool]["solved"] and r[tool]["error"] <= most_error), default=None)
        if best and r["furrow"]["solved"] and r["furrow"].get(clock):
            ratios[name] = r["furrow"][clock] / best
    if not ratios:
        return ""
    mean = math.exp(sum(map(math.log, ratios.values())) / len(ratios))
    long = {name: ratio for name, ratio in ratios.items() if results[name]["furrow"][clock] > 0.1}
    worst = max(long, key=long.get, default=None)
    how = {"seconds": "first", "again": "repeated"}[clock] + (f", of x right to {most_error:.0%}" if most_error < math.inf else "")
    text = f"Furrow's seconds over the fastest rival's ({how}), {len(ratios)} systems: {mean:.2f} in the geometric mean"
    return text + (f", at worst {long[worst]:.2f} above 0.1 s ({worst})" if worst else "")


def all_beside_the_best(tools, results):
    return "\n".join(filter(None, (beside_the_best(tools, results), beside_the_best(tools, results, "again"),
                                   beside_the_best(tools, results, "again", 0.01))))


def lines_of(report):
    """JSON with a line for each system."""
    def text(value):
        return json.dumps(value, default=lambda v: v.item())
    lines = []
    for key, value in report.items():
        if key in ("results", "rectangular") and value:
            value = "{\n" + ",\n".join(f"  {text(name)}: {text(results)}" for name, results in value.items()) + "\n }"
        else:
            value = text(value)
        lines.append(f' "{key}": {value}')
    return "{\n" + ",\n".join(lines) + "\n}\n"


def rivals_that_are_there(parser, options):
    """The names that were asked for, without those that are not installed."""
    known = system_rivals.all_of(options.program)
    asked = [*known] if options.rivals == "all" else [*filter(None, options.rivals.split(","))]
    if unknown := set(asked) - set(known):
        parser.error(f"there is no rival {', '.join(sorted(unknown))}: there are {', '.join(known)}")
    missing = {name: why for name in asked if (why := system_rivals.why_not(known[name].module))}
    for name, why in missing.items():
        print(f"{name} is left out: {why}")
    return [name for name in asked if name not in missing]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("furrow")
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    parser.add_argument("--rivals", default="")
    parser.add_argument("--program")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--rival-seconds", type=float)
    parser.add_argument("--rtol", type=float, default=1e-8)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--variant", choices=["permuted", "scaled", "perturbed"])
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--ranks", type=int, default=0)
    parser.add_argument("--commit", default=os.environ.get("FURROW_COMMIT", ""))
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_intermixed_args()
    there = len(os.sched_getaffinity(0))
    if options.jobs < 1 or options.cores < 1 or (options.jobs > 1 and options.jobs * options.cores > there):
        parser.error(f"{options.jobs} jobs of {options.cores} cores do not fit on the {there} cores of this machine")
    options.again = not system_rivals.why_not("furrow")
    on_ranks = ["furrow_ranks"] if options.ranks else []
    options.tools = [*SQUARE, *on_ranks, *rivals_that_are_there(parser, options)]
    options.rectangular = [*SQUARE, *on_ranks] if on_ranks else RECTANGULAR
    if not options.commit:
        here = subprocess.run(["git", "-C", pathlib.Path(__file__).parent, "rev-parse", "HEAD"], capture_output=True, text=True)
        options.commit = here.stdout.strip()
    with tempfile.TemporaryDirectory() as folder:
        done = run_jobs(options, pathlib.Path(folder))
    square, rectangular = done["square"], done["rectangular"]
    if square:
        print(table(options.tools, square))
        print(all_beside_the_best([t for t in options.tools if t not in on_ranks], square))
    if rectangular:
        print(table(options.rectangular, rectangular))
    apart = differences({**square, **rectangular}) if options.ranks else []
    if options.ranks:
        print("\n".join([f"on {options.ranks} ranks {len(apart)} differences in {len(square) + len(rectangular)} systems", *apart]))
    if options.json:
        report = {"commit": options.commit, "rtol": options.rtol, "seconds": options.seconds, "rival_seconds": options.rival_seconds or options.seconds, "device": options.device, "variant": options.variant, **({"ranks": options.ranks, "differences": apart} if options.ranks else {}),
                  "jobs": options.jobs, "cores": options.cores if options.jobs > 1 else there, "results": square, "rectangular": rectangular}
        options.json.write_text(lines_of(report))


if __name__ == "__main__":
    main()
