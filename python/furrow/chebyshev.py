# SPDX-License-Identifier: BSD-3-Clause
"""Functions of one variable as Chebyshev series, and of symmetric matrices.

>>> import furrow, numpy as np
>>> A = furrow.generate("poisson1d:100")
>>> y = furrow.chebyshev.fit(np.cos, (0, 4))(A) @ np.ones(100)  # cos(A), and sin(A)
>>> z = furrow.chebyshev.fit(np.sin, (0, 4))(A) @ np.ones(100)
>>> bool(abs(y @ y + z @ z - 100) < 1e-9)
True
"""
from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from . import _core, _gpu
from ._arrays import F64, as_vector, contiguous, real_type, refuse_gpu
from ._checks import ends_of, finite_of, interval_of, number_of, numbers, whole_of
from ._errors import InputError, UsageError, type_of
from ._matrix import Matrix

__all__ = ["Density", "Series", "bounds", "density", "exponential", "fit", "multiply"]

_EPS = float(np.finfo(np.float64).eps)
_LONGEST = 2**28  #: coefficients of a series


def _check_series(p: Any) -> None:
    """What has coefficients may mean them in powers, or of a variable that goes elsewhere than to [-1, 1]."""
    if isinstance(p, Series):
        return
    if not isinstance(p, np.polynomial.Chebyshev):
        raise TypeError(f"a {type(p).__name__} has other coefficients than a Chebyshev series: give it as "
                        "p.convert(kind=numpy.polynomial.Chebyshev)")
    if p.window.tolist() != [-1, 1]:
        raise UsageError(f"the series maps its domain to the window {p.window.tolist()}, and to [-1, 1] alone here: give "
                         "it as p.convert(domain=p.domain, window=[-1, 1])")


def _fitting(coef: Any, what: str) -> Any:
    """Coefficients that were worked out from finite ones, which float64 need not hold."""
    wrong = np.flatnonzero(~np.isfinite(coef))
    if wrong.size:
        raise InputError(f"coefficient {wrong[0]} of the {what} is too large for float64: scale the series first")
    return coef


def _quietly() -> Any:
    """What is not finite is refused, or warned of in a sentence."""
    return np.errstate(over="ignore", invalid="ignore")


def _warn(sentence: str, level: int) -> None:
    """As NumPy warns of an overflow, which `numpy.errstate` turns off."""
    if np.geterr()["over"] != "ignore":
        warnings.warn(sentence, RuntimeWarning, stacklevel=level + 1)


def _warn_of_overflow(x: Any, y: Any) -> None:
    """Values at finite points that are none."""
    if np.isfinite(y).all():
        return
    lost = np.flatnonzero(np.isfinite(x) & ~np.isfinite(y))
    if lost.size:
        _warn(f"{lost.size} of {x.size} values of the series {'is' if lost.size == 1 else 'are'} beyond the range of float64, the "
              f"first at x = {x[lost[0]]}", 3)


def _length(x: Any) -> float:
    """The norm of a vector, whose squares may leave the range; not finite where an element is not."""
    square = float(np.einsum("i,i->", x, x, dtype=np.float64))  # no BLAS, whose threads may have to wait for each other
    if 1e-290 < square < np.inf:
        return float(np.sqrt(square))
    largest = float(np.abs(x).max()) if x.size else 0.0
    return largest * float(np.linalg.norm(x / largest)) if 0 < largest < np.inf else largest


def _check_finite(values: Any, what: str) -> None:
    wrong = np.flatnonzero(~np.isfinite(values))
    if wrong.size:
        raise InputError(f"{what} {wrong[0]} is {values[wrong[0]]}: only finite ones make sense")


