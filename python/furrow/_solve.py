# SPDX-License-Identifier: BSD-3-Clause
"""Solving: one way to set up, one to run; the functions by name are made of both."""
from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as sla

from . import _core, _gpu
from ._arrays import F32, F64, as_rows, contiguous, dtype_of, is_matrix, on_host, real_type, refuse_gpu
from ._columns import are_columns, as_lines, gather, one_only, output
from ._errors import InputError, UsageError
from ._homes import Home
from ._libraries import home_of
from ._matrix import Matrix, _Transpose
from ._result import Result, Step

_SMALLEST_RTOL = 2 * float(np.finfo(np.float32).eps)


def _product_of(A: Any, name: str) -> Any:
    """The function x -> A @ x of whatever multiplies."""
    refuse_gpu(A, name)
    if isinstance(A, (Matrix, _Transpose)) or is_matrix(A):
        return lambda x: A @ x
    if hasattr(A, "matvec"):
        return A.matvec
    if hasattr(A, "__matmul__"):
        return A.__matmul__
    if callable(A):
        return A
    raise TypeError(f"{name} is a {type(A).__name__}: give a matrix, a LinearOperator, or what has shape and matvec")


def _transposed_product_of(A: Any) -> Any:
    """The function x -> A.T @ x of what multiplies by A, where it has one."""
    if hasattr(A, "rmatvec"):
        return A.rmatvec
    if hasattr(A, "T"):
        return lambda x: A.T @ x
    raise TypeError(f"A is a {type(A).__name__}, which does not say how its transpose multiplies: give a LinearOperator "
                    "with rmatvec")


def _is_least_squares(solver: str) -> bool:
    return solver.partition(":")[0] in ("lsmr", "lsqr")


def _fitted(f: Any, n: int, dtype: Any, name: str) -> Any:
    """f with its result checked and made a contiguous vector of n elements."""
    def product(x: Any) -> Any:
        y = np.asarray(f(x))
        if y.size != n:
            raise UsageError(f"{name} made {y.size} elements of a vector of {n}")
        real_type(y.dtype)
        return contiguous(y.reshape(n), dtype)

    return product


def _dtype_of(A: Any) -> Any:
    dtype = dtype_of(A)
    return F64 if dtype is None else dtype


class _Watching:
    """callback, monitor and residuals of a call, as the library hears them."""

    def __init__(self, callback: Callable[[Any], object] | None, monitor: Any) -> None:
        self.callback, self.every, self.watch, self.monitor = callback, 1, None, None
        self.last, self.bar = 0, monitor == "bar"
        self.home: Home | None = None  # of the solve that runs
        own_every = 0
        if self.bar:
            monitor = _draw
        elif isinstance(monitor, tuple):
            monitor, own_every = monitor
            if own_every < 1:
                raise UsageError(f"monitor=(f, {own_every}): tell it every 1 iteration or more")
        if monitor is not None and not callable(monitor):
            raise TypeError('monitor is a function of a step, such a function with a number, or "bar"')
        if callback is not None and not callable(callback):
            raise TypeError("callback is a function of the x so far")
        if monitor is not None and not own_every:
            self.watch = lambda *step: bool(monitor(Step(*step)))
        if callback is None and own_every:
            self.every = own_every
            self.monitor = lambda iteration, residual, seconds, x: bool(
                monitor(Step(iteration, residual, seconds, self._own(x))))
        elif callback is not None:
            def heard(iteration: int, residual: float, seconds: float, x: Any) -> Any:
                self.last = iteration
                x = self._own(x)
                callback(x)
                return bool(own_every and iteration % own_every == 0 and monitor(Step(iteration, residual, seconds, x)))

            self.monitor = heard

    def _own(self, x: Any) -> Any:
        """The x of the library as an array of the caller's kind."""
        return x if self.home is None else self.home.from_host(x)

    def finish(self, iterations: int, x: Any) -> None:
        """The iteration that ended the solve is told of when it is known to be the last."""
        if self.callback is not None and iterations > self.last:
            self.callback(x)
        if self.bar:
            print(file=sys.stderr)


