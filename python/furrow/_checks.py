# SPDX-License-Identifier: BSD-3-Clause
"""Arguments that are no arrays of numbers, no names and no counts, said before anything is made of them."""
from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.sparse as sp

from ._errors import InputError, UsageError


def numbers(x: Any, name: str) -> Any:
    """x as an array of NumPy. What has masked elements is refused: below the mask stands anything."""
    if sp.issparse(x):
        raise TypeError(f"{name} is a {type(x).__name__}: give a dense array, as {name}.toarray() makes it")
    if isinstance(x, np.ma.MaskedArray) and np.ma.is_masked(x):
        raise InputError(f"{name} has {int(np.sum(np.ma.getmaskarray(x)))} masked elements: say what they are, as "
                         f"{name}.filled(0) does")
    array = np.asarray(x)
    if array.ndim == 0 and array.dtype.kind not in "fiubc":
        raise TypeError(f"{name} is a {type(x).__name__}: give an array of numbers")
    return array


def check_names(**given: Any) -> None:
    """Names of methods, formats and kernels."""
    for name, value in given.items():
        if not isinstance(value, str):
            raise TypeError(f"{name} is a {type(value).__name__}: give a name, as a str")


def number_of(value: Any, name: str) -> float:
    try:
        if not isinstance(value, (str, bytes)):
            return float(value)
    except (TypeError, ValueError):
        pass
    raise TypeError(f"{name} is a {type(value).__name__}: give a number")


def count_of(value: Any, name: str) -> int:
    """A whole number of at least 1, for the library; 0 for None."""
    if value is None:
        return 0
    if not isinstance(value, (int, float, np.integer, np.floating)):
        raise TypeError(f"{name} is a {type(value).__name__}: give a whole number, or None")
    if not math.isfinite(value) or value != int(value):
        raise UsageError(f"{name} = {value} must be a whole number, or None")
    if value < 1:
        raise UsageError(f"{name} = {value} must be at least 1, or None")
    return min(int(value), 2**63 - 1)


def check_places(A: Any, name: str) -> None:
    """Indices of a matrix of SciPy that its conversion to rows would follow out of its arrays, or round."""
    for part in ("indptr", "indices"):
        dtype = getattr(getattr(A, part, None), "dtype", None)
        if dtype is not None and dtype.kind not in "iu":
            raise TypeError(f"{name}.{part} holds {dtype}: give whole numbers")
    if A.format == "coo":
        _check_indices(A.row, 0, A, name)
        _check_indices(A.col, 1, A, name)
    elif A.format in ("csc", "bsr"):
        blocks = A.shape if A.format == "csc" else tuple(n // b for n, b in zip(A.shape, A.blocksize, strict=True))
        lines, most = blocks[::-1] if A.format == "csc" else blocks
        ptr = A.indptr
        if len(ptr) != lines + 1 or ptr[0] != 0 or (np.diff(ptr) < 0).any() or ptr[-1] > min(len(A.indices), len(A.data)):
            raise InputError(f"{name}.indptr does not fit a {A.format} matrix of {A.shape[0]} x {A.shape[1]}: it has "
                             f"{lines + 1} elements from 0 up to the number of {name}.indices and {name}.data")
        _check_indices(A.indices[:ptr[-1]], 0 if A.format == "csc" else 1, A, name, most)


def _check_indices(indices: Any, axis: int, A: Any, name: str, most: int | None = None) -> None:
    most = A.shape[axis] if most is None else most
    if len(indices) == 0:
        return
    for one in (int(indices.min()), int(indices.max())):
        if not 0 <= one < most:
            what = ("row", "column")[axis] if A.format != "bsr" else "block column"
            raise InputError(f"{name} has an entry in {what} {one} of a matrix of {A.shape[0]} x {A.shape[1]}: indices "
                             "count from 0")
