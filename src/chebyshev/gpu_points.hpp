// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "arithmetic.hpp"
#include "complex_number.hpp"
#include "lengths.hpp"
#include "scale.hpp"

/// What the GPU does beside its transforms, one element at a time: plain functions, so that the CPU plays them. The
/// transform is that of cpu_transform.hpp.
namespace furrow::chebyshev {

/// A scaled, primed factor with zeros behind.
template <class V> struct scaled {
  factor<V> from;
  double scale_a, scale_b; ///< powers of two, one after the other: one alone may not fit

  FURROW_HD double operator()(index_t k) const {
    return k < from.size ? double(from.data[k]) * scale_a * scale_b * (k == 0 ? double(from.first) : 1.0) : 0.0;
  }
};
template <class V> FURROW_HD scaled<V> scaled_by(const factor<V>& from, int exponent) {
  const int e = scale_of(exponent), half = e / 2;
  return {from, scalbn(1.0, half), scalbn(1.0, e - half)};
}

struct two_numbers {
  complex_number here, mirror; ///< elements k and M - k
};

/// Elements k and M - k of w^a + i w^b, e = e^(pi i k / 2M); k <= M / 2. The mirror of k = 0 is not used.
template <class V>
FURROW_HD two_numbers pair_points(const scaled<V>& a, const scaled<V>& b, index_t k, index_t m, complex_number e) {
  const double ak = a(k), am = k ? a(m - k) : 0, bk = b(k), bm = k ? b(m - k) : 0;
  const complex_number wa{e.re * ak + e.im * am, e.im * ak - e.re * am};
  const complex_number wb{e.re * bk + e.im * bm, e.im * bk - e.re * bm};
  return {{wa.re - wb.im, wa.im + wb.re}, {wa.re + wb.im, wb.re - wa.im}};
}

/// Element k <= M / 2 of w^b alone: half of a real transform.
template <class V> FURROW_HD complex_number half_points(const scaled<V>& b, index_t k, index_t m, complex_number e) {
  const double bk = b(k), bm = k ? b(m - k) : 0;
  return {e.re * bk + e.im * bm, e.im * bk - e.re * bm};
}

/// Coefficients k, M - k, M/2 - k and M/2 + k, k <= M / 4.
struct four_coefficients {
  double low, high, below, above;
};

/// From elements k and M/2 - k (that of 0 for k = 0) of the transform back of u_2m + i u_{2m+1}; e = e^(pi i k / 2M), f
/// its fifth power. With E and O the transforms of the even and the odd u, p = E / e and q = O / f hold the
/// coefficients.
FURROW_HD inline four_coefficients coefficients_from(complex_number here, complex_number there, complex_number e,
                                                     complex_number f, index_t m) {
  const double scale = 0.25 / double(m), root = scale * 0.707106781186547524400844362104849039;
  const complex_number even{here.re + there.re, here.im - there.im}, odd{here.im + there.im, there.re - here.re};
  const complex_number p = even * e.conjugate(), q = odd * f.conjugate(), sum = p + q, rest = p - q;
  return {scale * sum.re, -scale * sum.im, root * (rest.re - rest.im), root * (rest.re + rest.im)};
}

} // namespace furrow::chebyshev