class Series:
    """p(x) = sum coef[k] T_k on a domain, in the convention of `numpy.polynomial.Chebyshev`.

    Parameters
    ----------
    coef : array_like, or anything with `coef` and `domain`
    domain : (low, high)

    Series are added, multiplied, divided, and raised to whole powers, with each other on one domain, with numbers and with those
    of NumPy. ``p / q`` is a series that agrees with the quotient; where q has a root in the domain there is none.

    ``p(A)`` of a symmetric matrix with eigenvalues in the domain multiplies vectors. Nobody looks whether A is one: of
    another it is the polynomial, too, which outside of the domain is far from the function that it was made of. A matrix
    is a sparse one, a `Matrix` or a `numpy.matrix`; a plain array holds points, also with two axes, as NumPy's own
    series take it: for p of a dense matrix D say ``p(furrow.Matrix(D))``.

    Examples
    --------
    >>> from furrow.chebyshev import Series
    >>> p = Series([0, 0, 1])            # T_2
    >>> float(p(0.5)), p.roots().round(6).tolist()
    (-0.5, [-0.707107, 0.707107])
    >>> (p * p).coef.tolist()
    [0.5, 0.0, 0.0, 0.0, 0.5]
    >>> p**2 == p * p, (p / 2).coef.tolist(), float((p / (p + 2))(0.5).round(12))
    (True, [0.0, 0.0, 0.5], -0.333333333333)
    """

    __array_ufunc__ = None  # numpy leaves array + p to this class

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        """An array of objects would be of no use, and by this error NumPy's own series leave q + p to this class, too."""
        raise TypeError("a Series is no array: take its coef, or its values as p(x)")

    def __init__(self, coef: Any, domain: Any = None) -> None:
        if hasattr(coef, "coef"):
            _check_series(coef)
            domain = coef.domain if domain is None else domain
            coef = coef.coef
        self.coef = coef
        self.domain = np.array(interval_of((-1, 1) if domain is None else domain))
        self.window = np.array([-1.0, 1.0])

    @property
    def coef(self) -> Any:
        """The coefficients, those of T_0 first; what is assigned to it is copied."""
        return self._coef

    @coef.setter
    def coef(self, values: Any) -> None:
        values = np.atleast_1d(numbers(values, "coef"))
        if values.ndim != 1:
            raise UsageError(f"coef has {values.ndim} axes: a series has its coefficients in one")
        values = as_vector(values, values.size, "coef", F64).copy()
        _check_finite(values, "coefficient")
        self._coef = values

    @property
    def _parts(self) -> tuple[Any, float, float]:
        return self.coef, *ends_of(self.domain)

    def degree(self) -> int:
        """The largest k of a coefficient.

        >>> from furrow.chebyshev import Series
        >>> Series([0, 0, 1]).degree()
        2
        """
        return len(self.coef) - 1

    def __len__(self) -> int:
        return len(self.coef)

    def __call__(self, x: Any) -> Any:
        if isinstance(x, Matrix):
            return OfMatrix(self, x)
        if (hasattr(x, "format") and not isinstance(x, str)) or hasattr(x, "matvec") or _gpu.is_sparse(x) or isinstance(x, np.matrix):
            return OfMatrix(self, Matrix(x))
        refuse_gpu(x, "x")
        x = numbers(x, "x")
        real_type(x.dtype)
        at = contiguous(x.reshape(-1), F64)
        y = np.empty(at.size)
        _core.chebyshev_evaluate(*self._parts, at, y)
        _warn_of_overflow(at, y)
        return y.reshape(x.shape) if x.ndim else y[0]

    def __eq__(self, other: Any) -> bool:
        """Whether both have the same coefficients and the same domain, as NumPy's series say."""
        if not isinstance(other, Series):
            return NotImplemented
        return np.array_equal(self.coef, other.coef) and np.array_equal(self.domain, other.domain)

    __hash__ = None  # type: ignore[assignment]  # coef can be assigned

    def _same(self, other: Any) -> Series:
        series = other if isinstance(other, Series) else Series(other, None if hasattr(other, "coef") else self.domain)
        if not np.array_equal(series.domain, self.domain):
            raise UsageError(f"the series live on {self.domain.tolist()} and {series.domain.tolist()}: take one domain")
        return series

    def __mul__(self, other: Any) -> Series:
        if np.isscalar(other):
            factor = number_of(other, "what a series is multiplied by")
            with _quietly():
                coef = self.coef * factor
            return Series(_fitting(coef, "product") if np.isfinite(factor) else coef, self.domain)
        return Series(_fitting(_core.chebyshev_multiply(self.coef, self._same(other).coef), "product"), self.domain)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Series:
        """By a number its coefficients, by a series the shortest one that agrees with the quotient, to rounding."""
        if np.isscalar(other):
            divisor = number_of(other, "what a series is divided by")
            if divisor == 0 or np.isnan(divisor):
                raise UsageError(f"a series divided by {divisor:g} is none")
            with _quietly():
                coef = self.coef / divisor
            return Series(_fitting(coef, "quotient"), self.domain)
        other = self._same(other)
        if not other.coef[1:].any():
            return self / (other.coef[0] if len(other) else 0.0)
        return Series(_core.chebyshev_divide(self.coef, other.coef, *ends_of(self.domain)), self.domain)

    def __rtruediv__(self, other: Any) -> Series:
        return self._same(other) / self

    def __pow__(self, power: Any) -> Series:
        """As a product of so many factors: what is small beside the largest coefficient keeps its digits."""
        if isinstance(power, (int, np.integer)) and power < 0:
            raise UsageError(f"p**{power} is no series: take 1 / p**{-power}")
        left = whole_of(power, "the power of a series", 0)
        if len(self) > 1 and left > _LONGEST // (len(self) - 1):
            raise UsageError(f"p**{left} of a series of degree {self.degree()} would have more than {_LONGEST} coefficients")
        result, square = Series([1.0], self.domain), self
        while left:
            if left % 2:
                result = result * square
            left //= 2
            if left:
                square = square * square
        return result

    def __add__(self, other: Any) -> Series:
        other = self._same(other)
        coef = np.zeros(max(len(self), len(other)))
        with _quietly():
            coef[: len(self)] += self.coef
            coef[: len(other)] += other.coef
        return Series(_fitting(coef, "sum"), self.domain)

    __radd__ = __add__

    def __pos__(self) -> Series:
        return Series(self.coef, self.domain)

    def __neg__(self) -> Series:
        return Series(-self.coef, self.domain)

    def __sub__(self, other: Any) -> Series:
        return self + (-self._same(other))

    def __rsub__(self, other: Any) -> Series:
        return self._same(other) - self

    def roots(self) -> Any:
        """The real roots in the domain, ascending.

        >>> from furrow.chebyshev import Series
        >>> Series([0, 0, 1]).roots().round(6).tolist()
        [-0.707107, 0.707107]
        """
        return _core.chebyshev_roots(*self._parts)

    def derivative(self, m: int = 1) -> Series:
        """The m-th derivative. ``deriv`` is the same, as NumPy calls it.

        >>> from furrow.chebyshev import Series
        >>> Series([0, 0, 1]).derivative().coef.tolist(), Series([0, 0, 1]).deriv(2).coef.tolist()
        ([0.0, 4.0], [4.0])
        """
        result = self
        for _ in range(min(whole_of(m, "m", 0), len(self))):
            result = Series(_fitting(_core.chebyshev_derivative(*result._parts), "derivative"), self.domain)
        return +result

    deriv = derivative

    def integral(self, m: int = 1) -> Series:
        """The integral from the lower end of the domain, m times.

        >>> from furrow.chebyshev import Series
        >>> float(Series([3], (0, 2)).integral()(2)), float(Series([3], (0, 2)).integral(2)(2))
        (6.0, 6.0)
        """
        result = self
        for _ in range(whole_of(m, "m", 0, _LONGEST)):
            result = Series(_fitting(_core.chebyshev_integral(*result._parts), "integral"), self.domain)
        return +result

    def integ(self, m: int = 1, k: Any = (), lbnd: float | None = None) -> Series:
        """The integral m times, each plus the next of the constants k, as NumPy has it: from lbnd, where the first one is k[0],
        and from the middle of the domain where nothing is said. ``integral`` begins at the lower end.

        >>> from furrow.chebyshev import Series
        >>> Series([3], (0, 2)).integ().coef.tolist(), Series([3], (0, 2)).integ(2, k=[1, 5], lbnd=0)(0)
        ([0.0, 3.0], np.float64(5.0))
        """
        m = whole_of(m, "m", 0, _LONGEST)
        constants = np.atleast_1d(numbers(k, "k"))
        real_type(constants.dtype)
        if constants.ndim != 1 or constants.size > m:
            raise UsageError(f"k is of shape {constants.shape} and m = {m}: give a constant for each integral, or fewer")
        _check_finite(constants, "constant")
        low, high = ends_of(self.domain)
        start = low + (high - low) / 2 if lbnd is None else finite_of(lbnd, "lbnd")
        result = self
        for i in range(m):
            result = result.integral()
            with _quietly():
                there = result(start)
            if not np.isfinite(there):
                raise InputError(f"the integral from lbnd = {start:g} on is beyond the range of float64: take lbnd in the domain")
            result = result + ((float(constants[i]) if i < constants.size else 0.0) - there)
        return +result

    def truncate(self, size: int) -> Series:
        """The first coefficients, as many as size, or all of them: nearly the best approximation of that length.

        >>> from furrow.chebyshev import Series
        >>> Series([3, 2, 1]).truncate(2).coef.tolist()
        [3.0, 2.0]
        """
        return Series(self.coef[: whole_of(size, "size", 1)], self.domain)

    def restriction(self, domain: Any) -> Series:
        """The same polynomial on a part of the domain.

        >>> from furrow.chebyshev import Series
        >>> p = Series([0, 0, 1]).restriction((0.5, 1))
        >>> p.domain.tolist(), float(p(0.5)), float(p(1))
        ([0.5, 1.0], -0.5, 1.0)
        """
        return Series(_fitting(_core.chebyshev_restriction(*self._parts, *interval_of(domain)), "restriction"), domain)

    def __repr__(self) -> str:
        return f"<furrow.chebyshev.Series of degree {self.degree()} on {self.domain.tolist()}>"


