# SPDX-License-Identifier: BSD-3-Clause
"""What tests on a GPU are made of: libraries of arrays, and a count of the bytes that pass the host."""
import importlib
import os

import numpy as np
import pytest
import scipy.sparse as sp

import furrow
from furrow import _core, _gpu

PROBLEM = _core.devices()["problem"]
HAS_GPU = len(furrow.devices()) > 1
needs_gpu = pytest.mark.skipif(not HAS_GPU, reason=f"no GPU: {PROBLEM}")
without_gpu = pytest.mark.skipif(HAS_GPU, reason="the sentences of a machine without a GPU")


class Library:
    """CuPy, PyTorch or JAX, as far as tests need it."""

    def __init__(self, name):
        self.name = name
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # JAX would take three quarters of the memory
        self.module = pytest.importorskip({"jax": "jax.numpy"}.get(name, name))
        if name == "jax":
            pytest.importorskip("cupy")
            importlib.import_module("jax").config.update("jax_enable_x64", True)

    def put(self, x):
        x = np.ascontiguousarray(x)
        return self.module.asarray(x, device="cuda") if self.name == "torch" else self.module.asarray(x)

    def get(self, x):
        if self.name == "torch":
            return x.cpu().numpy()
        return x.get() if self.name == "cupy" else np.asarray(x)

    def has(self, x):
        kind = {"cupy": "ndarray", "torch": "Tensor", "jax": "ndarray"}[self.name]
        return isinstance(x, getattr(self.module, kind)) and _gpu.ordinal_of(x) == 0

    def rows(self, A):
        """A CSR matrix of the library."""
        if self.name == "cupy":
            return importlib.import_module("cupyx.scipy.sparse").csr_matrix(sp.csr_matrix(A))
        if self.name == "torch":
            return self.module.sparse_csr_tensor(*(self.put(part) for part in (A.indptr, A.indices, A.data)),
                                                 size=A.shape)
        sparse = importlib.import_module("jax.experimental.sparse")
        return sparse.BCSR((self.put(A.data), self.put(A.indices), self.put(A.indptr)), shape=A.shape)


def copied(f):
    before = _core.copied_bytes(0)
    f()
    return _core.copied_bytes(0) - before


def same(x, y):
    return np.asarray(x).tobytes() == np.asarray(y).tobytes()


def library_of(request):
    """For fixtures: the library of a parameter, or a skipped test."""
    if not HAS_GPU:
        pytest.skip(f"no GPU: {PROBLEM}")
    return Library(request.param)
