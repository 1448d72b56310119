// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/chebyshev/series.hpp>

namespace furrow::chebyshev {

/// The real roots of p in its interval, ascending; a root of multiplicity m comes up to m times, as far as rounding can
/// tell. Where p stays below n u times the sum of its |coefficients| it is taken for rounding errors, without roots.
/// Pieces of degree 50 at most, by halving; on each the eigenvalues of its colleague matrix; then one step of Newton's
/// method on p itself where that brings p nearer to 0. O(n^2) to halve down to the pieces, O(n) for their eigenvalues,
/// in parallel. Throws `fault::input` for a series that is 0 everywhere: every point is a root. I. J. Good, The
/// colleague matrix, 1961; J. P. Boyd, Computing zeros on a real interval through Chebyshev expansion and polynomial
/// rootfinding, SIAM J. Numer. Anal. 40, 2002.
host_array<double> roots(const series& p);

} // namespace furrow::chebyshev
