# SPDX-License-Identifier: BSD-3-Clause
"""What a matrix of SciPy is made of. SciPy trusts it: its conversions and products would follow a wrong index or length
out of their arrays."""
from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ._checks import masked_elements
from ._errors import InputError, type_of

#: Arrays of each format with the number of their axes; all but `data` hold places.
_PARTS: dict[str, dict[str, int]] = {
    "csr": {"indptr": 1, "indices": 1, "data": 1}, "csc": {"indptr": 1, "indices": 1, "data": 1},
    "bsr": {"indptr": 1, "indices": 1, "data": 3}, "coo": {"row": 1, "col": 1, "data": 1}, "dia": {"offsets": 1, "data": 2}}
_MOST = 2**31 - 1


def check_stored(A: Any, name: str, *, rows_too: bool = False) -> None:
    """Raises TypeError or InputError for what is wrong. The places of a csr matrix, which the library looks at when it takes
    them, are left out unless `rows_too`."""
    if max(A.shape) > _MOST:
        raise InputError(f"{name} is of shape {tuple(A.shape)}: both sides must be at most {_MOST}")
    form = A.format
    for part, axes in _PARTS.get(form, {}).items():
        _check_part(getattr(A, part, None), f"{name}.{part}", axes, part != "data")
    if form == "coo":
        _check_lengths(A, name, "row", "col", "data")
        _check_indices(A.row, 0, A, name)
        _check_indices(A.col, 1, A, name)
    elif form in ("csc", "bsr") or (form == "csr" and rows_too):
        _check_compressed(A, name)
    elif form == "dia":
        _check_lengths(A, name, "offsets", "data")
    elif form == "lil":
        lengths = [len(line) for line in A.rows], [len(line) for line in A.data]
        if lengths[0] != lengths[1] or len(lengths[0]) != A.shape[0]:
            raise InputError(f"{name}.rows and {name}.data do not fit a lil matrix of {A.shape[0]} x {A.shape[1]}: they have "
                             "a list for each row, with a value for each column")


def checked(A: Any, name: str) -> Any:
    """A, which may be a matrix of SciPy that is about to multiply: all its places are looked at."""
    if sp.issparse(A) and A.ndim == 2:
        check_stored(A, name, rows_too=True)
    return A


def _check_part(array: Any, name: str, axes: int, holds_places: bool) -> None:
    if not isinstance(array, np.ndarray):
        raise TypeError(f"{name} is {type_of(array)}: give an array of NumPy")
    if array.ndim != axes:
        raise InputError(f"{name} has {array.ndim} axes instead of {axes}")
    if np.ma.is_masked(array):
        raise masked_elements(array, name)
    if holds_places and array.dtype.kind not in "iu":
        raise TypeError(f"{name} holds {array.dtype}: give whole numbers")


def _check_lengths(A: Any, name: str, *parts: str) -> None:
    lengths = [len(getattr(A, part)) for part in parts]
    if len(set(lengths)) > 1:
        raise InputError(f"{' and '.join(f'{name}.{part}' for part in parts)} have {' and '.join(map(str, lengths))} elements: "
                         "give as many of each")


def _check_compressed(A: Any, name: str) -> None:
    blocks = A.blocksize if A.format == "bsr" else (1, 1)
    if any(b < 1 or n % b for n, b in zip(A.shape, blocks, strict=True)):
        raise InputError(f"{name}.data has blocks of {blocks[0]} x {blocks[1]}, which do not fill a matrix of {A.shape[0]} x "
                         f"{A.shape[1]}")
    lines, most = (n // b for n, b in zip(A.shape, blocks, strict=True))
    if A.format == "csc":
        lines, most = most, lines
    ptr = A.indptr
    if len(ptr) != lines + 1 or ptr[0] != 0 or (ptr[1:] < ptr[:-1]).any() or ptr[-1] > min(len(A.indices), len(A.data)):
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
