# SPDX-License-Identifier: BSD-3-Clause
"""A system that is set up once and solved often."""
from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from . import _core, _gpu
from ._arrays import F32, asked_type, check_type, is_matrix, real_type, tolerance_of
from ._checkpoints import Checkpoints, fingerprint, finish, tell
from ._checks import check_names, count_of, flag_of, number_of, numbers, seconds_of, tuned
from ._columns import are_columns, as_lines, gather, one_only, output
from ._errors import DeviceError, InputError, UsageError, type_of
from ._homes import Home
from ._libraries import home_of
from ._matrix import Matrix
from ._operators import (
    fitted,
    fitted_there,
    is_of_cupy,
    operator_dtype,
    product_of,
    transposed_product_of,
    unseen_method,
    zero_of_zero,
)
from ._placing import by_nodes, device_for, refuse_blocks_of_ranks, with_block_starts, without
from ._result import Result
from ._rows import rows_at
from ._stored import checked
from ._tensors import check_matrix
from ._watching import Watching, weakly

def _is_least_squares(solver: str) -> bool:
    return solver.partition(":")[0] in ("lsmr", "lsqr")


def _refuse_choice(A: Any, options: dict[str, Any]) -> None:
    """A choice that nobody would look at: what is stored already, and what has nothing to store, leaves none."""
    named = [name for name in ("format", "kernel", "tune") if options[name] not in ("auto", False)]
    if isinstance(A, Matrix):
        if named and options["solver"] != "auto":
            raise UsageError(f"A is a Matrix, which has its format ({A.format}) and kernel ({A.kernel}): give {named[0]} to "
                             "the Matrix")
    elif named and not is_matrix(A):
        raise UsageError(f"A has no entries to store: leave {named[0]} out")


