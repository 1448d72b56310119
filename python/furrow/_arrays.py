# SPDX-License-Identifier: BSD-3-Clause
"""The border: what a caller gives becomes arrays that the library reads where they lie. Nothing is written to."""
from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from . import _gpu
from ._checks import number_of, numbers
from ._errors import DeviceError, UsageError, type_of
from ._stored import check_stored
from ._tensors import as_numpy, numpy_type, rows_of

F32, F64 = np.dtype(np.float32), np.dtype(np.float64)


def refuse_gpu(array: Any, name: str) -> None:
    """What is done in host memory alone."""
    at = _gpu.ordinal_of(array)
    if at is not None:
        raise DeviceError(f"{name} lies on gpu:{at}, but is used on the CPU alone here: give it in host memory, as "
                          "cupy.asnumpy or tensor.cpu() make it")


#: What to do with complex values instead.
_PARTS = {"solve": "solve for the real and the imaginary part as one real system",
          "multiply": "multiply the real and the imaginary part apart",
          "write": "write the real and the imaginary part apart"}


def real_type(*dtypes: Any, to: str = "solve", name: str = "") -> Any:
    """f32 where all are, otherwise f64; integers and bool are f64. Raises TypeError for what has no such form; `to` is what
    they are for, and `name` whose they are."""
    said = name and f"{name}: "
    for dtype in dtypes:
        if dtype.kind == "c":
            raise TypeError(f"{said}values of {dtype} are not supported: {_PARTS[to]}")
        if dtype.kind not in "fiub" or dtype.itemsize > 8:
            raise TypeError(f"{said}values of {dtype} are not supported: convert them by .astype(numpy.float64)")
        if dtype.kind == "f" and dtype.itemsize == 2:
            raise TypeError(f"{said}values of float16 are for furrow.gemv alone: convert them by .astype(numpy.float32)")
    single = all(dtype.kind == "f" and dtype.itemsize == 4 for dtype in dtypes)
    return F32 if single else F64


def asked_type(dtype: Any) -> Any:
    """The type that a caller names for a solve."""
    try:
        return real_type(np.dtype(dtype))
    except TypeError as e:
        raise TypeError(f"dtype is {dtype!r}: give numpy.float64, numpy.float32 or None") from e


def check_type(solved_in: Any, of_b: Any) -> None:
    """b is not rounded unasked."""
    if solved_in == F32 and real_type(of_b) != F32:
        raise TypeError("b is float64, but is solved for in float32: give dtype=numpy.float64, or b.astype(numpy.float32)")


def tolerance_of(rtol: float | None, atol: float, dtype: Any) -> float:
    """rtol, or where none is given 1e-8, in float32, which holds 7 digits, 1e-5. What float32 cannot hold is refused."""
    if rtol is None:
        return 1e-5 if dtype == F32 else 1e-8
    rtol, smallest = number_of(rtol, "rtol"), 2 * float(np.finfo(F32).eps)
    if dtype == F32 and rtol < smallest and not atol > 0:
        raise UsageError(f"rtol = {rtol:g} is more than float32 can hold: take {smallest:.1g} or more, or give A or b in "
                         "float64")
    return rtol


def is_matrix(A: Any) -> bool:
    """Whether A has entries, rather than only a product: what NumPy makes an array of, such as a table of pandas, does."""
    return (sp.issparse(A) or isinstance(A, (np.ndarray, list, tuple)) or _gpu.is_sparse(A) or _gpu.is_array(A)
            or (hasattr(A, "__array__") and not hasattr(A, "matvec")))


def dtype_of(A: Any) -> Any:
    """NumPy's type of the values of A; None where it has none."""
    dtype = getattr(A, "dtype", None)
    if dtype is None and (isinstance(A, (list, tuple)) or hasattr(A, "__array__")):
        dtype = numbers(A, "A").dtype
    if dtype is None:
        return None
    return numpy_type(A) if _gpu.is_torch(A) else np.dtype(dtype)


