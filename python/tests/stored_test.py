# SPDX-License-Identifier: BSD-3-Clause
"""Matrices of SciPy whose parts do not fit: SciPy's own conversions and products follow them out of their arrays."""
import numpy as np
import pytest
import scipy.sparse as sp

import furrow


def changed(form, part, value, n=4):
    A = sp.diags_array([np.ones(n - 1), 3 * np.ones(n), np.ones(n - 1)], offsets=[-1, 0, 1], format=form)
    setattr(A, part, value(getattr(A, part)))
    return A


def uneven(lines):
    lines[0] = [1.0, 2, 3, 4, 5, 6, 7, 8]
    return lines


def masked(data):
    return np.ma.masked_array(data, mask=np.arange(data.size).reshape(data.shape) == 1)


@pytest.mark.parametrize("form, part, value, error, words", [
    ("dia", "offsets", lambda o: o[:2], furrow.InputError, "A.offsets and A.data have 2 and 3 elements"),
    ("dia", "offsets", lambda o: np.append(o, 2), furrow.InputError, "A.offsets and A.data have 4 and 3 elements"),
    ("dia", "offsets", lambda o: o + 0.5, TypeError, "A.offsets holds float64: give whole numbers"),
    ("dia", "data", lambda d: d[0], furrow.InputError, "A.data has 1 axes instead of 2"),
    ("lil", "data", uneven, furrow.InputError, "A.rows and A.data do not fit a lil matrix of 4 x 4"),
    ("lil", "rows", uneven, furrow.InputError, "A.rows and A.data do not fit a lil matrix of 4 x 4"),
    ("coo", "data", lambda d: d[:2], furrow.InputError, "A.row and A.col and A.data have 10 and 10 and 2 elements"),
    ("coo", "coords", lambda c: (c[0] + 0.5, c[1]), TypeError, "A.row holds float64: give whole numbers"),
    ("csr", "data", lambda d: d.tolist(), TypeError, "A.data is a list: give an array of NumPy"),
    ("csr", "data", masked, furrow.InputError, r"A.data has 1 masked element: .*A.data.filled\(0\)"),
    ("csc", "data", masked, furrow.InputError, "A.data has 1 masked element"),
    ("dia", "data", masked, furrow.InputError, "A.data has 1 masked element"),
    ("bsr", "data", lambda d: np.ones((10, 3, 3)), furrow.InputError, "blocks of 3 x 3, which do not fill a matrix of 4 x 4"),
])
def test_parts_that_do_not_fit_are_named(form, part, value, error, words):
    A = changed(form, part, value)
    for call in (furrow.Matrix, lambda A: furrow.solve(A, np.ones(4)), lambda A: furrow.solve(A, np.ones(4), M=lambda r: r)):
        with pytest.raises(error, match=words):
            call(A)


OUTSIDE = changed("csr", "indices", lambda i: np.where(np.arange(i.size) == 7, 10**8, i), 200)
GOOD, B = sp.csr_array(3 * np.eye(200)), np.ones(200)


@pytest.mark.parametrize("call", [
    lambda: furrow.solve(OUTSIDE, B, M=lambda r: r),
    lambda: furrow.solve(GOOD, B, M=OUTSIDE),
    lambda: furrow.cg(GOOD, B, M=OUTSIDE),
    lambda: furrow.minres(OUTSIDE, B, shift=0.5),
    lambda: furrow.scipy_compat.cg(OUTSIDE, B, B, rtol=2.0),
    lambda: furrow.scipy_compat.lsmr(OUTSIDE, B, x0=B),
])
def test_an_index_outside_is_not_followed_by_scipy_either(call):
    with pytest.raises(furrow.InputError, match="in column 100000000 of a matrix of 200 x 200: indices count from 0"):
        call()


def test_what_shares_a_place_adds_up_as_numbers():
    for value, dtype in ((100, np.int8), (200, np.uint8), (True, np.bool_), (2**31 - 1, np.int32)):
        A = sp.coo_array((np.array([value, value, 1], dtype), ([0, 0, 1], [0, 0, 1])), shape=(2, 2))
        want = np.array([2.0 * value, 1.0])
        assert (furrow.Matrix(A) @ np.ones(2)).tolist() == want.tolist()
        assert abs(furrow.solve(A, want).x - 1).max() < 1e-12
        assert abs(furrow.minres(A, want + 1, shift=-1.0, rtol=1e-12).x - 1).max() < 1e-9


def test_a_size_that_no_matrix_has_is_refused_before_memory_is_taken():
    for form in (sp.coo_array, sp.dia_array, sp.csc_array):
        with pytest.raises(furrow.InputError, match="both sides must be at most 2147483647"):
            furrow.Matrix(form((2**33, 2) if form is not sp.csc_array else (2, 2**31)))


def test_a_shift_is_a_number_and_its_matrix_is_square():
    with pytest.raises(TypeError, match="shift is a str: give a number"):
        furrow.minres(GOOD, B, shift="1")
    with pytest.raises(furrow.InputError, match="minres solves square systems only"):
        furrow.minres(sp.csr_array(np.ones((3, 2))), np.ones(3), shift=1.0)
    with pytest.raises(furrow.InputError, match="A has 1 masked element"):
        furrow.minres(masked(np.eye(4)), np.ones(4), shift=-1.0)
