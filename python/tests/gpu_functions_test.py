# SPDX-License-Identifier: BSD-3-Clause
"""Functions and operators of the caller on a GPU: they get arrays there, and give arrays there."""
import ctypes
import importlib

import numpy as np
import pytest
import scipy.sparse as sp
from gpu_kit import copied, library_of, needs_gpu, same

import furrow
from furrow import _core
from furrow._homes import Home
from furrow._operators import fitted_there


@pytest.fixture(params=["cupy", "torch", "jax"])
def library(request):
    return library_of(request)


class LentByHost(Home):
    """As a home on a GPU, for vectors in host memory."""

    def lent(self, address, n, dtype):
        return np.frombuffer((ctypes.c_char * (n * dtype.itemsize)).from_address(address), dtype)


def test_a_function_gets_a_copy_and_its_result_is_taken_over():
    x, y, home = np.arange(4.0), np.full(4, np.nan), LentByHost("b")

    def call(f):
        vectors = [_core.GpuVector(v.ctypes.data, v.size, "d", v) for v in (x, y)]
        fitted_there(f, 4, np.dtype(float), "M", lambda: home)(*vectors)

    def scribbles(r):
        r *= 2
        return r.astype(np.float32)[:, None]

    call(scribbles)
    assert y.tolist() == [0, 2, 4, 6] and x.tolist() == [0, 1, 2, 3]
    with pytest.raises(furrow.UsageError, match="M made 3 elements of a vector of 4"):
        call(lambda r: r[:3])
    with pytest.raises(TypeError, match="complex128"):
        call(lambda r: r * 1j)
    assert y.tolist() == [0, 2, 4, 6]


class Own:
    """What has a shape and multiplies, and counts."""

    def __init__(self, multiply, n):
        self.shape, self.multiply, self.calls = (n, n), multiply, 0

    def __matmul__(self, x):
        self.calls += 1
        return self.multiply(x)


def test_a_function_preconditions_there(library, grid):
    A, b = grid
    seen = []

    def quarter(r):
        seen.append(library.has(r) and r.shape == (400,))
        return r / 4

    rows, there = library.rows(A), library.put(b)
    expected = furrow.cg(A, b, rtol=1e-10, M=lambda r: r / 4)
    for A_there in (rows, furrow.Matrix(rows), A):
        seen.clear()
        r = furrow.cg(A_there, there, rtol=1e-10, M=quarter)
        assert r.success and r.device == "gpu:0" and r.precond == "given" and library.has(r.x)
        assert len(seen) >= r.iterations and all(seen) and abs(r.iterations - expected.iterations) <= 2
        np.testing.assert_allclose(library.get(r.x), 1, atol=1e-7)
    s = furrow.Solver(rows, "cg", M=quarter, rtol=1e-10)
    assert same(library.get(s.solve(there).x), library.get(s.solve(there).x))
    for method in (furrow.bicgstab, furrow.gmres, furrow.fgmres, furrow.minres, furrow.solve):
        r = method(rows, there, rtol=1e-10, M=quarter)
        assert r.success, r
        np.testing.assert_allclose(library.get(r.x), 1, atol=1e-6)


def test_vectors_of_functions_do_not_pass_the_host(library):
    """What does is what ends each step, some 40 bytes, and residuals."""
    A = furrow.generate("poisson2d:700")
    n = A.shape[0]
    s = furrow.Solver(library.rows(A), "cg", M=lambda r: r / 4, maxiter=30)
    b = library.put(np.random.default_rng(1).standard_normal(n))
    s.solve(b)
    assert copied(lambda: s.solve(b)) < 8 * n


def test_an_operator_multiplies_there(library, grid):
    A, b = grid
    P, there = furrow.Matrix(library.rows(A)), library.put(b)
    op = Own(lambda x: P @ x, 400)
    for method in (furrow.cg, furrow.minres, furrow.bicgstab, furrow.gmres):
        op.calls = 0
        r = method(op, there, rtol=1e-10)
        assert r.success and r.device == "gpu:0" and library.has(r.x) and op.calls >= r.iterations
        np.testing.assert_allclose(library.get(r.x), 1, atol=1e-6)
    assert furrow.solve(op, there, M=lambda r: r / 4).success
    shifted = furrow.minres(op, there, shift=3.5, rtol=1e-10)
    np.testing.assert_allclose(library.get(shifted.x), furrow.minres(A, b, shift=3.5, rtol=1e-10).x, atol=1e-5)


