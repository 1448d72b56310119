# SPDX-License-Identifier: BSD-3-Clause
"""Solving by one call: what it takes, and what it gives."""
import itertools
import json
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as sla

import furrow


def test_bits_are_those_of_the_command_line(tmp_path, grid):
    A, b = grid
    r = furrow.solve(A, b)
    furrow.write(tmp_path / "b.mtx", b)
    furrow.write(tmp_path / "a.mtx", A)
    ran = subprocess.run([sys.executable, "-m", "furrow", "solve", "a.mtx", "-b", "b.mtx", "-o", "x.npy", "--json"],
                         cwd=tmp_path, capture_output=True, text=True, check=True)
    assert np.load(tmp_path / "x.npy").tobytes() == r.x.tobytes()
    assert set(json.loads(ran.stdout)) == set(r.to_dict())


def test_result(grid):
    A, b = grid
    r = furrow.cg(A, b, rtol=1e-9, M="jacobi")
    x, info = r
    assert x is r.x and info == 0 == r[1] and len(r) == 2 and r.success
    assert abs(np.linalg.norm(b - A @ x) / np.linalg.norm(b) - r.residual) <= 1e-14
    assert len(r.history) == r.iterations + 1 == len(r.history_seconds)
    assert "Converged" in str(r) and "cg with jacobi" in repr(r) and "<table>" in r._repr_html_()
    assert (pickle.loads(pickle.dumps(r)).x == x).all()


def test_info_says_why(grid):
    A, b = grid
    assert furrow.cg(A, b, maxiter=3).info == 3
    assert furrow.cg(A, b, monitor=(lambda step: step.iteration >= 4, 2)).info == 4
    with pytest.warns(furrow.SolveWarning):
        assert furrow.cg(-A, b).info == -1
    with pytest.raises(furrow.InputError, match="symmetric"):
        furrow.cg(furrow.generate("convection2d:10:5"), np.ones(100))


def test_doubt_is_said():
    H = 1 / (1 + np.add.outer(np.arange(14.0), np.arange(14.0)))
    b = np.ones(14)
    for call in (lambda: furrow.solve(H, b), lambda: furrow.solve(H, np.stack([H[:, 0], b], axis=1)).columns[1]):
        with pytest.warns(furrow.SolveWarning, match="(?i)converged .* Warning: (2 of 2 .* that of columns.0.: )?the residual is small, but x may be off by"):
            r = call()
        assert r.success and r.warning in str(r) and r.to_dict()["warning"] == r.warning
        assert r.error_estimate > 0.01 and r.condition_estimate > 1e6
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        r = furrow.solve(furrow.generate("poisson2d:10"), np.ones(100))
    assert r.warning == "" and 0 < r.error_estimate < 1e-7 and 1 < r.condition_estimate < 100


def test_estimates_of_a_named_solver_alone_are_said_to_be_so():
    A = furrow.generate("poisson2d:20")
    b = A @ np.ones(400)
    alone = "the steps of cg alone; the solver auto looks further"
    for r in (furrow.cg(A, b), furrow.solve(A, b, solver="cg"), furrow.Solver(A, solver="cg").solve(b)):
        assert r.estimated_by == r.to_dict()["estimated_by"] == alone
    assert furrow.solve(A, b).estimated_by == furrow.solve(A, b, solver="direct").estimated_by == ""
    assert furrow.solve(A, b, solver="cg", maxiter=3).estimated_by == ""
    assert [c.estimated_by for c in furrow.solve(A, np.stack([b, 2 * b], axis=1), solver="cg").columns] == [alone] * 2


def test_gmres_has_scipys_cycles():
    A = furrow.generate("convection2d:20:10")
    b = A @ np.ones(400)
    xs, norms = [], []
    assert furrow.gmres(A, b, restart=5, maxiter=2, rtol=1e-12, callback=xs.append, callback_type="x").info == 10
    assert len(xs) == 2 and xs[-1].shape == (400,)
    r = furrow.gmres(A, b, restart=30, rtol=1e-8, callback=norms.append, callback_type="pr_norm")
    assert r.success and len(norms) == r.iterations and norms == sorted(norms, reverse=True)
    assert r.solver == "gmres:30"
    with pytest.raises(ValueError, match="callback_type"):
        furrow.gmres(A, b, callback_type="y")
    for restart in (0, -3):
        with pytest.raises(furrow.UsageError, match="restart"):
            furrow.gmres(A, b, restart=restart)
    with pytest.raises(furrow.UsageError, match="restart = 400 must be at most 300"):
        furrow.gmres(A, b, restart=400)
    assert furrow.scipy_compat.gmres(A, b, restart=400)[1] == 0 and "above 300 is 300" in furrow.scipy_compat.gmres.__doc__
    assert furrow.gmres(A[:9, :9], b[:9], restart=400).solver == "gmres:9"
    with pytest.raises(furrow.UsageError, match="not both"):
        furrow.fgmres(A, b, callback=print, monitor="bar")


