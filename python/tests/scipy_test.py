# SPDX-License-Identifier: BSD-3-Clause
"""SciPy's own tests of its solvers and of its LinearOperator, with Furrow's solvers in their place."""
import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as sla

import furrow


@pytest.mark.parametrize("module, least", [("scipy.sparse.linalg._isolve.tests.test_iterative", 100),
                                           ("scipy.sparse.linalg._isolve.tests.test_minres", 5),
                                           ("scipy.sparse.linalg._isolve.tests.test_lsmr", 10),
                                           ("scipy.sparse.linalg._isolve.tests.test_lsqr", 5),
                                           ("scipy.sparse.linalg.tests.test_interface", 20)])
def test_judge(module, least, tmp_path):
    here = str(pathlib.Path(__file__).parent)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([os.environ.get("PYTHONPATH", ""), here])}
    ran = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "scipy_plugin",
                          "--pyargs", module], cwd=tmp_path, env=env, capture_output=True, text=True,
                         timeout=600, check=False)
    assert ran.returncode == 0, ran.stdout[-3000:]
    assert int(re.search(r"(\d+) passed", ran.stdout)[1]) >= least


def test_an_indefinite_matrix_is_solved_by_bicgstab_or_said_not_to_be():
    """The one of test_iterative where SciPy's bicgstab does not converge."""
    n = 11
    A = np.zeros((n, n))
    A[:5, 5:] = np.array([[0, 1, -1, 0, 0, 0], [0, 2, 0, -1, 0, 0], [0, 2, 0, 0, -1, 0], [0, 2, 0, 0, 0, -1],
                          [1, 1, 0, 0, 0, 0]])
    A[5:, 5:] = -np.eye(6)
    A = np.triu(A) + np.triu(A, 1).T
    b = np.eye(n)[5]
    x, info = furrow.scipy_compat.bicgstab(sp.csr_array(A), b, rtol=1e-8)
    assert info != 0 or np.linalg.norm(A @ x - b) <= 1e-8
    assert furrow.solve(sp.csr_array(A), b, rtol=1e-8).success


def test_patched_puts_everything_back(grid):
    A, b = grid
    before = sla.cg
    with furrow.scipy_compat.patched():
        assert sla.cg is not before
        x, info = sla.cg(A, b, rtol=1e-10)
    assert sla.cg is before and info == 0
    np.testing.assert_allclose(x, 1, atol=1e-7)


@pytest.mark.parametrize("name", ["cg", "gmres", "minres", "lsmr"])
def test_a_b_that_is_no_vector_of_numbers_is_named(name, grid):
    A, b = grid
    method = getattr(furrow.scipy_compat, name)
    with pytest.raises(furrow.InputError, match="b has 1 masked element"):
        method(A, np.ma.masked_array(b, np.arange(400) == 3))
    for wrong in (np.nan, np.inf):
        bad = np.where(np.arange(400) == 3, wrong, b)
        if name == "lsmr":
            with pytest.raises(furrow.InputError, match="b is nan|b is inf"):
                method(A, bad)
        else:
            x, info = method(A, bad, maxiter=7)
            assert np.isnan(x).all() and info == 7
    if name != "lsmr":
        with pytest.raises(furrow.InputError, match="norm of b is inf"):
            method(A, 1e300 * b)


@pytest.mark.parametrize("name", ["cg", "bicgstab", "gmres", "minres", "tfqmr"])
def test_without_a_tolerance_maxiter_ends_a_solve(name, grid):
    A, b = grid[0], np.arange(400.0)
    ours, theirs = (getattr(of, name) for of in (furrow.scipy_compat, sla))
    for steps in (3, 30):
        x, info = ours(A, b, rtol=0, maxiter=steps)
        assert info == theirs(A, b, rtol=0, maxiter=steps)[1] == steps
    x, info = ours(A, b, rtol=0)
    assert np.linalg.norm(b - A @ x) <= 1e-12 * np.linalg.norm(b) and (info == 0) == (name == "minres")


