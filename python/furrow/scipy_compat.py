# SPDX-License-Identifier: BSD-3-Clause
"""Furrow's solvers under SciPy's signatures, with SciPy's edge cases: `x, info` as a pair, any tolerance, zeros;
`lsmr` and `lsqr` with all the numbers that SciPy gives.

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
import scipy.sparse as sp
import scipy.sparse.linalg as sla

from ._arrays import F64, is_matrix, real_type, refuse_gpu
from ._checks import count_of, number_of, numbers
from ._errors import InputError, UsageError
from ._matrix import Matrix
from ._methods import METHODS, MOST_IN_CYCLE, Cycles, damped
from ._operators import operator_dtype, product_of, shifted, transposed_product_of
from ._solver import Solver


#: A goal that no residual but 0 gets to: with rtol and atol 0 maxiter ends a solve, as SciPy's.
_NEVER = float(np.finfo(F64).tiny)


def _checked(atol: float) -> Any:
    if atol is None or isinstance(atol, str) or number_of(atol, "atol") < 0:
        raise UsageError(f"atol is {atol!r}: give a number, 0 or larger")
    return float(atol)


def _vector(x: Any, n: int, name: str) -> Any:
    """A vector of its own of n elements from (n,) or (n, 1)."""
    x = numbers(x, name)
    real_type(x.dtype)
    if x.shape not in ((n,), (n, 1)):
        raise UsageError(f"{name} is of shape {x.shape}, but the matrix asks for ({n},)")
    return np.array(x, dtype=F64).reshape(n)


def _solved(A: Any, b: Any, x0: Any, rtol: float, atol: float, M: Any, solver: str, *, maxiter: int, **rest: Any) -> Any:
    """x, info and the `Result`, which is None where nothing had to be solved. Without an iteration x is the first guess,
    and info 0, as SciPy's."""
    refuse_gpu(b, "b")
    b = numbers(b, "b")
    dtype = real_type(operator_dtype(A), b.dtype)
    if M is None and hasattr(A, "psolve"):
        M = sla.LinearOperator(A.shape, A.psolve)
    b = _vector(b, (np.shape(A) or np.shape(b))[0], "b")
    atol, rtol = _checked(atol), number_of(rtol, "rtol")
    if isinstance(x0, str) and x0 == "Mb":
        x0 = b if M is None else product_of(M, "M")(b)
    x = np.zeros(b.size) if x0 is None else _vector(x0, b.size, "x0")
    size = float(np.linalg.norm(b))
    if maxiter != 0 and not np.isfinite(b).all():
        return np.full(b.size, np.nan, dtype), maxiter, None
    if not np.isfinite(size):
        raise InputError(f"the norm of b is {size}: give a b whose elements and norm are finite")
    if size == 0:
        return np.zeros(b.size, dtype), 0, None
    if maxiter == 0:
        return x.astype(dtype), 0, None
    goal = max(rtol * size, atol)
    if np.isinf(goal) or (rtol >= 1 and x0 is None) or (rtol >= 1 and np.linalg.norm(b - product_of(A, "A")(x)) <= goal):
        return x.astype(dtype), 0, None
    s = Solver(A, solver, M, rtol=min(rtol, 0.5), atol=goal or _NEVER, maxiter=maxiter, dtype=F64,
               **{"assume_symmetric": True, **rest})
    result = s.solve(b, x)
    return result.x.astype(dtype, copy=False), result.info, result


def _documented(method: Any, name: str, note: str = "") -> Any:
    method.__name__ = method.__qualname__ = name
    method.__doc__ = _DOC.format(name=name, note=note)
    return method


_DOC = """`scipy.sparse.linalg.{name}`, solved by furrow: SciPy's arguments and what SciPy gives back.{note}

>>> import furrow.scipy_compat, numpy as np
>>> A = furrow.generate("poisson2d:10")
>>> x, info = furrow.scipy_compat.{name}(A, A @ np.ones(100))[:2]
>>> info in (0, 1, 2), bool(abs(x - 1).max() < 1e-2)
(True, True)
"""


def _method(name: str) -> Any:
    def method(A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-05, atol: float = 0.0, maxiter: int | None = None,
               M: Any = None, callback: Callable[[Any], object] | None = None) -> Any:
        return _solved(A, b, x0, rtol, atol, M, name, maxiter=10 * np.size(b) if maxiter is None else maxiter,
                       callback=callback)[:2]

    return _documented(method, name)


