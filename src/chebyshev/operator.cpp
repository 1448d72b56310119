// SPDX-License-Identifier: BSD-3-Clause
#include "colleague.hpp"
#include "operator_space.hpp"

#include "backends/cpu/space.hpp"
#include "core/check.hpp"

#include <furrow/value.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace furrow::chebyshev {

#if FURROW_HAS_GPU
template <class V> void apply_on_gpu(cview<double>, interval, const symmetric_operator<V>&, cview<V>, view<V>, index_t);
template <class V> std::vector<double> moments_on_gpu(const symmetric_operator<V>&, interval, index_t, std::uint64_t);
template <class V> tridiagonal lanczos_on_gpu(const any_operator<V>&, index_t, double, std::uint64_t);
#else
namespace {
constexpr const char* absent = "this build has no GPU part";
}
template <class V>
void apply_on_gpu(cview<double>, interval, const symmetric_operator<V>&, cview<V>, view<V>, index_t) {
  throw error(fault::device, absent);
}
template <class V> std::vector<double> moments_on_gpu(const symmetric_operator<V>&, interval, index_t, std::uint64_t) {
  throw error(fault::device, absent);
}
template <class V> tridiagonal lanczos_on_gpu(const any_operator<V>&, index_t, double, std::uint64_t) {
  throw error(fault::device, absent);
}
#endif

namespace {

template <class V> void check_operator(const symmetric_operator<V>& a) {
  const shape2 shape = a.a.shape();
  check(shape.rows == shape.cols, fault::usage, "the matrix is {} x {}: a series takes a square one", shape.rows,
        shape.cols);
  if (a.a.where() != a.where) // a device describes itself by asking its driver: only where it is said
    throw error(fault::usage, fmt::format("the operator lives on {}, but its vectors are said to be on {}",
                                          describe(a.a.where()), describe(a.where)));
}

/// Vectors are made with 2 / h and 2 m / h, the middle m and the half-width h of the interval, as numbers of V.
template <class V> void check_reach(interval on) {
  const double slope = 2 / on.half_width(), shift = 2 * (on.middle() / on.half_width());
  using limits = std::numeric_limits<V>;
  check(slope <= limits::max() && slope >= limits::min() && std::abs(shift) <= limits::max(), fault::usage,
        "with eigenvalues in [{}, {}] numbers leave the range of {}: scale matrix and interval by a power of two",
        on.low, on.high, !is_wide<V> ? "f32" : "f64");
}

} // namespace

template <class V> void apply(const series& p, const symmetric_operator<V>& a, cview<V> x, view<V> y, index_t vectors) {
  check_series(p);
  check_operator(a);
  const index_t n = a.a.shape().rows;
  check(vectors >= 0 && (n == 0 || vectors <= x.size / n) && x.size == vectors * n && y.size == x.size, fault::usage,
        "x has {} elements and y {}, where {} vectors of {} are wanted", x.size, y.size, vectors, n);
  check((x.data && y.data) || x.empty(), fault::usage, "x or y points nowhere, but has {} elements", x.size);
  check(!overlap(x, as_cview(y)), fault::usage, "x and y share memory: give each its own");
  check_reach<V>(p.on);
  if (n == 0) return;
  if (a.where.is_gpu()) return apply_on_gpu(as_cview(p.coefficients), p.on, a, x, y, vectors);
  cpu::space<V> space;
  apply_in(space, as_cview(p.coefficients), p.on, a, x, y, vectors);
}

template <class V> double bytes_per_degree(const symmetric_operator<V>& a) {
  const double vector = double(a.a.shape().rows) * sizeof(V);
  return a.a.bytes_per_apply() + vector * (a.centred ? 3.0 : 3.5);
}