class Solver:
    """A system set up once and solved often.

    Parameters
    ----------
    A : Matrix, sparse or dense matrix, LinearOperator, or what has shape and matvec
        A `Matrix` is not looked at or stored again where `solver` is named; what `Matrix.update_values` does to it is
        taken over.
    solver : str
        A name of `show_config()["solvers"]`, with parameters after a colon; "auto" tries what suits the matrix until
        one converges.
    M : str, LinearOperator, callable, sparse or dense matrix, Matrix, or None
        The preconditioner: an approximation of the inverse of A, or the name of one; None is none. Least squares take
        a symmetric one of as many rows as A has columns, by which A M has a smaller condition number than A.
    rtol, atol : float
        Converged when \\|b - A x\\| <= max(rtol \\|b\\|, atol). rtol None: 1e-8, and 1e-5 in float32.
    maxiter : int or None
        None: ten times the columns, at least 10000.
    time_limit : float or None
        Seconds of the set-up and the first solve together, and of each further solve: the best x by then is handed
        back, and the result is no success. None: no limit.
    callback : callable
        Called with the x so far, once an iteration, at last with the answer; costs a copy of x each time. Left out are
        iterations behind which a method starts anew, or another one is tried.
    monitor : callable, (callable, int), "bar"
        Gets a `Step` about ten times a second, or every so many iterations; returning True stops. Its x costs a copy only
        where it is asked for.
    format, kernel, tune
        See `Matrix`, which is made of A: one that is there has its own where `solver` is named, and an operator none.
    assume_symmetric : bool
        A is not looked at for symmetry, which methods for symmetric matrices otherwise ask for: where differences are known
        to mean nothing.
    dtype : None, float32 or float64
        In which the system is solved; None: that of A.
    coordinates : array_like of shape (nodes, 2) or (nodes, 3)
        Where the nodes are, in the order of the rows of A, of which each node has as many as coordinates:
        ``M="amg:sa"`` takes the motions of rigid bodies from them. In host memory; copied.
    block_starts : array_like of int
        The first row of each block of ``M="block_jacobi"``, counted from 0, ascending from 0, as the block pointers of
        Ginkgo: a block has 1 to 64 rows, and the last one ends with the matrix. In host memory; copied.
    scale : "none", "symmetric" or "matching"
        Around M: the diagonal of A becomes ones and minus ones, or rows change places so that the product of the
        diagonal is largest and nothing beside it larger, which `direct`, `gmres` and others for matrices that are not
        symmetric take. x, b and residuals stay those of A.
    reorder : "none" or "rcm"
        Rows and columns are solved for in reverse Cuthill and McKee's order; x, b and what is called with x do not
        see it.
    checkpoint : str or path
        A file that keeps x while it is solved, to go on after a crash: written every `every` seconds, 60 where that is
        None, and where the solve ends, however it ends; complete or not at all. What cannot be written is a
        `SolveWarning`, and the solve goes on.
    every : float or None
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

    def __init__(self, A: Any, solver: str = "auto", M: Any = "auto", *, rtol: float | None = None, atol: float = 0.0,
                 maxiter: int | None = None, callback: Callable[[Any], object] | None = None, monitor: Any = None,
                 format: str = "auto", kernel: str = "auto", tune: bool = False, device: str | None = None,
                 assume_symmetric: bool = False, dtype: Any = None, coordinates: Any = None,
                 block_starts: Any = None, scale: str = "none", reorder: str = "none",
                 checkpoint: str | os.PathLike[str] | None = None, every: float | None = None,
                 time_limit: float | None = None) -> None:
        check_names(solver=solver, format=format, kernel=kernel, scale=scale, reorder=reorder)
        atol = number_of(atol, "atol")
        if _gpu.is_torch(A):
            check_matrix(A, "A")
        shape = getattr(A, "shape", None)
        if shape is None and is_matrix(A):
            A = numbers(A, "A")
            shape = A.shape
        if shape is None:
            raise TypeError(f"A is {type_of(A)}: give a matrix, a LinearOperator, or what has shape and matvec")
        if len(shape) != 2:
            raise InputError(f"A is of shape {tuple(shape)}: a matrix has rows and columns")
        if shape[0] != shape[1] and solver != "auto" and not _is_least_squares(solver):
            raise InputError(f"A is of shape {tuple(shape)}: {solver} solves square systems only, lsmr takes any shape")
        self.shape, self.A = tuple(map(int, shape)), A
        self.dtype = real_type(operator_dtype(A), name="A") if dtype is None else asked_type(dtype)
        rtol = tolerance_of(rtol, atol, self.dtype)
        named = M is None or isinstance(M, str)
        if coordinates is not None and not named:
            raise UsageError('coordinates are for M="amg:sa", and M is an operator of yours')
        M = numbers(M, "M") if isinstance(M, (list, tuple)) else M
        self._wants_best_fit = _is_least_squares(solver) or shape[0] != shape[1]
        of_m, n = None if named else getattr(M, "shape", None), self.shape[1]  # a name out of an array has a shape, too
        if of_m is not None and tuple(of_m) != (n, n):
            what = "a symmetric one for A M" if self._wants_best_fit else "an approximation of the inverse of A"
            raise UsageError(f"M is of shape {tuple(of_m)}, but A of {self.shape}: it must be of {(n, n)}, {what}")
        refuse_blocks_of_ranks(M)
        self._where = device_for(A, solver, M, device)
        self._of_cupy = [name for operator, name in ((A, "A"), (M, "M")) if is_of_cupy(operator)]
        self.device = _gpu.name_of(self._where)
        self.solver = solver
        self._free = threading.Lock()
        self._watching = Watching(callback, monitor, self.dtype)
        self._checkpoints = Checkpoints(checkpoint, every, callback)
        self.precond = (without(solver) if M is None else M) if named else "given"
        precond = with_block_starts(self.precond if named else M, block_starts)
        if solver == "auto" and not (named and (is_matrix(A) or isinstance(A, Matrix))):
            self.solver = solver = unseen_method(A, self.shape)
        self._options: dict[str, Any] = {
            "solver": solver, "precond": precond if named else "none", "format": format, "kernel": kernel,
            "rtol": rtol, "atol": atol, "maxiter": count_of(maxiter, "maxiter"),
            "time_limit": seconds_of(time_limit, "time_limit"), "tune": tuned(tune, format, kernel),
            "assume_symmetric": flag_of(assume_symmetric, "assume_symmetric"), "watch": weakly(self._watching.watch),
            "watch_every": self._watching.watch_every, "monitor": weakly(self._watching.monitor), "monitor_every": 1,
            "checkpoint_every": self._checkpoints.every,
            "ordinal": _gpu.core(self._where), "coordinates": by_nodes(coordinates), "scale": scale, "reorder": reorder}
        _refuse_choice(A, self._options)
        if not named and self._where is not None and is_matrix(M):
            M = Matrix(M, device=self.device)
        if isinstance(M, Matrix) and M._where != self._where and self._where is not None:
            raise DeviceError(f"M is a Matrix on the {M.device}, but the system is solved on the {self.device}: make "
                              f'another one by Matrix(M, device="{self.device}")')
        self._calls_python = not named or not (is_matrix(A) or isinstance(A, Matrix))
        self._functions: list[Any] = []
        self._odd: dict[str, str] = {}
        self._M = None if named else self._called(product_of(M, "M"), self.shape[1], "M")
        self._set_up()

    def _called(self, f: Any, n: int, name: str) -> Any:
        """A function of the caller as the library calls it; the home is that of the solve that runs."""
        if self._where is None:
            return self._kept(fitted(f, n, self.dtype, name, self._odd))
        return self._kept(fitted_there(f, n, self.dtype, name, lambda: self._watching.home or Home("b")))

    def _kept(self, f: Any) -> Any:
        """f for the library, kept here: see `Weakly`."""
        self._functions.append(f)
        return weakly(f)

    def _set_up(self) -> None:
        A, o = self.A, self._options
        self._converted: dict[str, Any] | None = None  # told by the next result
        version, self._stale = A._version if isinstance(A, Matrix) else None, True
        if isinstance(A, Matrix) or (is_matrix(A) and self._M is not None):
            if not isinstance(A, Matrix):
                A = Matrix(checked(A, "A").astype(self.dtype, copy=False) if sp.issparse(A) else A, o["format"], o["kernel"],
                           o["tune"], self.device)
                self._converted = A.converted
            A = A._as(self.dtype)
            self.nnz = A.nnz
            self._core = _core.Solver(matrix=A, precondition=self._M, options=o)
        elif is_matrix(A):
            rows = rows_at(A, self._where, self.dtype)
            self.nnz, self._converted = rows.nnz, rows.converted
            self._core = _core.Solver(rows.indptr, rows.indices, rows.data, *rows.shape, rows.stream, o)
        else:
            self._core = self._of_operator(A)
        self._version, self._stale = version, False

    def _of_operator(self, A: Any) -> Any:
        """The compiled solver of what only multiplies."""
        o = self._options
        if o["precond"] not in ("none", "auto"):
            raise UsageError(f"the preconditioner {o['precond']} is made from entries, which A does not show: give "
                             "M as a function")
        if self._M is None:
            self.precond = o["precond"] = "none"
        rows, cols = self.shape
        product, transposed = self._called(product_of(A, "A"), rows, "A"), None
        if _is_least_squares(o["solver"]):
            transposed = self._called(transposed_product_of(A), cols, "the transpose of A")
        if self._where is None:
            product = self._kept(zero_of_zero(product, rows))
        self.nnz = 0
        return _core.Solver(product=product, transposed=transposed, rows=rows, cols=cols, single=self.dtype == F32,
                            precondition=self._M, options=o)

    def _take_new_values(self) -> None:
        """What the pattern alone decides stays, as far as the preconditioner knows how."""
        if self._M is not None or self._stale:
            self._set_up()
            return
        with self._held():
            version, self._stale = self.A._version, True  # what follows may be interrupted, and meanwhile A be updated again
            self._core._update(self.A._as(self.dtype))
            self._version, self._stale = version, False

    @property
    def setup_seconds(self) -> float:
        """Seconds that setting up took, or the last new values of `A`."""
        return 0.0 if self._stale else self._core.setup_seconds

    def solve(self, b: Any, x0: Any = None, out: Any = None, *, resume: str | os.PathLike[str] | None = None) -> Result:
        """Solves A x = b and gives a `Result`; x begins with x0, or with 0, and goes to `out` where one is given.

        `resume` is a file of `checkpoint`, or of ``furrow solve --checkpoint``: x begins with what it holds. One of
        another A or b is refused.

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
        if self._of_cupy and home.library != "cupy":
            raise TypeError(f"{self._of_cupy[0]} is a LinearOperator of CuPy, which multiplies its arrays alone, and b an array of "
                            f"{home.library}: give b as an array of CuPy")
        if home.ordinal is None and self._where is not None and self._calls_python:
            raise UsageError(f"b lies in host memory, but A or M is a function of Python, which is called with arrays on "
                             f'{self.device}: give b there, or say device="cpu"')
        if are_columns(b):
            self._checkpoints.refuse_columns(np.shape(b)[1], resume)
            return self._solve_columns(home, b, x0, out)
        rhs = home.vector(b, rows, "b")
        check_type(self.dtype, home.dtype(rhs))
        rhs = home.contiguous(rhs, self.dtype)
        if out is not None:
            home.check_out(out, (n,), self.dtype)
            if home.overlap(rhs, out):
                rhs = home.copied(rhs)
        keeper, saved = self._checkpoints.begin(lambda: fingerprint(self.A, rhs, home, self.dtype), x0, resume,
                                                self._options["solver"], self.precond)
        x = home.empty((n,), self.dtype) if out is None else out
        home.fill(x, saved.pop("x") if saved else 0 if x0 is None else home.vector(x0, n, "x0"))
        with self._alone(home):
            self._core._keep(keeper)
            try:
                report = self._core.solve(home.core(rhs), home.core(x), home.stream())
            finally:
                self._core._keep(None)
        written = finish(keeper, report, home.core(x)) if keeper else None
        x = home.leave(x) if out is None else out
        raised = report.pop("raised")
        converted, self._converted = self._converted, None
        result = self._result(home, x, report, rhs, x0, converted)
        tell(result, saved, written, resume)
        if raised is not None:
            raised.partial = result
            raise raised
        self._watching.finish(result, x)
        if out is None and np.ndim(b) == 2:
            result.x = x.reshape(-1, 1)
        return result

    def _solve_columns(self, home: Home, b: Any, x0: Any, out: Any) -> Result:
        """Several right-hand sides: the library takes them one behind the other, as lines."""
        rows, n = self.shape
        one_only(b, self._watching.callback, None)
        count = np.shape(b)[1]
        lines = as_lines(home, b, rows, None, "b")
        check_type(self.dtype, home.dtype(lines))
        rhs = home.contiguous(lines, self.dtype)
        x = output(home, out, n, count, self.dtype)
        if home.overlap(rhs, x):
            rhs = home.copied(rhs)
        home.fill(x, 0 if x0 is None else as_lines(home, x0, n, count, "x0"))
        with self._alone(home):
            said: Any = self._core.solve_columns(home.core(rhs), home.core(x), count, home.stream())
        reports, raised = said
        converted, self._converted = self._converted, None
        columns = [self._result(home, home.leave(x[k]), report, rhs[k], x0, converted)
                   for k, report in enumerate(reports)]
        result = gather(home.leave(x.T), columns)
        if out is not None:
            if not home.overlap(out, x):
                home.fill(out, x.T)
            result.x = out
        if raised is not None:
            raised.partial = result
            raise raised
        self._watching.finish(result, None)
        return result

    @contextlib.contextmanager
    def _held(self) -> Iterator[None]:
        if not self._free.acquire(blocking=False):
            raise UsageError("this Solver is solving already, and serves one solve at a time: wait for its end, or make a "
                             "Solver for each thread")
        try:
            yield
        finally:
            self._free.release()

    @contextlib.contextmanager
    def _alone(self, home: Home) -> Iterator[None]:
        with self._held():
            self._watching.last, self._watching.home = 0, home
            self._odd.clear()
            yield

    def _result(self, home: Home, x: Any, report: Any, rhs: Any, x0: Any,
                converted: dict[str, Any] | None) -> Result:
        for name, value in self._odd.items() if report["status"] == "nan" else ():
            report["message"] = f"iteration {report['iterations']}: {name} made {value} of finite numbers"
        rtol, atol = self._options["rtol"], self._options["atol"]
        size = home.norm(rhs) if atol > 0 else 0.0
        return Result(x, report, self.A, solver=self.solver, precond="given" if self._M is not None else "",
                      shape=self.shape, nnz=self.nnz, rtol=rtol, atol=atol,
                      goal=max(rtol, atol / size) if size > 0 else rtol, dtype=self.dtype,
                      x0="zero" if x0 is None else "given", wants_best_fit=self._wants_best_fit, where=self._where,
                      converted=converted)

    def __reduce__(self) -> Any:
        raise TypeError("a Solver is neither copied nor pickled: pickle its A, and make a Solver of that where it is "
                        "needed")

    def __repr__(self) -> str:
        return (f"<furrow.Solver of {self.shape[0]} rows: {self.solver} with {self.precond} in {self.dtype.name} on the "
                f"{self.device}>")