class OfMatrix:
    """p(A) for a symmetric A whose eigenvalues are in the domain of p: multiplies vectors, by products with A alone."""

    __array_ufunc__ = None

    def __init__(self, p: Series, A: Any) -> None:
        if A.shape[0] != A.shape[1]:
            raise UsageError(f"the matrix is {A.shape[0]} x {A.shape[1]}: only a square one has powers")
        self.p, self.A = p, A
        self.shape, self.dtype = A.shape, A.dtype

    def __matmul__(self, x: Any) -> Any:
        home = self.A._home_of(x)
        x = home.enter(x, "x")
        n = self.shape[0]
        if x.ndim not in (1, 2) or x.shape[0] != n:
            raise UsageError(f"x is of shape {tuple(x.shape)}, but the matrix asks for ({n},) or ({n}, k)")
        dtype = real_type(self.dtype, real_type(home.dtype(x), to="multiply", name="x"))
        count = 1 if x.ndim == 1 else x.shape[1]
        y = home.empty((count, n), dtype)
        x_by_columns = home.contiguous(x if x.ndim == 1 else x.T, dtype)
        _core.chebyshev_apply(*self.p._parts, self.A._as(dtype), home.core(x_by_columns), home.core(y), count,
                              home.stream())
        if home.ordinal is None:
            self._warn_of_growth(x_by_columns.reshape(count, n), y)
        return home.leave(y[0] if x.ndim == 1 else y.T)

    matvec = matmat = dot = __matmul__

    def _warn_of_growth(self, x: Any, y: Any) -> None:
        """Of a symmetric A with all eigenvalues in the domain p(A) x is at most as long as x, times the coefficients' sizes."""
        low, high = ends_of(self.p.domain)
        with _quietly():
            most = float(np.abs(self.p.coef).sum())
            slack, least = 64 * float(np.sqrt(np.finfo(y.dtype).eps)), float(np.finfo(y.dtype).tiny) * len(self.p)
            sizes = [(_length(x_k), _length(y_k)) for x_k, y_k in zip(x, y)]
        if any(np.isfinite(given) and not np.isfinite(made) for given, made in sizes):
            _warn(f"p(A) x is beyond the range of {y.dtype.name}: A has eigenvalues far outside of [{low:g}, {high:g}], or holds what is "
                  "not finite, or the numbers of A, p and x are too large", 3)
        elif any(made > (1 + slack) * most * given + least for given, made in sizes):
            _warn(f"p(A) x is larger than a series on [{low:g}, {high:g}] can make it: A has eigenvalues outside, where the series "
                  "follows no function, or is not symmetric; furrow.chebyshev.bounds(A) gives an interval", 3)


