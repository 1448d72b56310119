# SPDX-License-Identifier: BSD-3-Clause
"""Many systems in one call."""
from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterable
from typing import Any

import numpy as np

from . import _core, _gpu
from ._arrays import as_vector, contiguous, is_matrix, real_type, tolerance_of
from ._checks import check_names, count_of, flag_of, number_of, seconds_of
from ._errors import DeviceError, InputError, InternalError, MemoryError, UsageError, type_of
from ._homes import Home
from ._placing import refuse_blocks_of_ranks, without
from ._result import Result
from ._rows import Rows, rows_at

_REFUSED = (UsageError, InputError, MemoryError, DeviceError, InternalError)


def solve_batch(systems: Iterable[tuple[Any, Any]], *, rtol: float | None = None, atol: float = 0.0, maxiter: int | None = None,
                solver: str = "auto", M: str | None = "auto", format: str = "auto", kernel: str = "auto",
                device: str | None = None, return_exceptions: bool = False, time_limit: float | None = None,
                assume_symmetric: bool = False) -> list[Any]:
    """Solves many systems A x = b, each as `solve` does by itself, with a `Result` of its own.

    On the CPU each has the bits of `solve`: systems of up to 100,000 rows and entries are solved side by side, each by
    one thread; larger ones follow, one after the other, each by all threads. On a GPU small ones are solved in one
    launch, a block of threads each, where `solve` would begin with cg or bicgstab and M is "jacobi" or None: their
    `kernel` is "batch", and their sums have another order. The others follow, one after the other.

    Parameters
    ----------
    systems : iterable of (A, b)
        Sparse or dense matrices, and vectors, in host memory. All are solved in float32 where all of them are float32,
        otherwise in float64.
    M : str or None
        The name of a preconditioner.
    return_exceptions : bool
        A system that `solve` refuses raises its exception, when all others are solved where it takes a solve to see it;
        unless this is true: then the exception stands in its place.
    time_limit : float or None
        Seconds of all systems together: those that are solved by then keep their answers, the others end without success
        after their first steps at most, with the best x so far. None: no limit.

    The other arguments are those of `solve`; `device` None is the CPU.

    Returns
    -------
    list of Result
        In the order of the systems.

    >>> import furrow, numpy as np
    >>> systems = [(furrow.generate(f"poisson2d:{n}"), np.ones(n * n)) for n in (10, 20, 30)]
    >>> [r.status for r in furrow.solve_batch(systems)]
    ['converged', 'converged', 'converged']
    """
    if M is not None and not isinstance(M, str):
        raise UsageError("a batch takes a preconditioner by its name: solve one system after the other with an M of yours")
    check_names(solver=solver, format=format, kernel=kernel)
    atol, time_limit = number_of(atol, "atol"), seconds_of(time_limit, "time_limit")
    began = time.monotonic()
    return_exceptions = flag_of(return_exceptions, "return_exceptions")
    refuse_blocks_of_ranks(M)
    if not isinstance(systems, Iterable):
        raise TypeError(f"systems is {type_of(systems)}: give pairs (A, b)")
    where = _gpu.parse(device)
    where = where if isinstance(where, int) else None
    results: list[Any] = [_system(k, one) for k, one in enumerate(systems)]
    refused = next((one for one in results if isinstance(one, Exception)), None)
    if refused is not None and not return_exceptions:
        raise refused
    given = {k: one for k, one in enumerate(results) if isinstance(one, _System)}
    dtype = real_type(*(a.dtype for one in given.values() for a in (one.rows.data, one.b))) if given else np.dtype(float)
    rtol = tolerance_of(rtol, atol, dtype)
    home = Home("b")
    answers = [np.zeros(one.rows.shape[1], dtype) for one in given.values()]
    borrowed = [(one.rows.indptr, one.rows.indices, contiguous(one.rows.data, dtype), *one.rows.shape,
                 contiguous(one.b, dtype), x) for one, x in zip(given.values(), answers, strict=True)]
    options = {"solver": solver, "precond": without(solver) if M is None else M, "format": format, "kernel": kernel,
               "rtol": rtol, "atol": atol, "maxiter": count_of(maxiter, "maxiter"),
               "time_limit": max(0.0, time_limit - (time.monotonic() - began)),
               "tune": False, "assume_symmetric": flag_of(assume_symmetric, "assume_symmetric"), "watch": None, "watch_every": 0, "monitor": None, "monitor_every": 1, "checkpoint_every": 0.0,
               "ordinal": _gpu.core(where), "coordinates": None,
               "scale": "none", "reorder": "none"}
    said: Any = _core.solve_batch(borrowed, dtype.itemsize == 4, options)
    outcomes, raised = said
    for (k, one), outcome, x in zip(given.items(), outcomes, answers, strict=True):
        if isinstance(outcome, tuple):
            kind, sentence = outcome
            results[k] = _REFUSED[kind](f"system {k}: {sentence}")
            continue
        r, size = one.rows, home.norm(one.b) if atol > 0 else 0.0
        results[k] = Result(x.reshape(-1, 1) if one.is_column else x, outcome, one.A, solver=solver, precond="", shape=r.shape,
                            nnz=r.nnz, rtol=rtol, atol=atol, goal=max(rtol, atol / size) if size > 0 else rtol, dtype=dtype,
                            x0="zero", where=where, converted=r.converted,
                            wants_best_fit=r.shape[0] != r.shape[1] or solver.partition(":")[0] in ("lsmr", "lsqr"))
    if raised is not None:
        raised.partial = results
        raise raised
    for result in results:
        if isinstance(result, Result):
            result._warn()
        elif not return_exceptions:
            raise result
    return results


@dataclasses.dataclass(frozen=True)
class _System:
    A: Any
    rows: Rows
    b: Any  #: a vector
    is_column: bool  #: whether it was one of shape (n, 1), and x becomes one


def _system(k: int, pair: Any) -> _System | Exception:
    """One system, or what is wrong with it."""
    try:
        A, b = pair
    except (TypeError, ValueError):
        return UsageError(f"system {k} is {type_of(pair)}: give pairs (A, b)")
    try:
        if not is_matrix(A):
            raise TypeError(f"A is {type_of(A)}: a batch takes sparse and dense matrices")
        for array, name in ((A, "A"), (b, "b")):
            _gpu.check_at(name, _gpu.ordinal_of(array), None, "a batch")
        rows = rows_at(A, None)
        return _System(A, rows, as_vector(b, rows.shape[0], "b"), np.ndim(b) == 2)
    except (TypeError, *_REFUSED) as e:
        return type(e)(f"system {k}: {e}")
