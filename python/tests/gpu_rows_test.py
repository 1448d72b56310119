# SPDX-License-Identifier: BSD-3-Clause
"""Matrices of CuPy, PyTorch and JAX on a GPU, used there by their rows."""
import importlib

import numpy as np
import pytest
import scipy.sparse as sp
from gpu_kit import copied, library_of, needs_gpu, same

import furrow


@pytest.fixture(params=["cupy", "torch", "jax"])
def library(request):
    return library_of(request)


@pytest.mark.parametrize("format", ["auto", "csr", "dia", "sell", "ell"])
def test_entries_do_not_pass_the_host(library, format):
    """They take 12 bytes each. What is looked at does: some of the rows."""
    A = furrow.generate("poisson2d:700")
    n = A.shape[0]
    rows, b = library.rows(A), library.put(A @ np.ones(n))
    made = []
    assert copied(lambda: made.append(furrow.Matrix(rows, format=format))) < 6 * A.nnz
    P, home = made[0], furrow.Matrix(A, format=format, device="gpu")
    assert (P.format, P.kernel, P.nnz, P.stats) == (home.format, home.kernel, home.nnz, home.stats)
    x = library.put(np.random.default_rng(1).standard_normal(n))
    assert same(library.get(P @ x), library.get(home @ x))
    assert copied(lambda: made.append(furrow.Solver(rows, "cg", M="jacobi", format=format, rtol=1e-10))) < 6 * A.nnz
    r, there = made[1].solve(b), furrow.Solver(A, "cg", M="jacobi", format=format, rtol=1e-10, device="gpu").solve(b)
    assert r.success and r.iterations == there.iterations and same(library.get(r.x), library.get(there.x))


def test_what_the_caller_writes_later_shows_nowhere(library, grid):
    A, b = grid
    for format in ("csr", "dia", "auto"):
        rows = library.rows(A)
        P, s = furrow.Matrix(rows, format=format), furrow.Solver(rows, "cg", M="jacobi", format=format)
        x = library.put(b)
        product, answer = library.get(P @ x), library.get(s.solve(x).x)
        if library.name == "cupy":
            rows.data[:] = 0
        elif library.name == "torch":
            rows.values().zero_()
        del rows
        assert same(library.get(P @ x), product) and same(library.get(s.solve(x).x), answer)


def test_new_values_where_the_rows_lie(library, grid):
    A, b = grid
    P, x = furrow.Matrix(library.rows(A)), library.put(b)
    s = furrow.Solver(P, "cg", M="jacobi", rtol=1e-10)
    for data in (library.put(2 * A.data), 3 * A.data, (4 * A.data).tolist()):
        P.update_values(data)
        factor = float(np.asarray(data[0].item() if hasattr(data[0], "item") else data[0])) / A.data[0]
        np.testing.assert_allclose(library.get(P @ x), factor * (A @ b), atol=1e-12)
        np.testing.assert_allclose(library.get(s.solve(x).x), 1 / factor, atol=1e-6)
    home = furrow.Matrix(A, device="gpu")
    home.update_values(library.put(2 * A.data))
    np.testing.assert_allclose(library.get(home @ x), 2 * (A @ b), atol=1e-12)
    for wrong, error, words in ((library.put(A.data[:3]), furrow.UsageError, "3 new values for a matrix"),
                                (A.data.astype(complex), TypeError, "complex128"),
                                (np.stack([A.data, A.data]), furrow.UsageError, "2 axes")):
        with pytest.raises(error, match=words):
            P.update_values(wrong)


def test_any_rows_there(library):
    """Wide offsets, single precision, rows out of order and places held twice, no entries at all."""
    rng = np.random.default_rng(3)
    for index, value in ((np.int64, np.float64), (np.int32, np.float32), (np.int64, np.float32)):
        indptr, indices = np.array([0, 3, 3, 6], index), np.array([2, 0, 2, 1, 0, 2], index)
        A = sp.csr_array((3, 4), dtype=value)
        A.indptr, A.indices, A.data = indptr, indices, np.arange(1, 7).astype(value)
        if library.name == "torch":  # which has sorted rows alone
            A = sp.csr_array(A, copy=True)
            A.sum_duplicates()
        x = rng.standard_normal(4).astype(value)
        P = furrow.Matrix(library.rows(A))
        assert P.dtype == value and P.device == "gpu:0"
        np.testing.assert_allclose(library.get(P @ library.put(x)), A @ x, rtol=1e-5)
    empty = sp.csr_array((5, 5))
    assert not library.get(furrow.Matrix(library.rows(empty)) @ library.put(np.ones(5))).any()


def test_dense_matrices_there(library, grid):
    A, b = grid
    P = furrow.Matrix(library.put(A.toarray()))
    assert P.device == "gpu:0" and P.nnz == A.nnz
    assert furrow.cg(library.put(A.toarray()), library.put(b), M="jacobi").success
    with pytest.raises(furrow.UsageError, match="A has 3 axes"):
        furrow.Matrix(library.put(np.ones((2, 2, 2))))


def test_wrong_rows_there_are_named(library, grid):
    A, _ = grid
    if library.name == "torch":
        pytest.skip("PyTorch looks itself")
    A = A.copy()
    A.indices[7] = 4000
    with pytest.raises(furrow.InputError, match="column 4000"):
        furrow.Matrix(library.rows(A))


@needs_gpu
def test_formats_of_cupy(grid):
    cupy = pytest.importorskip("cupy")
    csp = importlib.import_module("cupyx.scipy.sparse")
    A, b = grid
    there = cupy.asarray(b)
    for make in (csp.csr_matrix, csp.csc_matrix, csp.coo_matrix):
        G = make(csp.csr_matrix(sp.csr_matrix(A)))
        assert same((furrow.Matrix(G) @ there).get(), furrow.Matrix(A, device="gpu") @ b)
        r = furrow.minres(G, there, shift=3.5, rtol=1e-10)
        np.testing.assert_allclose(r.x.get(), furrow.minres(A, b, shift=3.5, rtol=1e-10).x, atol=1e-5)
    with pytest.raises(TypeError, match="complex128"):
        furrow.Matrix(csp.csr_matrix(sp.csr_matrix(A)).astype(complex))
    late = cupy.RawKernel(r"""extern "C" __global__ void late(double* x, const double* from, int n) {
      const long long began = clock64();
      while (clock64() - began < 40000000) {}
      for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] = from[i];
    }""", "late")
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:  # values that are not there yet
        G = csp.csr_matrix(sp.csr_matrix(A))
        source = G.data.copy()
        G.data.fill(0)
        late((1,), (256,), (G.data, source, G.nnz))
        P = furrow.Matrix(G)
        assert same((P @ there).get(), furrow.Matrix(A, device="gpu") @ b)