def fit(f: Any, domain: Any = (-1, 1), tolerance: float = _EPS) -> Series:
    """The shortest series that agrees with a function of arrays to the tolerance.

    Where coefficients fall slowly, as behind a kink, and where a peak lies between all points that are looked at, the
    tolerance may be missed. So the series is compared with f at 1001 points at the end, or twice as many as it has
    coefficients, and a `RuntimeWarning` says how far off it is.

    >>> import furrow, numpy as np
    >>> p = furrow.chebyshev.fit(np.exp, (0, 1))
    >>> bool(abs(p(0.3) - np.exp(0.3)) < 1e-15)
    True
    """
    if not callable(f):
        raise TypeError(f"f is {type_of(f)}: give a function of arrays")

    def values(x: Any) -> Any:
        y = numbers(f(x), "what f made")
        real_type(y.dtype)
        if y.shape not in ((), (1,), x.shape):
            raise UsageError(f"f made an array of shape {y.shape} of one of {x.shape}: give a value for each point")
        return contiguous(np.broadcast_to(y, x.shape), F64)

    said: Any = _core.chebyshev_fit(values, *ends_of(domain), number_of(tolerance, "tolerance"))
    coef, missed = said
    if missed:
        warnings.warn(f"the series is off by {missed}", RuntimeWarning, stacklevel=2)
    return Series(coef, domain)


