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


@pytest.mark.parametrize("more", [{}, {"ranks": 2}])
def test_a_solve_that_may_take_no_longer(more):
    A = furrow.generate("poisson2d:300")
    b = A @ np.random.default_rng(1).random(90000)
    r = furrow.solve(A, b, solver="cg", M="jacobi", rtol=1e-14, time_limit=0.01, **more)
    assert not r.success and r.status == "max_iterations" and "the limit on its time" in r.message
    assert np.isfinite(r.x).all() and r.iterations < 900


def test_a_time_limit_is_a_number_of_seconds(grid):
    assert furrow.solve(*grid, time_limit=3600).success and furrow.Solver(grid[0], time_limit=None).solve(grid[1]).success
    for wrong in (-1, float("nan")):
        with pytest.raises(furrow.UsageError, match="give a number of seconds, or None"):
            furrow.solve(*grid, time_limit=wrong)
    with pytest.raises(TypeError, match="time_limit is a str: give a number"):
        furrow.Solver(grid[0], time_limit="1 s")


def _each_way(A, b, **more):
    yield lambda: furrow.solve(A, b, **more)
    yield lambda: furrow.solve(A, b, ranks=2, **more)
    yield lambda: furrow.Solver(A, **more).solve(b)
    yield lambda: furrow.solve_batch([(A, b)], **more)[0]


def test_the_tolerance_that_nobody_names_is_one_that_the_type_holds(grid):
    A, b = grid
    single = (A.astype(np.float32), b.astype(np.float32))
    for system, rtol in ((grid, 1e-8), (single, 1e-5)):
        for call in _each_way(*system):
            r = call()
            assert r.success and r.residual <= rtol and r.to_dict()["rtol"] == rtol
    for call in _each_way(*single, rtol=1e-8):
        with pytest.raises(furrow.UsageError, match="rtol = 1e-08 is more than float32 can hold: take 2e-07 or more"):
            call()
    assert all(call().success for call in _each_way(*single, rtol=1e-8, atol=1e-3))


def test_a_type_and_symmetry_may_be_said_in_one_call(grid):
    A, b = grid
    for more in ({}, {"ranks": 2}):
        r = furrow.solve(A, b.astype(np.float32), dtype=np.float32, **more)
        assert r.success and r.x.dtype == np.float32
        assert furrow.solve(A.astype(np.float32), b.astype(np.float32), dtype=float, **more).x.dtype == float
        with pytest.raises(TypeError, match="b is float64, but is solved for in float32"):
            furrow.solve(A, b, dtype=np.float32, **more)
        with pytest.raises(TypeError, match="dtype is 'f2': give numpy.float64, numpy.float32 or None"):
            furrow.solve(A, b, dtype="f2", **more)
    A = A.copy()
    A[0, 1] *= 1 + 1e-6
    for call in _each_way(A, b, solver="cg", M="jacobi"):
        with pytest.raises(furrow.InputError, match="or assume_symmetric where the difference means nothing"):
            call()
    assert all(call().solver == "cg" for call in _each_way(A, b, solver="cg", M="jacobi", rtol=1e-5, assume_symmetric=True))


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
    with pytest.raises(furrow.UsageError, match="is solving already, and serves one solve at a time: wait"):
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


class Beside(furrow.Matrix):
    """New values come in another thread, as it seems, while those of `late` are looked at."""

    def __init__(self, A, late):
        super().__init__(A)
        self.late = [late]

    def tocsr(self):
        rows = super().tocsr()
        while self.late:
            self.update_values(self.late.pop())
        return rows

    def _update_values(self, *new):
        self @ np.ones(self.shape[1])  # of the old ones, in f64
        super()._update_values(*new)


def test_values_that_come_while_the_type_changes_are_seen():
    A = furrow.generate("poisson1d:4").astype(np.float32)
    P, x = Beside(A, 2 * A.data), np.arange(4.0)
    assert (P @ x).tolist() in ((A @ x).tolist(), (2 * A @ x).tolist())
    assert (P @ x).tolist() == (2 * A @ x).tolist()
    P.update_values(3 * A.data)
    assert (P @ x).tolist() == (3 * A @ x).tolist()


