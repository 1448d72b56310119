# SPDX-License-Identifier: BSD-3-Clause
"""Series beside NumPy's."""
import warnings

import numpy as np
import pytest
from numpy.polynomial import Chebyshev, Legendre, Polynomial

import furrow
from furrow.chebyshev import Density, Series, exponential, fit


def test_series_agree_with_numpy():
    theirs = Chebyshev([1, 2, 3, 4], domain=[0, 3])
    ours = Series(theirs)
    x = np.linspace(0, 3, 50)
    for a, b in [(ours, theirs), (ours * ours, theirs * theirs), (ours.derivative(), theirs.deriv()),
                 (ours.integral(), theirs.integ(lbnd=0)), (ours + ours, theirs + theirs)]:
        np.testing.assert_allclose(a(x), b(x), rtol=1e-13, atol=1e-12)
    with pytest.raises(ZeroDivisionError):
        fit(lambda x: 1 / 0)
    A = furrow.generate("poisson1d:30")
    w, V = np.linalg.eigh(A.toarray())
    b = np.arange(30.0)
    y = exponential(-0.3, (0, 4))(A) @ b
    np.testing.assert_allclose(y, V @ (np.exp(-0.3 * w) * (V.T @ b)), atol=1e-12)


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")  # NumPy's, of its own class
def test_a_plain_array_holds_points_and_a_matrix_of_numpy_is_one():
    D = furrow.generate("poisson1d:5").toarray()
    p, x = Series([0, 0, 1], (0, 4)), np.arange(5.0)
    np.testing.assert_array_equal(p(D), p(D.ravel()).reshape(5, 5))
    for A in (np.matrix(D), furrow.Matrix(D)):
        np.testing.assert_allclose(p(A) @ x, 2 * ((D / 2 - np.eye(5)) @ ((D / 2 - np.eye(5)) @ x)) - x, atol=1e-13)


def test_other_series_than_chebyshevs_are_refused():
    p = furrow.chebyshev.Series([1.0, 2.0])
    for other in (Polynomial([0, 0, 1]), Legendre([0, 0, 1])):
        for call in (lambda: furrow.chebyshev.Series(other), lambda: p + other, lambda: p * other):
            with pytest.raises(TypeError, match=r"give it as p.convert\(kind=numpy.polynomial.Chebyshev\)"):
                call()
    with pytest.raises(furrow.UsageError, match=r"window \[0.0, 1.0\]"):
        furrow.chebyshev.Series(Chebyshev([0, 0, 1], window=[0, 1]))
    with pytest.raises(furrow.UsageError, match="coef has 2 axes"):
        furrow.chebyshev.Series([[1.0], [2.0]])
    assert furrow.chebyshev.Series(Polynomial([0, 0, 1]).convert(kind=Chebyshev)).coef.tolist() == [0.5, 0, 0.5]


def test_bounds_are_those_of_symmetric_matrices():
    C = furrow.generate("convection2d:5:20")
    for call in (lambda: furrow.chebyshev.bounds(C), lambda: furrow.chebyshev.bounds(C, steps=0),
                 lambda: furrow.chebyshev.density(furrow.Matrix(C.astype("f4")), (0, 50), moments=8)):
        with pytest.raises(furrow.InputError, match="A is not symmetric: bounds and densities are those of real eigenvalues"):
            call()


def test_points_below_a_mask_are_refused():
    points = np.ma.masked_array([0.1, 0.2], mask=[True, False])
    d = furrow.chebyshev.density(furrow.generate("poisson1d:9"), (0, 4), moments=8)
    for call in (furrow.chebyshev.Series([1.0, 2.0]), d, d.count_below):
        with pytest.raises(furrow.InputError, match="x has 1 masked element"):
            call(points)


def test_a_number_minus_a_series():
    p = furrow.chebyshev.Series([1.0, 2.0])
    assert (2 - p).coef.tolist() == [1.0, -2.0]


def test_numpy_on_the_left():
    p, q = Series([1.0, 2.0]), Chebyshev([0.0, 1.0])
    for made, coef in ((np.array([1.0, 2.0]) + p, [2, 4]), (np.array([1.0, 2.0]) * p, [3, 4, 2]), (np.float64(3) * p, [3, 6]),
                       (np.float64(3) - p, [2, -2]), (q + p, [1, 3]), (q - p, [-1, -1]), (q * p, [1, 1, 1])):
        assert type(made) is Series and made.coef.tolist() == coef


def test_coefficients_that_are_assigned_are_looked_at():
    p = Series([1.0, 2.0])
    for given, value in (([0, 3], 1.5), (np.arange(4.0)[::2], 1.0), (np.ones(2, np.float32), 1.5)):
        p.coef = given
        assert p(0.5) == value and p.coef.dtype == float
    with pytest.raises(furrow.InputError, match="coefficient 1 is nan"):
        p.coef = [0, np.nan]


