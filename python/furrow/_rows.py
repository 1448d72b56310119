# SPDX-License-Identifier: BSD-3-Clause
"""A matrix by its rows, where the library reads them: in host memory, or on the GPU that they lie on."""
from __future__ import annotations

import dataclasses
import importlib
import time
import zlib
from typing import Any

import numpy as np

from . import _gpu
from ._arrays import as_rows, contiguous, form_of, real_type
from ._errors import UsageError
from ._homes import Home
from ._libraries import home_of
from ._tensors import rows_of


@dataclasses.dataclass(frozen=True)
class Rows:
    """Arrays for the compiled part."""

    indptr: Any
    indices: Any
    data: Any
    shape: tuple[int, int]
    nnz: int
    home: Home | None  #: of the arrays on a GPU; None: they lie in host memory
    converted: dict[str, Any] | None = None  #: what A was, "from", where rows were made of it, and the "seconds" it took

    @property
    def stream(self) -> int | None:
        """The stream that they are used on."""
        return None if self.home is None else self.home.stream()


def rows_at(A: Any, where: int | None, dtype: Any = None) -> Rows:
    """The rows of A for a matrix that lives on `where`: those on that GPU stay there. Values are of `dtype`, or of the
    type that A's become."""
    if where is not None and _gpu.ordinal_of(A) == where:
        return _rows_there(A, dtype)
    form, began = form_of(A), time.perf_counter()
    indptr, indices, data, shape = as_rows(A)
    data = data if dtype is None else contiguous(data, dtype)
    converted = None if form == "csr" else {"from": form, "seconds": time.perf_counter() - began}
    return Rows(indptr, indices, data, shape, len(data), None, converted)


def _rows_there(A: Any, dtype: Any) -> Rows:
    """Offsets and columns stay where they lie; values are a copy, which what the caller writes later does not reach."""
    if A.ndim != 2:
        raise UsageError(f"A has {A.ndim} axes: a matrix has 2")
    if _gpu.is_torch(A):
        indptr, indices, data = rows_of(A, "A")
        home = home_of(data, "A")
    else:
        home = home_of(A.data if _gpu.is_sparse(A) else A, "A")
        indptr, indices, data = _parts(A, home)
    wide = max(home.item_size(indptr), home.item_size(indices)) > 4
    index = np.dtype(np.int64 if wide else np.int32)
    values = home.contiguous(data, real_type(home.dtype(data)) if dtype is None else dtype)
    if home.overlap(values, data):
        values = home.copied(values)
    return Rows(home.core(home.contiguous(indptr, index)), home.core(home.contiguous(indices, index)),
                home.core(values), (int(A.shape[0]), int(A.shape[1])), int(values.shape[0]), home)


def _parts(A: Any, home: Home) -> tuple[Any, Any, Any]:
    """(indptr, indices, data) as arrays of the home; what is not by rows is converted by its own library, there."""
    if not _gpu.is_sparse(A):
        A = home.enter(A, "A")
        A = importlib.import_module("cupyx.scipy.sparse").csr_matrix(A.astype(real_type(A.dtype), copy=False))
    elif _gpu.is_cupy_sparse(A):
        A = A if A.format == "csr" else A.tocsr()
    else:
        return home.enter(A.indptr, "A"), home.enter(A.indices, "A"), home.enter(A.data, "A")
    return A.indptr, A.indices, A.data


#: Numbers a line in the tables whose columns are added up; primes, so that what changes places is in one column of both
#: only at a distance of a million.
_WIDTHS = (1019, 1021)


def mark_of(*places: Any) -> int:
    """A number that another one follows from where something was written to the arrays of places: a CRC of them, and of
    long ones of sums, which take less than a quarter of its time."""
    mark = 0
    for array in places:
        numbers = array.view(np.uint32)
        whole = len(numbers) // max(_WIDTHS)
        if whole < 16:
            mark = zlib.crc32(numbers, mark)
            continue
        for width in _WIDTHS:
            table = numbers[: whole * width].reshape(whole, width)
            mark = zlib.crc32(np.add.reduce(table, axis=0, dtype=np.uint32), mark)
        mark = zlib.crc32(numbers[whole * min(_WIDTHS):], mark)
    return mark
