# SPDX-License-Identifier: BSD-3-Clause
"""Rectangular matrices: the nearest x, with a damping, from a first guess, of matrices and of products."""
import numpy as np
import pytest
import scipy.sparse.linalg as sla

import furrow
from furrow import scipy_compat


@pytest.fixture
def tall():
    """A of 300 x 100, a b that is not in its range, and the nearest x."""
    A = furrow.generate("rectangular:300:100:5")
    b = np.random.default_rng(1).standard_normal(300)
    return A, b, np.linalg.lstsq(A.toarray(), b, rcond=None)[0]


def test_the_nearest_x(tall):
    A, b, nearest = tall
    P, op = furrow.Matrix(A), sla.aslinearoperator(A)
    for r in (furrow.solve(A, b), furrow.solve(P, b), furrow.solve(op, b), furrow.lsmr(A, b, rtol=1e-10),
              furrow.lsqr(op, b, rtol=1e-10), furrow.lsmr(P, b, rtol=1e-10, M=lambda v: v / 5),
              furrow.Solver(A.toarray(), "lsqr").solve(b)):
        assert (r.status, r.info, r.success, r.x.shape) == ("least_squares", 0, True, (100,))
        np.testing.assert_allclose(r.x, nearest, atol=1e-12)
        assert str(r).startswith("b is not in the range of A")
    assert furrow.solve(A, b[:, None]).x.shape == (100, 1)


def test_an_operator_without_its_transpose_says_what_is_missing(tall):
    A, b, _ = tall
    op = sla.LinearOperator(A.shape, matvec=lambda x: A @ x, dtype=float)
    for call in (furrow.lsmr, furrow.lsqr, furrow.solve):
        with pytest.raises(TypeError, match="A is a _CustomLinearOperator, which does not say how its transpose multiplies"):
            call(op, b)


def test_a_wide_matrix_has_the_shortest_x(tall):
    A = tall[0].T.tocsr()
    b = np.ones(100)
    r = furrow.lsmr(A, b, rtol=1e-12)
    assert r.status == "converged" and r.x.shape == (300,)
    np.testing.assert_allclose(r.x, np.linalg.pinv(A.toarray()) @ b, atol=1e-9)


def test_a_damping(tall):
    A, b, _ = tall
    dense = A.toarray()
    expected = np.linalg.solve(dense.T @ dense + 4 * np.eye(100), dense.T @ b)
    for method in (furrow.lsmr, furrow.lsqr):
        r = method(A, b, damp=2, rtol=1e-12)
        assert r.info == 0
        np.testing.assert_allclose(r.x, expected, atol=1e-12)
        for damp in (-1, float("nan"), 1e300):
            with pytest.raises(furrow.UsageError, match="damp"):
                method(A, b, damp=damp)


def test_a_square_system_asks_for_more():
    A = np.array([[1.0, 1], [1, 1]])
    with pytest.warns(furrow.SolveWarning):
        r = furrow.solve(A, [1, 0])
    assert not r.success and r.info < 0
    assert furrow.lsmr(A, [1, 0]).info == 0


@pytest.mark.parametrize("name", ["lsmr", "lsqr"])
def test_a_preconditioner_serves_the_columns(name, tall):
    """The inverse of the root of A'A is the best one; one of another shape is refused before it is applied."""
    A, b, nearest = tall
    w, V = np.linalg.eigh((A.T @ A).toarray())
    best = V / np.sqrt(w) @ V.T
    method = getattr(furrow, name)
    for M in (best, sla.aslinearoperator(best), furrow.Matrix(best)):
        r = method(A, b, M=M, rtol=1e-10)
        assert r.info == 0 and r.iterations < 5
        np.testing.assert_allclose(r.x, nearest, atol=1e-9)
    for M in (np.ones((100, 300)), sla.aslinearoperator(np.eye(300)), furrow.Matrix(np.eye(7))):
        for call in (lambda: method(A, b, M=M), lambda: furrow.solve(A, b, M=M)):
            with pytest.raises(furrow.UsageError, match=r"M is of shape .*, but A of \(300, 100\): it must be of \(100, 100\)"):
                call()
    assert "A symmetric operator of as many rows as A has columns" in method.__doc__


def test_shapes_that_do_not_fit(tall):
    A, b, _ = tall
    for call in (lambda: furrow.cg(A, b), lambda: furrow.gmres(sla.aslinearoperator(A), b)):
        with pytest.raises(furrow.InputError, match="square systems only, lsmr takes any shape"):
            call()
    for call in (lambda: furrow.lsmr(A, b[:100]), lambda: furrow.lsmr(A, b, b)):
        with pytest.raises(furrow.UsageError, match="shape"):
            call()

    class forward_only:
        shape = A.shape

        def __matmul__(self, x):
            return A @ x

    with pytest.raises(TypeError, match="transpose"):
        furrow.lsmr(forward_only(), b)


@pytest.mark.parametrize("name", ["lsmr", "lsqr"])
@pytest.mark.parametrize("rest", [{}, {"damp": 1.5}, {"damp": 1.5, "x0": np.ones(100)}, {"x0": np.full(100, 0.1)}],
                         ids=["plain", "damp", "damp and guess", "guess"])
def test_scipys_numbers(name, rest, tall):
    A, b, _ = tall
    ours, theirs = getattr(scipy_compat, name)(A, b, **rest), getattr(sla, name)(A, b, atol=1e-12, btol=1e-12, **rest)
    assert len(ours) == len(theirs) and ours[1] == theirs[1] == 2
    np.testing.assert_allclose(ours[0], theirs[0], atol=1e-7)
    residuals = slice(3, 4) if name == "lsmr" else slice(3, 5)
    np.testing.assert_allclose(ours[residuals], theirs[residuals], rtol=1e-6)
    assert ours[4 if name == "lsmr" else 7] < 1e-5


@pytest.mark.parametrize("name, limit", [("lsmr", "maxiter"), ("lsqr", "iter_lim")])
def test_scipys_reasons(name, limit, tall):
    A, b, _ = tall
    method = getattr(scipy_compat, name)
    assert method(A, A @ np.ones(100))[1] == 1
    assert method(A, 0 * b)[1:3] == (0, 0)
    assert method(A, b, **{limit: 3})[1:3] == (7, 3)
    far = np.diag(10.0 ** -np.arange(12))
    assert method(far, np.ones(12), atol=1e-15, btol=1e-15, conlim=5, **{limit: 5})[1] == 3
    with pytest.raises(furrow.InputError, match="NaN|finite"):
        method(A, np.full(300, np.nan))
    with pytest.raises(TypeError):
        method(A * 1j, b)
    if name == "lsqr":
        with pytest.raises(furrow.UsageError, match="calc_var"):
            method(A, b, calc_var=True)