def _draw(step: Any) -> None:
    print(f"\riteration {step.iteration:8,}  residual {step.residual:.3e}  {step.seconds:6.1f} s", end="",
          file=sys.stderr, flush=True)


class Solver:
    """A system set up once and solved often.

    Parameters
    ----------
    A : Matrix, sparse or dense matrix, LinearOperator, or what has shape and matvec
        A `Matrix` is not looked at or stored again; what `Matrix.update_values` does to it is taken over.
    solver : str
        A name of `show_config()["solvers"]`, with parameters after a colon; "auto" tries what suits the matrix until
        one converges.
    M : str, LinearOperator, callable, sparse or dense matrix, Matrix, or None
        The preconditioner: an approximation of the inverse of A, or the name of one; None is none.
    rtol, atol : float
        Converged when \\|b - A x\\| <= max(rtol \\|b\\|, atol).
    maxiter : int or None
        None: ten times the rows, at least 10000.
    callback : callable
        Called with the x so far, once an iteration; costs a copy of x each time.
    monitor : callable, (callable, int), "bar"
        Gets a `Step` about ten times a second, or every so many iterations; returning True stops.
    dtype : None, float32 or float64
        In which the system is solved; None: that of A.
    coordinates : array_like of shape (nodes, 2) or (nodes, 3)
        Where the nodes are, in the order of the rows of A, of which each node has as many as coordinates:
        ``M="amg:sa"`` takes the motions of rigid bodies from them, on the CPU. Copied.
    device : None, "cpu", "gpu", "gpu:1"
        Where it is solved. None is where A lies, if that is a GPU or a `Matrix`, otherwise `furrow.default_device`,
        otherwise a GPU where there is one that serves the method and A has at least 200000 entries. A GPU takes b and
        x0 in its own memory, where they stay, or in host memory.

    Examples
    --------
    >>> import furrow, numpy as np
    >>> s = furrow.Solver(furrow.generate("poisson2d:20"), "cg", M="jacobi")
    >>> b = np.ones(400)
    >>> bool((s.solve(b).x == s.solve(b).x).all()), s.solve(b).seconds["setup"]
    (True, 0.0)
    """

    def __init__(self, A: Any, solver: str = "auto", M: Any = "auto", *, rtol: float = 1e-08, atol: float = 0.0,
                 maxiter: int | None = None, callback: Callable[[Any], object] | None = None, monitor: Any = None,
                 format: str = "auto", kernel: str = "auto", tune: bool = False, device: str | None = None,
                 assume_symmetric: bool = False, dtype: Any = None, coordinates: Any = None) -> None:
        shape = getattr(A, "shape", None)
        if shape is None and is_matrix(A):
            A = np.asarray(A)
            shape = A.shape
        if shape is None:
            raise TypeError(f"A is a {type(A).__name__}: give a matrix, a LinearOperator, or what has shape and matvec")
        if len(shape) != 2:
            raise InputError(f"A is of shape {tuple(shape)}: a matrix has rows and columns")
        if shape[0] != shape[1] and solver != "auto" and not _is_least_squares(solver):
            raise InputError(f"A is of shape {tuple(shape)}: {solver} solves square systems only, lsmr takes any shape")
        self.shape, self.A = tuple(map(int, shape)), A
        self.dtype = real_type(np.dtype(dtype) if dtype is not None else _dtype_of(A))
        if self.dtype == F32 and rtol < _SMALLEST_RTOL and not atol > 0:
            raise UsageError(f"rtol = {rtol:g} is more than float32 can hold: take {_SMALLEST_RTOL:.1g} or more, or "
                             "give A or b in float64")
        if maxiter is not None and maxiter < 1:
            raise UsageError(f"maxiter = {maxiter} must be at least 1, or None")
        named = M is None or isinstance(M, str)
        if coordinates is not None and not named:
            raise UsageError('coordinates are for M="amg:sa", and M is an operator of yours')
        self._where = _device_for(A, solver, M, _device_with(coordinates, A, device))
        self.device = _gpu.name_of(self._where)
        self.solver = solver
        self._free = threading.Lock()
        self._watching = _Watching(callback, monitor)
        wanted = "auto" if solver == "direct" else "none"  # its factors are what makes it direct
        self.precond = (M or wanted) if named else "given"
        if solver == "auto" and not (named and (is_matrix(A) or isinstance(A, Matrix))):
            self.solver = solver = _unseen_method(A, self.shape)
        self._wants_best_fit = _is_least_squares(solver) or shape[0] != shape[1]
        self._options: dict[str, Any] = {
            "solver": solver, "precond": self.precond if named else "none", "format": format, "kernel": kernel,
            "rtol": float(rtol), "atol": float(atol), "maxiter": int(maxiter or 0), "tune": bool(tune),
            "assume_symmetric": bool(assume_symmetric), "watch": self._watching.watch,
            "monitor": self._watching.monitor, "monitor_every": self._watching.every,
            "ordinal": _gpu.core(self._where), "coordinates": _by_nodes(coordinates)}
        self._M = None if named else _fitted(_product_of(M, "M"), self.shape[1], self.dtype, "M")
        self._set_up()

    def _set_up(self) -> None:
        A, o = self.A, self._options
        version, self._stale = getattr(A, "_version", None), True
        if isinstance(A, Matrix) or (is_matrix(A) and self._M is not None):
            if not isinstance(A, Matrix):
                A = Matrix(A if not sp.issparse(A) else A.astype(self.dtype, copy=False), o["format"], o["kernel"],
                           o["tune"], self.device)
            A = A._as(self.dtype)
            self.nnz = A.nnz
            self._core = _core.Solver(matrix=A, precondition=self._M, options=o)
        elif is_matrix(A):
            indptr, indices, data, shape = as_rows(A)
            self.nnz = len(data)
            self._core = _core.Solver(indptr, indices, contiguous(data, self.dtype), *shape, o)
        else:
            if o["precond"] not in ("none", "auto"):
                raise UsageError(f"the preconditioner {o['precond']} is made from entries, which A does not show: give "
                                 "M as a function")
            if self._M is None:
                self.precond = o["precond"] = "none"
            rows, cols = self.shape
            product = _fitted(_product_of(A, "A"), rows, self.dtype, "A")
            transposed = None
            if _is_least_squares(o["solver"]):
                transposed = _fitted(_transposed_product_of(A), cols, self.dtype, "the transpose of A")
            self.nnz = 0
            self._core = _core.Solver(product=_zero_of_zero(product, rows), transposed=transposed, rows=rows, cols=cols,
                                      single=self.dtype == F32, precondition=self._M, options=o)
        self._version, self._stale = version, False

    def _take_new_values(self) -> None:
        """What the pattern alone decides stays, as far as the preconditioner knows how."""
        if self._M is not None or self._stale:
            self._set_up()
            return
        with self._held():
            self._stale = True  # what follows may be interrupted
            self._core._update(self.A._as(self.dtype))
            self._version, self._stale = self.A._version, False

    @property
    def setup_seconds(self) -> float:
        """Seconds that setting up took, or the last new values of `A`."""
        return 0.0 if self._stale else self._core.setup_seconds

    def solve(self, b: Any, x0: Any = None, out: Any = None) -> Result:
        """Solves A x = b and gives a `Result`; x begins with x0, or with 0, and goes to `out` where one is given.

        b of shape (n, k) is k right-hand sides: x is of that shape, and `Result.columns` has a result for each.
        `block_cg` takes up to 16 of them at once, and so does "auto" where it takes cg.

        >>> import furrow, numpy as np
        >>> s = furrow.Solver(furrow.generate("poisson2d:20"))
        >>> r = s.solve(np.stack([np.ones(400), np.arange(400.0)], axis=1))
        >>> r.x.shape, r.info, [column.status for column in r.columns]
        ((400, 2), 0, ['converged', 'converged'])
        """
        rows, n = self.shape
        if self._version is not None and self._version != self.A._version:
            self._take_new_values()
        for name, array in (("b", b), ("x0", x0), ("out", out)):
            _gpu.check_at(name, _gpu.ordinal_of(array), self._where, "this Solver")
        home = home_of(b, "b")
        if are_columns(b):
            return self._solve_columns(home, b, x0, out)
        rhs = home.vector(b, rows, "b")
        self._check_type(home.dtype(rhs))
        rhs = home.contiguous(rhs, self.dtype)
        if out is not None:
            home.check_out(out, (n,), self.dtype)
            if home.overlap(rhs, out):
                rhs = home.copied(rhs)
        x = home.empty((n,), self.dtype) if out is None else out
        home.fill(x, 0 if x0 is None else home.vector(x0, n, "x0"))
        with self._alone(home):
            report = self._core.solve(home.core(rhs), home.core(x), home.stream())
        x = home.leave(x) if out is None else out
        raised = report.pop("raised")
        result = self._result(home, x, report, rhs, x0)
        if raised is not None:
            raised.partial = result
            raise raised
        self._watching.finish(result.iterations, x)
        if out is None and np.ndim(b) == 2:
            result.x = x.reshape(-1, 1)
        return result

    def _solve_columns(self, home: Home, b: Any, x0: Any, out: Any) -> Result:
        """Several right-hand sides: the library takes them one behind the other, as lines."""
        rows, n = self.shape
        one_only(b, self._watching.callback, None)
        count = np.shape(b)[1]
        lines = as_lines(home, b, rows, None, "b")
        self._check_type(home.dtype(lines))
        rhs = home.contiguous(lines, self.dtype)
        x = output(home, out, n, count, self.dtype)
        if home.overlap(rhs, x):
            rhs = home.copied(rhs)
        home.fill(x, 0 if x0 is None else as_lines(home, x0, n, count, "x0"))
        with self._alone(home):
            said: Any = self._core.solve_columns(home.core(rhs), home.core(x), count, home.stream())
        reports, raised = said
        columns = [self._result(home, home.leave(x[k]), report, rhs[k], x0) for k, report in enumerate(reports)]
        result = gather(home.leave(x.T), columns)
        if out is not None:
            if not home.overlap(out, x):
                home.fill(out, x.T)
            result.x = out
        if raised is not None:
            raised.partial = result
            raise raised
        self._watching.finish(0, None)
        return result

    def _check_type(self, dtype: Any) -> None:
        if real_type(self.dtype, dtype) != self.dtype and self.dtype == F32:
            raise TypeError("b is float64, but the solver was set up in float32: give dtype=numpy.float64 to it, or "
                            "b.astype(numpy.float32)")

    @contextlib.contextmanager
    def _held(self) -> Iterator[None]:
        if not self._free.acquire(blocking=False):
            raise UsageError("this Solver is solving already: it serves one solve at a time, two may run side by side")
        try:
            yield
        finally:
            self._free.release()

    @contextlib.contextmanager
    def _alone(self, home: Home) -> Iterator[None]:
        with self._held():
            self._watching.last, self._watching.home = 0, home
            yield

    def _result(self, home: Home, x: Any, report: Any, rhs: Any, x0: Any) -> Result:
        rtol, atol = self._options["rtol"], self._options["atol"]
        size = home.norm(rhs) if atol > 0 else 0.0
        return Result(x, report, self.A, solver=self.solver, precond="given" if self._M is not None else "",
                      shape=self.shape, nnz=self.nnz, rtol=rtol, atol=atol,
                      goal=max(rtol, atol / size) if size > 0 else rtol, dtype=self.dtype,
                      x0="zero" if x0 is None else "given", wants_best_fit=self._wants_best_fit, where=self._where)

    def __repr__(self) -> str:
        return (f"<furrow.Solver of {self.shape[0]} rows: {self.solver} with {self.precond} in {self.dtype.name} on the "
                f"{self.device}>")


