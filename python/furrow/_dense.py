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

    x of two axes holds a vector in each column, by rows or as Fortran has it, and the result lies as x does, unless out
    says otherwise. A is read once for up to eight of them, and their sums have another order than that of one vector
    alone.

    >>> import furrow, numpy as np
    >>> furrow.gemv(np.array([[1., 2.], [3., 4.]]), [1., 1.])
    array([3., 7.])
    >>> furrow.gemv(np.ones((2, 3), np.float16), np.ones(2, np.float32), trans=True)
    array([2., 2., 2.], dtype=float32)
    >>> furrow.gemv(np.array([[1., 2.], [3., 4.]]), np.eye(2))
    array([[1., 2.],
           [3., 4.]])
    """
    alpha, beta, trans = number_of(alpha, "alpha"), number_of(beta, "beta"), flag_of(trans, "trans")
    where = _gpu.pick(device, _gpu.ordinal_of(A), _gpu.ordinal_of(x), lambda: False, has_b=True, names=("A", "x"))
    home = home_of(A, "A")
    A = home.enter(A, "A")
    if A.ndim != 2:
        raise UsageError(f"A has {A.ndim} axes: a matrix has 2")
    A, kind = _of_a_kind(A, home)
    dtype = F64 if kind == "f64" else F32
    for name, factor in (("alpha", alpha), ("beta", beta)):
        check_factor(factor, name, dtype, "A")
    x = home.enter(x, "x")
    rows, cols = A.shape[::-1] if trans else A.shape
    if x.ndim not in (1, 2) or x.shape[0] != cols:
        raise UsageError(f"x is of shape {tuple(x.shape)}, but the matrix asks for ({cols},) or ({cols}, k)")
    if home.type_name(x) not in _KINDS and _native(home.dtype(x)).name not in _KINDS:
        real_type(home.dtype(x), to="multiply", name="x")
    if home.ordinal is None and dtype == F32 and x.dtype.newbyteorder("=") == F64:
        _check_fits(x)
    shape = (rows, *x.shape[1:])
    if out is None:
        if beta != 0:
            raise UsageError("beta is not 0, but there is no out to be scaled by it")
        y = home.empty(shape[::-1], dtype).T if _by_columns(x, home) else home.empty(shape, dtype)
    else:
        _check_out(out, shape, dtype, home)
        y = out
    from_x, x_step, x_next = _vectors(x, home, dtype)
    to_y, y_step, y_next = _vectors(y, home, dtype)
    if out is not None:
        if home.overlap(from_x, to_y):
            from_x = home.copied(from_x)
        if home.overlap(A, to_y):
            A = home.copied(A)
    A, leading, by_columns = _laid_out(A, home)
    _core.gemv(kind, home.address(A), A.shape[0], A.shape[1], leading, by_columns, (home.core(from_x), x_step, x_next),
               (home.core(to_y), y_step, y_next), 1 if x.ndim == 1 else x.shape[1], alpha, beta, trans, _gpu.core(where),
               home.stream())
    return home.leave(y) if out is None else out


def _native(dtype: Any) -> Any:
    return dtype.newbyteorder("=")


def _of_a_kind(A: Any, home: Home) -> tuple[Any, str]:
    """A in a type that is multiplied, and its name."""
    kind = _KINDS.get(home.type_name(A))
    if kind is None:
        own = _native(home.dtype(A))
        A = home.contiguous(A, own if own.name in _KINDS else real_type(own, to="multiply", name="A"))
        kind = _KINDS[home.type_name(A)]
    return A, kind


def _by_columns(x: Any, home: Home) -> bool:
    """Whether an array of two axes lies as Fortran has it."""
    return bool(x.ndim == 2 and min(x.shape) > 1 and home.strides(x)[0] == home.item_size(x))


def _vectors(x: Any, home: Home, dtype: Any) -> tuple[Any, int, int]:
    """x, or a copy, without gaps and in rows, how far apart elements of a vector lie, and one vector from the next."""
    if x.ndim == 1:
        return home.contiguous(x, dtype), 1, 0
    n, count = x.shape
    if _by_columns(x, home):
        return home.contiguous(x.T, dtype), 1, n
    return home.contiguous(x, dtype), count, 1


def _check_out(out: Any, shape: tuple[int, ...], dtype: Any, home: Home) -> None:
    """As `home.check_out`, which takes rows alone."""
    turned = isinstance(getattr(out, "shape", None), tuple) and tuple(out.shape) == shape and len(shape) == 2
    if turned and home.is_contiguous(out.T):
        home.check_out(out.T, shape[::-1], dtype)
    else:
        home.check_out(out, shape, dtype)


def _check_fits(x: Any) -> None:
    """Numbers that would be infinite in float32. On a GPU nobody looks: the host would wait."""
    large = np.argwhere((np.abs(x) >= BEYOND_F32) & np.isfinite(x))
    if large.size:
        place = tuple(large[0])
        column = "" if x.ndim == 1 else f"column {place[1] + 1} of "
        raise InputError(f"element {place[0] + 1} of {column}x is {x[place]}, too large for float32, to which x is rounded "
                         "beside this A: give A in float64")


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
