# SPDX-License-Identifier: BSD-3-Clause
"""What a solve says of its answer."""
from __future__ import annotations

import math
import os
import warnings
from collections.abc import Iterator
from typing import Any

from . import _core, _gpu
from ._arrays import is_matrix
from ._errors import SolveWarning, UsageError
from ._files import NEVER_WRITTEN, bytes_of
from ._shown import MOST_DRAWN, shown, sketch_of

_NEGATIVE = {"not_positive_definite": -1, "breakdown": -2, "nan": -3, "diverged": -4, "singular": -5,
             "least_squares": -6}


#: What holds other things than a page.
_NO_PAGES = (".mtx", ".furrow", ".petsc", ".npy", ".txt", ".csv", ".gz", *NEVER_WRITTEN)


class Step:
    """What a monitor is told: `iteration`, `residual` (relative), `seconds`, and `x`, which is made when it is asked for.

    >>> import furrow, numpy as np
    >>> def at_the_third(step):
    ...     print(step.iteration, step.x.shape)
    ...     return step.iteration == 3
    >>> A = furrow.generate("poisson2d:20")
    >>> furrow.cg(A, np.arange(400.0), monitor=(at_the_third, 3)).status
    3 (400,)
    'interrupted'
    """

    __slots__ = ("iteration", "residual", "seconds", "_x")

    def __init__(self, iteration: int, residual: float, seconds: float, x: Any = None) -> None:
        self.iteration, self.residual, self.seconds, self._x = iteration, residual, seconds, x

    @property
    def x(self) -> Any:
        """The answer so far: a copy, made when it is first asked for, while the monitor runs."""
        if self._x is None:
            raise AttributeError("there is no x of one step where several right-hand sides are solved at once, or ranks "
                                 "have parts of it: say how often it is wanted, monitor=(f, 10)")
        if callable(self._x):
            self._x = self._x()
        return self._x

    def __repr__(self) -> str:
        return f"Step(iteration={self.iteration}, residual={self.residual:.3e}, seconds={self.seconds:.3f})"