def _device_for(A: Any, solver: str, M: Any, device: str | None, b: int | None = None, *, has_b: bool = False) -> Any:
    """The GPU that solves; None: the CPU. `b`: where a right-hand side lies."""
    named = M is None or isinstance(M, str)
    if isinstance(A, Matrix):
        _gpu.check_asked(device, A._where)
        _gpu.check_at("b", b, A._where, "A, a Matrix,")
        where = A._where
    else:
        where = _gpu.pick(device, _gpu.ordinal_of(A) if is_matrix(A) else None, b,
                          lambda: named and _pays(A, solver, M), has_b=has_b)
    if where is not None and not (isinstance(A, Matrix) or is_matrix(A)):
        raise UsageError(f'A is a {type(A).__name__}, whose products are made by Python, on the CPU alone: say '
                         'device="cpu" and give arrays in host memory, or give A as a matrix')
    if where is not None and not named:
        raise UsageError('M is applied by Python, on the CPU alone: say device="cpu" and give arrays in host memory, or '
                         'give M as the name of a preconditioner')
    return where


def _device_with(coordinates: Any, A: Any, device: str | None) -> str | None:
    """The CPU makes use of coordinates, so it is chosen where nothing else was said."""
    free = coordinates is not None and device is None and not isinstance(A, Matrix)
    return "cpu" if free and not (is_matrix(A) and _gpu.ordinal_of(A) is not None) else device


