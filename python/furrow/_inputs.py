# SPDX-License-Identifier: BSD-3-Clause
"""Files and generators of the command line."""
from __future__ import annotations

import os
from typing import Any

import numpy as np
import scipy.sparse as sp

from . import _core
from ._arrays import F64, as_rows, as_vector, contiguous, on_host, real_type
from ._checks import numbers
from ._errors import UsageError, type_of
from ._files import NEVER_WRITTEN, bytes_of

_MATRIX_ENDINGS = (".mtx", ".mtx.gz", ".furrow", ".petsc")
#: What no vector is written as; one without a known ending is a Matrix Market array.
_NO_VECTORS = (".furrow", ".html", *(ending for ending in NEVER_WRITTEN if ending not in (".txt.gz", ".csv.gz")))
#: What holds nothing but numbers: of none it would be empty.
_PLAIN = (".txt", ".csv", ".txt.gz", ".csv.gz")


class read_array(sp.csr_array):
    """A `scipy.sparse.csr_array` with what came with it.

    Attributes
    ----------
    b : ndarray or None
        The right-hand side that was stored with the matrix.
    name, origin : str
        What it is called, and one line on what was read.
    """

    b = None
    name = origin = ""


read_array.__name__ = "csr_array"  # as sentences call it


def _array(d: Any) -> read_array:
    A = read_array((d["data"], d["indices"], d["indptr"]), shape=d["shape"], copy=False)
    A.b, A.name, A.origin = d["b"], d["name"], d["origin"]
    A.has_canonical_format = True
    return A


def read(file: str | os.PathLike[str]) -> read_array:
    """A matrix from a file: `.mtx`, a SuiteSparse `.tar`, both also compressed, `.petsc` or `.furrow`.

    Told apart by content. The right-hand side that was stored with it is `.b`.

    >>> import furrow, tempfile, os
    >>> name = os.path.join(tempfile.mkdtemp(), "a.mtx.gz")
    >>> furrow.write(name, furrow.generate("poisson2d:3"))
    >>> furrow.read(name).shape
    (9, 9)
    """
    return _array(_core.read(bytes_of(file)))


def generate(spec: str) -> read_array:
    """A matrix by the name of a generator and its sizes: the same bits everywhere.

    >>> import furrow
    >>> A = furrow.generate("poisson3d:10")
    >>> A.shape, A.nnz
    ((1000, 1000), 6400)
    """
    if not isinstance(spec, str):
        raise TypeError(f"a generator is asked for by a str such as 'poisson3d:10', not by a {type(spec).__name__}")
    if not spec.isprintable():
        raise UsageError(f"there is no generator {spec!r}: a name has printable characters alone")
    return _array(_core.generate(spec))


def write(file: str | os.PathLike[str], A: Any, comment: str = "") -> None:
    """Writes a matrix (`.mtx`, `.mtx.gz`, `.furrow`, `.petsc`) or a vector (these but `.furrow`, `.npy`, `.txt`,
    `.txt.gz`, `.csv`, `.csv.gz`). A dense array of two axes is a matrix, too, but as `.npy` columns of vectors.

    A `comment` stands at the head of a matrix in `.mtx` or `.mtx.gz`. Digits are the shortest that read back as the same
    bits. Nobody sees half a file: it is written beside its place and renamed when it is complete; where that fails, what
    was there before stays.

    >>> import furrow, numpy as np, tempfile, os
    >>> name = os.path.join(tempfile.mkdtemp(), "x.txt")
    >>> furrow.write(name, np.array([0.1, 1e300]))
    >>> open(name).read().split()
    ['0.1', '1e+300']
    """
    file = os.fsdecode(bytes_of(file))
    if not isinstance(comment, str):
        raise TypeError(f"comment is {type_of(comment)}: give a str")
    if not sp.issparse(A) and np.ndim(A) == 1:
        if comment:
            raise UsageError(f"{file}: a vector is written without a comment: leave comment out")
        if file.lower().endswith(_NO_VECTORS):
            raise UsageError(f"{file}: a vector is written as .mtx, .npy, .petsc, .txt or .csv, all but .npy and .petsc with .gz, "
                             "too: choose one of these endings")
        if len(A) == 0 and file.lower().endswith(_PLAIN):
            raise UsageError(f"{file}: a vector without elements would be an empty file, which nobody reads back: choose .mtx, "
                             ".npy or .petsc")
        _core.write_vector(bytes_of(file), as_vector(A, len(A), "x", F64, to="write"), 1)
        return
    if not sp.issparse(A) and file.lower().endswith(".npy"):
        if comment:
            raise UsageError(f"{file}: an array is written without a comment: leave comment out")
        X = numbers(on_host(A, "x"), "x")
        if X.ndim != 2 or X.shape[1] == 0:
            raise UsageError(f"{file}: x is of shape {X.shape}: a vector or columns of vectors are written")
        real_type(X.dtype, to="write", name="x")
        _core.write_vector(bytes_of(file), contiguous(X.T, F64).reshape(-1), X.shape[1])
        return
    if not file.lower().endswith(_MATRIX_ENDINGS):
        raise UsageError(f"{file}: a matrix is written as {', '.join(_MATRIX_ENDINGS[:-1])} or {_MATRIX_ENDINGS[-1]}, and "
                         "columns of vectors as .npy: choose one of these endings")
    if comment and not file.lower().endswith((".mtx", ".mtx.gz")):
        raise UsageError(f"{file}: a comment is written to .mtx and .mtx.gz alone: leave comment out, or choose one of these")
    indptr, indices, data, shape = as_rows(A, to="write")
    _core.write(bytes_of(file), indptr, indices, contiguous(data, F64), *shape, comment)


def info(file: str | os.PathLike[str]) -> dict[str, Any]:
    """What the head of a file or a generator says, without reading the rest.

    >>> import furrow
    >>> furrow.info("poisson2d:100")["shape"]
    (10000, 10000)
    """
    return _core.header(bytes_of(file))
