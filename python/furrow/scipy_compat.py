# SPDX-License-Identifier: BSD-3-Clause
"""Furrow's solvers under SciPy's signatures, with SciPy's edge cases: `x, info` as a pair, any tolerance, zeros.

>>> import furrow.scipy_compat, scipy.sparse.linalg, numpy as np
>>> with furrow.scipy_compat.patched():
...     x, info = scipy.sparse.linalg.cg(np.eye(3), np.ones(3))
>>> info
0
"""
from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse.linalg as sla

from ._arrays import F64, real_type
from ._errors import UsageError
from ._solve import METHODS, Solver, _Cycles, _dtype_of, _product_of, _shifted


def _checked(atol: float) -> Any:
    if atol is None or isinstance(atol, str) or atol < 0:
        raise UsageError(f"atol is {atol!r}: give a number, 0 or larger")
    return float(atol)


def _solved(A: Any, b: Any, x0: Any, rtol: float, atol: float, M: Any, solver: str, **rest: Any) -> Any:
    """x, info and the `Result`, which is None where nothing had to be solved."""
    b = np.asarray(b)
    dtype = real_type(_dtype_of(A), b.dtype)
    if M is None and hasattr(A, "psolve"):
        M = sla.LinearOperator(A.shape, A.psolve)
    b = b.reshape(-1).astype(F64)
    atol, rtol = _checked(atol), float(rtol)
    if isinstance(x0, str) and x0 == "Mb":
        x0 = b if M is None else _product_of(M, "M")(b)
    x = np.zeros(b.size) if x0 is None else np.array(x0, dtype=F64).reshape(-1)
    size = float(np.linalg.norm(b))
    if size == 0:
        return np.zeros(b.size, dtype), 0, None
    goal = max(rtol * size, atol)
    if np.isinf(goal) or (rtol >= 1 and x0 is None) or (rtol >= 1 and np.linalg.norm(b - A @ x) <= goal):
        return x.astype(dtype), 0, None
    s = Solver(A, solver, M, rtol=min(rtol, 0.5), atol=goal, dtype=F64, **{"assume_symmetric": True, **rest})
    result = s.solve(b, x)
    return result.x.astype(dtype, copy=False), result.info, result


def _documented(method: Any, name: str) -> Any:
    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"`scipy.sparse.linalg.{name}`, solved by furrow: SciPy's arguments and SciPy's pair."
    return method


def _method(name: str) -> Any:
    def method(A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-05, atol: float = 0.0, maxiter: int | None = None,
               M: Any = None, callback: Callable[[Any], object] | None = None) -> Any:
        return _solved(A, b, x0, rtol, atol, M, name, maxiter=maxiter or 10 * np.size(b), callback=callback)[:2]

    return _documented(method, name)


def _preconditioned(A: Any, b: Any, M: Any) -> Callable[[Any], Any]:
    """x -> |M (b - A x)| / |b|."""
    b = np.asarray(b).reshape(-1)
    a, m = _product_of(A, "A"), _product_of(M, "M")
    return lambda x: np.linalg.norm(m(b - a(x))) / np.linalg.norm(b)


def _gmres(name: str) -> Any:
    def method(A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-05, atol: float = 0.0, restart: int | None = None,
               maxiter: int | None = None, M: Any = None, callback: Callable[[Any], object] | None = None,
               callback_type: str | None = None) -> Any:
        if callback is not None and callback_type is None:
            warnings.warn("scipy.sparse.linalg.gmres called without specifying `callback_type`: give 'x', 'pr_norm' or "
                          "'legacy'", DeprecationWarning, stacklevel=2)
        n = np.size(b)
        maxiter = maxiter or 10 * n
        cycles = _Cycles(n, restart, maxiter, callback, callback_type)
        if M is not None:  # SciPy applies M from the left, and tells of M r
            residual_of = _preconditioned(A, b, M)
            cycles.size_of = lambda x, residual: residual_of(x)  # type: ignore[method-assign]
        x, info, result = _solved(A, b, x0, rtol, atol, M, f"{name}:{cycles.restart}", maxiter=cycles.maxiter,
                                  monitor=cycles.monitor)
        if result is not None:
            cycles.finish(result)
        return x, maxiter if info > 0 else info

    return _documented(method, name)


def _minres(name: str) -> Any:
    def method(A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-05, shift: float = 0.0, maxiter: int | None = None,
               M: Any = None, callback: Callable[[Any], object] | None = None, show: bool = False,
               check: bool = False) -> Any:
        return _solved(_shifted(A, shift), b, x0, rtol, 0.0, M, name, maxiter=maxiter or 5 * np.size(b),
                       callback=callback, assume_symmetric=not check)[:2]

    return _documented(method, name)


#: Those of SciPy's that Furrow has.
_SCIPY = {name: maker(name) for maker, names in ((_method, ("bicg", "bicgstab", "cg", "cgs", "tfqmr")),
                                                 (_gmres, ("gmres",)), (_minres, ("minres",)))
          for name in names if name in METHODS}
globals().update(_SCIPY)
__all__ = [*_SCIPY, "patched"]


@contextlib.contextmanager
def patched() -> Iterator[None]:
    """For a ``with`` block, `scipy.sparse.linalg` solves by furrow."""
    before = {name: getattr(sla, name) for name in _SCIPY}
    try:
        for name, method in _SCIPY.items():
            setattr(sla, name, method)
        yield
    finally:
        for name, method in before.items():
            setattr(sla, name, method)