def _by_nodes(coordinates: Any) -> Any:
    """Coordinates as the library takes them: (a vector, node by node, and their number a node)."""
    if coordinates is None:
        return None
    refuse_gpu(coordinates, "coordinates")
    points = np.asarray(coordinates)
    if points.ndim != 2:
        raise InputError(f"coordinates are of shape {points.shape}: give an array of shape (nodes, 2) or (nodes, 3)")
    real_type(points.dtype)
    return contiguous(points.reshape(-1), F64), points.shape[1]


def _pays(A: Any, solver: str, M: str | None) -> bool:
    """Whether a GPU pays for the copies of a system in host memory."""
    if not is_matrix(A):
        return False
    entries = A.nnz if sp.issparse(A) else np.size(A)
    names = [(solver, _core.solvers()), (M or "none", _core.preconditioners())]
    return entries >= _gpu.PAYS_FROM and all(
        on_gpu for given, known in names for name, _, on_gpu in known if name == given.partition(":")[0])


def _unseen_method(A: Any, shape: tuple[int, ...]) -> str:
    """The method for what the library cannot look at whole."""
    if shape[0] != shape[1]:
        return "lsmr"
    return "cg" if _seems_symmetric(A) else "bicgstab"


def _seems_symmetric(A: Any) -> bool:
    """Of what shows entries, the truth up to rounding; a product alone is taken for symmetric."""
    if isinstance(A, Matrix):
        A = A.tocsr()
    if not is_matrix(A):
        return True
    A = on_host(A)
    A = A if sp.issparse(A) else np.asarray(A)
    return bool(abs(A - A.T).max() <= 1e-12 * abs(A).max()) if A.shape[0] else True