template <class V>
interval lanczos_bounds(const symmetric_operator<V>& a, interval outer, index_t steps, std::uint64_t seed) {
  check_interval(outer);
  check_operator(a);
  check(!a.centred, fault::usage, "bounds are those of A itself: give the operator that is not centred");
  check(steps >= 1 && steps <= 1000, fault::usage, "{} steps: between 1 and 1000 make sense", steps);
  const index_t n = a.a.shape().rows;
  check(n > 0, fault::usage, "a matrix without rows has no spectrum");
  // Half of the norm: the directions neither grow nor vanish much.
  const double scale = std::max(std::abs(outer.low), std::abs(outer.high)) / 2;
  const index_t wanted = std::min(steps, n);
  tridiagonal t;
  if (a.where.is_gpu()) t = lanczos_on_gpu(a.a, wanted, scale, seed);
  else {
    cpu::space<V> space;
    t = lanczos(space, a.a, wanted, scale, seed);
  }
  for (std::size_t k = 0; k < t.diagonal.size(); ++k)
    check(std::isfinite(t.diagonal[k]) && std::isfinite(t.beside_squared[k]), fault::input,
          "products with the matrix are not finite: it holds a NaN or an infinity, or entries so large that their sums "
          "leave the range");
  const ritz_values r = tridiagonal_eigenvalues(t.diagonal, t.beside_squared);
  const double low = scale * r.value.front(), high = scale * r.value.back(); // inside of the spectrum but for rounding
  const double rounding = 16 * double(std::numeric_limits<V>::epsilon()) * scale;
  const double slack = std::max((outer.high - outer.low) * 1e-6, 4 * rounding);
  check(
      low >= outer.low - slack && high <= outer.high + slack, fault::usage,
      "the spectrum reaches from {:.6g} to {:.6g}, outside of [{}, {}]: give an interval that holds it, as gershgorin "
      "does",
      low, high, outer.low, outer.high);
  // What ends early has seen an invariant subspace, and nothing of the rest.
  const auto seen = static_cast<index_t>(t.diagonal.size());
  if (seen < n && (seen < wanted || t.beside_squared.back() == 0)) return outer;
  const double margin = std::max({(high - low) / 100, (outer.high - outer.low) * 1e-6, rounding});
  return {std::max(outer.low, low - std::max(margin, scale * r.residual.front())),
          std::min(outer.high, high + std::max(margin, scale * r.residual.back()))};
}

template <class V> spectral_density density(const symmetric_operator<V>& a, interval on, const density_options& o) {
  check_interval(on);
  check_operator(a);
  const index_t n = a.a.shape().rows;
  check(n > 0, fault::usage, "a matrix without rows has no spectrum");
  check(o.moments >= 1 && o.moments <= longest_series, fault::usage, "{} moments: between 1 and {} can be had",
        o.moments, longest_series);
  check(o.vectors >= 1 && o.vectors <= longest_series, fault::usage, "{} random vectors: between 1 and {} can be had",
        o.vectors, longest_series);
  check_reach<V>(on);
  spectral_density d{on, n, host_array<double>(o.moments, 0.0)};
  cpu::space<V> space;
  for (index_t v = 0; v < o.vectors; ++v) {
    const std::uint64_t seed = o.seed + static_cast<std::uint64_t>(v);
    const auto m =
        a.where.is_gpu() ? moments_on_gpu(a, on, o.moments, seed) : moments_in(space, a, on, o.moments, seed);
    for (index_t k = 0; k < o.moments; ++k)
      d.moments[k] += m[static_cast<std::size_t>(k)] / (double(n) * double(o.vectors));
  }
  for (index_t k = 0; k < o.moments; ++k)
    check(std::abs(d.moments[k]) <= 2, fault::input,
          "moment {} is {:.3g}, where none can pass 1: the spectrum is not inside [{}, {}], or the matrix is "
          "not symmetric",
          k, d.moments[k], on.low, on.high);
  return d;
}

#define FURROW_INSTANTIATE(V)                                                                                          \
  template void apply(const series&, const symmetric_operator<V>&, cview<V>, view<V>, index_t);                        \
  template double bytes_per_degree(const symmetric_operator<V>&);                                                      \
  template interval lanczos_bounds(const symmetric_operator<V>&, interval, index_t, std::uint64_t);                    \
  template spectral_density density(const symmetric_operator<V>&, interval, const density_options&);
FURROW_INSTANTIATE(double)
FURROW_INSTANTIATE(float)
#undef FURROW_INSTANTIATE

} // namespace furrow::chebyshev
