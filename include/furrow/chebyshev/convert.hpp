// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/chebyshev/series.hpp>

namespace furrow::chebyshev {

/// Powers of x (not of t), lowest first: p(x) = sum m_k x^k. O(n^2), and ill-conditioned: with every degree up to a
/// digit of the large coefficients is lost, so it is for low degrees, and at most `longest_conversion` coefficients are
/// taken.
host_array<double> to_monomials(const series& p);
series from_monomials(cview<double> coefficients, interval on = {});

/// Coefficients of Legendre polynomials P_k(t), lowest first. O(n^2), well-conditioned.
/// B. K. Alpert, V. Rokhlin, A fast algorithm for the evaluation of Legendre expansions, 1991.
host_array<double> to_legendre(const series& p);
series from_legendre(cview<double> coefficients, interval on = {});

inline constexpr index_t longest_conversion = 1 << 15;

} // namespace furrow::chebyshev
