# SPDX-License-Identifier: BSD-3-Clause
"""One call: a solver that is set up, solves, and is gone."""
from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from . import _gpu, _ranks
from ._arrays import is_matrix, real_type
from ._checks import check_names, numbers
from ._columns import one_only
from ._errors import type_of
from ._libraries import home_of
from ._operators import operator_dtype
from ._placing import device_for
from ._result import Result
from ._solver import Solver


def run(A: Any, b: Any, x0: Any, solver: str, M: Any, rtol: float | None, atol: float, maxiter: int | None,
         callback: Callable[[Any], object] | None, monitor: Any, residuals: list[float] | None,
         device: str | None = None, resume: str | os.PathLike[str] | None = None, dtype: Any = None, **rest: Any) -> Result:
    check_names(solver=solver)
    where = device_for(A, solver, M, device, _gpu.ordinal_of(b), has_b=True)
    home = home_of(b, "b")
    b = b if home.ordinal is not None else numbers(b, "b")
    if not (is_matrix(A) or hasattr(A, "shape")):
        raise TypeError(f"A is {type_of(A)}: give a matrix, a LinearOperator, or what has shape and matvec")
    if dtype is None:
        dtype = real_type(real_type(operator_dtype(A), name="A"), real_type(home.dtype(b), name="b"))
    one_only(b, callback, residuals)
    s = Solver(A, solver, M, rtol=rtol, atol=atol, maxiter=maxiter, callback=callback, monitor=monitor, dtype=dtype,
               device=_gpu.name_of(where), **rest)
    result = s.solve(b, x0, resume=resume)
    if residuals is not None:
        residuals[:] = (result.history * home.norm(home.enter(b, "b"))).tolist()
    return result


def solve(A: Any, b: Any, x0: Any = None, *, rtol: float | None = None, atol: float = 0.0, maxiter: int | None = None,
          solver: str = "auto", M: Any = "auto", callback: Callable[[Any], object] | None = None, monitor: Any = None,
          residuals: list[float] | None = None, format: str = "auto", kernel: str = "auto", tune: bool = False,
          device: str | None = None, coordinates: Any = None, block_starts: Any = None, scale: str = "none",
          reorder: str = "none", checkpoint: str | os.PathLike[str] | None = None, every: float | None = None,
          resume: str | os.PathLike[str] | None = None, devices: str | Sequence[str | int] | None = None,
          ranks: int | None = None, time_limit: float | None = None, assume_symmetric: bool = False,
          dtype: Any = None) -> Result:
    """Solves A x = b: looks at A, picks method, preconditioner, format and kernel, and says how good the answer is.

    Methods that suit the matrix are tried until one converges; `Result.rungs` has each of them. Of what is only a
    product nothing is known: it is solved by conjugate gradients unless another `solver` is named. For a rectangular A
    the answer is the x of least \\|b - A x\\|. b of shape (n, k) is k right-hand sides: see
    `Solver.solve`. With `checkpoint` the x so far is kept in a file, from which `resume` goes on after a crash, here or
    by ``furrow solve --resume``. The other arguments are those of `Solver`, but for dtype None, which
    is float32 where A and b are.

    With ``devices="all"``, or a list such as ``[0, 1]`` or ``["gpu:0", "gpu:1"]``, each of these GPUs has a share of
    the rows, and they solve together; one GPU alone solves as by `device`. ``ranks=4`` does the same with four groups of threads of
    the CPU. Where there are several, A, b and x0 are in host memory, M is named, and `Result.parts` says what each had.
    Checkpoints are the same files, which ranks write together; a monitor sees no x beside them. See docs/ranks.md.

    >>> import furrow, numpy as np
    >>> r = furrow.solve(furrow.generate("convection2d:20:10"), np.ones(400))
    >>> r.success, r.rungs[-1]["solver"] == r.solver
    (True, True)
    >>> r = furrow.solve(furrow.generate("poisson2d:20"), np.ones(400), ranks=2)
    >>> r.ranks, [part["rows"] for part in r.parts], r.precond
    (2, [200, 200], 'jacobi')
    """
    if (on := _ranks.chosen(devices, ranks, device)) is not None:
        if len(on) > 1 or devices is None or devices == "cpu":
            result = _ranks.run(A, b, x0, solver, M, rtol, atol, maxiter, callback, monitor, residuals, on,
                                format=format, kernel=kernel, tune=tune, scale=scale, reorder=reorder,
                                coordinates=coordinates, block_starts=block_starts, checkpoint=checkpoint, every=every,
                                resume=resume, time_limit=time_limit, assume_symmetric=assume_symmetric, dtype=dtype)
            result._warn()
            return result
        device = _gpu.name_of(on[0])
        M = M.removeprefix("local:") if isinstance(M, str) else M  # the block of one rank is all of A
    result = run(A, b, x0, solver, M, rtol, atol, maxiter, callback, monitor, residuals, format=format, kernel=kernel,
                  tune=tune, device=device, coordinates=coordinates, block_starts=block_starts, scale=scale,
                  reorder=reorder, checkpoint=checkpoint, every=every, resume=resume, time_limit=time_limit,
                  assume_symmetric=assume_symmetric, dtype=dtype)
    result._warn()
    return result
