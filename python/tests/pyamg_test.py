# SPDX-License-Identifier: BSD-3-Clause
"""Beside PyAMG: as its accelerator, and on the cases of its own test_krylov."""
import numpy as np
import pytest
import scipy.sparse as sp

import furrow

pyamg = pytest.importorskip("pyamg")
krylov = pytest.importorskip("pyamg.krylov.tests.test_krylov")


def cases(kind, of=krylov.TestKrylov):
    """Its systems without complex values."""
    made = of()
    made.setUp()
    return [case for case in getattr(made, kind) if not np.iscomplexobj(case["A"])]


def reduced(case, x, error=False):
    """|b - A x|, or the error of x, over that of the first guess."""
    A, b, x0 = case["A"], case["b"].ravel(), case["x0"].ravel()
    if error:
        exact = np.linalg.solve(A, b)
        return np.linalg.norm(exact - x) / np.linalg.norm(exact - x0)
    return np.linalg.norm(b - A @ x) / np.linalg.norm(b - A @ x0)


def given(case):
    return case["A"], case["b"].ravel(), case["x0"].ravel()


def test_it_is_accelerated_by_ours():
    A = furrow.generate("poisson2d:60")
    b = A @ np.sin(np.arange(3600))
    ml = pyamg.smoothed_aggregation_solver(sp.csr_matrix(A))
    theirs, ours = [], []
    x = ml.solve(b, tol=1e-10, accel="cg", residuals=theirs)
    y, info = ml.solve(b, tol=1e-10, accel=furrow.scipy_compat.cg, residuals=ours, return_info=True)
    assert info == 0 and np.linalg.norm(b - A @ y) <= 1e-10 * np.linalg.norm(b)
    assert abs(len(ours) - len(theirs)) <= 1 and len(ours) > 5
    np.testing.assert_allclose(y, x, atol=1e-7)


@pytest.mark.parametrize("method", [furrow.gmres, furrow.fgmres])
def test_oblique_projectors_reduce_the_residual(method):
    all_cases = cases("cases")
    assert len(all_cases) == 3
    for case in all_cases:
        x = method(*given(case), rtol=case["tol"], restart=case["maxiter"], maxiter=1).x
        assert reduced(case, x) < case["reduction_factor"]


def test_minres_reduces_the_residual_of_symmetric_systems():
    for case in cases("symm_cases"):
        x = furrow.minres(*given(case), rtol=case["tol"], maxiter=case["maxiter"]).x
        assert reduced(case, x) < case["reduction_factor"]


def test_cg_reduces_the_error_of_definite_systems():
    for case in cases("spd_cases"):
        x = furrow.cg(*given(case), rtol=case["tol"], maxiter=case["maxiter"]).x
        assert reduced(case, x, error=True) < case["reduction_factor"]


def test_bicgstab_reduces_the_residual():
    for case in cases("cases"):
        x = furrow.bicgstab(*given(case), rtol=case["tol"], maxiter=case["A"].shape[0]).x
        assert reduced(case, x) < 0.35


@pytest.mark.parametrize("method", [furrow.cg, furrow.bicgstab, furrow.gmres, furrow.fgmres, furrow.minres])
def test_the_criterion_that_both_have(method):
    for case in cases("cases", krylov.TestStoppingCriteria):
        x, info = method(*given(case), rtol=case["tol"])
        assert info == 0 and np.linalg.norm(case["b"] - case["A"] @ x) <= 1e-8 * np.linalg.norm(case["b"])
    x, info = method(krylov.A, krylov.b)
    assert info == 0 and np.linalg.norm(krylov.b - krylov.A @ x) < np.linalg.norm(krylov.b)