class Result:
    """The answer of a solve, and what is known of it. ``x, info = result`` works as with SciPy.

    Attributes
    ----------
    x : ndarray
        The best answer seen, also where the solve stopped short; of the kind and on the device of b.
    info : int
        0 exactly for what was asked: converged, and least_squares where A is rectangular or the method is one of least
        squares; the iterations (at least 1) where the solve stopped short of it; negative where the
        matrix or the numbers do not suit the method.
    status, message : str
        Why it ended: a word and a sentence.
    success : bool
        Whether info is 0.
    iterations : int
    residual : float
        |b - A x| / |b|, computed anew from x.
    warning : str
        That x may be off by more than 1 %, though its residual is small, and how that is known; a `SolveWarning` of
        `furrow.solve` and of the functions says it, too. Empty where nothing speaks for it. Of several columns that of
        the first which has one, and of how many that is said.
    condition_estimate, error_estimate : float or None
        Of A, and of |x - A^-1 b| / |x|; None where the method knows nothing of them. Estimates, not bounds.
    estimated_by : str
        Who made these estimates where nothing else was held against them, as of a solver that was named: "the steps of
        cg alone; the solver auto looks further". Otherwise empty.
    history, history_seconds : ndarray
        Relative residuals by the recurrence, and when each was known.
    solver, precond, format, kernel, reason : str
    device : str
        "cpu" or "gpu:0"; where a method was found by "auto", each of `rungs` has its own. Of several GPUs "gpu:0,1".
    ranks : int or None
        How many solved together, in threads of the CPU or a GPU each; None where nobody asked for ranks.
    parts : list of dict
        Of each rank, as ``furrow solve --json`` says it: "device", "rows", "entries", "coupled" (of these, in columns of
        others), "halo", "neighbours" and "seconds" with "setup", "solve" and "waiting".
    arranged : str
        What `scale` and `reorder` did to the matrix; empty where they did nothing.
    factors : dict or None
        Of complete factors: "entries" and "bytes" that were made, "expected" and "expected_bytes" as the pattern says
        before, and whether these are a bound, "at_most".
    error : float or None
        The largest error of x, for the report: set it where the answer is known.
    columns : list of Result
        One for each of several right-hand sides, which x has side by side; the other attributes are those of the column
        that ended worst, and info is 0 only where all of them were solved. Empty for a single one.
    rungs : list of dict
        What was tried where no method was named; the last one gave the answer.
    levels : list of dict
        Of a multigrid preconditioner, the finest first: "rows", "entries", "bytes", "seconds" of set-up; on several GPUs
        also its "parts".
    seconds : dict
        Of "setup" and "solve".
    converted : dict or None
        Where A had to be made into rows first, which set-up does not count: what it was, "from", such as "csc" or
        "dense", and the "seconds" it took. None for CSR, for a `Matrix`, and from the second solve of a `Solver` on.
    resumed : dict or None
        Of a solve that went on from a checkpoint: "iterations", "seconds", "solver", "precond" and "relative_residual" of
        all runs before.
    checkpoints : int or None
        How many were written; None where none were asked for.
    bytes_per_iteration : float
    ritz : (float, float) or None
        The extreme Ritz values of A with its preconditioner, to 1 %, where conjugate gradients converged.

    Examples
    --------
    >>> import furrow, numpy as np
    >>> A = furrow.generate("poisson2d:10")
    >>> r = furrow.solve(A, A @ np.ones(100))
    >>> r.status, r.info, bool(abs(r.x - 1).max() < 1e-6)
    ('converged', 0, True)
    """

    def __init__(self, x: Any, report: Any, A: Any, *, solver: str, precond: Any, shape: Any, nnz: int, rtol: float,
                 atol: float, goal: float, dtype: Any, x0: str, wants_best_fit: bool,
                 where: int | None = None, converted: dict[str, Any] | None = None) -> None:
        self.x = x
        self.columns: list[Result] = []
        self._report, self._A = report, A
        self._sketch: dict[str, Any] | None = None
        self.status = report["status"]
        self.message = report["message"]
        self.success = self.status == "converged" or (wants_best_fit and self.status == "least_squares")
        self.iterations = report["iterations"]
        if self.success:
            self.info = 0
        else:
            self.info = _NEGATIVE.get(self.status, max(self.iterations, 1))
        self.residual = report["relative_residual"]
        self.warning: str = report["warning"]
        self.condition_estimate: float | None = report["condition_estimate"] or None
        self.error_estimate: float | None = report["error_estimate"] or None
        self.estimated_by: str = report["estimated_by"] if shape[0] >= shape[1] else ""
        self.error: float | None = None
        self.history, self.history_seconds = report["history"], report["history_seconds"]
        self.solver = report["solver"] = report["solver"] or solver
        self.precond = report["precond"] = precond or report["precond"]
        self.rungs, self.levels = report["rungs"], report["levels"]
        self.format, self.kernel, self.reason = report["format"], report["kernel"], report["reason"]
        self.arranged: str = report["arranged"]
        self.factors = {"entries": int(report["factor_entries"]), "bytes": int(report["factor_bytes"]),
                        "expected": int(report["factor_entries_expected"]),
                        "expected_bytes": int(report["factor_bytes_expected"]),
                        "at_most": report["factors_at_most"]} if report["factor_bytes"] > 0 else None
        self.device, self._device = _gpu.name_of(where), _core.describe(_gpu.core(where))
        self.seconds = {"setup": report["setup_seconds"], "solve": report["solve_seconds"]}
        self.converted = converted
        self.resumed: dict[str, Any] | None = None
        self.checkpoints: int | None = None
        self.parts: list[dict[str, Any]] = report.get("parts", [])
        self.ranks = len(self.parts) or None
        self.bytes_per_iteration = report["bytes_per_iteration"]
        known = report["largest_ritz"] > 0
        self.ritz = (report["smallest_ritz"], report["largest_ritz"]) if known else None
        self._shape, self._nnz, self._threads = shape, nnz, _core.threads()
        name, origin = (text if isinstance(text, str) else ""
                        for text in (getattr(A, "name", ""), getattr(A, "origin", "")))
        self._told: dict[str, Any] = {"name": name, "origin": origin, "rhs": "given", "x0": x0, "goal": goal, "rtol": rtol,
                      "atol": atol, "precision": "f32" if dtype.itemsize == 4 else "f64", "ordinal": _gpu.core(where)}

    def __iter__(self) -> Iterator[Any]:
        return iter((self.x, self.info))

    def __len__(self) -> int:
        return 2

    def __getitem__(self, k: Any) -> Any:
        return (self.x, self.info)[k]

    def to_dict(self) -> dict[str, Any]:
        """What ``furrow solve --json`` prints, as a dictionary that `json.dumps` takes.

        >>> import furrow, json, numpy as np
        >>> r = furrow.solve(np.eye(3), [1, 2, 3])
        >>> json.loads(json.dumps(r.to_dict()))["status"]
        'converged'
        """
        def number(v: Any) -> Any:
            return v if math.isfinite(v) else None

        r, told = self._report, self._told
        rungs = [{**rung, "relative_residual": number(rung["relative_residual"])} for rung in self.rungs]
        if self.ranks:
            together = len(rungs) if not r["gathered"] else r["rungs_together"]
            rungs = [{**rung, "ranks": self.ranks if k < together else 1} for k, rung in enumerate(rungs)]
        solve = rungs[-1]["seconds"]["solve"] if rungs else r["solve_seconds"]
        rate = self.bytes_per_iteration * self.iterations / solve if solve > 0 else 0.0
        return {
            "status": self.status, "message": self.message, "iterations": self.iterations,
            "relative_residual": number(self.residual), "relative_error": self.error,
            "normal_residual": number(r["normal_residual"]),
            "rows": self._shape[0], "cols": self._shape[1], "nnz": self._nnz,
            "solver": self.solver, "precond": self.precond,
            "precond_says": r["precond_says"], "levels": self.levels, "matrix_is": r["matrix_is"],
            "scale": r["scale"], "reorder": r["reorder"], "arranged": r["arranged"],
            **{key: int(r[key]) or None for key in ("factor_entries_expected", "factor_bytes_expected", "factor_entries",
                                                    "factor_bytes")},
            "factors_at_most": r["factors_at_most"],
            "untried": r["untried"], "condition_estimate": self.condition_estimate,
            "error_estimate": self.error_estimate, "estimated_by": self.estimated_by, "warning": self.warning,
            "rungs": rungs,
            "format": self.format, "kernel": self.kernel,
            "precision": told["precision"], "device": self._device, "threads": self._threads,
            "seconds": {"read": 0.0, **self.seconds, "parts": dict(r["setup_parts"])},
            "bytes_per_iteration": self.bytes_per_iteration,
            "history": [number(v) for v in self.history.tolist()], "matrix": told["name"], "rhs": told["rhs"],
            "x0": told["x0"], "right_hand_sides": max(len(self.columns), 1),
            "reason": self.reason, "restarts": r["restarts"], "waits": r["waits"],
            "inner_iterations": r["inner_iterations"],
            "rtol": told["rtol"], "atol": told["atol"], "gbps": rate * 1e-9,
            "memory": {"stored_bytes": r["stored_bytes"], "estimated_bytes": 0, "peak_bytes": 0},
            **({"resumed": {**self.resumed, "relative_residual": number(self.resumed["relative_residual"])}}
               if self.resumed else {}),
            **({} if self.checkpoints is None else {"checkpoints": self.checkpoints}),
            **({"converted": self.converted} if self.converted else {}),
            **({"ranks": self.ranks, "parts": self.parts, "partition": r["partition"], "cut": r["cut"],
                "gathered": r["gathered"]} if self.ranks else {}),
            **({"ranks_talk_through": r["way"]} if r.get("way") else {}),
            **({"columns": [column._as_column() for column in self.columns]} if self.columns else {}),
        }

    def _as_column(self) -> dict[str, Any]:
        """What ``furrow solve --json`` says of one of several right-hand sides."""
        d = self.to_dict()
        named = ("status", "message", "iterations", "restarts", "relative_residual", "normal_residual",
                 "condition_estimate", "error_estimate", "estimated_by", "warning", "solver", "precond")
        return {**{key: d[key] for key in named}, "seconds": dict(self.seconds)}

    def report(self, file: str | os.PathLike[str]) -> None:
        """Writes all that is known of the solve as one page of HTML, as ``furrow solve --report`` does.

        The page shows the matrix as it is now: a result keeps it alive. One that was pickled is without it, and so is
        its page, unless the page was written before. Where the answer is known, set `error` to the largest error of x
        first.

        >>> import furrow, numpy as np, os, tempfile
        >>> r = furrow.solve(furrow.generate("poisson2d:9"), np.ones(81))
        >>> file = os.path.join(tempfile.mkdtemp(), "solve.html")
        >>> r.report(file)
        >>> "<h1 class=\\"good\\">Converged</h1>" in open(file, encoding="utf-8").read()
        True
        """
        name = bytes_of(file)
        if os.fsdecode(name).lower().endswith(_NO_PAGES):
            raise UsageError(f"{os.fsdecode(name)}: a report is written as .html: choose this ending")
        if self._sketch is None:
            self._sketch = self._sketched()
        _core.write_report(name, self._report, {**self._told, "error": self.error}, self._sketch)

    def _sketched(self) -> dict[str, Any]:
        """What a page shows of the matrix, and what it was converted from."""
        sketch = self._sketch_of_matrix()
        if self.converted:
            said = f"from {self.converted['from']}, in {1e3 * self.converted['seconds']:.3g} ms"
            sketch["facts"] = [*sketch["facts"], ("converted", said)]
        return sketch

    def _sketch_of_matrix(self) -> dict[str, Any]:
        A = self._A
        if is_matrix(A) or isinstance(A, _core.Matrix):
            return sketch_of(A, self._told["ordinal"], self._told["precision"] == "f32")
        rows, cols = self._shape
        gone = "not kept with this result" if A is None else "not stored: the matrix is known by its products alone"
        return {"rows": rows, "cols": cols, "nnz": self._nnz, "picture": "", "row_lengths": "", "expected": [],
                "facts": [("size", f"{rows:,} × {cols:,}"), ("entries", gone)]}

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_A": None}

    def plot(self, ax: Any = None) -> Any:
        """The residual over the iterations, on a Matplotlib axis; needs Matplotlib where no axis is given.

        >>> import furrow
        >>> from unittest.mock import Mock
        >>> axis = Mock()  # matplotlib.pyplot.gca()
        >>> furrow.solve([[2.0]], [1.0]).plot(axis) is axis, axis.semilogy.call_count
        (True, 1)
        """
        if ax is None:
            import matplotlib.pyplot as plt

            ax = plt.gca()
        ax.semilogy(self.history)
        ax.set(xlabel="iteration", ylabel="|b - A x| / |b|",
               title=f"{self.status.replace('_', ' ')}: {self.residual:.1e} after {self.iterations:,} iterations")
        return ax

    def __str__(self) -> str:
        text: str = self.message + "."
        if self.columns:
            good = sum(column.success for column in self.columns)
            text = f"{good} of {len(self.columns)} right-hand sides solved; the worst: {text}"
        if text[1] != " ":  # not the "b" of "b is zero"
            text = text[0].upper() + text[1:]
        if self.residual == self.residual:  # known
            text += f" |b - A x| / |b| = {self.residual:.3e}, recomputed."
        return f"{text} Warning: {self.warning}." if self.warning else text

    def __repr__(self) -> str:
        of = f"{self._method()}, {self.format} ({self.kernel})"
        return f"<furrow.Result: {self} {of}>"

    def _method(self) -> str:
        """The solver and the preconditioner; one that ended before it began has none."""
        return f"{self.solver} with {self.precond}" if self.precond else self.solver

    def _repr_html_(self) -> str:
        rows = {"residual": f"{self.residual:.3e}, recomputed", "iterations": self.iterations,
                "solver": self._method(),
                "format": f"{self.format} ({self.kernel}): {self.reason}",
                "time": f"set-up {self.seconds['setup']:.3g} s, solve {self.seconds['solve']:.3g} s"}
        curve = _core.draw_convergence(self._report, self._told["goal"])
        if self._sketch is None and self._A is not None and self._nnz <= MOST_DRAWN:
            self._sketch = self._sketched()
        return shown(str(self), rows, curve, self._sketch["picture"] if self._sketch else "")

    def _warn(self) -> None:
        if self.info < 0 or self.warning:
            warnings.warn(str(self), SolveWarning, stacklevel=4)