def test_a_product_that_float64_does_not_hold_is_named():
    for make in (lambda: furrow.chebyshev.multiply([0, 1e200], [1e200]), lambda: Series([1, 1e308]) * 10):
        with pytest.raises(furrow.InputError, match="coefficient 1 of the product is too large for float64: scale the series first"):
            make()


def test_a_word_is_no_matrix():
    with pytest.raises(TypeError, match="x is a str: give an array of numbers"):
        Series([1, 2])("a")


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_refused(wrong):
    p = Series([1, 2])
    for make in (lambda: Series([1, wrong]), lambda: p * wrong, lambda: p + wrong):
        with pytest.raises(furrow.InputError, match="coefficient . is .*: only finite ones make sense"):
            make()
    for domain in ((0, wrong), (wrong, 1), (1, 0), (1, 1)):
        for make in (lambda d=domain: Series([1], d), lambda d=domain: Density([1.0], d, 5)):
            with pytest.raises(furrow.UsageError, match="is no interval: two finite ends are wanted, the lower one first"):
                make()
    with pytest.raises(furrow.InputError, match="moment 1 is"):
        Density([1, wrong], (0, 1), 5)
    with pytest.raises(furrow.UsageError, match="shift = .*: give a finite number"):
        furrow.minres(furrow.generate("poisson1d:5"), np.ones(5), shift=wrong)


def of_both(seed, domain=(0.5, 2.0), n=7):
    coef = np.random.default_rng(seed).standard_normal(n)
    return Series(coef, domain), Chebyshev(coef, domain=domain)


def test_quotients():
    p, theirs = of_both(1)
    assert np.array_equal((p / 3).coef, (theirs / 3).coef) and np.array_equal((p / np.float32(3)).coef, p.coef / 3)
    x = np.linspace(0.5, 2, 40)
    q = Series([3, 1, 0.5], (0.5, 2))
    for made, wanted in ((p / q, p(x) / q(x)), (2 / q, 2 / q(x)), ([1, 2] / q, Series([1, 2], (0.5, 2))(x) / q(x)),
                         (np.array([1.0, 2]) / q, Series([1, 2], (0.5, 2))(x) / q(x)), (q / q, np.ones(40))):
        assert type(made) is Series
        np.testing.assert_allclose(made(x), wanted, rtol=1e-13, atol=1e-14)
    tiny = Series([1, 1e-20], (0.5, 2))
    assert (tiny / Series([4], (0.5, 2))).coef.tolist() == (tiny / np.array(4.0)).coef.tolist() == [0.25, 2.5e-21]
    with pytest.raises(furrow.InputError, match=r"the divisor is 0 at x = 1\.25: restrict both"):
        q / Series([0, 1], (0.5, 2))
    for divisor in (0, 0.0, np.nan, Series([0, 0], (0.5, 2))):
        with pytest.raises(furrow.UsageError, match="a series divided by .* is none"):
            p / divisor
    with pytest.raises(furrow.InputError, match="of the quotient is too large for float64"):
        p / 1e-320
    for wrong in ("a", None):
        with pytest.raises(TypeError):
            p / wrong


def test_powers_are_products():
    p, theirs = of_both(2)
    assert p**2 == p * p and (p**0).coef.tolist() == [1.0] and p**np.int64(1) == p
    np.testing.assert_allclose((p**5).coef, (theirs**5).coef, rtol=1e-11, atol=1e-11)
    assert (Series([1, 1e-100]) ** 3).coef[-1] == pytest.approx(2.5e-301, rel=1e-14)  # what is small keeps its digits
    for power, error, words in ((-2, furrow.UsageError, r"p\*\*-2 is no series: take 1 / p\*\*2"), (1.5, TypeError, "a whole number"),
                                (2**40, furrow.UsageError, "would have more than")):
        with pytest.raises(error, match=words):
            p**power
    with pytest.raises(furrow.InputError, match="of the product is too large"):
        Series([1e200]) ** 2


