# SPDX-License-Identifier: BSD-3-Clause
"""Dense products."""
from __future__ import annotations

from typing import Any

import numpy as np

from . import _core, _gpu
from ._arrays import F32, F64, real_type
from ._checks import BEYOND_F32, check_factor, flag_of, number_of
from ._errors import InputError, UsageError
from ._homes import Home
from ._libraries import home_of

_KINDS = {"float64": "f64", "float32": "f32", "float16": "f16", "bfloat16": "bf16"}


def gemv(A: Any, x: Any, out: Any = None, alpha: float = 1.0, beta: float = 0.0, trans: bool = False,
         device: str | None = None) -> Any:
    """``out = alpha op(A) x + beta out`` for a dense matrix, op(A) = A, or its transpose.

    A is of float64, float32, float16 or ml_dtypes' bfloat16, in rows or in columns, with gaps between them or without;
    integers become float64. x, which is rounded, and the result are float64 for a matrix of float64 and float32 for the
    others. The sums are the same for any number of threads. Arrays of CuPy, PyTorch and JAX on a GPU are multiplied where
    they lie, on their stream; with ``device="gpu"`` those in host memory are copied there.

    >>> import furrow, numpy as np
    >>> furrow.gemv(np.array([[1., 2.], [3., 4.]]), [1., 1.])
    array([3., 7.])
    >>> furrow.gemv(np.ones((2, 3), np.float16), np.ones(2, np.float32), trans=True)
    array([2., 2., 2.], dtype=float32)
    """
    alpha, beta, trans = number_of(alpha, "alpha"), number_of(beta, "beta"), flag_of(trans, "trans")
    where = _gpu.pick(device, _gpu.ordinal_of(A), _gpu.ordinal_of(x), lambda: False, has_b=True, names=("A", "x"))
    home = home_of(A, "A")
    A = home.enter(A, "A")
    if A.ndim != 2:
        raise UsageError(f"A has {A.ndim} axes: a matrix has 2")
    kind = _KINDS.get(home.type_name(A))
    if kind is None:
        A = home.contiguous(A, real_type(home.dtype(A), to="multiply", name="A"))
        kind = _KINDS[home.type_name(A)]
    dtype = F64 if kind == "f64" else F32
    for name, factor in (("alpha", alpha), ("beta", beta)):
        check_factor(factor, name, dtype, "A")
    x = home.enter(x, "x")
    rows, cols = A.shape[::-1] if trans else A.shape
    if tuple(x.shape) != (cols,):
        raise UsageError(f"x is of shape {tuple(x.shape)}, but the matrix asks for ({cols},)")
    if home.type_name(x) not in _KINDS:
        real_type(home.dtype(x), to="multiply", name="x")
    if home.ordinal is None and dtype == F32 and x.dtype.newbyteorder("=") == F64:
        _check_fits(x)
    x = home.contiguous(x, dtype)
    if out is None:
        if beta != 0:
            raise UsageError("beta is not 0, but there is no out to be scaled by it")
        y = home.empty((rows,), dtype)
    else:
        home.check_out(out, (rows,), dtype)
        y = out
        if home.overlap(x, y):
            x = home.copied(x)
        if home.overlap(A, y):
            A = home.copied(A)
    A, leading, by_columns = _laid_out(A, home)
    _core.gemv(kind, home.address(A), A.shape[0], A.shape[1], leading, by_columns, home.core(x), home.core(y), alpha,
               beta, trans, _gpu.core(where), home.stream())
    return home.leave(y) if out is None else out


def _check_fits(x: Any) -> None:
    """Numbers that would be infinite in float32. On a GPU nobody looks: the host would wait."""
    large = np.flatnonzero((np.abs(x) >= BEYOND_F32) & np.isfinite(x))
    if large.size:
        raise InputError(f"element {large[0] + 1} of x is {x[large[0]]}, too large for float32, to which x is rounded beside "
                         "this A: give A in float64")


def _laid_out(A: Any, home: Home) -> Any:
    """A with one axis without gaps, the distance of its lines, and whether they are columns."""
    size = home.item_size(A)
    strides = home.strides(A)
    for by_columns in (False, True):
        inner, outer = (0, 1) if by_columns else (1, 0)
        step, leap = strides[inner], strides[outer]
        fits = step == size or A.shape[inner] <= 1
        if fits and A.shape[outer] <= 1:
            return A, max(A.shape[inner], 1), by_columns
        if fits and leap % size == 0 and leap >= size * A.shape[inner]:
            return A, leap // size, by_columns
    A = home.copied(A)
    return A, max(A.shape[1], 1), False
