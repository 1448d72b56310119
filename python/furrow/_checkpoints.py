# SPDX-License-Identifier: BSD-3-Clause
"""Checkpoints of a running solve: the files of `furrow solve --checkpoint`."""
from __future__ import annotations

import math
import os
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from . import _core
from ._arrays import F64, is_matrix
from ._checks import number_of
from ._errors import InputError, SolveWarning, UsageError
from ._files import bytes_of
from ._homes import Home
from ._matrix import Matrix
from ._result import Result
from ._rows import Rows, rows_at

_USUAL = 60.0  # seconds


class Checkpoints:
    """The file in which a solve keeps x while it runs, and how often."""

    def __init__(self, file: str | os.PathLike[str] | None, every: float | None, callback: Any) -> None:
        self.file = None if file is None else os.fsdecode(bytes_of(file, "checkpoint"))
        self.every = 0.0 if file is None else _USUAL if every is None else number_of(every, "every")
        if self.file is None:
            if every is not None:
                raise UsageError("every says how often a checkpoint is written: name its file by checkpoint")
            return
        if not (self.every > 0 and math.isfinite(self.every)):
            raise UsageError(f"every = {every}: give the seconds between checkpoints, a number above 0")
        if callback is not None:
            raise UsageError("callback takes x at every iteration, and checkpoint every so many seconds: give one of "
                             "them, or a monitor in place of the callback")
        if os.path.isdir(self.file):
            raise InputError(f"{self.file}: is a directory, not a file")
        if not os.path.isdir(os.path.dirname(self.file) or os.curdir):
            raise InputError(f"{self.file}: cannot be written: its folder does not exist")

    def refuse_columns(self, count: int, resume: str | os.PathLike[str] | None) -> None:
        if self.file is not None or resume is not None:
            what = "resume" if self.file is None else "checkpoint"
            raise UsageError(f"a checkpoint holds one x, and there are {count} right-hand sides: leave {what} out")

    def begin(self, system: Callable[[], Any], x0: Any, resume: str | os.PathLike[str] | None, solver: str,
              precond: str) -> tuple[Any, dict[str, Any] | None]:
        """Who writes the checkpoints of a solve, and what is resumed; None: there is none. `system`: its fingerprint, made
        where it is asked for."""
        if self.file is None and resume is None:
            return None, None
        if resume is not None and x0 is not None:
            raise UsageError("resume and x0 both say what x begins with: give one of them")
        own = system()
        saved = None if resume is None else dict(_core.read_checkpoint(bytes_of(resume, "resume"), own))
        if self.file is None:
            return None, saved
        so_far = saved or {"iterations": 0, "seconds": 0.0}
        return _core.Keeper(bytes_of(self.file), self.every, own, solver[:63], precond[:63], so_far["iterations"], so_far["seconds"],
                            _warn), saved


def finish(keeper: Any, report: Any, x: Any) -> int:
    """Writes the x that a solve handed back, however it ended; how many checkpoints there were."""
    rungs = report["rungs"]
    iterations = sum(rung["iterations"] for rung in rungs) if rungs else report["iterations"]
    last = np.ascontiguousarray(x, F64)
    keeper.finish(int(iterations), report["solve_seconds"], report["relative_residual"], last)
    return int(keeper.written)


def tell(result: Result, saved: dict[str, Any] | None, written: int | None, resume: str | os.PathLike[str] | None) -> None:
    """What a result says of checkpoints."""
    result.resumed, result.checkpoints = saved, written
    if resume is not None:
        result._told["x0"] = bytes_of(resume).decode("utf-8", "replace")  # for a page


def fingerprint(A: Any, rhs: Any, home: Home, dtype: Any) -> Any:
    """Which system it is, from all entries of A and all elements of b."""
    if home.ordinal is not None:
        raise UsageError("a checkpoint holds an x in host memory: give b there, the solve may run on a GPU")
    if isinstance(A, Matrix):
        return _core.Fingerprint(A._as(dtype), home.core(rhs))
    if not is_matrix(A):
        raise UsageError("a checkpoint knows its system by the entries of A, and A is known by its products alone: give "
                         "a matrix")
    return fingerprint_of_rows(rows_at(A, None, dtype), home.core(rhs))


def fingerprint_of_rows(rows: Rows, b: Any) -> Any:
    """The same of rows in host memory."""
    return _core.Fingerprint(rows.indptr, rows.indices, rows.data, *rows.shape, b)


def _warn(sentence: str) -> None:
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__package__") == __package__:  # the caller's line is shown
        level, frame = level + 1, frame.f_back
    warnings.warn(f"{sentence}: the solve goes on without this checkpoint", SolveWarning, stacklevel=level)