def on_host(A: Any, name: str = "A") -> Any:
    """A matrix on a GPU, or a sparse one of PyTorch, as SciPy's or NumPy's; anything else as it is. The set-up reads
    matrices in host memory."""
    if _gpu.is_cupy_sparse(A):
        return (A if A.format == "csr" else A.tocsr()).get()
    if _gpu.is_torch(A):
        if not _gpu.is_sparse(A):
            return as_numpy(A.cpu(), name)
        row_ptr, col, values = (as_numpy(part.cpu(), name) for part in rows_of(A, name))
        return sp.csr_array((values, col, row_ptr), shape=tuple(A.shape), copy=False)
    if _gpu.is_sparse(A):  # of JAX, in rows
        return sp.csr_array((np.asarray(A.data), np.asarray(A.indices), np.asarray(A.indptr)), shape=A.shape)
    if _gpu.ordinal_of(A) is not None:
        return A.get() if hasattr(A, "get") else np.asarray(A)
    return A


def form_of(A: Any) -> str:
    """How a matrix is stored: "csr", "coo", "dense", "csr on gpu:0"."""
    if not (sp.issparse(A) or _gpu.is_sparse(A)):
        form = "dense"
    elif _gpu.is_torch(A):
        form = str(A.layout).removeprefix("torch.").removeprefix("sparse_").replace("sparse", "coo")
    else:
        form = getattr(A, "format", "csr")  # JAX's is by rows
    at = _gpu.ordinal_of(A)
    return form if at is None else f"{form} {_gpu.place(at)}"


def as_rows(A: Any, name: str = "A", to: str = "solve") -> tuple[Any, Any, Any, tuple[int, int]]:
    """(indptr, indices, data, shape) of a sparse or dense matrix. CSR arrays in host memory are taken where they lie."""
    A = on_host(A, name)
    if not sp.issparse(A):
        if hasattr(A, "matvec"):
            how = f", as {name}.tocsr() makes it" if hasattr(A, "tocsr") else ""
            raise TypeError(f"{name} is {type_of(A)}, whose entries are not seen: give a sparse or dense matrix{how}")
        A = numbers(A, name)
        if A.ndim != 2:
            raise UsageError(f"{name} has {A.ndim} axes: a matrix has 2")
        A = sp.csr_array(A.astype(real_type(A.dtype, to=to, name=name), copy=False))
    elif A.ndim != 2:
        raise UsageError(f"{name} has {A.ndim} axes: a matrix has 2")
    check_stored(A, name)
    dtype = real_type(A.dtype, to=to, name=name)
    if A.format != "csr":  # what shares a place adds up there: not in int8
        A = (A if A.dtype.kind == "f" else A.astype(dtype)).tocsr()
    data = contiguous(A.data, dtype)
    wide = max(A.indptr.dtype.itemsize, A.indices.dtype.itemsize) > 4
    index = np.dtype(np.int64 if wide else np.int32)
    return contiguous(A.indptr, index), contiguous(A.indices, index), data, A.shape


def contiguous(array: Any, dtype: Any) -> Any:
    """The array itself where it is one-dimensional, of this type and without gaps; otherwise such a copy."""
    return np.ascontiguousarray(array, dtype=dtype)


def as_vector(x: Any, n: int, name: str, dtype: Any = None, to: str = "solve") -> Any:
    """A contiguous vector of n elements from (n,) or (n, 1)."""
    refuse_gpu(x, name)
    x = numbers(x, name)
    if x.dtype == object or dtype is None:
        dtype = real_type(x.dtype, to=to, name=name)
    else:
        real_type(x.dtype, to=to, name=name)
    if x.shape not in ((n,), (n, 1)):
        raise UsageError(f"{name} is of shape {x.shape}, but the matrix asks for ({n},)")
    return contiguous(x, dtype).reshape(n)


def check_out(out: Any, shape: Any, dtype: Any, name: str = "out") -> None:
    """An output is written as it stands: one that does not fit would be converted, and the result be lost."""
    refuse_gpu(out, name)
    if not isinstance(out, np.ndarray):
        raise TypeError(f"{name} is {type_of(out)}: give a numpy.ndarray")
    if out.dtype != dtype or not out.dtype.isnative:
        raise TypeError(f"{name} holds {out.dtype.str}, but the result is {dtype.name}: give an array of that type")
    if out.shape != shape:
        raise UsageError(f"{name} is of shape {out.shape}, but the result is of shape {shape}")
    if not out.flags.c_contiguous or not out.flags.writeable:
        raise UsageError(f"{name} must be contiguous and writeable: a result in a copy would be lost")