def _zero_of_zero(product: Any, rows: int) -> Any:
    """A times zero is zero: the product of a first guess that is 0 is not asked for."""
    return lambda x: product(x) if x.any() else np.zeros(rows, x.dtype)


def _run(A: Any, b: Any, x0: Any, solver: str, M: Any, rtol: float, atol: float, maxiter: int | None,
         callback: Callable[[Any], object] | None, monitor: Any, residuals: list[float] | None,
         device: str | None = None, **rest: Any) -> Result:
    device = _device_with(rest.get("coordinates"), A, device) if _gpu.ordinal_of(b) is None else device
    where = _device_for(A, solver, M, device, _gpu.ordinal_of(b), has_b=True)
    home = home_of(b, "b")
    b = b if home.ordinal is not None else np.asarray(b)
    if not (is_matrix(A) or hasattr(A, "shape")):
        raise TypeError(f"A is a {type(A).__name__}: give a matrix, a LinearOperator, or what has shape and matvec")
    dtype = real_type(_dtype_of(A), home.dtype(b))
    one_only(b, callback, residuals)
    s = Solver(A, solver, M, rtol=rtol, atol=atol, maxiter=maxiter, callback=callback, monitor=monitor, dtype=dtype,
               device=_gpu.name_of(where), **rest)
    result = s.solve(b, x0)
    if residuals is not None:
        residuals[:] = (result.history * home.norm(home.enter(b, "b"))).tolist()
    return result


