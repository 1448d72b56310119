// SPDX-License-Identifier: BSD-3-Clause
#include "run.hpp"

#include "largest.hpp"

#include <furrow/storage.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace furrow {

#if !FURROW_HAS_GPU
template <class V> double largest_on_gpu(cview<V>) { throw error(fault::device, "this build has no GPU part"); }
#endif

namespace {

template <class V> double largest(cview<V> b) {
  double size = 0;
  for (const V v : b) size = std::max(size, std::abs(double(v)));
  return size;
}

/// A power of two by which b is multiplied so that squares of its elements neither overflow nor vanish; mostly 1.
template <class V> V safe_scale(double size) {
  constexpr bool wide = sizeof(V) == 8;
  constexpr double low = wide ? 1e-100 : 1e-20, high = wide ? 1e100 : 1e20;
  constexpr int most = wide ? 1000 : 120; // the scale itself stays in the normal range
  if (size >= low && size <= high) return V(1);
  return static_cast<V>(std::ldexp(1.0, std::clamp(-std::ilogb(size), -most, most)));
}

template <class V>
solve_report call(const solver_entry& solver, const linear_system<V>& system, const solve_options& o) {
  if constexpr (sizeof(V) == 8) return solver.f64(o.where, system, o);
  else return solver.f32(o.where, system, o);
}

/// |b - A x| on the operator's device.
template <class V, class Array>
double residual_norm(const any_operator<V>& a, const host_array<V>& b, const host_array<V>& x) {
  const Array device_x(x);
  Array device_r(b);
  a.apply(V(-1), as_cview(device_x), V(1), as_view(device_r));
  double squares = 0;
  for (const V r : host_array<V>(device_r)) squares += double(r) * double(r);
  return std::sqrt(squares);
}

/// Solves s A x = s b with a power of two s; x comes back in its own units. An answer that leaves the range of V on
/// the way back is not said to be one.
template <class V, class Array>
solve_report solve_scaled(const solver_entry& solver, linear_system<V> system, cview<V> b, view<V> x, V scale,
                          solve_options o) {
  host_array<V> scaled(b.size), guess(x.size);
  for (index_t i = 0; i < b.size; ++i) scaled[i] = b[i] * scale;
  for (index_t i = 0; i < x.size; ++i) guess[i] = x[i] * scale;
  o.atol *= double(scale);
  if (o.monitor)
    o.monitor = [monitor = o.monitor, scale](const progress& p, cview<double> scaled_x) {
      host_array<double> own(scaled_x.size);
      std::ranges::transform(scaled_x, own.begin(), [&](double v) { return v / double(scale); });
      return monitor(p, as_cview(own));
    };
  Array device_b(scaled), device_x(guess);
  system.b = as_cview(device_b);
  system.x = as_view(device_x);
  solve_report report = call(solver, system, o);
  guess = host_array<V>(device_x);
  if (std::ranges::any_of(guess, [&](V v) { return !std::isfinite(v / scale); })) { // x stays the first guess
    if (report.why != status::nan) report.message = "the answer is too large for this precision: scale b";
    report.why = status::nan;
    report.relative_residual = std::numeric_limits<double>::quiet_NaN();
    return report;
  }
  bool exact = true;
  for (index_t i = 0; i < x.size; ++i) {
    x[i] = guess[i] / scale;
    exact = exact && x[i] * scale == guess[i];
    guess[i] = x[i] * scale;
  }
  if (exact || report.why == status::nan) return report;
  double norm_b = 0;
  for (const V v : scaled) norm_b += double(v) * double(v);
  norm_b = std::sqrt(norm_b);
  const double norm = residual_norm<V, Array>(system.a, scaled, guess);
  report.relative_residual = norm / norm_b;
  if (report.why == status::converged && !(norm <= std::max(o.rtol * norm_b, o.atol))) {
    report.why = status::stagnated;
    report.message = fmt::format("the answer is so small that this precision holds it with a relative residual of "
                                 "{:.3e} only: scale b",
                                 report.relative_residual);
  }
  return report;
}

} // namespace

template <class V>
solve_report run_on_host_vectors(const solver_entry& method, const linear_system<V>& system, const solve_options& o) {
  const V scale = safe_scale<V>(largest(system.b));
  if (o.where.is_gpu()) return solve_scaled<V, gpu_array<V>>(method, system, system.b, system.x, scale, o);
  if (scale != V(1)) return solve_scaled<V, host_array<V>>(method, system, system.b, system.x, scale, o);
  return call(method, system, o);
}

template <class V> bool needs_scale(cview<V> b) { return safe_scale<V>(largest(b)) != V(1); }

template <class V>
std::optional<solve_report> run_on_gpu_vectors(const solver_entry& method, const linear_system<V>& system,
                                               const solve_options& o) {
  const double size = largest_on_gpu(system.b);
  const bool plain = size > 0 && std::isfinite(size) && std::isfinite(largest_on_gpu(as_cview(system.x)));
  if (!plain || safe_scale<V>(size) != V(1)) return {};
  return call(method, system, o);
}

template <class V> std::string not_finite(cview<V> v, const char* whose) {
  for (index_t i = 0; i < v.size; ++i)
    if (!std::isfinite(v[i])) return fmt::format("iteration 0: element {} of {} is {}", i + 1, whose, double(v[i]));
  return {};
}

template <class V> double residual_of_triplets(const coo<V>& a, cview<V> b, cview<V> x) {
  const double size = largest(b);
  std::vector<double> r(static_cast<std::size_t>(b.size));
  double squares = 0, squares_b = 0;
  for (index_t i = 0; i < b.size; ++i) {
    r[i] = double(b[i]) / size;
    squares_b += r[i] * r[i];
  }
  for (index_t k = 0; k < a.nnz(); ++k) r[a.row[k]] -= double(a.val[k]) * (double(x[a.col[k]]) / size);
  for (const double ri : r) squares += ri * ri;
  return std::sqrt(squares / squares_b);
}

template solve_report run_on_host_vectors(const solver_entry&, const linear_system<double>&, const solve_options&);
template solve_report run_on_host_vectors(const solver_entry&, const linear_system<float>&, const solve_options&);
template bool needs_scale(cview<double>);
template bool needs_scale(cview<float>);
template std::optional<solve_report> run_on_gpu_vectors(const solver_entry&, const linear_system<double>&,
                                                        const solve_options&);
template std::optional<solve_report> run_on_gpu_vectors(const solver_entry&, const linear_system<float>&,
                                                        const solve_options&);
template std::string not_finite(cview<double>, const char*);
template std::string not_finite(cview<float>, const char*);
template double residual_of_triplets(const coo<double>&, cview<double>, cview<double>);
template double residual_of_triplets(const coo<float>&, cview<float>, cview<float>);

} // namespace furrow
