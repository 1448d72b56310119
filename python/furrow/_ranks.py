# SPDX-License-Identifier: BSD-3-Clause
"""One solve on several devices: a rank each, in threads of this process."""
from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import _core, _gpu
from ._arrays import as_vector, asked_type, check_type, dtype_of, is_matrix, real_type, refuse_gpu, tolerance_of
from ._checkpoints import Checkpoints, fingerprint_of_rows, finish, tell
from ._checks import check_names, check_residuals, count_of, flag_of, number_of, seconds_of
from ._columns import are_columns
from ._errors import InputError, UsageError, type_of
from ._matrix import Matrix
from ._result import Result, Step
from ._rows import rows_at
from ._watching import Watching

_CPU = -1


def chosen(devices: str | Sequence[str | int] | None, ranks: int | None, device: str | None) -> list[int] | None:
    """The device of each rank, by its number, -1 for processors; None: there are no ranks."""
    if devices is None and ranks is None:
        return None
    if device is not None:
        raise UsageError("device is for one, and devices and ranks for several: give one of them")
    if devices is None or (isinstance(devices, str) and devices == "cpu"):
        if ranks is None:
            raise UsageError('devices="cpu" has a rank a thread, as many as ranks says: give ranks, or device="cpu"')
        if not _is_whole(ranks) or not 1 <= ranks <= 256:
            raise UsageError(f"ranks = {ranks} must be a whole number from 1 to 256")
        return [_CPU] * int(ranks)
    if ranks is not None:
        raise UsageError("a GPU has one rank: leave ranks out where devices names GPUs")
    if isinstance(devices, str):
        if devices != "all":
            raise UsageError(f'devices="{devices}" must be "all", a list of GPUs, or "cpu" with ranks')
        return _ordinals("all")
    if not hasattr(devices, "__len__"):
        raise TypeError(f"devices is {type_of(devices)}: give \"all\", or a list such as [0, 1]")
    if not len(devices):
        raise UsageError("devices names no GPU: give \"all\", or a list such as [0, 1]")
    return _ordinals(",".join(map(_number, devices)))


def _ordinals(which: str) -> list[int]:
    _gpu.check_process(0)
    return _core.ordinals_of(f"gpu:{which}")


def _is_whole(n: Any) -> bool:
    return isinstance(n, (int, np.integer)) and not isinstance(n, bool)


def _number(one: Any) -> str:
    """Of a GPU by its number or its name."""
    if _is_whole(one) and one >= 0:
        return str(int(one))
    number = one.removeprefix("gpu:") if isinstance(one, str) else ""
    if not (number.isascii() and number.isdigit() and number != one):
        raise UsageError(f"devices has {one!r}: name GPUs by their numbers, or as \"gpu:1\"")
    return str(int(number))


def _rows(A: Any, M: Any, left_out: dict[str, Any]) -> Any:
    """A by rows that all ranks can read, where it is one that ranks solve for."""
    for name, value in left_out.items():
        if value is not None:
            raise UsageError(f"{name} is for a solve on one device: leave it out where there are ranks")
    if not (M is None or isinstance(M, str)):
        raise UsageError("M is an operator of yours, which sees no rows of other ranks: name a preconditioner")
    if isinstance(A, Matrix):
        A = A.tocsr()
    if not is_matrix(A):
        raise UsageError(f"A is {type_of(A)} without entries, and each rank takes its rows: give a matrix")
    refuse_gpu(A, "A")
    rows = rows_at(A, None, real_type(dtype_of(A)))
    if rows.shape[0] != rows.shape[1]:
        raise InputError(f"A is of shape {tuple(rows.shape)}: ranks solve square systems")
    return rows


def _no_x() -> Any:
    raise AttributeError("a checkpoint takes x in the parts that ranks have, and none has all of it: leave checkpoint out "
                         "where the monitor wants x")