def solve(A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-08, atol: float = 0.0, maxiter: int | None = None,
          solver: str = "auto", M: Any = "auto", callback: Callable[[Any], object] | None = None, monitor: Any = None,
          residuals: list[float] | None = None, format: str = "auto", kernel: str = "auto", tune: bool = False,
          device: str | None = None, coordinates: Any = None) -> Result:
    """Solves A x = b: looks at A, picks method, preconditioner, format and kernel, and says how good the answer is.

    Methods that suit the matrix are tried until one converges; `Result.rungs` has each of them. Of what is only a
    product nothing is known: it is solved by conjugate gradients unless another `solver` is named. For a rectangular A
    the answer is the x of least \\|b - A x\\|. b of shape (n, k) is k right-hand sides: see
    `Solver.solve`. The other arguments are those of `Solver`.

    >>> import furrow, numpy as np
    >>> r = furrow.solve(furrow.generate("convection2d:20:10"), np.ones(400))
    >>> r.success, r.rungs[-1]["solver"] == r.solver
    (True, True)
    """
    result = _run(A, b, x0, solver, M, rtol, atol, maxiter, callback, monitor, residuals, format=format, kernel=kernel,
                  tune=tune, device=device, coordinates=coordinates)
    result._warn()
    return result


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
               tune: bool = False, assume_symmetric: bool = False) -> Any:
        result = _run(A, b, x0, name, M, rtol, atol, maxiter, callback, monitor, residuals, format=format,
                      kernel=kernel, tune=tune, device=device, assume_symmetric=assume_symmetric)
        result._warn()
        return result

    return _named(method, name, about, _DOC)


def _named(method: Any, name: str, about: str, doc: str) -> Any:
    method.__name__ = method.__qualname__ = name
    method.__module__ = "furrow"
    known = ", ".join(f'"{p}"' for p, *_ in _core.preconditioners())
    method.__doc__ = doc.format(name=name, about=about, preconditioners=known)
    return method


def _rows_of(b: Any) -> int:
    return int(b.shape[0]) if hasattr(b, "shape") and len(b.shape) > 0 else int(np.size(b))


class _Cycles:
    """SciPy's callback and maxiter of gmres, which count cycles of `restart` iterations.

    callback_type "x": callback(x) at the end of each cycle; "pr_norm": callback(relative residual) once an iteration;
    "legacy" and None: the same, and maxiter counts iterations where there is a callback.
    """

    def __init__(self, n: int, restart: int | None, maxiter: int | None, callback: Callable[[Any], object] | None,
                 callback_type: str | None) -> None:
        if callback_type not in (None, "x", "pr_norm", "legacy"):
            raise ValueError(f"Unknown callback_type: {callback_type!r}")
        if restart is not None and restart < 1:
            raise UsageError(f"restart = {restart} must be at least 1")
        self.restart = max(min(restart or 20, n, 300), 1)
        legacy = callback is not None and callback_type in (None, "legacy")
        self.maxiter = maxiter if maxiter is None or legacy else maxiter * self.restart
        self._callback, self._x, self._last = callback, callback_type == "x", 0
        self.monitor: Any = None if callback is None else (self._hear, self.restart if self._x else 1)

    def _hear(self, step: Step) -> bool:
        self._last = step.iteration
        assert self._callback is not None
        self._callback(step.x if self._x else self.size_of(step.x, step.residual))
        return False

    def finish(self, result: Result) -> None:
        """The iteration that ended the solve is told of when it is known to be the last."""
        if self._callback is not None and result.iterations > self._last:
            self._callback(result.x if self._x else self.size_of(result.x, result.residual))

    def size_of(self, x: Any, residual: float) -> Any:
        """What the callback is told of x."""
        return np.float64(residual)


def _gmres(name: str, about: str) -> Any:
    def method(A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-05, atol: float = 0.0, restart: int | None = None,
               maxiter: int | None = None, M: Any = None, callback: Callable[[Any], object] | None = None,
               callback_type: str | None = None, device: str | None = None, monitor: Any = None,
               residuals: list[float] | None = None, format: str = "auto", kernel: str = "auto",
               tune: bool = False) -> Any:
        one_only(b, callback, residuals)
        cycles = _Cycles(_rows_of(b), restart, maxiter, callback, callback_type)
        if cycles.monitor is not None and monitor is not None:
            raise UsageError(f"{name} takes a callback or a monitor, not both")
        result = _run(A, b, x0, f"{name}:{cycles.restart}", M, rtol, atol, cycles.maxiter, None,
                      cycles.monitor or monitor, residuals, format=format, kernel=kernel, tune=tune, device=device)
        cycles.finish(result)
        result._warn()
        return result

    return _named(method, name, about, _GMRES_DOC)


