// SPDX-License-Identifier: BSD-3-Clause
#include "backends/cpu/parallel.hpp"
#include "core/check.hpp"
#include "core/single_precision.hpp"
#include "solvers/entry.hpp"
#include "symmetry.hpp"
#include "tables.hpp"

#include <furrow/storage.hpp>
#include <furrow/tune.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <limits>
#include <vector>

namespace furrow {

std::string_view name(status s) {
  switch (s) {
  case status::converged:
    return "converged";
  case status::max_iterations:
    return "max_iterations";
  case status::not_positive_definite:
    return "not_positive_definite";
  case status::singular:
    return "singular";
  case status::breakdown:
    return "breakdown";
  case status::nan:
    return "nan";
  case status::stagnated:
    return "stagnated";
  case status::diverged:
    return "diverged";
  case status::interrupted:
    return "interrupted";
  }
  return "unknown";
}

namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

template <class V> void check_arguments(const coo<V>& a, cview<V> b, view<V> x, const solve_options& o) {
  check_triplets(a);
  check(a.shape.rows == a.shape.cols, fault::input, "the matrix is {} x {}: only a square system can be solved",
        a.shape.rows, a.shape.cols);
  check(b.size == a.shape.rows, fault::usage, "the right-hand side has {} elements for a matrix of {} rows", b.size,
        a.shape.rows);
  check(x.size == a.shape.rows, fault::usage, "x has {} elements for a matrix of {} rows", x.size, a.shape.rows);
  check((b.data && x.data) || b.empty(), fault::usage, "x or b points nowhere, but has {} elements", b.size);
  check(!overlap(as_cview(x), b), fault::usage, "x and b share memory: give each its own");
  check(o.rtol >= 0 && o.atol >= 0 && std::isfinite(o.rtol) && std::isfinite(o.atol), fault::usage,
        "rtol = {} and atol = {} must be finite and not negative", o.rtol, o.atol);
  check(o.rtol < 1, fault::usage, "rtol = {} must be below 1: x = 0 has a relative residual of 1", o.rtol);
  check(o.rtol > 0 || o.atol > 0, fault::usage, "rtol and atol are both 0: no computed answer is that good");
  check(o.max_iterations >= 0, fault::usage, "max_iterations must not be negative");
}

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
  Array device_b(scaled), device_x(guess);
  system.b = as_cview(device_b);
  system.x = as_view(device_x);
  solve_report report = call(solver, system, o);
  guess = host_array<V>(device_x);
  bool exact = true, finite = true;
  for (index_t i = 0; i < x.size; ++i) {
    x[i] = guess[i] / scale;
    exact = exact && x[i] * scale == guess[i];
    finite = finite && std::isfinite(x[i]);
    guess[i] = x[i] * scale;
  }
  if (exact || report.why == status::nan) return report;
  if (!finite) {
    report.why = status::nan;
    report.message = "the answer is too large for this precision: scale b";
    report.relative_residual = std::numeric_limits<double>::quiet_NaN();
    return report;
  }
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

template <class V, class Array>
solve_report run(const solver_entry& solver, linear_system<V> system, double size, const solve_options& o) {
  const V scale = safe_scale<V>(size);
  if (std::is_same_v<Array, host_array<V>> && scale == V(1)) return call(solver, system, o);
  return solve_scaled<V, Array>(solver, system, system.b, system.x, scale, o);
}

/// What `solve` takes with that choice.
memory_estimate estimate(const choice& c, const stats& s, precision p, const solve_options& o) {
  const double vector = bytes_of(p) * double(s.shape.rows);
  const layout l = c.format->lay_out(s, p, c.parameters);
  const double stored = l.bytes, making = bytes_to_make(l, s, p);
  const double vectors = vector * (find_solver(o.solver).vectors + find_preconditioner(o.precond).vectors);
  memory_estimate e;
  e.host = 2 * vector; // b and x
  if (o.where.is_gpu()) {
    e.gpu = stored + vectors + 2 * vector;
    e.host += std::max(making, 2 * vector);
  } else {
    e.host += std::max(making + vector * find_preconditioner(o.precond).vectors, stored + vectors);
  }
  return e;
}

/// Throws `fault::memory` where the solve would need more than there is besides the triplets, b and x, which are there.
template <class V> void check_memory(const memory_estimate& needed, const stats& s, const solve_options& o) {
  const double held = (8 + double(sizeof(V))) * double(s.nnz) + 2 * double(sizeof(V)) * double(s.shape.rows);
  const auto must_fit = [](double bytes, std::int64_t available, std::string_view where) {
    check(bytes <= double(available), fault::memory,
          "solving needs {:.3g} GB more memory on the {}, of which {:.3g} GB can be had", bytes * 1e-9, where,
          double(available) * 1e-9);
  };
  must_fit(needed.host - held, available_host_memory(), "host");
  if (o.where.is_gpu()) must_fit(needed.gpu, available_gpu_memory(o.where.ordinal), "GPU");
}

/// |b - A x| / |b| for a solve that ends before it starts. Serial.
template <class V> double residual_at_first(const coo<V>& a, cview<V> b, cview<V> x, double size) {
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

/// Whether a diagonal speaks for solving -A x = -b: no entry is positive and some are negative.
template <class V> bool has_negative_diagonal(const coo<V>& a) {
  std::atomic<bool> negative = false, positive = false;
  cpu::for_each_range(a.nnz(), 1 << 16, [&](index_t first, index_t last) {
    for (index_t k = first; k < last; ++k) {
      if (a.row[k] != a.col[k]) continue;
      if (a.val[k] < 0) negative = true;
      if (a.val[k] > 0) positive = true;
    }
  });
  return negative && !positive;
}

/// What a solve in single precision takes for a system of doubles: their b and x, and both values for a moment.
memory_estimate beside_doubles(memory_estimate e, index_t rows, index_t nnz) {
  const double vectors = 16 * double(rows);
  e.host = std::max(e.host, 20 * double(nnz)) + vectors;
  return e;
}

/// The largest column sum of |A|.
template <class V> double largest_column_sum(const coo<V>& a) {
  std::vector<double> sum(static_cast<std::size_t>(a.shape.cols), 0.0);
  for (index_t k = 0; k < a.nnz(); ++k) sum[a.col[k]] += std::abs(double(a.val[k]));
  return sum.empty() ? 0 : *std::ranges::max_element(sum);
}

/// A system of doubles, solved in single precision. Both sides are multiplied by the power of two that brings the
/// values of A into its range: x stays what it is.
solve_report solve_in_single_precision(coo<double> a, cview<double> b, view<double> x, solve_options o) {
  const int exponent = exponent_for_single_precision(as_cview(a.val));
  host_array<float> narrow_b(b.size), narrow_x(x.size);
  double size = 0;
  for (index_t i = 0; i < b.size; ++i) {
    const double scaled = std::ldexp(b[i], exponent);
    narrow_b[i] = static_cast<float>(scaled);
    check(std::isfinite(narrow_b[i]) || !std::isfinite(b[i]), fault::input,
          "element {} of b = {} is too large for single precision: use f64", i + 1, b[i]);
    size = std::max(size, std::abs(b[i]));
  }
  check(!(size > 0) || !(std::ldexp(size, exponent) < double(std::numeric_limits<float>::min())), fault::input,
        "b has no element beyond {}, which is too small for single precision: use f64", size);
  for (index_t i = 0; i < x.size; ++i) {
    narrow_x[i] = static_cast<float>(x[i]);
    check(std::isfinite(narrow_x[i]) || !std::isfinite(x[i]), fault::input,
          "element {} of the first guess = {} is too large for single precision: use f64", i + 1, x[i]);
  }
  o.atol = std::min(std::ldexp(o.atol, exponent), std::numeric_limits<double>::max());
  if (o.announce)
    o.announce = [announce = o.announce, rows = b.size, nnz = a.nnz()](memory_estimate e) {
      announce(beside_doubles(e, rows, nnz));
    };
  solve_report report = solve(to_single_precision(std::move(a), exponent), as_cview(narrow_b), as_view(narrow_x), o);
  std::copy(narrow_x.begin(), narrow_x.end(), x.begin());
  return report;
}

} // namespace

template <class V> solve_report solve(coo<V> a, cview<V> b, view<V> x, const solve_options& o) {
  check_arguments(a, b, x, o);
  if constexpr (sizeof(V) == 8)
    if (o.values == precision::f32) return solve_in_single_precision(std::move(a), b, x, o);
  const double began = now();
  const solver_entry& solver = find_solver(o.solver);
  const preconditioner_entry& preconditioner = find_preconditioner(o.precond);
  const stats s = measure(a);
  select_device(o.where);
  const wish w{o.format, o.kernel, o.applies};
  choice c = choose(s, precision_of<V>, o.where, w);

  solve_report report;
  report.relative_residual = std::numeric_limits<double>::quiet_NaN(); // until it is known
  const auto stop = [&](status why, std::string message) {
    report.why = why;
    report.message = std::move(message);
    report.format = name_of(c);
    report.kernel = c.kernel;
    report.reason = c.reason;
    report.setup_seconds = now() - began;
    return report;
  };
  if (!s.finite) return stop(status::nan, "iteration 0: the matrix holds a NaN or an infinity");
  const double size_b = largest(b);
  for (index_t i = 0; i < b.size; ++i)
    if (!std::isfinite(b[i]))
      return stop(status::nan, fmt::format("iteration 0: element {} of b is {}", i + 1, double(b[i])));
  for (index_t i = 0; i < x.size; ++i)
    if (!std::isfinite(x[i]))
      return stop(status::nan, fmt::format("iteration 0: element {} of the first guess is {}", i + 1, double(x[i])));
  if (o.tune) c = tune(a, s, o.where, w);
  memory_estimate needed = estimate(c, s, precision_of<V>, o);
  const double guess = largest(as_cview(x)) > 0 ? double(x.size) * sizeof(V) : 0; // is kept
  (o.where.is_gpu() ? needed.gpu : needed.host) += guess;
  check_memory<V>(needed, s, o);
  if (o.announce) o.announce(needed);
  if (solver.needs.symmetric && !o.assume_symmetric) check_symmetry(a);
  if (size_b == 0) { // the exact answer, without a division by |b| = 0
    std::fill(x.begin(), x.end(), V(0));
    report.relative_residual = 0;
    report.history = {0};
    return stop(status::converged, "b is zero, so x is zero");
  }
  std::unique_ptr<any_preconditioner<V>> m;
  try {
    m = preconditioner.make<V>()(a, o.where, solver.needs);
  } catch (const refusal& r) {
    report.relative_residual = residual_at_first(a, b, as_cview(x), size_b);
    return stop(r.why, r.message);
  }
  const double norm_2 = solver.needs.symmetric ? s.norm_inf : std::sqrt(s.norm_inf * largest_column_sum(a));
  const bool opposite = m->what() == any_preconditioner<V>::kind::identity && has_negative_diagonal(a);
  const auto op = make<V>(c, o.where, std::move(a));
  const linear_system<V> system{*op, *m, b, x, s.norm_inf, norm_2, s.row_max};
  const double ready = now();
  report = o.where.is_gpu() ? run<V, gpu_array<V>>(solver, system, size_b, o)
                            : run<V, host_array<V>>(solver, system, size_b, o);
  if (report.why == status::not_positive_definite && opposite)
    report.message += "; its diagonal is negative: solve -A x = -b";
  report.setup_seconds = ready - began;
  report.kernel = op->kernel();
  report.stored_bytes =
      op->stored_bytes() + m->stored_bytes() + double(sizeof(V)) * double(b.size) * (2 + solver.vectors);
  report.format = name_of(c);
  report.reason = c.reason;
  return report;
}

template solve_report solve(coo<double>, cview<double>, view<double>, const solve_options&);
template solve_report solve(coo<float>, cview<float>, view<float>, const solve_options&);

memory_estimate estimate_solve_memory(const stats& s, precision p, const solve_options& o) {
  const memory_estimate e = estimate(choose(s, p, o.where, {o.format, o.kernel, o.applies}), s, p, o);
  return p == precision::f32 && o.values == precision::f32 ? beside_doubles(e, s.shape.rows, s.nnz) : e;
}

} // namespace furrow