def test_refine_is_double_outside():
    A = furrow.generate("poisson2d:40")
    exact = np.random.default_rng(2).standard_normal(1600)
    r = furrow.solve(A, A @ exact, solver="refine", rtol=1e-12)
    assert r.solver == "refine:cg" and r.success and abs(r.x - exact).max() <= 1e-9
    assert r.to_dict()["inner_iterations"] > r.iterations
    x, info = furrow.refine(A, A @ exact, rtol=1e-12)
    assert info == 0 and abs(x - exact).max() <= 1e-9
    kept = furrow.Solver(A, solver="refine:minres", rtol=1e-12)
    assert [kept.solve(A @ exact).seconds["setup"] > 0 for _ in range(2)] == [True, False]
    with pytest.raises(furrow.UsageError, match="double precision only"):
        furrow.solve(A.astype(np.float32), np.ones(1600, np.float32), solver="refine", rtol=1e-4)
    with pytest.raises(furrow.UsageError, match="give the matrix"):
        furrow.refine(sla.aslinearoperator(A), np.ones(1600))


def test_minres_shifts():
    A = furrow.generate("poisson2d:20")
    b = np.random.default_rng(1).standard_normal(400)
    exact = sla.spsolve(sp.csc_array(A - 3.5 * sp.eye_array(400)), b)
    for matrix in (A, A.toarray(), furrow.Matrix(A), sla.aslinearoperator(A)):
        x, info = furrow.minres(matrix, b, shift=3.5, rtol=1e-12)
        assert info == 0
        np.testing.assert_allclose(x, exact, atol=1e-8 * abs(exact).max())


def test_solve_takes_the_method_that_serves():
    for spec, symmetric in (("poisson2d:20", True), ("convection2d:20:10", False)):
        A = furrow.generate(spec)
        r = furrow.solve(A, A @ np.ones(400))
        assert r.success and (r.solver == "cg") == symmetric and r.rungs[-1]["status"] == "converged"
        np.testing.assert_allclose(r.x, 1, atol=1e-5)
        given = furrow.Solver(furrow.Matrix(A), M=lambda r: r / 4).solve(A @ np.ones(400))
        assert given.success and given.precond == "given" and (given.solver == "cg") == symmetric


def test_preconditioners_in_any_form(grid):
    A, b = grid
    d = A.diagonal()
    inverse = sp.diags_array(1 / d)
    for M in ("jacobi", inverse, lambda r: r / d, sla.aslinearoperator(inverse), inverse.toarray(),
              furrow.Matrix(inverse)):
        for a in (A, furrow.Matrix(A), sla.aslinearoperator(A)) if not isinstance(M, str) else (A,):
            r = furrow.cg(a, b, M=M, rtol=1e-10)
            assert r.success, r
            np.testing.assert_allclose(r.x, 1, atol=1e-7)


def test_operators_and_their_exceptions(grid):
    A, b = grid

    class own:
        shape = A.shape

        def __matmul__(self, x):
            return A @ x

    assert furrow.cg(own(), b).success

    def fails(x):
        raise ZeroDivisionError("in the product")

    with pytest.raises(ZeroDivisionError, match="in the product"):
        furrow.cg(sla.LinearOperator(A.shape, fails), b)
    with pytest.raises(ZeroDivisionError):
        furrow.cg(A, b, M=fails)
    with pytest.raises(furrow.UsageError, match="made 3 elements"):
        furrow.cg(A, b, M=lambda r: r[:3])
    with pytest.raises(TypeError):
        furrow.cg("poisson2d:20", b)


@pytest.mark.parametrize("solver", ["cg", "bicgstab", "gmres:20", "minres"])
def test_what_makes_a_nan_is_named(solver, grid):
    A, b = grid
    made = []

    def late(v):
        made.append(len(made))
        return A @ v if len(made) < 4 else np.where(np.arange(400) == 3, np.inf, A @ v)

    with pytest.warns(furrow.SolveWarning, match="Iteration .*: A made inf of finite numbers"):
        r = furrow.solve(sla.LinearOperator(A.shape, late, dtype=float), b, solver=solver, M=None)
    assert (r.status, r.info) == ("nan", -3)
    fine = []
    with pytest.warns(furrow.SolveWarning, match="Iteration 0: M made nan of finite numbers"):
        s = furrow.Solver(A, solver, M=lambda v: v * (np.nan if v.any() and not fine else 1))
        s.solve(b)._warn()
    fine.append(1)
    assert s.solve(b).success


def test_the_default_device_is_asked(grid, monkeypatch):
    A, b = grid
    monkeypatch.setattr(furrow, "default_device", "gpu:99")
    with pytest.raises(furrow.Error):
        furrow.cg(A, b)


def test_nothing_of_the_caller_is_written_to(grid):
    A, b = grid
    x0 = np.full(400, 0.5)
    before = [a.tobytes() for a in (A.data, A.indices, A.indptr, b, x0)]
    furrow.cg(A, b, x0)
    assert before == [a.tobytes() for a in (A.data, A.indices, A.indptr, b, x0)]


