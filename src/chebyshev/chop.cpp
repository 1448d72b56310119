// SPDX-License-Identifier: BSD-3-Clause
#include "core/check.hpp"

#include <furrow/chebyshev/fit.hpp>

#include <algorithm>
#include <cmath>

namespace furrow::chebyshev {
namespace {

/// The envelope: e_k is the largest coefficient from k on, relative to the largest of all. Empty for all zeros.
host_array<double> envelope_of(cview<double> a) {
  host_array<double> e(a.size);
  double largest = 0;
  for (index_t k = a.size - 1; k >= 0; --k) {
    largest = std::max(largest, std::abs(a[k]));
    e[k] = largest;
  }
  if (largest == 0) return {};
  for (double& v : e) v /= largest;
  return e;
}

/// Counting from 1, as the paper does: where a plateau begins, and where it has been seen. `seen` is 0 without one.
struct plateau {
  index_t begin = 0, seen = 0;
};
plateau find_plateau(const host_array<double>& e, double tolerance) {
  const index_t n = e.size();
  for (index_t j = 2; j <= n; ++j) {
    const auto ahead = static_cast<index_t>(std::round(1.25 * static_cast<double>(j) + 5));
    if (ahead > n) break;
    const double here = e[j - 1], there = e[ahead - 1];
    // A plateau may fall the less, the nearer it is to the tolerance.
    const double steep = 3 * (1 - std::log(here) / std::log(tolerance));
    if (here == 0 || there / here > steep) return {j - 1, ahead};
  }
  return {};
}

} // namespace

index_t chop_length(cview<double> a, double tolerance) {
  check(tolerance > 0 && std::isfinite(tolerance), fault::usage, "a tolerance of {} chops nothing: it must be positive",
        tolerance);
  const index_t n = a.size;
  check(n >= 0, fault::usage, "a series of {} coefficients cannot be", n);
  check(a.data || a.empty(), fault::usage, "{} coefficients point nowhere", n);
  if (n == 0) return 0;
  if (tolerance >= 1) return 1;
  if (n < 17) return n;
  host_array<double> e = envelope_of(a);
  if (e.empty()) return 1;
  const plateau flat = find_plateau(e, tolerance);
  if (flat.seen == 0) return n;
  if (e[flat.begin - 1] == 0) return flat.begin;
  // The plateau is cut where the envelope, tilted a little, is lowest.
  const double floor = std::pow(tolerance, 7.0 / 6);
  index_t last = flat.seen;
  const auto above = static_cast<index_t>(std::count_if(e.begin(), e.end(), [&](double v) { return v >= floor; }));
  if (above < last) {
    last = above + 1;
    e[last - 1] = floor;
  }
  index_t best = 0;
  double lowest = 0;
  for (index_t j = 0; j < last; ++j) {
    const double tilt = -std::log10(tolerance) / 3 * static_cast<double>(j) / static_cast<double>(last - 1);
    const double height = std::log10(e[j]) + tilt;
    if (j == 0 || height < lowest) {
      lowest = height;
      best = j;
    }
  }
  return std::max<index_t>(best, 1);
}

series truncate(const series& p, index_t length) {
  check(length >= 0, fault::usage, "a series of {} coefficients cannot be", length);
  series q{host_array<double>(std::min(length, p.length())), p.on};
  std::copy_n(p.coefficients.begin(), q.length(), q.coefficients.begin());
  return q;
}

series chop(const series& p, double tolerance) { return truncate(p, chop_length(as_cview(p.coefficients), tolerance)); }

} // namespace furrow::chebyshev