def multiply(a: Any, b: Any) -> Any:
    """Coefficients of the product of two series, as `numpy.polynomial.chebyshev.chebmul`.

    >>> from furrow.chebyshev import multiply
    >>> multiply([0, 1], [0, 1]).tolist()
    [0.5, 0.0, 0.5]
    """
    return (Series(a) * Series(b)).coef


def _matrix(A: Any, device: str | None) -> Any:
    if isinstance(A, Matrix):
        _gpu.check_asked(device, A._where)
        return A
    return Matrix(A, device=device)


def _seed(seed: Any) -> int:
    return whole_of(seed, "seed", 0, 2**64 - 1)


def bounds(A: Any, steps: int = 40, seed: int = 1, device: str | None = None) -> tuple[float, float]:
    """An interval for the eigenvalues of a matrix, which must be symmetric: an estimate by Lanczos' process, moved out by its
    error.

    It holds them all where the process has come near the outermost ones, as 40 steps mostly do and a few need not.
    ``steps=0`` gives Gershgorin's, which holds them for sure.

    >>> import furrow
    >>> low, high = furrow.chebyshev.bounds(furrow.generate("poisson1d:50"), steps=0)
    >>> bool(low <= 0 and high >= 3.99)
    True
    """
    return ends_of(_core.chebyshev_bounds(_matrix(A, device), whole_of(steps, "steps", 0, 1000), _seed(seed)))


def exponential(t: float, domain: Any) -> Series:
    """exp(t x) on a domain: ``exponential(t, bounds(A))(A) @ b`` is exp(t A) b.

    >>> import furrow, numpy as np
    >>> A = furrow.generate("poisson1d:50")
    >>> y = furrow.chebyshev.exponential(-0.1, furrow.chebyshev.bounds(A))(A) @ np.ones(50)
    >>> y.shape
    (50,)
    """
    return Series(_core.chebyshev_exponential(finite_of(t, "t"), *ends_of(domain), _EPS), domain)


class Density:
    """How the eigenvalues of a symmetric matrix are spread: `d(x)` a unit at x, `count_below(x)`. `density` makes it.

    >>> import furrow
    >>> d = furrow.chebyshev.density(furrow.generate("poisson2d:20"), (0, 8), moments=64)
    >>> bool(d(4.0) > d(0.5) > 0), d.rows
    (True, 400)
    """

    def __init__(self, moments: Any, domain: Any, rows: int) -> None:
        self.moments = contiguous(np.atleast_1d(numbers(moments, "moments")), F64)
        _check_finite(self.moments, "moment")
        self.domain, self.rows = interval_of(domain), whole_of(rows, "rows", 0)

    def _at(self, x: Any, below: bool) -> Any:
        x = numbers(x, "x")
        real_type(x.dtype)
        at = contiguous(x.reshape(-1), F64)
        y: Any = _core.chebyshev_density_at(self.moments, *self.domain, self.rows, at, below)
        return y.reshape(x.shape) if x.ndim else y[0]

    def __call__(self, x: Any) -> Any:
        return self._at(x, False)

    def count_below(self, x: Any) -> Any:
        """Eigenvalues below x.

        >>> import furrow
        >>> d = furrow.chebyshev.density(furrow.generate("poisson1d:100"), (0, 4), moments=64)
        >>> bool(abs(d.count_below(2.0) - 50) < 5)
        True
        """
        return self._at(x, True)


def density(A: Any, domain: Any = None, moments: int = 512, vectors: int = 8, seed: int = 1,
            device: str | None = None) -> Density:
    """The density of eigenvalues of a symmetric matrix by the kernel polynomial method; the domain, `bounds(A)` unless given,
    holds them all.

    >>> import furrow
    >>> A = furrow.generate("poisson2d:20")
    >>> d = furrow.chebyshev.density(A, (0, 8), moments=64)
    >>> bool(abs(d.count_below(4.0) - 200) < 10)
    True
    """
    moments, vectors, seed = whole_of(moments, "moments", 1), whole_of(vectors, "vectors", 1), _seed(seed)
    A = _matrix(A, device)
    ends = ends_of(bounds(A) if domain is None else domain)
    return Density(_core.chebyshev_moments(A, *ends, moments, vectors, seed), ends, A.shape[0])