def _heard(callback: Any, monitor: Any, dtype: Any, keeps: bool) -> dict[str, Any]:
    """What the first rank calls. x is in parts: it is gathered for a callback, and for a monitor with a number, but not
    where a checkpoint is kept."""
    w = Watching(callback, monitor, dtype)
    options = {"watch": w.watch, "watch_every": w.watch_every, "monitor": w.monitor, "monitor_every": 1}
    if keeps:
        watch = w.watch
        options["watch"] = watch and (lambda k, residual, seconds, x: watch(k, residual, seconds, _no_x))
    elif isinstance(monitor, tuple) and callback is None:
        f, every = monitor
        options |= {"watch": None, "watch_every": 0, "monitor_every": every,
                    "monitor": lambda k, residual, seconds, x: bool(f(Step(k, residual, seconds, w._own(x))))}
    return {"watching": w, **options}


def run(A: Any, b: Any, x0: Any, solver: str, M: Any, rtol: float | None, atol: float, maxiter: int | None,
        callback: Callable[[Any], object] | None, monitor: Any, residuals: list[float] | None, ordinals: list[int], *,
        format: str, kernel: str, tune: bool, scale: str, reorder: str, checkpoint: str | os.PathLike[str] | None,
        every: float | None, resume: str | os.PathLike[str] | None, time_limit: float | None,
        assume_symmetric: bool, dtype: Any, **left_out: Any) -> Result:
    check_names(solver=solver, format=format, kernel=kernel, scale=scale, reorder=reorder)
    atol = number_of(atol, "atol")
    check_residuals(residuals)
    checkpoints = Checkpoints(checkpoint, every, callback)
    rows = _rows(A, M, left_out)
    M = "none" if M is None else M
    if are_columns(b):
        raise UsageError(f"b has {np.shape(b)[1]} columns, and ranks solve for one: give a vector, or leave devices "
                         "and ranks out")
    n = rows.shape[0]
    of_b = as_vector(b, n, "b").dtype
    dtype = real_type(rows.data.dtype, of_b) if dtype is None else asked_type(dtype)
    check_type(dtype, of_b)
    if dtype != rows.data.dtype:
        rows = rows_at(A.tocsr() if isinstance(A, Matrix) else A, None, dtype)
    rtol = tolerance_of(rtol, atol, dtype)
    rhs = np.asarray(as_vector(b, n, "b"), dtype)
    keeper, saved = checkpoints.begin(lambda: fingerprint_of_rows(rows, rhs), x0, resume, solver, M)
    begins = saved.pop("x") if saved else x0
    x = np.zeros(n, dtype) if begins is None else np.array(as_vector(begins, n, "x0"), dtype)
    heard = _heard(callback, monitor, dtype, keeper is not None)
    watching = heard.pop("watching")
    report: Any = _core.solve_on_devices(
        rows.indptr, rows.indices, rows.data, rows.shape[0], rows.shape[1], rhs, x, ordinals, keeper,
        {**heard, "solver": solver, "precond": M, "format": format, "kernel": kernel, "rtol": rtol,
         "atol": atol, "maxiter": count_of(maxiter, "maxiter"), "time_limit": seconds_of(time_limit, "time_limit"),
         "tune": flag_of(tune, "tune"), "assume_symmetric": flag_of(assume_symmetric, "assume_symmetric"),
         "checkpoint_every": checkpoints.every, "ordinal": _CPU, "coordinates": None, "scale": scale, "reorder": reorder})
    written = finish(keeper, report, x) if keeper else None
    raised = report.pop("raised")
    size = float(np.linalg.norm(rhs)) if atol > 0 or residuals is not None else 0.0
    first = ordinals[0]
    result = Result(x, report, A, solver=solver, precond="", shape=rows.shape, nnz=rows.nnz, rtol=rtol, atol=atol,
                    goal=max(rtol, atol / size) if size > 0 else rtol, dtype=np.dtype(dtype),
                    x0="zero" if x0 is None else "given", wants_best_fit=False,
                    where=None if first == _CPU else first, converted=rows.converted)
    if first != _CPU:
        result.device = f"gpu:{','.join(map(str, ordinals))}"
    tell(result, saved, written, resume)
    if residuals is not None:
        residuals[:] = (result.history * size).tolist()
    if raised is not None:
        raised.partial = result
        raise raised
    watching.finish(result, x)
    if np.ndim(b) == 2:
        result.x = x.reshape(-1, 1)
    return result