def _shifted(A: Any, shift: float) -> Any:
    """A - shift I, of what A is."""
    if shift == 0:
        return A
    if isinstance(A, Matrix):
        return Matrix(_shifted(A.tocsr(), shift), device=A.device)
    if is_matrix(A):
        A = on_host(A)
        return sp.csr_array(A) - shift * sp.eye_array(A.shape[0], format="csr")
    product = _product_of(A, "A")
    return sla.LinearOperator(A.shape, lambda x: product(x) - shift * np.asarray(x).reshape(-1), dtype=_dtype_of(A))


def _minres(name: str, about: str) -> Any:
    def method(A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-05, atol: float = 0.0, shift: float = 0.0,
               maxiter: int | None = None, M: Any = None, callback: Callable[[Any], object] | None = None,
               device: str | None = None, monitor: Any = None, residuals: list[float] | None = None,
               format: str = "auto", kernel: str = "auto", tune: bool = False, assume_symmetric: bool = False) -> Any:
        result = _run(_shifted(A, shift), b, x0, name, M, rtol, atol, maxiter, callback, monitor, residuals,
                      format=format, kernel=kernel, tune=tune, device=device, assume_symmetric=assume_symmetric)
        result._warn()
        return result

    return _named(method, name, about, _MINRES_DOC)


def _least_squares(name: str, about: str) -> Any:
    def method(A: Any, b: Any, x0: Any = None, *, damp: float = 0.0, rtol: float = 1e-05, atol: float = 0.0,
               maxiter: int | None = None, M: Any = None, callback: Callable[[Any], object] | None = None,
               device: str | None = None, monitor: Any = None, residuals: list[float] | None = None,
               format: str = "auto", kernel: str = "auto", tune: bool = False) -> Any:
        result = _run(A, b, x0, _damped(name, damp), M, rtol, atol, maxiter, callback, monitor, residuals,
                      format=format, kernel=kernel, tune=tune, device=device)
        result._warn()
        return result

    return _named(method, name, about, _LEAST_SQUARES_DOC)


def _damped(name: str, damp: float) -> str:
    """The solver with its damping, as the library reads it."""
    if not 0 <= damp <= 1e150:
        raise UsageError(f"damp = {damp} must lie between 0 and 1e150")
    return f"{name}:{float(damp)!r}" if damp > 0 else name


_LEAST_SQUARES_DOC = _DOC.replace("Solves A x = b by", "The x of least \\|b - A x\\|, A of any shape, by").replace("""rtol, atol : float
""", """damp : float, optional
    The x of least \\|b - A x\\|^2 + damp^2 \\|x\\|^2.
rtol, atol : float
""").replace("of a residual that is computed anew from x.", """of a residual r that is computed anew from x;
    `least_squares` when \\|A.T r\\| <= rtol \\|A\\| \\|r\\|, computed anew, too. `info` is 0 for both.""")
_GMRES_DOC = _DOC.replace("""maxiter : int, optional
""", """restart : int, optional
    Iterations of a cycle, SciPy's 20 where none are given.
maxiter : int, optional
    Cycles; iterations for the "legacy" callback.
""").replace("    Called as callback(xk) once an iteration.\n", """    As `callback_type` says: "x", callback(xk) once a cycle; "pr_norm" and "legacy", callback(relative residual) once
    an iteration.
""")
_MINRES_DOC = _DOC.replace("maxiter : int, optional\n", """shift : float, optional
    (A - shift I) x = b is solved.
maxiter : int, optional
""")


def _made(name: str, about: str) -> Any:
    own = {"gmres": _gmres, "fgmres": _gmres, "minres": _minres, "lsmr": _least_squares, "lsqr": _least_squares}
    return own.get(name, _method)(name, about)


#: A function for each solver of the library, by its name.
METHODS = {name: _made(name, about) for name, about, _ in _core.solvers()}