def test_derivatives_and_integrals_of_higher_order():
    p, theirs = of_both(3)
    for m in (0, 1, 2, 6, 7, 10**9):
        np.testing.assert_allclose(p.deriv(m).coef, theirs.deriv(min(m, 7)).coef, rtol=1e-11, atol=1e-9)
        assert p.deriv(m) == p.derivative(m)
    for m, k, lbnd in ((0, [], None), (1, [], None), (3, [], None), (1, [4.0], 0.5), (2, [1.0, -2.0], 1.0), (3, 2.5, 0.0), (3, [1], None)):
        ours = p.integ(m, k, lbnd)
        np.testing.assert_allclose(ours.coef, theirs.integ(m, np.atleast_1d(k), lbnd).coef, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(p.integral(2).coef, theirs.integ(2, lbnd=0.5).coef, rtol=1e-12, atol=1e-13)
    assert p.integ(0) == +p == p and +p is not p
    for call in (lambda: p.integ(1, [1, 2]), lambda: p.integ(2, [[1, 2]]), lambda: p.deriv(-1), lambda: p.integ(-1), lambda: p.integ(1, lbnd=np.nan)):
        with pytest.raises(furrow.UsageError):
            call()
    for call, words in ((lambda: p.integ(1, [np.nan]), "constant 0 is nan"), (lambda: p.integ(1, lbnd=1e300), "from lbnd = 1e.300 on"),
                        (lambda: Series([0, 0, 1e308]).deriv(), "1 of the derivative is too large for float64"),
                        (lambda: Series([1e308, 1e308], (-8e307, 8e307)).integ(), "of the integral is too large"),
                        (lambda: Series([1e308]) + 1e308, "0 of the sum is too large")):
        with pytest.raises(furrow.InputError, match=words):
            call()
    assert Series([1.5e308], (0, 1)).integ().coef.tolist() == [0, 7.5e307]


def test_series_are_equal_by_value():
    p = Series([1.0, 2.0])
    assert p == Series([1, 2]) and p != Series([1, 2, 0]) and p != Series([1, 2], (0, 1)) and p != 3
    with pytest.raises(TypeError, match="unhashable"):
        hash(p)


def test_a_restriction_is_the_same_polynomial():
    p, _ = of_both(4)
    x = np.linspace(0.75, 1, 9)
    np.testing.assert_allclose(p.restriction((0.75, 1))(x), p(x), rtol=1e-12)
    with pytest.raises(furrow.UsageError, match="is no part of"):
        p.restriction((0, 1))


def test_the_first_coefficients():
    p, theirs = of_both(5)
    for size in (1, 3, 7, 50):
        assert np.array_equal(p.truncate(size).coef, theirs.truncate(size).coef)
    with pytest.raises(furrow.UsageError, match="size = 0"):
        p.truncate(0)


def test_values_far_outside_are_limits_or_warned_of():
    p = Series([1, 2, -3])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert p([np.inf, -np.inf]).tolist() == [-np.inf, -np.inf] and Series([5])(np.inf) == 5 and np.isnan(p(np.nan))
        with np.errstate(over="ignore"):
            assert p(1e200) == -np.inf
    with pytest.warns(RuntimeWarning, match=r"2 of 3 values of the series are beyond the range of float64, the first at x = 1e\+200"):
        assert p([1e200, 0, -1e200]).tolist() == [-np.inf, 4, -np.inf]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_product_with_eigenvalues_outside_is_warned_of(dtype):
    A = furrow.generate("poisson2d:10").astype(dtype)
    ones = np.ones(100, dtype)
    p = Series(np.ones(400), (3.9, 4.1))
    larger, beyond = r"p\(A\) x is larger than a series on \[3, 5\] can make it: A has eigenvalues outside", r"p\(A\) x is beyond the range of float"
    for made, x, words in ((p, ones, beyond), (p, np.stack([ones, 0 * ones], 1), beyond), (exponential(-5, (3, 5)), ones, larger),
                           (exponential(-5, (3, 5)), ones[:, None], larger)):
        with pytest.warns(RuntimeWarning, match=words):
            made(A) @ x
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isnan(p(A) @ np.full(100, np.nan, dtype)).all()
        for made in (fit(np.exp, (0, 8)), Series([3], (0, 1)), Series([0, 0], (0, 1)), Series([], (0, 8)), exponential(-30, (0, 8))):
            for x in (ones, 0 * ones, ones * dtype(1e30), ones * np.finfo(dtype).tiny, np.ones((100, 3), dtype), np.ones((100, 0), dtype)):
                assert np.isfinite(made(A) @ x).all()
    with pytest.raises(furrow.UsageError, match="the matrix is 40 x 30: only a square one has powers"):
        p(furrow.generate("rectangular:40:30:5"))


def test_a_tolerance_that_is_missed_is_warned_of():
    for f, off in ((lambda x: abs(x) ** 3, "e-10"), (lambda x: np.exp(-1e6 * (x - 0.341) ** 2), r"e\+00")):
        with pytest.warns(RuntimeWarning, match=rf"the series is off by .\..{off} of the largest value between its points"):
            fit(f)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for f, domain in ((np.exp, (-1, 1)), (lambda x: np.cos(1000 * x), (-1, 1)), (np.sin, (1e7, 1e7 + 10)), (lambda x: 0 * x, (0, 1)),
                          (lambda x: 1e-310 * np.cos(x), (-1, 1)), (lambda x: np.cos(64 * np.arccos(x)), (-1, 1))):
            fit(f, domain)


def test_bounds_of_numbers_at_the_ends_of_the_range():
    A = furrow.generate("poisson3d:6")
    wanted = np.array(furrow.chebyshev.bounds(A))
    for B, factor in ((A, 1e-300), (A, 1e-310), (A, 1e300), (A.astype("f4"), 1e-37), (A.astype("f4"), 1e36)):
        low, high = furrow.chebyshev.bounds(B * B.dtype.type(factor))
        np.testing.assert_allclose([low / factor, high / factor], wanted, rtol=1e-5)
