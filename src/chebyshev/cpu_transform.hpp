// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "fourier.hpp"

#include <algorithm>
#include <memory>

namespace furrow::chebyshev {

/// Values of two real series at M Chebyshev points by one complex transform, and back by one of half the length.
///
/// With w_k = e^(pi i k / 2M) (a_k - i a_{M-k}), a_M = 0, the transform v_m = sum_k w_k e^(2 pi i k m / M) is real and
/// v_m = 2 f(cos((4m + 1) pi / 2M)) for the primed series f of a: all Chebyshev points in some order. So the transform
/// of w^a + i w^b holds the values of both series, a product of series is a product point by point, and c_k is the real
/// part of e^(-pi i k / 2M) W_k / M, W the transform back of half of u = v^a v^b (Makhoul, 1980). As u is real, the
/// transform back is one of u_2m + i u_{2m+1}, of M / 2 numbers.
class cpu_transform {
public:
  /// A multiple of 8 without a prime factor beyond 7.
  explicit cpu_transform(index_t points);
  index_t points() const { return 2 * half_; }
  index_t room() const { return std::max(forth_.room(), back_.room()); } ///< numbers that the transforms work in
  double bytes() const;

  /// The values of both series: a and b are M coefficients, scaled and primed, z takes M numbers. Returns where they
  /// are: z or a part of room.
  const complex_number* values(const double* a, const double* b, complex_number* z, complex_number* room) const;
  /// u (M / 2 numbers) <- the products of both series' values.
  void multiply(const complex_number* values, complex_number* u) const;
  /// u and v <- the values of both series times M fixed ones.
  void multiply(const complex_number* values, const double* fixed, complex_number* u, complex_number* v) const;
  /// c (M numbers) <- the coefficients of the product whose values are u, which is spent.
  void coefficients(complex_number* u, complex_number* room, double* c) const;

private:
  index_t half_;
  fourier_transform forth_, back_;
  host_array<complex_number> one_, five_; ///< e^(pi i k / 2M) for k < M / 2, its fifth power for k <= M / 4
};

/// The transform of this length. Those of the lengths asked for last are kept: their tables take longer to make than a
/// product, and a product made by one call is often one of many of its length.
std::shared_ptr<const cpu_transform> cpu_transform_of(index_t points);

} // namespace furrow::chebyshev
