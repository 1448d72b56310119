// SPDX-License-Identifier: BSD-3-Clause
#include "fourier.hpp"
#include "near_one.hpp"
#include "unity.hpp"

#include "core/check.hpp"

#include <furrow/chebyshev/points.hpp>

#include <cmath>
#include <numbers>

namespace furrow::chebyshev {
namespace {

std::size_t place(index_t i) { return static_cast<std::size_t>(i); }

void check_given(cview<double> v) {
  const index_t n = v.size;
  check(n >= 0 && n <= longest_series, fault::usage, "{} points or coefficients: between 0 and {} are taken", n,
        longest_series);
  check(v.data || v.empty(), fault::usage, "{} points or coefficients point nowhere", n);
}

/// sum'' over 0 <= j < n of v_j cos(pi j k / (n - 1)), the first and the last term halved, by the even extension.
host_array<double> cosine_sums(cview<double> v, bool reversed) {
  const index_t n = v.size, around = 2 * (n - 1);
  std::vector<complex_number> x(place(around));
  for (index_t j = 0; j < n; ++j) {
    x[place(j)].re = v[reversed ? n - 1 - j : j];
    if (j > 0 && j < n - 1) x[place(around - j)].re = x[place(j)].re;
  }
  fourier(x);
  host_array<double> sums(n);
  for (index_t k = 0; k < n; ++k) sums[k] = x[place(k)].re / 2;
  return sums;
}

host_array<double> coefficients_of_second_kind(cview<double> values) {
  const index_t n = values.size;
  host_array<double> a = cosine_sums(values, true);
  for (index_t k = 0; k < n; ++k) a[k] *= (k == 0 || k == n - 1 ? 1.0 : 2.0) / static_cast<double>(n - 1);
  return a;
}

host_array<double> values_of_second_kind(cview<double> a) {
  const index_t n = a.size;
  host_array<double> twice(n);
  for (index_t k = 0; k < n; ++k) twice[k] = k == 0 || k == n - 1 ? 2 * a[k] : a[k];
  host_array<double> down = cosine_sums(as_cview(twice), false);
  host_array<double> values(n);
  for (index_t j = 0; j < n; ++j) values[j] = down[n - 1 - j];
  return values;
}

/// The order in which a cosine transform becomes a Fourier transform of the same length: evens up, then odds down
/// (J. Makhoul 1980). Values are ascending, the cosines descending.
index_t folded(index_t j, index_t n) {
  const index_t down = 2 * j < n ? 2 * j : 2 * (n - j) - 1;
  return n - 1 - down;
}

host_array<double> coefficients_of_first_kind(cview<double> values) {
  const index_t n = values.size;
  std::vector<complex_number> x(place(n));
  for (index_t j = 0; j < n; ++j) x[place(j)].re = values[folded(j, n)];
  fourier(x);
  host_array<double> a(n);
  for (index_t k = 0; k < n; ++k)
    a[k] = (x[place(k)] * unit_root(k, 4 * n).conjugate()).re * (k == 0 ? 1.0 : 2.0) / static_cast<double>(n);
  return a;
}

host_array<double> values_of_first_kind(cview<double> a) {
  const index_t n = a.size;
  // The spectrum that the coefficients came from, conjugated, so that the forward transform inverts.
  std::vector<complex_number> x(place(n));
  for (index_t k = 0; k < n; ++k) {
    const complex_number c{k == 0 ? a[0] : a[k] / 2, k == 0 ? 0 : a[n - k] / 2};
    x[place(k)] = c * unit_root(k, 4 * n).conjugate();
  }
  fourier(x);
  host_array<double> values(n);
  for (index_t j = 0; j < n; ++j) values[folded(j, n)] = x[place(j)].re;
  return values;
}

/// T v of a transform whose sums may leave the range of double where v nears it: of v over a power of two then.
template <class Transform> host_array<double> within_range(cview<double> v, Transform transform) {
  if (v.size < 2) return v.empty() ? host_array<double>() : host_array<double>{v[0]};
  const int e = exponent_of(v);
  // Sums of 2^29 terms, each twice, of numbers below 2^991 stay below 2^1022; infinities come out as they do.
  if (e < 990 || e > 1023) return transform(v);
  const host_array<double> smaller = scaled_by(v, -e);
  return scaled_by(as_cview(transform(as_cview(smaller))), e);
}

} // namespace

host_array<double> points(kind which, index_t n) {
  check(n >= 1 && n <= longest_series, fault::usage, "{} points: between 1 and {} can be had", n, longest_series);
  host_array<double> x(n);
  // As a sine, so that x_j and x_(n - 1 - j) have the same bits but the sign.
  const double step =
      std::numbers::pi / 2 / static_cast<double>(which == kind::first ? n : std::max<index_t>(n - 1, 1));
  for (index_t j = 0; j < n; ++j) x[j] = std::sin(static_cast<double>(2 * j - (n - 1)) * step);
  return x;
}

host_array<double> points(kind which, index_t n, interval on) {
  check_interval(on);
  host_array<double> x = points(which, n);
  for (double& t : x) t = on.at(t);
  return x;
}

host_array<double> to_coefficients(kind which, cview<double> values) {
  check_given(values);
  return within_range(values, which == kind::first ? coefficients_of_first_kind : coefficients_of_second_kind);
}

host_array<double> to_values(kind which, cview<double> a) {
  check_given(a);
  return within_range(a, which == kind::first ? values_of_first_kind : values_of_second_kind);
}

} // namespace furrow::chebyshev