def _tfqmr(name: str) -> Any:
    def method(A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-05, atol: float = 0.0, maxiter: int | None = None,
               M: Any = None, callback: Callable[[Any], object] | None = None, show: bool = False) -> Any:
        return _solved(A, b, x0, rtol, atol, M, name, maxiter=10 * np.size(b) if maxiter is None else maxiter,
                       callback=callback, monitor="bar" if show else None)[:2]

    return _documented(method, name, " `show` draws a line.")


def _preconditioned(A: Any, b: Any, M: Any) -> Callable[[Any], Any]:
    """x -> |M (b - A x)| / |b|."""
    b = numbers(b, "b").reshape(-1)
    a, m = product_of(A, "A"), product_of(M, "M")
    return lambda x: np.linalg.norm(m(b - a(x))) / np.linalg.norm(b)


def _gmres(name: str) -> Any:
    def method(A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-05, atol: float = 0.0, restart: int | None = None,
               maxiter: int | None = None, M: Any = None, callback: Callable[[Any], object] | None = None,
               callback_type: str | None = None) -> Any:
        if callback is not None and callback_type is None:
            warnings.warn("scipy.sparse.linalg.gmres called without specifying `callback_type`: give 'x', 'pr_norm' or "
                          "'legacy'", DeprecationWarning, stacklevel=2)
        n = np.size(b)
        maxiter = 10 * n if maxiter is None else maxiter
        restart = None if restart is None else min(count_of(restart, "restart"), MOST_IN_CYCLE)
        cycles = Cycles(n, restart, maxiter or None, callback, callback_type)
        if M is not None:  # SciPy applies M from the left, and tells of M r
            residual_of = _preconditioned(A, b, M)
            cycles.size_of = lambda step: residual_of(step.x)  # type: ignore[method-assign]
        x, info, result = _solved(A, b, x0, rtol, atol, M, f"{name}:{cycles.restart}", maxiter=maxiter and cycles.maxiter,
                                  monitor=cycles.monitor)
        if result is not None:
            cycles.finish(result)
        return x, maxiter if info > 0 else info

    return _documented(method, name, f" A `restart` above {MOST_IN_CYCLE} is {MOST_IN_CYCLE}.")


def _minres(name: str) -> Any:
    def method(A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-05, shift: float = 0.0, maxiter: int | None = None,
               M: Any = None, callback: Callable[[Any], object] | None = None, show: bool = False,
               check: bool = False) -> Any:
        rounding = 4 * np.finfo(F64).eps  # where SciPy's ends, too, and says that it is an answer
        rtol = max(number_of(rtol, "rtol"), rounding)
        x, info, result = _solved(shifted(A, shift, b), b, x0, rtol, 0.0, M, name,
                                  maxiter=5 * np.size(b) if maxiter is None else maxiter, callback=callback,
                                  assume_symmetric=not check)
        if result is None:
            return x, info
        ended = rtol == rounding and result.status == "stagnated"
        return result.x, 0 if ended else info  # x in float64, as SciPy's from the first iteration on

    return _documented(method, name)


#: SciPy's istop: 1 and 2 are answers, 3 is an A that is too ill-conditioned, 6 the same as far as rounding lets one
#: tell, 7 the limit on iterations.
_ISTOP = {"converged": 1, "least_squares": 2, "max_iterations": 7}


