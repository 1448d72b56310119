# SPDX-License-Identifier: BSD-3-Clause
"""A matrix that stays."""
from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from . import _core, _gpu
from ._arrays import contiguous, on_host, real_type
from ._checks import check_factor, check_names, number_of, numbers, tuned
from ._errors import InputError, UsageError
from ._homes import Home
from ._libraries import home_of
from ._rows import mark_of, rows_at
from ._shown import MOST_DRAWN, shown, sketch_of


class Matrix(_core.Matrix):
    """A sparse matrix, looked at once, kept in the format that suits it, multiplied often.

    Parameters
    ----------
    A : sparse array or matrix, array_like
        CSR is read where it lies; other formats are converted. Entries that share a place add up.
    format, kernel : str
        A name of `show_config()["formats"]`, with parameters after a colon, and one of its kernels; or "auto".
    tune : bool
        Measure what "auto" leaves open, and remember it.
    device : None, "cpu", "gpu", "gpu:1"
        Where it is stored and multiplies; None is the GPU that A lies on, otherwise `furrow.default_device`, otherwise
        the CPU. On a GPU it multiplies vectors of CuPy, PyTorch and JAX where they lie, enqueued on their stream, and
        NumPy's by way of a copy.

    `converted` is None for CSR in host memory; of another matrix there it says what it was, "from", and the "seconds" that
    making rows of it took.

    Any number of threads may multiply at once. f32 with f64 becomes f64, integers f64.

    Examples
    --------
    >>> import furrow, numpy as np
    >>> P = furrow.Matrix(furrow.generate("poisson1d:4"))
    >>> P @ np.ones(4)
    array([1., 0., 0., 1.])
    >>> (P.T @ np.eye(4))[0]
    array([ 2., -1.,  0.,  0.])
    """

    __array_ufunc__ = None  # numpy leaves x @ P to this class

    def __init__(self, A: Any, format: str = "auto", kernel: str = "auto", tune: bool = False,
                 device: str | None = None) -> None:
        if hasattr(self, "_version"):
            raise UsageError("this Matrix is made already: give it other values by update_values, or make another Matrix(A)")
        check_names(format=format, kernel=kernel)
        where = _gpu.pick(device, _gpu.ordinal_of(A), None, lambda: False, has_b=False)
        self.device = _gpu.name_of(where)
        rows = rows_at(A, where)
        super().__init__(rows.indptr, rows.indices, rows.data, *rows.shape, format, kernel, tuned(tune, format, kernel),
                         _gpu.core(where), rows.stream)
        self._rows_at, self.converted = rows.home, rows.converted
        self._places = (rows.indptr, rows.indices) if rows.home is None and rows.converted is None else ()
        self._mark = mark_of(*self._places)
        self._version, self._asked = 0, format
        self._other: tuple[int, Matrix] | None = None  # this one in the other type, and of which values

    @property
    def dtype(self) -> Any:
        """Type of the values: float64 or float32."""
        return np.dtype(self._letter)

    @property
    def stats(self) -> dict[str, Any]:
        """What looking at the matrix told, as a dictionary.

        >>> import furrow
        >>> furrow.Matrix(furrow.generate("poisson1d:4")).stats["diagonals"]
        3
        """
        return self._facts()

    @property
    def T(self) -> _Transpose:
        """The transpose, which the first product with it makes."""
        return _Transpose(self)

    ndim = 2

    def _as(self, dtype: Any) -> Any:
        """This matrix in f64 or f32: itself, or a copy that is kept, for products of f32 with f64 and solves in either."""
        if dtype == self.dtype:
            return self
        version, kept = self._version, self._other  # read once: other threads may update the values meanwhile
        if kept is None or kept[0] != version:
            rows = self.tocsr().astype(dtype)
            try:
                other = Matrix(rows, self._asked, device=self.device)
            except InputError:  # the format counted zeros as entries that it does not store and give back
                other = Matrix(rows, device=self.device)
            self._other = kept = version, other
        return kept[1]

    @property
    def _where(self) -> int | None:
        return None if self._ordinal < 0 else self._ordinal

    def _home_of(self, x: Any) -> Home:
        """Of the vectors of a product."""
        if sp.issparse(x) or _gpu.is_sparse(x):
            raise TypeError("a Matrix multiplies vectors and dense blocks of vectors: use tocsr() @ x for a sparse x")
        _gpu.check_at("x", _gpu.ordinal_of(x), self._where, "this Matrix")
        return home_of(x, "x")

    def _multiply(self, x: Any, transposed: bool) -> Any:
        home = self._home_of(x)
        x = home.enter(x, "x")
        rows, cols = self.shape[::-1] if transposed else self.shape
        if x.ndim == 0:
            raise UsageError("x is a single number, and a Matrix multiplies vectors and blocks of vectors: say A @ x, not "
                             "numpy.dot(A, x), and for a multiple of a product A.apply(x, alpha=2)")
        if x.ndim not in (1, 2) or x.shape[0] != cols:
            raise UsageError(f"x is of shape {tuple(x.shape)}, but the matrix asks for ({cols},) or ({cols}, k)")
        dtype = real_type(self.dtype, real_type(home.dtype(x), to="multiply", name="x"))
        count = 1 if x.ndim == 1 else x.shape[1]
        by_rows = x.ndim == 2 and home.is_contiguous(x)  # as it lies: one pass for several
        y = home.empty((rows, count) if by_rows else (count, rows), dtype)
        as_it_lies = home.contiguous(x.T if x.ndim == 2 and not by_rows else x, dtype)
        self._as(dtype)._apply(home.core(as_it_lies), home.core(y), 1.0, 0.0, count, by_rows, transposed, home.stream())
        return home.leave(y[0] if x.ndim == 1 else y if by_rows else y.T)

    def _matmul(self, x: Any) -> Any:
        """The product with a vector or a block of vectors, as ``A @ x``.

        >>> import furrow
        >>> furrow.Matrix([[1.0, 2.0], [0.0, 3.0]]).matvec([1, 1])
        array([3., 3.])
        """
        return self._multiply(x, False)

    def __rmatmul__(self, x: Any) -> Any:
        """x @ A is the transpose times x."""
        return _turned(self._multiply(_turned(x), True))

    __mul__ = dot = matvec = matmat = _matmul

    def rmatvec(self, x: Any) -> Any:
        """The transpose times x: a vector or a block of vectors.

        >>> import furrow
        >>> furrow.Matrix([[1.0, 2.0], [0.0, 3.0]]).rmatvec([1, 1])
        array([1., 5.])
        """
        return self._multiply(x, True)

    rmatmat = rmatvec

    def apply(self, x: Any, out: Any = None, alpha: float = 1.0, beta: float = 0.0) -> Any:
        """``out = alpha A x + beta out`` for a vector x.

        `out` must be a contiguous vector of the type of the product; it is never converted, because a converted output
        is a lost result. Without one, beta must be 0.

        >>> import furrow, numpy as np
        >>> y = np.ones(3)
        >>> furrow.Matrix(np.eye(3)).apply([1, 2, 3], out=y, alpha=2, beta=1)
        array([3., 5., 7.])
        """
        alpha, beta = number_of(alpha, "alpha"), number_of(beta, "beta")
        home = self._home_of(x)
        x = home.enter(x, "x")
        if tuple(x.shape) != (self.shape[1],):
            how = ": use @ for a block of vectors" if x.ndim == 2 else ""
            raise UsageError(f"x is of shape {tuple(x.shape)}, but the matrix asks for ({self.shape[1]},){how}")
        dtype = real_type(self.dtype, real_type(home.dtype(x), to="multiply", name="x"))
        for name, factor in (("alpha", alpha), ("beta", beta)):
            check_factor(factor, name, dtype, "x")
        x = home.contiguous(x, dtype)
        if out is None:
            if beta != 0:
                raise UsageError("beta is not 0, but there is no out to be scaled by it")
            y = home.empty((self.shape[0],), dtype)
        else:
            home.check_out(out, (self.shape[0],), dtype)
            y = out
            if home.overlap(x, y):
                x = home.copied(x)
        self._as(dtype)._apply(home.core(x), home.core(y), alpha, beta, 1, False, False, home.stream())
        return home.leave(y) if out is None else out

    def update_values(self, data: Any) -> None:
        """New values for the same pattern, in the order of the ``data`` of the CSR matrix that this was made from; one that
        was made from another format takes none, nor does one where something was written to its offsets and columns since.

        Products that run in other threads meanwhile end with the old ones.

        >>> import furrow, numpy as np
        >>> A = furrow.generate("poisson1d:3")
        >>> P = furrow.Matrix(A)
        >>> P.update_values(2 * A.data)
        >>> P @ np.ones(3)
        array([2., 0., 2.])
        """
        if self.converted is not None:
            raise UsageError(f"this Matrix was made from {self.converted['from']}, whose values may be in another order "
                             "than those of its rows: make it from A.tocsr(), and give the data of that")
        if sp.issparse(data) or _gpu.is_sparse(data):
            raise TypeError(f"the new values are a {type(data).__name__}: give those of the rows alone, as A.data of a "
                            "CSR matrix")
        _gpu.check_process(self._where)
        home, data = self._values_where_rows_lie(data)
        if real_type(self.dtype, home.dtype(data)) != self.dtype:
            raise TypeError(f"the new values are {home.dtype(data)}, but the matrix holds {self.dtype}: convert one of "
                            "them")
        if data.ndim != 1:
            raise UsageError(f"the new values have {data.ndim} axes: give one, as A.data of a CSR matrix")
        if mark_of(*self._places) != self._mark:
            raise UsageError("the rows have changed since the matrix was made: another pattern needs a new matrix")
        self._update_values(home.core(home.contiguous(data, self.dtype)), home.stream())
        self._version += 1  # now that the values are in: who counts before reads them again
        self._other = None

    def _values_where_rows_lie(self, data: Any) -> tuple[Home, Any]:
        """New values, and their home."""
        rows = self._rows_at
        at = _gpu.ordinal_of(data)
        if rows is None:
            if at is not None:
                _gpu.usable("data", at)
            return Home("data"), numbers(on_host(data, "data"), "data")
        if at is None:
            data = np.ascontiguousarray(data)
            return rows, rows.enter(rows.from_host(data.astype(real_type(data.dtype), copy=False)), "data")
        _gpu.check_at("data", at, self._where, "this Matrix")
        home = home_of(data, "data")
        return home, home.enter(data, "data")

    def tocsr(self) -> Any:
        """The matrix as a `scipy.sparse.csr_array`; zeros that the format does not store are missing.

        >>> import furrow
        >>> furrow.Matrix([[1.0, 2.0], [0.0, 3.0]]).tocsr().toarray().tolist()
        [[1.0, 2.0], [0.0, 3.0]]
        """
        triplets: Any = self._triplets()
        row, col, values = triplets
        return sp.csr_array((values, (row, col)), shape=self.shape)

    def __reduce__(self) -> Any:
        raise TypeError("a Matrix is neither copied nor pickled: pickle what tocsr() gives, and make a Matrix of that where "
                        "it is needed")

    def __repr__(self) -> str:
        return (f"<furrow.Matrix of {self.shape[0]} x {self.shape[1]}, {self.nnz} entries in {self.dtype.name}: "
                f"{self.format} ({self.kernel}) on the {self.device}>")

    def _repr_html_(self) -> str:
        cells = {"entries": f"{self.nnz:,}", "values": self.dtype.name, "format": f"{self.format} ({self.kernel})",
                 "why": self.reason, "stored": f"{self.stats['stored_bytes'] / 1e6:,.3g} MB"}
        picture = ""
        if 0 < self.nnz <= MOST_DRAWN:
            picture = sketch_of(self, _gpu.core(None), False)["picture"]
        return shown(f"{self.shape[0]:,} × {self.shape[1]:,}", cells, picture)


def _turned(x: Any) -> Any:
    """x.T for whatever has axes; a vector is as it was."""
    x = x if hasattr(x, "ndim") else np.asarray(x)
    return x.T if x.ndim == 2 else x


class _Transpose:
    """A.T of a Matrix: multiplies, and is otherwise a name for it."""

    __array_ufunc__ = None
    ndim = 2

    def __init__(self, of: Any) -> None:
        self.T = of
        self.dtype = of.dtype
        self.shape = of.shape[::-1]

    def __matmul__(self, x: Any) -> Any:
        return self.T._multiply(x, True)

    def __rmatmul__(self, x: Any) -> Any:
        return _turned(self.T._multiply(_turned(x), False))

    __mul__ = dot = matvec = matmat = __matmul__

    def rmatvec(self, x: Any) -> Any:
        return self.T @ x

    rmatmat = rmatvec
