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
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse.linalg as sla

from ._arrays import F64, real_type
from ._errors import UsageError
from ._solve import METHODS, Solver, _dtype_of, _product_of


def _checked(atol: float) -> Any:
    if atol is None or isinstance(atol, str) or atol < 0:
        raise UsageError(f"atol is {atol!r}: give a number, 0 or larger")
    return float(atol)


def _method(name: str) -> Any:
    def method(A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-05, atol: float = 0.0, maxiter: int | None = None,
               M: Any = None, callback: Callable[[Any], object] | None = None) -> Any:
        b = np.asarray(b)
        n = b.size
        dtype = real_type(_dtype_of(A), b.dtype)
        if M is None and hasattr(A, "psolve"):
            M = sla.LinearOperator(A.shape, A.psolve)
        b = b.reshape(-1).astype(F64)
        atol, rtol = _checked(atol), float(rtol)
        if isinstance(x0, str) and x0 == "Mb":
            x0 = b if M is None else _product_of(M, "M")(b)
        x = np.zeros(n) if x0 is None else np.array(x0, dtype=F64).reshape(-1)
        size = np.linalg.norm(b)
        if size == 0:
            return np.zeros(n, dtype), 0
        goal = max(rtol * size, atol)
        if np.isinf(goal) or (rtol >= 1 and x0 is None) or (rtol >= 1 and np.linalg.norm(b - A @ x) <= goal):
            return x.astype(dtype), 0
        s = Solver(A, name, M, rtol=min(rtol, 0.5), atol=goal, maxiter=maxiter or 10 * n, callback=callback,
                   assume_symmetric=True, dtype=F64)
        result = s.solve(b, x)
        return result.x.astype(dtype, copy=False), result.info

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"`scipy.sparse.linalg.{name}`, solved by furrow: SciPy's arguments and SciPy's pair."
    return method


#: Those of SciPy's with the arguments of cg.
_SCIPY = {name: _method(name) for name in METHODS if name in ("bicg", "bicgstab", "cg", "cgs")}
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
