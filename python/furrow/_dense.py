# SPDX-License-Identifier: BSD-3-Clause
"""Dense products."""
from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from ._arrays import F32, F64, check_out, contiguous, real_type, refuse_gpu
from ._errors import UsageError

_KINDS = {"float64": "f64", "float32": "f32", "float16": "f16", "bfloat16": "bf16"}


def gemv(A: Any, x: Any, out: Any = None, alpha: float = 1.0, beta: float = 0.0, trans: bool = False) -> Any:
    """``out = alpha op(A) x + beta out`` for a dense matrix, op(A) = A, or its transpose.

    A is of float64, float32, float16 or ml_dtypes' bfloat16, in rows or in columns, with gaps between them or without;
    integers become float64. x and the result are float64 for a matrix of float64 and float32 for the others. The sums
    are the same for any number of threads.

    >>> import furrow, numpy as np
    >>> furrow.gemv(np.array([[1., 2.], [3., 4.]]), [1., 1.])
    array([3., 7.])
    >>> furrow.gemv(np.ones((2, 3), np.float16), np.ones(2, np.float32), trans=True)
    array([2., 2., 2.], dtype=float32)
    """
    refuse_gpu(A, "A")
    refuse_gpu(x, "x")
    A = np.asarray(A)
    if A.ndim != 2:
        raise UsageError(f"A has {A.ndim} axes: a matrix has 2")
    if A.dtype.name not in _KINDS or not A.dtype.isnative:
        A = A.astype(real_type(A.dtype))
    dtype = F64 if A.dtype == F64 else F32
    x = np.asarray(x)
    rows, cols = A.shape[::-1] if trans else A.shape
    if x.shape != (cols,):
        raise UsageError(f"x is of shape {x.shape}, but the matrix asks for ({cols},)")
    real_type(x.dtype)
    x = contiguous(x, dtype)
    if out is None:
        if beta != 0:
            raise UsageError("beta is not 0, but there is no out to be scaled by it")
        out = np.empty(rows, dtype)
    check_out(out, (rows,), dtype)
    if np.may_share_memory(x, out):
        x = x.copy()
    if np.may_share_memory(A, out):
        A = A.copy()
    A, leading, by_columns = _laid_out(A)
    address = A.__array_interface__["data"][0]
    _core.gemv(_KINDS[A.dtype.name], address, A.shape[0], A.shape[1], leading, by_columns, x, out, alpha, beta,
               bool(trans))
    return out


def _laid_out(A: Any) -> Any:
    """A with one axis without gaps, the distance of its lines, and whether they are columns."""
    size = A.itemsize
    for by_columns in (False, True):
        inner, outer = (0, 1) if by_columns else (1, 0)
        step, leap = A.strides[inner], A.strides[outer]
        fits = step == size or A.shape[inner] <= 1
        if fits and A.shape[outer] <= 1:
            return A, max(A.shape[inner], 1), by_columns
        if fits and leap % size == 0 and leap >= size * A.shape[inner]:
            return A, leap // size, by_columns
    A = np.ascontiguousarray(A)
    return A, max(A.shape[1], 1), False
