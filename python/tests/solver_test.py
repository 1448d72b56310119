# SPDX-License-Identifier: BSD-3-Clause
"""A Matrix and a Solver that stay, and new values."""
import gc
import weakref

import numpy as np
import pytest
import scipy.sparse as sp

import furrow


def test_a_matrix_shows_itself(grid):
    P = furrow.Matrix(grid[0])
    assert "400 x 400, 1920 entries in float64" in repr(P)
    assert "1,920" in P._repr_html_() and "dia" in P._repr_html_()
    assert (abs(P.tocsr() - grid[0])).nnz == 0
    assert P.stats["row_max"] == 5


def test_a_matrix_that_was_not_made():
    class unmade(furrow.Matrix):
        def __init__(self):
            pass

    for use in (lambda P: P @ np.ones(3), lambda P: P.shape, lambda P: P.format, lambda P: P.dtype, repr):
        with pytest.raises(TypeError, match=r"a Matrix whose __init__ has not run: call super\(\).__init__\(A\)"):
            use(unmade())


def test_a_solver_stays(grid):
    A, b = grid
    P = furrow.Matrix(A)
    s = furrow.Solver(P, rtol=1e-10)
    first, second = s.solve(b), s.solve(b)
    assert first.x.tobytes() == second.x.tobytes() and second.seconds["setup"] == 0
    P.update_values(2 * A.data)
    np.testing.assert_allclose(s.solve(b, x0=first.x).x, 0.5, atol=1e-7)
    out = np.empty(400)
    assert s.solve(b, out=out).x is out


@pytest.mark.parametrize("known_by", ["callback", "monitor", "A", "M"])
def test_a_solver_that_its_functions_know_goes_with_them(grid, known_by):
    A, b = grid

    class Owner:
        def __init__(self):
            as_operator = {"A": A, "M": "none"} | ({known_by: Product(self.product)} if known_by in ("A", "M") else {})
            told = {known_by: self.told} if known_by in ("callback", "monitor") else {}
            self.solver = furrow.Solver(as_operator["A"], "cg", as_operator["M"], **told)

        def told(self, _):
            self.heard = True

        def product(self, x):
            self.heard = True
            return A @ x if known_by == "A" else x

    class Product:
        shape = A.shape

        def __init__(self, product):
            self.matvec = product

    owner = Owner()
    assert owner.solver.solve(b).success and owner.heard
    gone = weakref.ref(owner)
    del owner
    gc.collect()
    assert gone() is None


def test_a_solver_serves_one_at_a_time(grid):
    A, b = grid
    s = furrow.Solver(A, "cg", monitor=(lambda step: s.solve(b), 1))
    with pytest.raises(furrow.UsageError, match="solving already"):
        s.solve(b)


@pytest.mark.parametrize("precond", ["amg:sa", "amg:grid", "amg:pairwise", "jacobi"])
def test_new_values_are_taken_over_again_and_again(precond):
    A = furrow.generate("poisson2d:40")
    scale = sp.diags_array(1 + np.arange(1600) % 7 / 10)
    P = furrow.Matrix(A)
    s = furrow.Solver(P, "fcg", M=precond)
    b = np.ones(1600)
    for k in range(4):
        now = A if k % 2 else sp.csr_array(scale @ A @ scale)
        P.update_values(now.data)
        r = s.solve(b)
        assert r.success and r.seconds["setup"] > 0 and s.setup_seconds > 0
        assert np.linalg.norm(b - now @ r.x) <= 1.01e-8 * np.linalg.norm(b)
        assert s.solve(b).seconds["setup"] == 0
    bad = A.data.copy()
    bad[1] *= 2
    P.update_values(bad)
    for _ in range(2):  # no solve begins, and nothing of the matrix before is solved
        with pytest.raises(furrow.InputError, match="symmetric"):
            s.solve(b)
        assert s.setup_seconds == 0
    P.update_values(A.data)
    assert np.linalg.norm(b - A @ s.solve(b).x) <= 1.01e-8 * np.linalg.norm(b)
