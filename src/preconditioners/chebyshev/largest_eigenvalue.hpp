// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/operator.hpp>

namespace furrow::chebyshev_preconditioner {

/// An estimate of the largest eigenvalue of a symmetric operator on the CPU from below: the largest Ritz value of a
/// Lanczos run of `steps` products from a fixed vector of hashed values. The same bits for any number of threads. C.
/// Lanczos, 1950; the tridiagonal matrix's by bisection (W. Givens, 1954).
template <class V> double largest_ritz_value(const any_operator<V>& a, int steps);

} // namespace furrow::chebyshev_preconditioner
