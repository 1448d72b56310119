// SPDX-License-Identifier: BSD-3-Clause
#include "run.hpp"

#include "coordinates.hpp"
#include "largest.hpp"

#include "backends/cpu/all_finite.hpp"
#include "backends/cpu/parallel.hpp"
#include "core/check.hpp"

#include <furrow/storage.hpp>
#include <furrow/value.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace furrow {

#if !FURROW_HAS_GPU
template <class V> double largest_on_gpu(cview<V>) { throw error(fault::device, "this build has no GPU part"); }
template <class V> double largest_row_sum_on_gpu(const any_operator<V>&) { return largest_on_gpu(cview<V>()); }
template double largest_row_sum_on_gpu(const any_operator<double>&);
template double largest_row_sum_on_gpu(const any_operator<float>&);
#endif

void accept_first_guess(solve_report& report, double rtol) {
  const bool refused =
      report.why == status::not_positive_definite || report.why == status::singular || report.why == status::breakdown;
  if (!refused || report.iterations > 0 || !(report.relative_residual <= rtol)) return;
  report.why = status::converged;
  report.message = "converged in 0 iterations: the first guess is near enough; " + report.message;
  report.history = {report.relative_residual}, report.history_seconds = {0};
}

namespace {

/// The largest of f(part) over the parts of a vector, by all threads.
template <class V, class F> double largest_of_parts(cview<V> v, F f) {
  const index_t parts = std::clamp<index_t>(v.size / (1 << 15), 1, cpu::thread_count());
  std::vector<double> of_part(static_cast<std::size_t>(parts));
  cpu::for_each_task(parts, [&](index_t k) {
    const index_t first = cpu::part_begin(v.size, parts, k);
    of_part[static_cast<std::size_t>(k)] = f(cview<V>{v.data + first, cpu::part_begin(v.size, parts, k + 1) - first});
  });
  return std::ranges::max(of_part);
}

template <class V> double largest_by_threads(cview<V> b) {
  return largest_of_parts(b, [](cview<V> part) {
    double size = 0;
    for (const V v : part) size = std::max(size, std::abs(double(v)));
    return size;
  });
}

/// A power of two by which b is multiplied so that squares of its elements neither overflow nor vanish; mostly 1.
template <class V> V safe_scale(double size) {
  constexpr bool wide = is_wide<V>;
  constexpr double low = wide ? 1e-100 : 1e-20, high = wide ? 1e100 : 1e20;
  constexpr int most = wide ? 1000 : 120; // the scale itself stays in the normal range
  if (size >= low && size <= high) return V(1);
  return static_cast<V>(std::ldexp(1.0, std::clamp(-std::ilogb(size), -most, most)));
}

template <class V>
solve_report call(const solver_entry& solver, const linear_system<V>& system, const solve_options& o) {
  return solver.runner<V>()(o.where, system, o);
}

/// |b - A x|^2 on the operator's device, of its rows.
template <class V, class Array>
double residual_squares(const any_operator<V>& a, const host_array<V>& b, const host_array<V>& x) {
  const Array device_x(x);
  Array device_r(b);
  a.apply(V(-1), as_cview(device_x), V(1), as_view(device_r));
  double squares = 0;
  for (const V r : host_array<V>(device_r)) squares += double(r) * double(r);
  return squares;
}

/// Of b, in the scaling of it. Estimates are of the system without them.
void warn_of_lost_elements(solve_report& report) {
  std::string text =
      "elements of b are so much smaller than its largest one that they vanish beside it, and x may be "
      "wrong where they count: divide each row of A and its element of b by the largest entry of the row";
  if (!report.warning.empty()) text += "; " + report.warning;
  report.warning = std::move(text);
  report.error_estimate = 0;
}

/// Solves s A x = s b with a power of two s; x comes back in its own units. An answer that leaves the range of V on
/// the way back is not said to be one.
template <class V, class Array>
solve_report solve_scaled(const solver_entry& solver, linear_system<V> system, cview<V> b, view<V> x, V scale,
                          solve_options o) {
  host_array<V> scaled(b.size), guess(x.size);
  const auto each = [](index_t n, auto f) {
    cpu::for_each_range(n, 1 << 15, [&](index_t first, index_t last) {
      for (index_t i = first; i < last; ++i) f(i);
    });
  };
  std::atomic<bool> whole = true;
  each(b.size, [&](index_t i) {
    scaled[i] = b[i] * scale;
    if (scaled[i] / scale != b[i]) whole = false;
  });
  each(x.size, [&](index_t i) { guess[i] = x[i] * scale; });
  o.atol *= double(scale);
  tell_of(o, [scale](cview<double> scaled_x) {
    host_array<double> own(scaled_x.size);
    std::ranges::transform(scaled_x, own.begin(), [scale](double v) { return v / double(scale); });
    return own;
  });
  Array device_b(scaled), device_x(guess);
  system.b = as_cview(device_b);
  system.x = as_view(device_x);
  solve_report report = call(solver, system, o);
  const auto everywhere = [&](bool mine) { return system.ranks ? !system.ranks->any(!mine) : mine; };
  if (!everywhere(whole)) warn_of_lost_elements(report);
  guess = host_array<V>(device_x);
  std::atomic<bool> finite = true, exact = true;
  each(x.size, [&](index_t i) {
    const V own = guess[i] / scale;
    if (!std::isfinite(own)) finite = false;
    if (own * scale != guess[i]) exact = false;
  });
  const auto over_all = [&](double mine) { return system.ranks ? system.ranks->sum(mine) : mine; };
  if (!everywhere(finite)) { // x stays the first guess
    if (report.why != status::nan) report.message = "the answer is too large for this precision: scale b";
    report.why = status::nan;
    report.relative_residual = std::numeric_limits<double>::quiet_NaN();
    return report;
  }
  if (everywhere(exact) || report.why == status::nan) {
    each(x.size, [&](index_t i) { x[i] = guess[i] / scale; });
    return report;
  }
  // What x loses as a subnormal number may be more than what was gained: x stays the first guess then.
  const auto norm_of = [&](const host_array<V>& scaled_x) {
    return std::sqrt(over_all(residual_squares<V, Array>(system.a, scaled, scaled_x)));
  };
  double norm_b = 0;
  for (const V v : scaled) norm_b += double(v) * double(v);
  norm_b = std::sqrt(over_all(norm_b));
  each(x.size, [&](index_t i) { guess[i] = guess[i] / scale * scale; });
  const double norm = norm_of(guess);
  host_array<V> first(x.size);
  each(x.size, [&](index_t i) { first[i] = x[i] * scale; });
  const double norm_first = norm_of(first);
  const bool worse = norm > norm_first;
  if (!worse) each(x.size, [&](index_t i) { x[i] = guess[i] / scale; });
  const double had = std::exchange(report.relative_residual, (worse ? norm_first : norm) / norm_b);
  const bool missed = report.why == status::converged && !(norm <= std::max(o.rtol * norm_b, o.atol));
  if (missed || (report.why != status::converged && norm / norm_b > 2 * had)) {
    if (missed) report.why = status::stagnated;
    report.message = fmt::format("the answer is so small that this precision holds it with a relative residual of "
                                 "{:.3e} only{}: scale b",
                                 norm / norm_b, worse ? ", and x stays the first guess" : "");
  }
  return report;
}

} // namespace