def test_values_that_come_while_a_solver_takes_some_over_are_taken_over(grid):
    A, b = grid

    class Slow:
        def __init__(self, core):
            self.of = core

        def __getattr__(self, name):
            return getattr(self.of, name)

        def _update(self, matrix):
            self.of._update(matrix)
            if late:
                P.update_values(late.pop())  # as another thread may

    P, late = furrow.Matrix(A), [4 * A.data]
    s = furrow.Solver(P, "cg", "amg", rtol=1e-10)
    s._core = Slow(s._core)
    P.update_values(2 * A.data)
    np.testing.assert_allclose(s.solve(b).x, 0.5, atol=1e-7)
    for _ in range(2):
        np.testing.assert_allclose(s.solve(b).x, 0.25, atol=1e-7)


@pytest.mark.parametrize("M", ["jacobi", "amg", lambda r: r / 4], ids=["jacobi", "amg", "function"])
def test_a_matrix_is_solved_for_in_the_type_that_is_asked_for(grid, M):
    A, b = grid
    P = furrow.Matrix(A)
    s = furrow.Solver(P, "cg", M, dtype=np.float32, rtol=1e-5)
    b = b.astype(np.float32)
    r = s.solve(b)
    assert r.success and r.x.dtype == np.float32
    assert r.iterations == furrow.Solver(A, "cg", M, dtype=np.float32, rtol=1e-5).solve(b).iterations
    P.update_values(2 * A.data)
    np.testing.assert_allclose(s.solve(b).x, 0.5, atol=1e-3)
    assert (P @ b).dtype == np.float64


def of_few_entries():
    A = sp.csr_array(np.ones((8, 8), np.float32))
    A.data[:] = np.eye(8, dtype=np.float32).ravel()
    return furrow.Matrix(A, format="bcsr"), np.eye(8)


def of_fewer_entries_now():
    A = furrow.generate("poisson2d:20").astype(np.float32)
    P = furrow.Matrix(A, format="dia")
    A.data[np.arange(A.nnz) % 5 != 1] = 0
    P.update_values(A.data)
    return P, A.toarray().astype(float)


@pytest.mark.parametrize("make", [of_few_entries, of_fewer_entries_now])
def test_a_format_that_was_named_does_not_refuse_the_other_type(make):
    """What it stores of zeros is lost on the way, and what is left may be too little for it."""
    P, dense = make()
    x = np.arange(1.0, len(dense) + 1)
    np.testing.assert_allclose(P @ x, dense @ x)
    np.testing.assert_allclose(P.T @ x, dense.T @ x)


def some_columns(A):
    A.indices[:] = np.random.default_rng(1).permutation(A.indices)


def two_columns(A):
    A.indices[-2:] = A.indices[-2:][::-1].copy()


def one_offset(A):
    A.indptr[5] += 1


def sorts(A):
    A.has_canonical_format = False
    A.sum_duplicates()


@pytest.mark.parametrize("size", ["poisson2d:20", "poisson2d:100"])
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("write", [some_columns, two_columns, one_offset, sorts])
def test_new_values_do_not_go_to_places_that_were_written_to(size, index, write):
    A = sp.csr_array(furrow.generate(size))
    for k in range(A.shape[0]):  # no row is sorted
        row = slice(A.indptr[k], A.indptr[k + 1])
        A.indices[row], A.data[row] = A.indices[row][::-1].copy(), A.data[row][::-1].copy()
    A.indices, A.indptr = A.indices.astype(index), A.indptr.astype(index)
    before, values = A.copy(), A.data.copy()
    P = furrow.Matrix(A)
    P.update_values(2 * values)
    write(A)
    for new in (3 * values, 3 * A.data):
        with pytest.raises(furrow.UsageError, match="the rows have changed since the matrix was made: another pattern needs"):
            P.update_values(new)
    assert abs(P.tocsr() - 2 * before).max() == 0
