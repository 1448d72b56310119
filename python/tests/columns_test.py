# SPDX-License-Identifier: BSD-3-Clause
"""Several right-hand sides in one call."""
import json
import pickle
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse.linalg as sla

import furrow


@pytest.fixture
def block(grid):
    """The grid, X of three columns, and B = A X."""
    A, _ = grid
    X = np.random.default_rng(1).standard_normal((400, 3))
    return A, X, A @ X


@pytest.mark.parametrize("solver", ["auto", "block_cg", "cg", "minres", "bicgstab", "gmres:20", "direct"])
def test_every_column_is_solved(solver, block):
    A, X, B = block
    r = furrow.solve(A, B, solver=solver, rtol=1e-10)
    assert r.info == 0 and r.success and r.x.shape == (400, 3) and len(r.columns) == 3
    np.testing.assert_allclose(r.x, X, atol=1e-6)
    for j, column in enumerate(r.columns):
        assert column.status == "converged" and (column.x == r.x[:, j]).all()
        exact = np.linalg.norm(B[:, j] - A @ column.x) / np.linalg.norm(B[:, j])
        assert abs(exact - column.residual) <= 1e-14


def test_functions_by_name_take_columns(block):
    A, X, B = block
    x, info = furrow.cg(A, B, rtol=1e-10, M="jacobi")
    assert info == 0 and x.shape == X.shape
    np.testing.assert_array_equal(x[:, 1], furrow.cg(A, B[:, 1], rtol=1e-10, M="jacobi").x)
    np.testing.assert_allclose(furrow.gmres(A, B, rtol=1e-12, restart=50, maxiter=50).x, X, atol=1e-6)
    for M in (lambda r: r / 4, furrow.Matrix(np.eye(400) / 4)):
        np.testing.assert_allclose(furrow.cg(sla.aslinearoperator(A), B, rtol=1e-10, M=M).x, X, atol=1e-6)


def test_of_a_single_column_x_has_its_shape(block):
    A, X, B = block
    for call in (lambda b: furrow.cg(A, b), lambda b: furrow.solve(A, b), furrow.Solver(A).solve):
        assert call(B[:, :1]).x.shape == (400, 1) and call(B[:, :1]).columns == []
        assert call(B[:, 0]).x.shape == (400,)


def test_info_is_0_only_where_all_are_solved(block):
    A, X, B = block
    B = B.copy()
    B[7, 1] = np.nan
    with pytest.warns(furrow.SolveWarning, match="2 of 3 right-hand sides solved; the worst: .*is nan"):
        r = furrow.solve(A, B)
    assert (r.info, r.status, r.success) == (-3, "nan", False)
    assert [column.status for column in r.columns] == ["converged", "nan", "converged"]
    np.testing.assert_allclose(r.x[:, ::2], X[:, ::2], atol=1e-4)
    B[:, 1] = 0
    zero = furrow.solve(A, B)
    assert zero.info == 0 and not zero.x[:, 1].any()
    short = furrow.cg(A, B, maxiter=2)
    assert short.info == 2 and [column.info for column in short.columns] == [2, 0, 2]
    stopped = furrow.Solver(A, "block_cg", M=None, rtol=1e-14, monitor=(lambda step: step.iteration == 5, 1)).solve(B)
    assert stopped.status == "interrupted" and stopped.info == 5
    steps = []
    furrow.Solver(A, "block_cg", M=None, rtol=1e-14, monitor=(lambda step: steps.append(step.x), 5)).solve(B)
    assert steps and all(x.shape == (len(B),) for x in steps)


@pytest.mark.parametrize("solver", ["cg", "block_cg", "auto"])
def test_who_stops_one_right_hand_side_stops_those_behind_it(grid, solver):
    A, b = grid
    told = []

    def fails(step):
        told.append(step.iteration)
        raise KeyError

    with pytest.raises(KeyError) as e:
        furrow.solve(A, np.stack([b, b, b], 1), solver=solver, rtol=1e-14, monitor=(fails, 1))
    assert told == [1] and [c.status for c in e.value.partial.columns] == ["interrupted"] * 3

    def says_stop(step):
        told.append(step.iteration)
        return True

    r = furrow.solve(A, np.stack([b, b, b], 1), solver=solver, rtol=1e-14, monitor=(says_stop, 1))
    assert told == [1, 1] and [c.status for c in r.columns] == ["interrupted"] * 3
    assert r.columns[2].message == "interrupted before it began" and not r.columns[2].x.any()


def test_a_solver_takes_columns_over_and_over(block):
    A, X, B = block
    P = furrow.Matrix(A)
    s = furrow.Solver(P, "block_cg", M="jacobi", rtol=1e-10)
    first, second = s.solve(B), s.solve(B)
    assert first.x.tobytes() == second.x.tobytes() and first.seconds["setup"] > 0 == second.seconds["setup"]
    np.testing.assert_allclose(s.solve(B[:, 0]).x, X[:, 0], atol=1e-7)
    assert s.solve(B, x0=first.x).iterations <= 1
    P.update_values(2 * A.data)
    np.testing.assert_allclose(s.solve(B).x, X / 2, atol=1e-7)
    many = furrow.Solver(A, rtol=1e-10).solve(np.tile(B, 12))
    assert many.info == 0 and many.x.shape == (400, 36)


@pytest.mark.parametrize("order", ["C", "F"])
def test_outputs_of_columns(order, block):
    A, X, B = block
    s = furrow.Solver(A, rtol=1e-10)
    out = np.full((400, 3), np.nan, order=order)
    r = s.solve(B, out=out)
    assert r.x is out and out.tobytes() == s.solve(B).x.tobytes()
    np.testing.assert_allclose(out, X, atol=1e-7)
    same = np.array(B, order=order)
    assert s.solve(same, out=same).x is same and same.tobytes() == out.tobytes()


