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
  index_t points() const { return points_; }
  index_t room() const { return std::max(forth_.room(), back_.room()); } ///< doubles that the transforms work in
  double bytes() const;

  /// The values of both series, in turns: a and b are M coefficients each, scaled and primed, z takes 2 M numbers.
  /// Returns where they are: z or a part of room.
  const double* values(const double* a, const double* b, double* z, double* room) const;
  /// u (M numbers) <- the products of both series' values.
  void multiply(const double* values, double* u) const;
  /// u and v (M numbers each) <- the values of both series times fixed ones.
  void multiply(const double* values, const double* fixed, double* u, double* v) const;
  /// c (M numbers) <- the coefficients of the product whose values are u, which is spent.
  void coefficients(double* u, double* room, double* c) const;

private:
  /// e^(pi i factor k / 2M) is coarse[k / block] fine[k % block].
  struct turns {
    static constexpr index_t block = 256;
    turns(index_t factor, index_t points, index_t count);
    double bytes() const { return double(coarse.byte_count() + sizeof fine_re + sizeof fine_im); }
    host_array<complex_number> coarse;
    double fine_re[block], fine_im[block];
  };

  index_t points_;
  fourier_transform forth_, back_;
  turns one_, five_; ///< for k < M, and the fifth power for k <= M / 4
};

/// The transform of this length. Those of the lengths asked for last are kept: their tables take longer to make than a
/// product, and a product made by one call is often one of many of its length.
std::shared_ptr<const cpu_transform> cpu_transform_of(index_t points);

} // namespace furrow::chebyshev
