// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/entry.hpp"
#include "symmetry.hpp"
#include "tables.hpp"

#include <furrow/storage.hpp>

#include <fmt/format.h>

#include <chrono>
#include <cmath>

namespace furrow {

std::string_view name(status s) {
  switch (s) {
  case status::converged:
    return "converged";
  case status::max_iterations:
    return "max_iterations";
  case status::not_positive_definite:
    return "not_positive_definite";
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
  check(a.shape.rows == a.shape.cols, fault::input,
        fmt::format("the matrix is {} x {}: only a square system can be solved", a.shape.rows, a.shape.cols));
  check(b.size == a.shape.rows, fault::usage,
        fmt::format("the right-hand side has {} elements for a matrix of {} rows", b.size, a.shape.rows));
  check(x.size == a.shape.rows, fault::usage,
        fmt::format("x has {} elements for a matrix of {} rows", x.size, a.shape.rows));
  check(!overlap(as_cview(x), b), fault::usage, "x and b share memory: give each its own");
  check(o.rtol >= 0 && o.atol >= 0 && std::isfinite(o.rtol) && std::isfinite(o.atol), fault::usage,
        fmt::format("rtol = {} and atol = {} must be finite and not negative", o.rtol, o.atol));
  check(o.rtol > 0 || o.atol > 0, fault::usage, "rtol and atol are both 0: no computed answer is that good");
  check(o.max_iterations >= 0, fault::usage, "max_iterations must not be negative");
}

double largest(cview<double> b) {
  double m = 0;
  for (const double v : b) m = std::abs(v) > m ? std::abs(v) : m;
  return m;
}
double largest(cview<float> b) {
  double m = 0;
  for (const float v : b) m = std::abs(double(v)) > m ? std::abs(double(v)) : m;
  return m;
}

/// A power of two by which b is multiplied so that squares of its elements neither overflow nor vanish; mostly 1.
double safe_scale(double size, double low, double high) {
  if (!(size > 0) || !std::isfinite(size) || (size >= low && size <= high)) return 1;
  return std::ldexp(1.0, -std::ilogb(size));
}

template <class V, class Array>
solve_report run(const solver_entry& solver, const linear_system<V>& parts, cview<V> b, view<V> x,
                 const solve_options& o) {
  const double size = largest(b);
  const V scale = static_cast<V>(sizeof(V) == 8 ? safe_scale(size, 1e-100, 1e100) : safe_scale(size, 1e-20f, 1e20f));
  linear_system<V> system = parts;
  solve_report report;
  const auto solve = [&](cview<V> rhs, view<V> answer) {
    system.b = rhs;
    system.x = answer;
    if constexpr (sizeof(V) == 8) report = solver.f64(o.where, system, o);
    else report = solver.f32(o.where, system, o);
  };
  if (std::is_same_v<Array, host_array<V>> && scale == V(1)) {
    solve(b, x);
    return report;
  }
  host_array<V> scaled(b.size), guess(x.size);
  for (index_t i = 0; i < b.size; ++i) scaled[i] = b[i] * scale;
  for (index_t i = 0; i < x.size; ++i) guess[i] = x[i] * scale;
  solve_options unscaled = o;
  Array device_b(scaled), device_x(guess);
  solve(as_cview(device_b), as_view(device_x));
  guess = host_array<V>(device_x);
  for (index_t i = 0; i < x.size; ++i) x[i] = guess[i] / scale;
  return report;
}

} // namespace

template <class V> solve_report solve(coo<V> a, cview<V> b, view<V> x, const solve_options& o) {
  check_arguments(a, b, x, o);
  const double began = now();
  const solver_entry& solver = find_solver(o.solver);
  const preconditioner_entry& preconditioner = find_preconditioner(o.precond);
  const stats s = measure(a);
  const choice c = choose(s, precision_of<V>, o.where, o.format, o.kernel);
  select_device(o.where);

  solve_report report;
  const auto stop = [&](status why, std::string message) {
    report.why = why;
    report.message = std::move(message);
    report.format = c.format->name;
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
  if (solver.needs_symmetry) check_symmetry(a);
  if (size_b == 0) { // the exact answer, without a division by |b| = 0
    std::fill(x.begin(), x.end(), V(0));
    report.history = {0};
    return stop(status::converged, "b is zero, so x is zero");
  }
  try {
    const auto m = preconditioner.make<V>()(a, o.where);
    const auto op = make<V>(c, o.where, std::move(a));
    linear_system<V> parts{*op, *m, b, x, s.norm_inf, s.row_max};
    const double ready = now();
    report =
        o.where.is_gpu() ? run<V, gpu_array<V>>(solver, parts, b, x, o) : run<V, host_array<V>>(solver, parts, b, x, o);
    report.setup_seconds = ready - began;
    report.kernel = op->kernel();
    report.stored_bytes =
        op->stored_bytes() + m->stored_bytes() + double(sizeof(V)) * double(b.size) * (2 + solver.vectors);
  } catch (const refusal& r) {
    return stop(r.why, r.message);
  }
  report.format = c.format->name;
  report.reason = c.reason;
  return report;
}

template solve_report solve(coo<double>, cview<double>, view<double>, const solve_options&);
template solve_report solve(coo<float>, cview<float>, view<float>, const solve_options&);

memory_estimate estimate_solve_memory(const stats& s, precision p, const solve_options& o) {
  const choice c = choose(s, p, o.where, o.format, o.kernel);
  const double vector = bytes_of(p) * double(s.shape.rows);
  const double stored = c.format->stored_bytes(s, p);
  const double vectors = vector * (find_solver(o.solver).vectors + find_preconditioner(o.precond).vectors);
  const double triplets = (8 + bytes_of(p)) * double(s.nnz);
  const double offsets = stored - (4 + bytes_of(p)) * double(s.nnz); // built while the triplets are still there
  memory_estimate e;
  e.host = 2 * vector; // b and x
  if (o.where.is_gpu()) {
    e.gpu = stored + vectors + 2 * vector;
    e.host += std::max(triplets + std::max(offsets, 0.0), 2 * vector);
  } else {
    e.host +=
        std::max(triplets + std::max(offsets, 0.0) + vector * find_preconditioner(o.precond).vectors, stored + vectors);
  }
  return e;
}

} // namespace furrow
