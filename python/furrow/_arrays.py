# SPDX-License-Identifier: BSD-3-Clause
"""The border: what a caller gives becomes arrays that the library reads where they lie. Nothing is written to."""
from __future__ import annotations

import sys
from typing import Any

import numpy as np
import scipy.sparse as sp

from . import _core
from ._errors import DeviceError, UsageError

F32, F64 = np.dtype(np.float32), np.dtype(np.float64)


def refuse_gpu(array: Any, name: str) -> None:
    """Arrays on a GPU are recognised, and refused until there is a part for them."""
    device = getattr(array, "__dlpack_device__", None)
    if hasattr(type(array), "__cuda_array_interface__") and getattr(array, "is_cuda", True):
        on_gpu = True
    else:
        on_gpu = device is not None and not isinstance(array, np.ndarray) and device()[0] not in (1, 3)
    if on_gpu:
        raise DeviceError(f"{name} lies on a GPU, which this package does not compute on yet: "
                          "give an array in host memory, such as cupy.asnumpy or tensor.cpu() make")


def real_type(*dtypes: Any) -> Any:
    """f32 where all are, otherwise f64; integers and bool are f64. Raises TypeError for what has no such form."""
    for dtype in dtypes:
        if dtype.kind == "c":
            raise TypeError(f"values of {dtype} are not supported: solve for the real and the imaginary part as one "
                            "real system")
        if dtype.kind not in "fiub" or dtype.itemsize > 8:
            raise TypeError(f"values of {dtype} are not supported: convert them by .astype(numpy.float64)")
        if dtype.kind == "f" and dtype.itemsize == 2:
            raise TypeError("values of float16 are for furrow.gemv alone: convert them by .astype(numpy.float32)")
    single = all(dtype.kind == "f" and dtype.itemsize == 4 for dtype in dtypes)
    return F32 if single else F64


def is_matrix(A: Any) -> bool:
    """Whether A has entries, rather than only a product."""
    return sp.issparse(A) or isinstance(A, (np.ndarray, list, tuple))


def as_rows(A: Any, name: str = "A") -> tuple[Any, Any, Any, tuple[int, int]]:
    """(indptr, indices, data, shape) of a sparse or dense matrix. CSR arrays are taken where they lie."""
    refuse_gpu(A, name)
    if not sp.issparse(A):
        A = np.asarray(A)
        if A.ndim != 2:
            raise UsageError(f"{name} has {A.ndim} axes: a matrix has 2")
        A = sp.csr_array(A.astype(real_type(A.dtype), copy=False))
    elif A.ndim != 2:
        raise UsageError(f"{name} has {A.ndim} axes: a matrix has 2")
    real_type(A.dtype)
    if A.format != "csr":
        A = A.tocsr()
    data = contiguous(A.data, real_type(A.dtype))
    wide = max(A.indptr.dtype.itemsize, A.indices.dtype.itemsize) > 4
    index = np.dtype(np.int64 if wide else np.int32)
    return contiguous(A.indptr, index), contiguous(A.indices, index), data, A.shape


def contiguous(array: Any, dtype: Any) -> Any:
    """The array itself where it is one-dimensional, of this type and without gaps; otherwise such a copy."""
    return np.ascontiguousarray(array, dtype=dtype)


def as_vector(x: Any, n: int, name: str, dtype: Any = None) -> Any:
    """A contiguous vector of n elements from (n,) or (n, 1)."""
    refuse_gpu(x, name)
    x = np.asarray(x)
    if x.dtype == object or dtype is None:
        dtype = real_type(x.dtype)
    else:
        real_type(x.dtype)
    if x.shape not in ((n,), (n, 1)):
        raise UsageError(f"{name} is of shape {x.shape}, but the matrix asks for ({n},)")
    return contiguous(x, dtype).reshape(n)


def check_out(out: Any, shape: Any, dtype: Any, name: str = "out") -> None:
    """An output is written as it stands: one that does not fit would be converted, and the result be lost."""
    refuse_gpu(out, name)
    if not isinstance(out, np.ndarray):
        raise TypeError(f"{name} is a {type(out).__name__}: give a numpy.ndarray")
    if out.dtype != dtype or not out.dtype.isnative:
        raise TypeError(f"{name} holds {out.dtype.str}, but the result is {dtype.name}: give an array of that type")
    if out.shape != shape:
        raise UsageError(f"{name} is of shape {out.shape}, but the result is of shape {shape}")
    if not out.flags.c_contiguous or not out.flags.writeable:
        raise UsageError(f"{name} must be contiguous and writeable: a result in a copy would be lost")


def check_device(device: Any) -> str:
    """None and "cpu" are the CPU; others must exist."""
    if device is None:
        device = sys.modules["furrow"].default_device
    if device in (None, "auto", "cpu"):
        return "cpu"
    if not isinstance(device, str):
        raise TypeError(f'device is a {type(device).__name__}: give None, "cpu", "gpu" or "gpu:1"')
    _core.parse_device(device)  # says what is wrong with the name, or why there is no such GPU
    raise DeviceError("this package computes on the CPU alone for now: leave device out, or say \"cpu\"")