void check_options(const solve_options& o) {
  check(o.rtol >= 0 && o.atol >= 0 && std::isfinite(o.rtol) && std::isfinite(o.atol), fault::usage,
        "rtol = {} and atol = {} must be finite and not negative", o.rtol, o.atol);
  check(o.rtol < 1, fault::usage, "rtol = {} must be below 1: x = 0 has a relative residual of 1", o.rtol);
  check(o.rtol > 0 || o.atol > 0, fault::usage, "rtol and atol are both 0: no computed answer is that good");
  check(o.max_iterations >= 0 && o.outlook >= 0, fault::usage, "max_iterations and outlook must not be negative");
  check(o.monitor_every >= 1, fault::usage, "monitor_every = {} must be at least 1", o.monitor_every);
  check(o.watch_every >= 0, fault::usage, "watch_every = {} must not be negative", o.watch_every);
  check(o.monitor_seconds >= 0, fault::usage, "monitor_seconds = {} must not be negative", o.monitor_seconds);
  check(o.time_limit >= 0, fault::usage, "time_limit = {} is no number of seconds", o.time_limit);
  check(o.expected_products >= 0, fault::usage, "expected_products = {} is no number of products", o.expected_products);
  check_coordinates(o);
}

template <class V>
solve_report run_on_host_vectors(const solver_entry& method, const linear_system<V>& system, const solve_options& o) {
  const double size = largest_by_threads(system.b);
  const V scale = safe_scale<V>(system.ranks ? system.ranks->max(size) : size);
  if (o.where.is_gpu()) return solve_scaled<V, gpu_array<V>>(method, system, system.b, system.x, scale, o);
  if (scale != V(1)) return solve_scaled<V, host_array<V>>(method, system, system.b, system.x, scale, o);
  return call(method, system, o);
}

template <class V> bool needs_scale(cview<V> b) { return safe_scale<V>(largest_by_threads(b)) != V(1); }

template <class V> bool are_plain_on_gpu(cview<V> b, cview<V> x) {
  const double size = largest_on_gpu(b);
  return size > 0 && std::isfinite(size) && std::isfinite(largest_on_gpu(x)) && safe_scale<V>(size) == V(1);
}

template <class V>
std::optional<solve_report> run_on_gpu_vectors(const solver_entry& method, const linear_system<V>& system,
                                               const solve_options& o) {
  if (!are_plain_on_gpu(system.b, as_cview(system.x))) return {};
  return call(method, system, o);
}

template <class V> std::string not_finite(cview<V> v, const char* whose, index_t first) {
  if (largest_of_parts(v, [](cview<V> part) { return cpu::all_finite(part) ? 0.0 : 1.0; }) == 0) return {};
  for (index_t i = 0; i < v.size; ++i)
    if (!std::isfinite(v[i]))
      return fmt::format("iteration 0: element {} of {} is {}", first + i + 1, whose, double(v[i]));
  return {};
}

template <class V> double residual_of_triplets(const coo<V>& a, cview<V> b, cview<V> x) {
  const double size = largest_by_threads(b);
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
template bool are_plain_on_gpu(cview<double>, cview<double>);
template bool are_plain_on_gpu(cview<float>, cview<float>);
template std::optional<solve_report> run_on_gpu_vectors(const solver_entry&, const linear_system<double>&,
                                                        const solve_options&);
template std::optional<solve_report> run_on_gpu_vectors(const solver_entry&, const linear_system<float>&,
                                                        const solve_options&);
template std::string not_finite(cview<double>, const char*, index_t);
template std::string not_finite(cview<float>, const char*, index_t);
template double residual_of_triplets(const coo<double>&, cview<double>, cview<double>);
template double residual_of_triplets(const coo<float>&, cview<float>, cview<float>);

} // namespace furrow