@pytest.mark.parametrize("out", [np.empty((400, 3), np.float32), np.empty((400, 6))[:, ::2], np.empty((3, 400)),
                                 np.empty(1200), np.empty((400, 2))])
def test_outputs_that_do_not_fit(out, block):
    A, _, B = block
    with pytest.raises((TypeError, furrow.UsageError), match="out"):
        furrow.Solver(A).solve(B, out=out)


def test_what_does_not_fit_is_named(block):
    A, X, B = block
    for call, words in ((lambda: furrow.cg(A, B, callback=print), "callback is for one"),
                        (lambda: furrow.gmres(A, B, callback=print, callback_type="x"), "callback is for one"),
                        (lambda: furrow.cg(A, B, residuals=[]), "residuals is for one"),
                        (lambda: furrow.cg(A, B[:5]), r"b is of shape \(5, 3\)"),
                        (lambda: furrow.cg(A, B[:, :0]), "at least one"),
                        (lambda: furrow.cg(A, B, X[:, :2]), r"x0 is of shape \(400, 2\), but \(400, 3\)"),
                        (lambda: furrow.cg(A, B[..., None]), "b is of shape")):
        with pytest.raises(furrow.UsageError, match=words):
            call()
    for b in (B.astype(complex), B.astype(object)):
        with pytest.raises(TypeError, match="not supported"):
            furrow.cg(A, b)


def test_types_and_layouts_of_columns(block):
    A, X, B = block
    expected = furrow.cg(A, B).x
    for same in (np.asfortranarray(B), np.repeat(B, 2, 1)[:, ::2], B.astype(">f8"), B.tolist()):
        np.testing.assert_array_equal(furrow.cg(A, same).x, expected)
    single = A.astype(np.float32)
    assert furrow.cg(single, B.astype(np.float32)).x.dtype == np.float32
    assert furrow.cg(single, B).x.dtype == np.float64
    with pytest.raises(TypeError, match="solved for in float32"):
        furrow.Solver(single, rtol=1e-4).solve(B)


def test_columns_of_a_rectangular_system():
    A = furrow.generate("rectangular:300:100:5")
    X = np.random.default_rng(1).standard_normal((100, 2))
    r = furrow.solve(A, A @ X, rtol=1e-12)
    assert r.info == 0 and r.x.shape == (100, 2)
    np.testing.assert_allclose(r.x, X, atol=1e-6)


def test_an_exception_comes_with_all_columns(block):
    A, _, B = block

    def fails(step):
        raise KeyError(step.iteration)

    with pytest.raises(KeyError) as e:
        furrow.Solver(A, "cg", monitor=(fails, 5)).solve(B)
    assert e.value.partial.x.shape == (400, 3) and e.value.partial.columns[0].iterations == 5


def test_what_is_said_is_what_the_command_line_says(tmp_path, block):
    A, _, B = block
    r = furrow.solve(A, B)
    furrow.write(tmp_path / "a.mtx", A)
    np.save(tmp_path / "b.npy", B)
    ran = subprocess.run([sys.executable, "-m", "furrow", "solve", "a.mtx", "-b", "b.npy", "-o", "x.npy", "--json"], cwd=tmp_path,
                         capture_output=True, text=True, check=True)
    theirs, ours = json.loads(ran.stdout), json.loads(json.dumps(r.to_dict()))
    assert np.load(tmp_path / "x.npy").tobytes(order="F") == r.x.tobytes(order="F")
    assert set(ours) == set(theirs) and ours["right_hand_sides"] == theirs["right_hand_sides"] == 3
    for mine, other in zip(ours["columns"], theirs["columns"], strict=True):
        assert set(mine) == set(other)
        assert {**mine, "seconds": 0} == {**other, "seconds": 0}


def test_a_warning_of_columns_is_not_that_of_the_worst_alone(tmp_path):
    H = 1 / (1 + np.add.outer(np.arange(14.0), np.arange(14.0)))  # Hilbert's matrix
    B = np.ones((14, 3))
    B[3, 0] = np.nan
    with pytest.warns(furrow.SolveWarning, match="2 of 3 right-hand sides have a warning") as heard:
        r = furrow.solve(H, B)
    assert len(heard) == 1 and r.status == "nan" and r.columns[0].warning == ""
    first = "2 of 3 right-hand sides have a warning; that of columns[1]: "
    assert r.warning == r.to_dict()["warning"] == first + r.columns[1].warning and "x may be off by" in r.warning
    np.save(tmp_path / "b.npy", B)
    furrow.write(tmp_path / "h.mtx", H)
    ran = subprocess.run([sys.executable, "-m", "furrow", "solve", "h.mtx", "-b", "b.npy", "--json"], cwd=tmp_path, capture_output=True,
                         text=True, check=False)
    assert json.loads(ran.stdout)["warning"] == r.warning.replace("columns[1]", "the 2. one")


def test_a_result_of_columns_prints_pickles_and_reports(tmp_path, block):
    A, _, B = block
    r = furrow.solve(A, B)
    assert str(r).startswith("3 of 3 right-hand sides solved; the worst: ")
    again = pickle.loads(pickle.dumps(r))
    assert (again.x == r.x).all() and [c.status for c in again.columns] == ["converged"] * 3
    r.report(tmp_path / "r.html")
    assert "Converged" in (tmp_path / "r.html").read_text(encoding="utf-8")
