# SPDX-License-Identifier: BSD-3-Clause
"""Where a system is solved."""
from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from . import _core, _gpu
from ._arrays import F64, contiguous, is_matrix, real_type, refuse_gpu
from ._checks import numbers
from ._errors import InputError, UsageError
from ._matrix import Matrix
from ._operators import is_of_numpy


def device_for(A: Any, solver: str, M: Any, device: str | None, b: int | None = None, *, has_b: bool = False) -> Any:
    """The GPU that solves; None: the CPU. `b`: where a right-hand side lies."""
    named = M is None or isinstance(M, str)
    if isinstance(A, Matrix):
        _gpu.check_asked(device, A._where)
        _gpu.check_at("b", b, A._where, "A, a Matrix,")
        where = A._where
    else:
        where = _gpu.pick(device, _gpu.ordinal_of(A) if is_matrix(A) else None, b,
                          lambda: named and _pays(A, solver, M), has_b=has_b)
    for operator, name in ((A, "A"), (M, "M")):
        if where is not None and is_of_numpy(operator):
            raise UsageError(f'{name} is a LinearOperator of SciPy, whose products are made on the CPU alone: say '
                             'device="cpu" and give arrays in host memory, or give a function of arrays on a GPU, or a '
                             'LinearOperator of CuPy')
    return where


def by_nodes(coordinates: Any) -> Any:
    """Coordinates as the library takes them: (a vector, node by node, and their number a node)."""
    if coordinates is None:
        return None
    refuse_gpu(coordinates, "coordinates")
    points = numbers(coordinates, "coordinates")
    if points.ndim != 2:
        raise InputError(f"coordinates are of shape {points.shape}: give an array of shape (nodes, 2) or (nodes, 3)")
    real_type(points.dtype)
    return contiguous(points.reshape(-1), F64), points.shape[1]


def without(solver: str) -> str:
    """The name of the preconditioner where M is None: factors are what makes `direct` direct."""
    return "auto" if solver == "direct" else "none"


def refuse_blocks_of_ranks(M: Any) -> None:
    if isinstance(M, str) and M.startswith("local:"):
        raise UsageError(f'M="{M}" is made of the block of each rank: give ranks or devices to furrow.solve, or leave '
                         '"local:" out')


def with_block_starts(M: Any, starts: Any) -> Any:
    """The name M of a preconditioner, told where its blocks start."""
    if starts is None:
        return M
    if not isinstance(M, str) or M != "block_jacobi":
        raise UsageError('block_starts are for M="block_jacobi", and M is another one')
    refuse_gpu(starts, "block_starts")
    rows = numbers(starts, "block_starts")
    if rows.ndim != 1 or not rows.size or rows.dtype.kind not in "iu" or rows.min() < 0:
        raise InputError("block_starts are no list of rows: give the first row of each block, counted from 0")
    return f"block_jacobi:starts={','.join(map(str, rows.tolist()))}"


def _pays(A: Any, solver: str, M: str | None) -> bool:
    """Whether a GPU pays for the copies of a system in host memory."""
    if not is_matrix(A):
        return False
    try:
        if _gpu.is_torch(A):  # its `size` is a function
            entries = A._nnz() if _gpu.is_sparse(A) else A.numel()
        else:
            entries = A.nnz if sp.issparse(A) else np.size(A)
    except (ValueError, IndexError):  # SciPy's, of parts that do not fit: they are named when A is taken
        return False
    names = [(solver, _core.solvers()), (M or "none", _core.preconditioners())]
    return entries >= _gpu.PAYS_FROM and all(
        on_gpu for given, known in names for name, _, on_gpu in known if name == given.partition(":")[0])
