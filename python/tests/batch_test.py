# SPDX-License-Identifier: BSD-3-Clause
"""Many systems: each with the bits and the verdict of a solve by itself."""
import time

import numpy as np
import pytest
import scipy.sparse as sp

import furrow


def systems(dtype=np.float64):
    made = [(furrow.generate(f"poisson2d:{n}"), np.arange(1.0, n * n + 1)) for n in (5, 8, 13)]
    made.append((furrow.generate("convection2d:12:10"), np.ones(144)))
    made.append((furrow.generate("poisson2d:160"), np.ones(25600)))
    made.append((np.array([[2, 1], [1, 3]]), [1, 2]))
    made.append((sp.coo_array(np.eye(4)), np.ones((4, 1))))
    return [(sp.csr_array(A).astype(dtype), np.asarray(b, dtype)) for A, b in made]


@pytest.mark.parametrize("dtype, rtol", [(np.float64, 1e-10), (np.float32, 1e-4)])
def test_each_ends_as_by_itself(dtype, rtol):
    given = systems(dtype)
    for (A, b), got in zip(given, furrow.solve_batch(given, rtol=rtol), strict=True):
        alone = furrow.solve(A, b, rtol=rtol, device="cpu")
        assert got.x.dtype == dtype
        assert np.array_equal(got.x, alone.x)
        assert (got.status, got.message, got.iterations, got.solver, got.precond) == (
            alone.status, alone.message, alone.iterations, alone.solver, alone.precond)
        assert np.array_equal(got.history, alone.history)


def test_each_is_doubted_as_by_itself():
    i = np.arange(8)
    hilbert = 1 / (i[:, None] + i + 1.0)
    x = (-1.0) ** i
    grid = furrow.generate("poisson2d:9")
    with pytest.warns(furrow.SolveWarning, match="x may be off by"):
        got, fine = furrow.solve_batch([(hilbert, hilbert @ x), (grid, grid @ np.ones(81))])
    error = np.abs(got.x - x).max() / np.abs(got.x).max()
    assert error > 0.1
    assert got.error_estimate > error / 3
    assert got.condition_estimate > 1e9
    assert fine.warning == ""
    assert fine.error_estimate < 1e-5


def test_one_that_is_refused_does_not_keep_the_others():
    A = furrow.generate("poisson2d:9")
    wrong = sp.csr_array(A, copy=True)
    wrong.indices[3] = 81
    given = [(A, np.ones(81)), (wrong, np.ones(81)), (A, np.ones(81))]
    with pytest.raises(furrow.InputError, match="^system 1: "):
        furrow.solve_batch(given)
    results = furrow.solve_batch(given, return_exceptions=True)
    assert isinstance(results[1], furrow.InputError)
    assert [results[k].info for k in (0, 2)] == [0, 0]


def test_one_that_is_no_system_does_not_keep_the_others():
    A, b = furrow.generate("poisson2d:9"), np.ones(81)
    results = furrow.solve_batch([(A, b[1:]), (A, b), (A * 1j, b), 3, (A.astype(np.float32), b), (lambda x: x, b)], return_exceptions=True)
    assert [type(r) for r in results] == [furrow.UsageError, furrow.Result, TypeError, furrow.UsageError, furrow.Result, TypeError]
    assert all(str(results[k]).startswith(f"system {k}") for k in (0, 2, 3, 5))
    assert [results[k].info for k in (1, 4)] == [0, 0] and results[4].x.dtype == float
    assert len(furrow.solve_batch([3], return_exceptions=True)) == 1


def test_all_systems_have_one_limit_of_time():
    A = furrow.generate("poisson2d:200")
    b = A @ np.random.default_rng(1).random(40000)
    began = time.monotonic()
    results = furrow.solve_batch([(A, b)] * 60, solver="cg", M="jacobi", rtol=1e-13, time_limit=0.1)
    assert time.monotonic() - began < 5
    late = [r for r in results if not r.success]
    assert late and all(r.status == "max_iterations" and "the limit on its time" in r.message and np.isfinite(r.x).all() for r in late)
    none = furrow.solve_batch([(A, b)] * 3, solver="cg", M=None, time_limit=0)
    assert [r.status for r in none] == ["max_iterations"] * 3
    assert all(r.success for r in furrow.solve_batch(systems()[:3], time_limit=3600))


def test_a_time_limit_of_a_batch_is_a_number_of_seconds():
    for wrong in (-1, float("nan")):
        with pytest.raises(furrow.UsageError, match="give a number of seconds, or None"):
            furrow.solve_batch([], time_limit=wrong)


def test_what_a_batch_does_not_take_is_said():
    A = furrow.generate("poisson2d:4")
    for given, error, sentence in (([A], furrow.UsageError, "give pairs"), ([(A, np.ones(15))], furrow.UsageError, "^system 0: b is of shape"),
                                   ([(A, np.ones((16, 2)))], furrow.UsageError, "^system 0: b is of shape"),
                                   ([(A, np.ones((1, 16)))], furrow.UsageError, "^system 0: b is of shape"),
                                   ([(A, np.ma.masked_less(np.arange(16), 1))], furrow.InputError, r"^system 0: b has 1 masked .* as b.filled"),
                                   ([(lambda x: x, np.ones(16))], TypeError, "a batch takes sparse and dense matrices"),
                                   ([(A, np.ones(16) * 1j)], TypeError, "complex")):
        with pytest.raises(error, match=sentence):
            furrow.solve_batch(given)
    with pytest.raises(furrow.UsageError, match="by its name"):
        furrow.solve_batch([(A, np.ones(16))], M=sp.eye_array(16))
    with pytest.raises(furrow.UsageError, match="cgg"):
        furrow.solve_batch([(A, np.ones(16))], solver="cgg")
    assert furrow.solve_batch([]) == []
    with pytest.warns(furrow.SolveWarning):
        assert furrow.solve_batch([(-sp.eye_array(3), np.ones(3))], solver="cg", M=None)[0].info < 0


def test_direct_without_a_preconditioner_is_direct():
    A = furrow.generate("convection2d:5:5")
    b = A @ np.arange(25.0)
    got, = furrow.solve_batch([(A, b)], solver="direct", M=None)
    alone = furrow.solve(A, b, solver="direct", M=None)
    assert (got.status, got.precond, got.iterations) == (alone.status, alone.precond, alone.iterations)
    assert got.success and got.x.tobytes() == alone.x.tobytes()
