# SPDX-License-Identifier: BSD-3-Clause
"""Series beside NumPy's."""
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
