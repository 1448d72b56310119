# SPDX-License-Identifier: BSD-3-Clause
"""Several right-hand sides: the columns of an array, solved in one call."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from ._arrays import real_type
from ._checks import check_residuals, numbers
from ._errors import UsageError
from ._homes import Home
from ._result import Result


def are_columns(b: Any) -> bool:
    """Whether b is a block of vectors; one of a single column is solved as the vector it is."""
    shape = b.shape if hasattr(b, "shape") else numbers(b, "b").shape
    return len(shape) == 2 and shape[1] != 1


def one_only(b: Any, callback: Any, residuals: Any) -> None:
    """What hears of one solve only is refused where there are several."""
    check_residuals(residuals)
    for what, name in ((callback, "callback"), (residuals, "residuals")):
        if what is not None and are_columns(b):
            raise UsageError(f"{name} is for one right-hand side, but b has {np.shape(b)[1]}: leave it out, "
                             "Result.columns has a history for each, or solve for one column after the other")


def as_lines(home: Home, x: Any, n: int, columns: int | None, name: str) -> Any:
    """A contiguous array whose lines are the columns of x, which has n rows, and `columns` columns where that is known."""
    x = home.enter(x, name)
    dtype = real_type(home.dtype(x))
    if x.ndim != 2 or x.shape[0] != n or columns not in (None, x.shape[1]):
        raise UsageError(f"{name} is of shape {tuple(x.shape)}, but ({n}, {columns or 'k'}) is asked for")
    return home.contiguous(x.T, dtype)


def output(home: Home, out: Any, n: int, columns: int, dtype: Any) -> Any:
    """The lines that a solve writes to: those of `out` itself where its columns are contiguous."""
    if out is None:
        return home.empty((columns, n), dtype)
    if getattr(out, "ndim", 0) == 2 and home.is_contiguous(out.T):
        home.check_out(out.T, (columns, n), dtype)
        return out.T
    home.check_out(out, (n, columns), dtype)
    return home.empty((columns, n), dtype)


def _rank(r: Result) -> tuple[int, float]:
    """By how a column ended, then by its residual: the order of the command line. One that was interrupted before it
    began has no figures to show."""
    ended = 0 if r.success else 2 if r.status == "interrupted" else 1
    unknown = 0 if r.status == "interrupted" else math.inf
    return ended, unknown if math.isnan(r.residual) else r.residual


def gather(x: Any, columns: list[Result]) -> Result:
    """The result of the column whose end counts most, with the answers of all."""
    worst = max(columns, key=_rank)
    whole: Result = Result.__new__(Result)
    whole.__dict__.update(worst.__dict__)
    whole.x, whole.columns = x, columns
    doubtful = [k for k, column in enumerate(columns) if column.warning]
    if doubtful:
        whole.warning = (f"{len(doubtful)} of {len(columns)} right-hand sides have a warning; that of columns[{doubtful[0]}]: "
                         f"{columns[doubtful[0]].warning}")
        whole._report = {**worst._report, "warning": whole.warning}
        whole.estimated_by = ""
    whole.seconds = {part: sum(c.seconds[part] for c in columns) for part in ("setup", "solve")}
    return whole