def test_the_types_and_arguments_of_scipy():
    A, b = np.diag(np.arange(1.0, 5)).astype(np.float32), np.ones(4, np.float32)
    for name in ("cg", "minres", "tfqmr"):
        ours, theirs = (getattr(of, name)(A, b) for of in (furrow.scipy_compat, sla))
        assert ours[0].dtype == theirs[0].dtype
    assert furrow.scipy_compat.tfqmr(A, b, show=False)[1] == 0


SHAPES = [(4,), (4, 1), (1, 4), (2, 2), (2, 2, 1), (3,)]


@pytest.mark.parametrize("name", ["cg", "bicgstab", "tfqmr", "gmres", "minres", "lsmr", "lsqr"])
@pytest.mark.parametrize("shape", SHAPES)
def test_vectors_have_the_shapes_that_scipy_takes(name, shape):
    A, b = np.diag(np.arange(1.0, 5)) + 0.1, np.arange(1.0, 5)
    ours, theirs = getattr(furrow.scipy_compat, name), getattr(sla, name)
    given = np.resize(b, shape)
    try:
        expected = theirs(A, given)[0]
    except ValueError:
        with pytest.raises(ValueError, match=r"b is of shape .*, but the matrix asks for \(4,\)"):
            ours(A, given)
    else:
        np.testing.assert_allclose(ours(A, given)[0], expected, atol=1e-4)
    if shape in ((4,), (4, 1)):
        np.testing.assert_allclose(ours(A, b, x0=given)[0], theirs(A, b, x0=given.reshape(4))[0], atol=1e-4)
    else:
        with pytest.raises(ValueError, match=r"x0 is of shape .*, but the matrix asks for \(4,\)"):
            ours(A, b, x0=given)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("guess", [None, np.arange(4.0), "Mb"])
@pytest.mark.parametrize("name", ["cg", "bicgstab", "tfqmr", "gmres", "minres"])
def test_without_an_iteration_x_is_the_first_guess(name, guess, dtype):
    A, b = (np.diag(np.arange(1.0, 5)) + 0.1).astype(dtype), np.arange(1.0, 5).astype(dtype)
    x, info = getattr(furrow.scipy_compat, name)(A, b, x0=guess, maxiter=0)
    expected, said = (b if isinstance(guess, str) else np.zeros(4) if guess is None else guess), 0
    if name != "gmres":  # SciPy's ends in an UnboundLocalError
        expected, said = getattr(sla, name)(A, b, x0=guess, maxiter=0)
    assert x.tolist() == expected.tolist() and x.dtype == dtype and info == said == 0
    assert furrow.scipy_compat.cg(A, 0 * b, x0=b, maxiter=0)[0].tolist() == [0.0] * 4


@pytest.mark.parametrize("rest", [{}, {"damp": 0.5}, {"x0": np.arange(4.0), "damp": 0.5}])
@pytest.mark.parametrize("name, limit, residuals", [("lsmr", "maxiter", [3, 4]), ("lsqr", "iter_lim", [3, 4, 7])])
def test_least_squares_without_an_iteration_are_the_first_guess(name, limit, residuals, rest):
    A, b = np.diag(np.arange(1.0, 5)) + 0.1, np.arange(1.0, 5)
    ours, theirs = (getattr(of, name)(A, b, **{limit: 0}, **rest) for of in (furrow.scipy_compat, sla))
    assert ours[0].tolist() == theirs[0].tolist() and ours[1:3] == theirs[1:3] == (0, 0) and len(ours) == len(theirs)
    np.testing.assert_allclose([ours[k] for k in residuals], [theirs[k] for k in residuals], rtol=1e-14)


def test_a_matrix_is_an_operator(grid):
    A, _ = grid
    op = sla.aslinearoperator(furrow.Matrix(A))
    X = np.random.default_rng(1).standard_normal((400, 3))
    for ours, theirs in [(op @ X, A @ X), (op.T @ X, A.T @ X), (op.matvec(X[:, 0]), A @ X[:, 0])]:
        np.testing.assert_allclose(ours, theirs, rtol=1e-13, atol=1e-13)