def test_gemv_takes_halves_by_halves():
    A, x = np.array([[1, 2], [3, 4]], np.float16), np.array([1, 0.5], np.float16)
    y = furrow.gemv(A, x)
    assert y.dtype == np.float32 and y.tolist() == [2, 5]
    with pytest.raises(TypeError, match="alpha is a str"):
        furrow.gemv(A, x, alpha="1")


def test_gemv_takes_halves_of_another_byte_order():
    A, x = np.array([[1, 2], [3, 4]]), np.array([1, 0.5])
    for swapped in (furrow.gemv(A.astype(">f2"), x), furrow.gemv(A.astype("f2"), x.astype(">f2"))):
        assert swapped.dtype == np.float32 and swapped.tolist() == [2, 5]


def laid(x, layout):
    """A copy of x that lies in rows, in columns, or with gaps."""
    if layout != "gaps":
        return np.array(x, order=layout)
    wide = np.full((2 * x.shape[0], 2 * x.shape[1]), np.nan, x.dtype)
    wide[::2, ::2] = x
    return wide[::2, ::2]


@pytest.mark.parametrize("layout", ["C", "F", "gaps"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_gemv_of_several_vectors(dtype, layout):
    rng = np.random.default_rng(1)
    exact = np.float64 if dtype == np.float64 else np.float32
    for (rows, cols), count, trans in itertools.product(((37, 130), (130, 3), (0, 5), (5, 0), (1, 1)), (0, 1, 2, 8, 17), (False, True)):
        for A in (rng.integers(-9, 9, (rows, cols)).astype(dtype), rng.integers(-9, 9, (cols, rows)).astype(dtype).T):
            X = laid(rng.integers(-9, 9, (rows if trans else cols, count)).astype(exact), layout)
            expected = (A.T if trans else A).astype(float) @ X
            Y = furrow.gemv(A, X, trans=trans)
            assert Y.dtype == exact and np.array_equal(Y, expected)  # small integers
            if min(X.shape) > 1 and min(Y.shape) > 1:
                assert Y.flags.f_contiguous == (layout == "F")
            for order in "CF":
                out = laid(np.full(Y.shape, 2, exact), order)
                assert furrow.gemv(A, X, out=out, alpha=3, beta=0.5, trans=trans) is out
                assert np.array_equal(out, 3 * expected + 1)
                out[...] = np.nan
                furrow.gemv(A, np.full_like(X, np.nan), out=out, alpha=0, trans=trans)
                assert not out.any()


def test_gemv_of_several_vectors_into_themselves():
    A, X = np.array([[1.0, 2], [3, 4]]), np.arange(8.0).reshape(4, 2)
    assert np.array_equal(furrow.gemv(A, X[:2], out=X[1:3]), [[4, 7], [8, 15]])
    S = np.asfortranarray(A)
    assert np.array_equal(furrow.gemv(S, S, out=S), A @ A)


def test_gemv_of_what_does_not_fit_is_refused():
    A, X = np.ones((2, 3)), np.ones((3, 2))
    for given, out, words in ((np.ones((2, 3)), None, r"x is of shape \(2, 3\), but the matrix asks for \(3,\) or \(3, k\)"),
                              (np.ones((3, 1, 1)), None, "x is of shape"), (X, np.ones(2), r"the result is of shape \(2, 2\)"),
                              (X, np.ones((2, 3)), r"the result is of shape \(2, 2\)"), (X, np.ones((4, 4))[::2, ::2], "contiguous")):
        with pytest.raises(furrow.UsageError, match=words):
            furrow.gemv(A, given, out=out)
    with pytest.raises(furrow.InputError, match=r"element 2 of column 1 of x is 1e\+300"):
        furrow.gemv(A.astype("f4"), np.array([[1, 2], [1e300, 3], [1, 1]]))


@pytest.mark.parametrize("kind", [lambda A: A, furrow.Matrix, lambda A: A.toarray(), sla.aslinearoperator])
def test_a_shift_leaves_the_type_as_it_is(grid, kind):
    A, b = grid
    narrow = A.astype(np.float32)
    for matrix, rhs, dtype in ((narrow, b.astype(np.float32), "f4"), (narrow, b, "f8"), (A, b, "f8"), (A, b.astype("f4"), "f8"),
                               (narrow, b.tolist(), "f8")):
        r = furrow.minres(kind(matrix), rhs, shift=-0.1, rtol=1e-5)
        assert r.success and r.x.dtype == dtype
    r = furrow.minres(kind(narrow), b, shift=-0.1, rtol=1e-12)  # in f64 as ever: 0.1 of f32 is another number
    assert np.linalg.norm(b - A @ r.x - 0.1 * r.x) <= 1e-11 * np.linalg.norm(b)


def test_a_transpose_is_as_symmetric_as_its_matrix(grid):
    A, b = grid
    C = furrow.generate("convection2d:20:10")
    assert furrow.solve(furrow.Matrix(A).T, b).solver == "cg"
    r = furrow.solve(furrow.Matrix(C).T, b)
    assert r.success and r.solver == "bicgstab"
    assert np.linalg.norm(b - C.T @ r.x) <= 1.01e-8 * np.linalg.norm(b)
