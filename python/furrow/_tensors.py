# SPDX-License-Identifier: BSD-3-Clause
"""Tensors of PyTorch, before anybody reads their memory: it may hold less than they show, or something else."""
from __future__ import annotations

from typing import Any

import numpy as np

from ._errors import UsageError


def _kind(x: Any) -> str:
    if x.is_nested:
        return "nested"
    kind = str(x.layout).removeprefix("torch.")
    return "hybrid" if kind == "sparse_coo" and x.dense_dim() else kind


def check_dense(x: Any, name: str) -> None:
    kind = _kind(x)
    if kind != "strided":
        raise TypeError(f"{name} is a {kind} tensor: give a dense one")


def check_matrix(A: Any, name: str) -> None:
    """PyTorch makes rows of no other ones, and a nested one has no shape."""
    kind = _kind(A)
    if kind not in ("sparse_csr", "sparse_csc", "sparse_coo", "strided"):
        raise TypeError(f"{name} is a {kind} tensor: give csr, csc, coo or dense")


def dense(x: Any, name: str) -> Any:
    """x without its graph, in memory that holds what it shows: a lazy sign is in the tensor alone."""
    check_dense(x, name)
    return x.detach().resolve_conj().resolve_neg()


def rows_of(A: Any, name: str) -> tuple[Any, Any, Any]:
    """(indptr, indices, data) of a matrix, where it lies; one that is not by rows is converted by PyTorch."""
    check_matrix(A, name)
    if A.ndim != 2:
        raise UsageError(f"{name} has {A.ndim} axes: a matrix has 2")
    A = A.detach()
    A = A if str(A.layout) == "torch.sparse_csr" else A.to_sparse_csr()
    return A.crow_indices(), A.col_indices(), A.values()


def numpy_type(x: Any) -> Any:
    """NumPy's type of the elements. Raises TypeError where it has none."""
    name = str(x.dtype).removeprefix("torch.")
    if name == "bfloat16":
        raise TypeError("tensors of bfloat16 are for furrow.gemv on a GPU alone: convert them by .to(torch.float32)")
    try:
        return np.dtype(name)
    except TypeError:
        raise TypeError(f"tensors of {name} are not supported: convert them by .to(torch.float64)") from None


def as_numpy(x: Any, name: str) -> Any:
    """A dense tensor in host memory as an array of NumPy, without a copy where none is needed."""
    x = dense(x, name)
    numpy_type(x)
    return x.numpy()
