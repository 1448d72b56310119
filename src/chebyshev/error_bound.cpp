// SPDX-License-Identifier: BSD-3-Clause
#include "lengths.hpp"
#include "overflow.hpp"

#include <furrow/value.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace furrow::chebyshev {
namespace {

/// Norms of the plain coefficients, as multiples of the largest, so that nothing overflows.
struct norms {
  double largest = 0, one = 0, two = 0;
};

template <class V> norms norms_of(cview<V> a, convention series) {
  norms n;
  for (index_t i = 0; i < a.size; ++i) n.largest = std::max(n.largest, std::abs(double(a[i])));
  if (n.largest == 0) return n;
  for (index_t i = 0; i < a.size; ++i) {
    const double x = std::abs(double(a[i])) / n.largest * (i == 0 && series == convention::primed ? 0.5 : 1);
    n.one += x;
    n.two += x * x;
  }
  n.two = std::sqrt(n.two);
  return n;
}

} // namespace

template <class V> double error_bound(cview<V> a, cview<V> b, const product_options& options, algorithm how) {
  check_finite("first", a);
  check_finite("second", b);
  const norms x = norms_of(a, options.series), y = norms_of(b, options.series);
  const double u = std::numeric_limits<V>::epsilon() / 2, v = 0x1p-53;
  const double first = options.series == convention::primed ? 2 : 1; // what doubling c_0 does to its error
  // (|a| * |b|)_k <= |a|_2 |b|_2 (twice: i + j and |i - j|, halved), and so is |c_k|.
  const double product = first * x.two * y.two;
  if (x.largest == 0 || y.largest == 0) return 0;
  const double m = 2 * double(std::min(a.size, b.size));
  double bound = 0;
  if (how == algorithm::fft) {
    const product_shape shape{a.size, b.size, options.keep.value_or(a.size + b.size - 1)};
    const double k = 4 * std::log2(double(points_needed(shape)) + 64) + 16;
    bound = (!is_wide<V> ? u * product : 0) + first * k * v * (x.one * y.two + x.two * y.one);
  } else {
    bound = m * u < 1 ? m * u / (1 - m * u) * product : std::numeric_limits<double>::infinity();
  }
  // In the order in which nothing vanishes on the way; a term below the normal numbers is off by half of the least one.
  int of_x = 0, of_y = 0;
  bound *= std::frexp(x.largest, &of_x) * std::frexp(y.largest, &of_y);
  return std::ldexp(bound, of_x + of_y) + m * double(std::numeric_limits<V>::denorm_min());
}

template double error_bound(cview<double>, cview<double>, const product_options&, algorithm);
template double error_bound(cview<float>, cview<float>, const product_options&, algorithm);

} // namespace furrow::chebyshev