@needs_gpu
def test_operators_of_cupy(grid):
    cupy = pytest.importorskip("cupy")
    csp = importlib.import_module("cupyx.scipy.sparse")
    cla = importlib.import_module("cupyx.scipy.sparse.linalg")
    A, b = grid
    G, there = csp.csr_matrix(sp.csr_matrix(A)), cupy.asarray(b)
    d = 1 / G.diagonal()
    A_op, M_op = cla.aslinearoperator(G), cla.LinearOperator(G.shape, matvec=lambda r: d * r, dtype=float)
    inverse = csp.diags(d, format="csr")
    for a in (G, A_op):
        for M in (M_op, inverse, lambda r: d * r, cupy.diag(d), furrow.Matrix(inverse), sp.diags_array(d.get())):
            r = furrow.cg(a, there, rtol=1e-10, M=M)
            assert r.success and isinstance(r.x, cupy.ndarray)
            assert float(cupy.abs(r.x - 1).max()) < 1e-7
    tall = csp.csr_matrix(sp.csr_matrix(furrow.generate("rectangular:300:100:5")))
    c = cupy.arange(300.0)
    x, info = furrow.lsmr(cla.aslinearoperator(tall), c, rtol=1e-10)
    assert info == 0 and float(cupy.abs(tall.T @ (c - tall @ x)).max()) < 1e-5
    single = furrow.cg(csp.csr_matrix(G, dtype=np.float32), there.astype(np.float32), M=lambda r: r / 4)
    assert single.success and single.x.dtype == np.float32


@needs_gpu
def test_functions_may_wait_and_take_memory(grid):
    """As nothing may that is recorded into a graph: on any stream, with another one inside."""
    cupy = pytest.importorskip("cupy")
    A, b = grid
    P = furrow.Matrix(A, device="gpu")

    def through_the_host(r):
        cupy.cuda.get_current_stream().synchronize()
        return cupy.asarray(r.get() / 4)

    for stream in (cupy.cuda.Stream(non_blocking=True), cupy.cuda.Stream.null):
        with stream:
            there = cupy.asarray(b)
            expected = furrow.cg(P, there, rtol=1e-10, M=lambda r: r / 4)
            r = furrow.cg(P, there, rtol=1e-10, M=through_the_host)
            assert r.success and r.iterations == expected.iterations and same(r.x.get(), expected.x.get())


@needs_gpu
def test_what_functions_do_wrong_there(grid):
    cupy = pytest.importorskip("cupy")
    A, b = grid
    P, there = furrow.Matrix(A, device="gpu"), cupy.asarray(b)

    def fails(r):
        raise ZeroDivisionError("in the product")

    for M, error, words in ((fails, ZeroDivisionError, "in the product"),
                            (lambda r: r[:3], furrow.UsageError, "M made 3 elements of a vector of 400"),
                            (lambda r: r.get(), furrow.DeviceError, "what M made lies in host memory and b on gpu:0"),
                            (lambda r: r * 1j, TypeError, "complex128 are not supported"),
                            (furrow.Matrix(np.eye(400)), furrow.DeviceError, "M is a Matrix on the cpu, but the system")):
        with pytest.raises(error, match=words):
            furrow.cg(P, there, M=M)
    with pytest.raises(furrow.UsageError, match="b lies in host memory, but A or M is a function of Python"):
        furrow.cg(P, b, M=lambda r: r / 4)
    with pytest.raises(furrow.UsageError, match='made from entries, which A does not show'):
        furrow.cg(Own(lambda x: P @ x, 400), there, M="jacobi")
    assert furrow.cg(P, there, M="jacobi").success  # nothing is left behind
