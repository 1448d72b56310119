# SPDX-License-Identifier: BSD-3-Clause
"""Series beside NumPy's."""
import numpy as np
import pytest
from numpy.polynomial import Chebyshev

import furrow
from furrow.chebyshev import Series, exponential, fit


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
