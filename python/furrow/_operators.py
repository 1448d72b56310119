# SPDX-License-Identifier: BSD-3-Clause
"""What only multiplies: functions and operators of the caller, as the library calls them."""
from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as sla

from . import _gpu
from ._arrays import F64, as_rows, contiguous, dtype_of, is_matrix, on_host, real_type, refuse_gpu
from ._checks import finite_of, numbers
from ._errors import UsageError, type_of
from ._homes import Home
from ._matrix import Matrix, _Transpose
from ._stored import checked


def product_of(A: Any, name: str) -> Any:
    """The function x -> A @ x of whatever multiplies."""
    refuse_gpu(A, name)
    if isinstance(A, (Matrix, _Transpose)) or is_matrix(A):
        A = on_host(A, name) if _gpu.is_torch(A) else A
        checked(A, name)
        return lambda x: A @ x
    if hasattr(A, "matvec"):
        return A.matvec
    if hasattr(A, "__matmul__"):
        return A.__matmul__
    if callable(A):
        return A
    raise TypeError(f"{name} is {type_of(A)}: give a matrix, a LinearOperator, or what has shape and matvec")


def transposed_product_of(A: Any) -> Any:
    """The function x -> A.T @ x of what multiplies by A, where it has one."""
    unsaid = (f"A is {type_of(A)}, which does not say how its transpose multiplies: give a LinearOperator with "
              "rmatvec")
    if hasattr(A, "rmatvec"):
        def product(x: Any) -> Any:
            try:
                return A.rmatvec(x)
            except NotImplementedError:  # SciPy's class has the method in any case
                raise TypeError(unsaid) from None

        return product
    if hasattr(A, "T"):
        return lambda x: A.T @ x
    raise TypeError(unsaid)


def operator_dtype(A: Any) -> Any:
    """The type in which A computes: float64 where it does not say."""
    dtype = dtype_of(A)
    return F64 if dtype is None else dtype


def fitted(f: Any, n: int, dtype: Any, name: str, odd: dict[str, str]) -> Any:
    """f with its result checked and made a contiguous vector of n elements. `odd` is told of the first one that holds no
    number though x does: by its name."""
    def product(x: Any) -> Any:
        y = numbers(f(x), f"what {name} made")
        if y.size != n:
            raise UsageError(f"{name} made {y.size} elements of a vector of {n}")
        real_type(y.dtype)
        if not odd and not np.isfinite(y).all() and np.isfinite(x).all():
            odd[name] = str(y[~np.isfinite(y)][0])
        return contiguous(y.reshape(n), dtype)

    return product


def fitted_there(f: Any, n: int, dtype: Any, name: str, home_now: Callable[[], Home]) -> Any:
    """The same on a GPU, for two vectors of the library: f gets a copy of the first, as an array of the library that the
    solve's vectors are of, and its result goes to the second. All of it is enqueued on the current stream."""
    def product(x: Any, y: Any) -> None:
        home = home_now()
        made = home.enter(f(home.leave(home.copied(home.lent(x.data, x.size, dtype)))), f"what {name} made")
        size = int(np.prod(made.shape))
        if size != n:
            raise UsageError(f"{name} made {size} elements of a vector of {n}")
        real_type(home.dtype(made))
        home.fill(home.lent(y.data, y.size, dtype), made.reshape(n))

    return product


def zero_of_zero(product: Any, rows: int) -> Any:
    """A times zero is zero: the product of a first guess that is 0 is not asked for."""
    return lambda x: product(x) if x.any() else np.zeros(rows, x.dtype)


def unseen_method(A: Any, shape: tuple[int, ...]) -> str:
    """The method for what the library cannot look at whole."""
    if shape[0] != shape[1]:
        return "lsmr"
    return "cg" if _seems_symmetric(A) else "bicgstab"


def _seems_symmetric(A: Any) -> bool:
    """Of what shows entries, the truth up to rounding; a product alone is taken for symmetric."""
    A = A.T if isinstance(A, _Transpose) else A  # as symmetric as that
    if isinstance(A, Matrix):
        A = A.tocsr()
    if not is_matrix(A):
        return True
    A = _rows_of_scipy(A)
    return bool(abs(A - A.T).max() <= 1e-12 * abs(A).max()) if A.shape[0] else True


def _rows_of_scipy(A: Any) -> Any:
    """A matrix of SciPy, which SciPy may compute with: its places are looked at."""
    indptr, indices, data, shape = as_rows(checked(A, "A"))
    return sp.csr_array((data, indices, indptr), shape=shape)


class Shifted:
    """A - shift I of what only multiplies."""

    def __init__(self, A: Any, shift: float) -> None:
        self.of, self.shape, self.dtype = A, A.shape, operator_dtype(A)
        self._shift, self._product = shift, product_of(A, "A")

    def matvec(self, x: Any) -> Any:
        y = self._product(x)
        return (y if hasattr(y, "reshape") else np.asarray(y)).reshape(-1) - self._shift * x


def shifted(A: Any, shift: float, b: Any) -> Any:
    """A - shift I, of what A is, in the type in which it is solved for b."""
    shift = finite_of(shift, "shift")
    if shift == 0:
        return A
    if isinstance(A, Matrix):
        return Matrix(shifted(A.tocsr(), shift, b), device=A.device)
    if not is_matrix(A):
        return Shifted(A, shift)
    beside = dtype_of(b) if hasattr(b, "dtype") else F64
    if _gpu.is_cupy_sparse(A):
        identity = importlib.import_module("cupyx.scipy.sparse").identity
        return A.tocsr() - shift * identity(A.shape[0], dtype=real_type(A.dtype, beside), format="csr")
    A = _rows_of_scipy(A)
    if A.shape[0] != A.shape[1]:
        return A
    return A - shift * sp.eye_array(A.shape[0], dtype=real_type(A.dtype, beside), format="csr")


def is_of_numpy(A: Any) -> bool:
    """Whether A multiplies NumPy's arrays alone."""
    return isinstance(A, sla.LinearOperator) or isinstance(A, Shifted) and is_of_numpy(A.of)


def is_of_cupy(A: Any) -> bool:
    """Whether A multiplies CuPy's arrays alone. A matrix of CuPy is one of ours then."""
    of_cupy = any(kind.__module__.startswith("cupyx.") for kind in type(A).__mro__)
    return hasattr(A, "matvec") and of_cupy or isinstance(A, Shifted) and is_of_cupy(A.of)
