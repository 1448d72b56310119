# SPDX-License-Identifier: BSD-3-Clause
"""A function for each solver of the library, under SciPy's arguments."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import _core
from ._checks import count_of, number_of, numbers
from ._columns import one_only
from ._errors import UsageError, type_of
from ._operators import shifted
from ._result import Result, Step
from ._solve import run
from ._watching import copy_of, with_partial

_DOC = """Solves A x = b by {about}.

SciPy's arguments and SciPy's pair: ``x, info = furrow.{name}(A, b)``; the result is a `Result` and knows more.

Parameters
----------
A : sparse or dense matrix, Matrix, LinearOperator, or what has shape and matvec
b : array_like of shape (n,), or (n, k) for k right-hand sides
x0 : array_like, optional
    The first guess; 0 where there is none.
rtol, atol : float
    Converged when \\|b - A x\\| <= max(rtol \\|b\\|, atol), of a residual that is computed anew from x.
maxiter : int, optional
M : str, LinearOperator, callable, matrix, optional
    An approximation of the inverse of A, or the name of a preconditioner: {preconditioners}.
callback : callable, optional
    Called as callback(xk) once an iteration.
monitor : callable, (callable, int) or "bar", optional
    See `Solver`.
residuals : list, optional
    Is filled with the norms of the residuals, the first one included.
device : None, "cpu", "gpu", "gpu:1", optional
    See `Solver`.
format, kernel, tune
    See `Matrix`.
assume_symmetric : bool, optional
    See `Solver`.
scale, reorder : str, optional
    See `Solver`.

Returns
-------
Result
    Unpacks to x and info.

Examples
--------
>>> import furrow, numpy as np
>>> A = furrow.generate("poisson2d:20")
>>> x, info = furrow.{name}(A, A @ np.ones(400), rtol=1e-10)
>>> info, bool(abs(x - 1).max() < 1e-8)
(0, True)
"""


def _method(name: str, about: str) -> Any:
    def method(A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-05, atol: float = 0.0, maxiter: int | None = None,
               M: Any = None, callback: Callable[[Any], object] | None = None, device: str | None = None,
               monitor: Any = None, residuals: list[float] | None = None, format: str = "auto", kernel: str = "auto",
               tune: bool = False, assume_symmetric: bool = False, scale: str = "none",
               reorder: str = "none") -> Any:
        result = run(A, b, x0, name, M, rtol, atol, maxiter, callback, monitor, residuals, format=format,
                      kernel=kernel, tune=tune, device=device, assume_symmetric=assume_symmetric, scale=scale,
                      reorder=reorder)
        result._warn()
        return result

    return _named(method, name, about, _on_chip_doc(name) if name.endswith(_ON_CHIP) else _DOC)


def _named(method: Any, name: str, about: str, doc: str) -> Any:
    method.__name__ = method.__qualname__ = name
    method.__module__ = "furrow"
    known = ", ".join(f'"{p}"' for p, *_ in _core.preconditioners())
    method.__doc__ = doc.format(name=name, about=about, preconditioners=known)
    return method


def _rows_of(b: Any) -> int:
    return int(b.shape[0]) if hasattr(b, "shape") and len(b.shape) > 0 else int(numbers(b, "b").size)


MOST_IN_CYCLE = 300  #: iterations, of the library


class Cycles:
    """SciPy's callback and maxiter of gmres, which count cycles of `restart` iterations.

    callback_type "x": callback(x) at the end of each cycle; "pr_norm": callback(relative residual) once an iteration;
    "legacy" and None: the same, and maxiter counts iterations where there is a callback.
    """

    def __init__(self, n: int, restart: int | None, maxiter: int | None, callback: Callable[[Any], object] | None,
                 callback_type: str | None) -> None:
        if callback_type not in (None, "x", "pr_norm", "legacy"):
            raise UsageError(f'Unknown callback_type: {callback_type!r}: give "x", "pr_norm" or "legacy"')
        if callback is not None and not callable(callback):
            raise TypeError(f"callback is {type_of(callback)}: give a function")
        self.restart = max(min(20 if restart is None else count_of(restart, "restart"), n), 1)
        if self.restart > MOST_IN_CYCLE:
            raise UsageError(f"restart = {restart} must be at most {MOST_IN_CYCLE}: a cycle keeps as many vectors")
        legacy = callback is not None and callback_type in (None, "legacy")
        self.maxiter = maxiter if maxiter is None or legacy else count_of(maxiter, "maxiter") * self.restart
        self._callback, self._x, self._last = callback, callback_type == "x", 0
        self.monitor: Any = None if callback is None else (self._hear, self.restart if self._x else 1)

    def _hear(self, step: Step) -> bool:
        self._last = step.iteration
        assert self._callback is not None
        self._callback(step.x if self._x else self.size_of(step))
        return False

    def finish(self, result: Result) -> None:
        """The iteration that ended the solve is told of when it is known to be the last."""
        if self._callback is not None and result.iterations > self._last:
            with with_partial(result):
                self._hear(Step(result.iterations, result.residual, result.seconds["solve"], copy_of(result.x)))

    def size_of(self, step: Step) -> Any:
        """What the callback is told of a step."""
        return np.float64(step.residual)


def _gmres(name: str, about: str) -> Any:
    def method(A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-05, atol: float = 0.0, restart: int | None = None,
               maxiter: int | None = None, M: Any = None, callback: Callable[[Any], object] | None = None,
               callback_type: str | None = None, device: str | None = None, monitor: Any = None,
               residuals: list[float] | None = None, format: str = "auto", kernel: str = "auto",
               tune: bool = False, scale: str = "none", reorder: str = "none") -> Any:
        one_only(b, callback, residuals)
        cycles = Cycles(_rows_of(b), restart, maxiter, callback, callback_type)
        if cycles.monitor is not None and monitor is not None:
            raise UsageError(f"{name} takes a callback or a monitor, not both")
        result = run(A, b, x0, f"{name}:{cycles.restart}", M, rtol, atol, cycles.maxiter, None,
                      cycles.monitor or monitor, residuals, format=format, kernel=kernel, tune=tune, device=device,
                      scale=scale, reorder=reorder)
        cycles.finish(result)
        result._warn()
        return result

    return _named(method, name, about, _GMRES_DOC)


def _minres(name: str, about: str) -> Any:
    def method(A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-05, atol: float = 0.0, shift: float = 0.0,
               maxiter: int | None = None, M: Any = None, callback: Callable[[Any], object] | None = None,
               device: str | None = None, monitor: Any = None, residuals: list[float] | None = None,
               format: str = "auto", kernel: str = "auto", tune: bool = False, assume_symmetric: bool = False,
               scale: str = "none", reorder: str = "none") -> Any:
        result = run(shifted(A, shift, b), b, x0, name, M, rtol, atol, maxiter, callback, monitor, residuals,
                      format=format, kernel=kernel, tune=tune, device=device, assume_symmetric=assume_symmetric,
                      scale=scale, reorder=reorder)
        result._warn()
        return result

    return _named(method, name, about, _MINRES_DOC)


def _least_squares(name: str, about: str) -> Any:
    def method(A: Any, b: Any, x0: Any = None, *, damp: float = 0.0, rtol: float = 1e-05, atol: float = 0.0,
               maxiter: int | None = None, M: Any = None, callback: Callable[[Any], object] | None = None,
               device: str | None = None, monitor: Any = None, residuals: list[float] | None = None,
               format: str = "auto", kernel: str = "auto", tune: bool = False) -> Any:
        result = run(A, b, x0, damped(name, damp), M, rtol, atol, maxiter, callback, monitor, residuals,
                      format=format, kernel=kernel, tune=tune, device=device)
        result._warn()
        return result

    return _named(method, name, about, _LEAST_SQUARES_DOC)


def damped(name: str, damp: float) -> str:
    """The solver with its damping, as the library reads it."""
    damp = number_of(damp, "damp")
    if not 0 <= damp <= 1e150:
        raise UsageError(f"damp = {damp} must lie between 0 and 1e150")
    return f"{name}:{damp!r}" if damp > 0 else name


_NO_SYMMETRY_DOC = _DOC.replace("assume_symmetric : bool, optional\n    See `Solver`.\n", "")
_LEAST_SQUARES_DOC = _NO_SYMMETRY_DOC.replace("scale, reorder : str, optional\n    See `Solver`.\n", "").replace("Solves A x = b by", "The x of least \\|b - A x\\|, A of any shape, by").replace("""rtol, atol : float
""", """damp : float, optional
    The x of least \\|b - A x\\|^2 + damp^2 \\|x\\|^2.