class _BestFit:
    """The x of least |b - A x|^2 + damp^2 |x - x0|^2, and the numbers that SciPy gives with it, computed from x.

    atol and btol are one: the smaller of those that are not 0. conlim ends nothing; it is compared at the end.
    """

    def __init__(self, name: str, A: Any, b: Any, damp: float, atol: float, btol: float, conlim: float,
                 maxiter: int, x0: Any, show: bool) -> None:
        if not hasattr(A, "shape"):
            A = np.asarray(A)
        rows, cols = A.shape
        refuse_gpu(b, "b")
        b = np.atleast_1d(numbers(b, "b"))
        dtype = real_type(operator_dtype(A), b.dtype, *([] if x0 is None else [np.asarray(x0).dtype]))
        b = _vector(b.reshape(-1) if b.shape == (1, rows) else b, rows, "b")  # SciPy takes a row, too
        start = np.zeros(cols) if x0 is None else _vector(x0, cols, "x0")
        product, back = product_of(A, "A"), transposed_product_of(A)
        atol, btol, conlim = number_of(atol, "atol"), number_of(btol, "btol"), number_of(conlim, "conlim")
        asked = min([tol for tol in (atol, btol) if tol > 0], default=0.0)
        rtol = float(np.clip(asked, 4 * np.finfo(F64).eps, 0.5))
        rest, goal = b, 0.0
        if start.any():
            rest = b - np.asarray(product(start)).reshape(-1)
            goal = float(np.nan_to_num(rtol * np.linalg.norm(b)))  # of |b|, not of |b - A x0|
        step, status, self.iterations, self.condition = np.zeros(cols), "", 0, 0.0
        if maxiter != 0:
            s = Solver(A, damped(name, damp), None, rtol=rtol, atol=goal, maxiter=maxiter, monitor="bar" if show else None,
                       dtype=F64)
            result = s.solve(rest)
            if result.status == "nan":
                raise InputError(f"{result.message}: {name} needs finite numbers")
            step, status, self.iterations = result.x, result.status, result.iterations
            self.condition = result._report["condition_estimate"]
        self.x = (start + step).astype(dtype)
        r = rest - np.asarray(product(step)).reshape(-1)
        gradient = np.asarray(back(r)).reshape(-1) - damp**2 * step
        self.residual = float(np.linalg.norm(r))
        self.damped_residual = float(np.hypot(self.residual, damp * np.linalg.norm(step)))
        self.gradient, self.size = float(np.linalg.norm(gradient)), float(np.linalg.norm(self.x))
        self.norm = _frobenius(A, damp) if is_matrix(A) or isinstance(A, Matrix) else _norm_from_below(product, gradient)
        self.istop = _ISTOP.get(status, 6)
        if maxiter == 0 or (self.iterations == 0 and self.istop < 3):
            self.istop = 0
        elif self.istop > 3 and conlim > 0 and self.condition > conlim:
            self.istop = 3


def _frobenius(A: Any, damp: float) -> float:
    """Of A with damp times the identity below it."""
    if isinstance(A, Matrix):
        A = A.tocsr()
    values = A.tocsr().data if sp.issparse(A) else np.asarray(A, dtype=F64)
    return float(np.sqrt(np.sum(np.square(values, dtype=F64)) + A.shape[1] * damp**2))


def _norm_from_below(product: Any, x: Any) -> float:
    """Of a product alone, by the vector at hand, or ones."""
    x = x if x.any() else np.ones_like(x)
    return float(np.linalg.norm(product(x)) / np.linalg.norm(x)) if x.size else 0.0


def _lsmr(name: str) -> Any:
    def method(A: Any, b: Any, damp: float = 0.0, atol: float = 1e-6, btol: float = 1e-6, conlim: float = 1e8,
               maxiter: int | None = None, show: bool = False, x0: Any = None) -> Any:
        f = _BestFit(name, A, b, damp, atol, btol, conlim, min(np.shape(A)) if maxiter is None else maxiter, x0, show)
        return f.x, f.istop, f.iterations, f.damped_residual, f.gradient, f.norm, f.condition, f.size

    return _documented(method, name)


def _lsqr(name: str) -> Any:
    def method(A: Any, b: Any, damp: float = 0.0, atol: float = 1e-6, btol: float = 1e-6, conlim: float = 1e8,
               iter_lim: int | None = None, show: bool = False, calc_var: bool = False, x0: Any = None) -> Any:
        if calc_var:
            raise UsageError("calc_var: the variances of x are not computed; leave it out")
        f = _BestFit(name, A, b, damp, atol, btol, conlim, 2 * np.shape(A)[1] if iter_lim is None else iter_lim, x0, show)
        return (f.x, f.istop, f.iterations, f.residual, f.damped_residual, f.norm, f.condition, f.gradient, f.size,
                np.zeros(f.x.size))

    return _documented(method, name)


#: Those of SciPy's that Furrow has.
_SCIPY = {name: maker(name) for maker, names in ((_method, ("bicg", "bicgstab", "cg", "cgs")), (_tfqmr, ("tfqmr",)),
                                                 (_gmres, ("gmres",)), (_minres, ("minres",)), (_lsmr, ("lsmr",)),
                                                 (_lsqr, ("lsqr",)))
          for name in names if name in METHODS}
globals().update(_SCIPY)
__all__ = [*_SCIPY, "patched"]


@contextlib.contextmanager
def patched() -> Iterator[None]:
    """For a ``with`` block, `scipy.sparse.linalg` solves by furrow.

    >>> import furrow.scipy_compat, scipy.sparse.linalg as sla
    >>> with furrow.scipy_compat.patched():
    ...     sla.cg is furrow.scipy_compat.cg
    True
    >>> sla.cg is furrow.scipy_compat.cg
    False
    """
    before = {name: getattr(sla, name) for name in _SCIPY}
    try:
        for name, method in _SCIPY.items():
            setattr(sla, name, method)
        yield
    finally:
        for name, method in before.items():
            setattr(sla, name, method)