rtol, atol : float
""").replace("of a residual that is computed anew from x.", """of a residual r that is computed anew from x;
    `least_squares` when \\|A.T r\\| <= rtol \\|A\\| \\|r\\|, computed anew, too, or as small as
    rounding of x lets it be. `info` is 0 for both.""").replace("An approximation of the inverse of A, or", """A symmetric operator of as many rows as A has columns, its own transpose, by which A M has a smaller condition number
    than A; or""")
_GMRES_DOC = _NO_SYMMETRY_DOC.replace("""maxiter : int, optional
""", """restart : int, optional
    Iterations of a cycle, at most 300; SciPy's 20 where none are given.
maxiter : int, optional
    Cycles; iterations for the "legacy" callback.
""").replace("    Called as callback(xk) once an iteration.\n", """    As `callback_type` says: "x", callback(xk) once a cycle; "pr_norm" and "legacy", callback(relative residual) once
    an iteration.
""")
_MINRES_DOC = _DOC.replace("maxiter : int, optional\n", """shift : float, optional
    (A - shift I) x = b is solved.
maxiter : int, optional
""")


#: How methods end that have no part for the CPU.
_ON_CHIP = "_resident"


def _on_chip_doc(name: str) -> str:
    """The text of one, whose example says that."""
    return _DOC[: _DOC.index(">>> x, info")] + f""">>> try:
...     x, info = furrow.{name}(A, A @ np.ones(400), device="cpu")  # device="gpu" solves
... except furrow.DeviceError as e:
...     print(e)
{name} keeps the system on the chip of a GPU, and has no part for the CPU: take {name.removesuffix(_ON_CHIP)} there
"""


def _made(name: str, about: str) -> Any:
    own = {"gmres": _gmres, "fgmres": _gmres, "minres": _minres, "lsmr": _least_squares, "lsqr": _least_squares}
    return own.get(name, _method)(name, about)


#: A function for each solver of the library, by its name.
METHODS = {name: _made(name, about) for name, about, _ in _core.solvers()}
