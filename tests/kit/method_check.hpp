// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "counting.hpp"
#include "guarded.hpp"
#include "matrices.hpp"
#include "options.hpp"
#include "random.hpp"
#include "solve_check.hpp"

#include "backends/cpu/space.hpp"
#include "solvers/method.hpp"

#include <furrow/formats.hpp>
#include <furrow/generate.hpp>

/// What the tests of every Krylov method ask.
namespace furrow::kit {

template <class V>
solve_options solver_options(std::string solver, std::string precond, double rtol = sizeof(V) == 8 ? 1e-10 : 1e-4) {
  return kit::options(std::move(solver), std::move(precond), rtol);
}

/// Diagonally dominant, no symmetry in pattern or values, diagonal entries of both signs.
inline coo<double> lopsided(index_t n, std::uint64_t seed) {
  const auto r = random_vector<double>(n * n, seed);
  return from_function(n, [&](index_t i, index_t j) {
    if (i == j) return (i % 2 ? 1.0 : -1.0) * double(n);
    return (i + 3 * j) % 4 == 0 ? r[i * n + j] : 0.0;
  });
}

/// Matrices without symmetry, of 1 to 50 rows, with no M, a diagonal one and a general one.
template <class V> void check_lopsided_systems(const std::string& solver) {
  for (const char* m : {"none", "jacobi", "ilu"})
    for (const index_t n : {1, 2, 3, 10, 50}) {
      const auto a = lopsided(n, 3);
      const auto expected = random_vector<V>(n, 4);
      const auto s = solve_honestly<V>(a, times<V>(a, expected), solver_options<V>(solver, m));
      ASSERT_EQ(s.report.why, status::converged) << m << ", " << n << ": " << s.report.message;
      for (index_t i = 0; i < n; ++i) ASSERT_NEAR(s.x[i], expected[i], sizeof(V) == 8 ? 1e-8 : 1e-2);
    }
}

/// Positive definite systems against Cholesky's answer.
template <class V> void check_against_cholesky(const std::string& solver) {
  for (const char* m : {"none", "jacobi", "ic0"})
    for (const index_t n : {1, 2, 3, 10, 40}) {
      SCOPED_TRACE(std::string(m) + ", n = " + std::to_string(n));
      const auto r = random_vector<double>(n * n, static_cast<std::uint64_t>(n));
      const auto a = from_function(n, [&](index_t i, index_t j) { // R'R + I
        double sum = i == j;
        for (index_t k = 0; k < n; ++k) sum += r[k * n + i] * r[k * n + j];
        return sum;
      });
      const auto b = random_vector<V>(n, 7);
      const auto s = solve_honestly<V>(a, b, solver_options<V>(solver, m));
      ASSERT_EQ(s.report.why, status::converged) << s.report.message;
      EXPECT_LE(s.report.iterations, 3 * n + 5);
      host_array<double> wide(n);
      std::copy(b.begin(), b.end(), wide.begin());
      const auto exact = cholesky_solve(a, as_cview(wide));
      EXPECT_LE(relative_error(as_cview(s.x), exact), sizeof(V) == 8 ? 1e-7 : 5e-2);
    }
}

/// Steps for A x = A * ones without a preconditioner to 1e-10, beside those of another implementation.
inline void check_steps(const std::string& solver, const char* spec, double expected, double margin) {
  const auto a = generate(spec).a;
  auto o = solver_options<double>(solver, "none");
  o.format = "csr";
  const auto s = solve_honestly<double>(a, times(a, host_array<double>(a.shape.rows, 1.0)), o);
  EXPECT_EQ(s.report.why, status::converged) << spec << ": " << s.report.message;
  EXPECT_NEAR(double(s.report.iterations), expected, margin) << spec;
  EXPECT_EQ(s.report.restarts, 0) << spec;
}

/// Of a method for symmetric matrices: no more steps with a stored M than without.
template <class V> void check_stored_preconditioners(const std::string& solver) {
  const auto a = generate("poisson2d:40").a;
  const auto b = random_vector<V>(a.shape.rows, 5);
  const auto plain = solve_honestly<V>(a, b, solver_options<V>(solver, "none"));
  for (const char* m : {"ic0", "fsai", "amg"}) {
    const auto s = solve_honestly<V>(a, b, solver_options<V>(solver, m));
    EXPECT_EQ(s.report.why, status::converged) << m << ": " << s.report.message;
    EXPECT_LE(s.report.iterations, plain.report.iterations) << m;
  }
}

/// Of a method whose residuals are the least of the Krylov space: they never grow, and are below those of cg.
inline void check_least_residuals(const std::string& solver) {
  const auto a = generate("anisotropic2d:40:0.01").a;
  const auto b = random_vector<double>(a.shape.rows, 6);
  auto o = solver_options<double>(solver, "none", 1e-9);
  o.history = true;
  const auto s = solve_honestly<double>(a, b, o);
  o.solver = "cg";
  const auto cg = solve_honestly<double>(a, b, o);
  ASSERT_EQ(s.report.why, status::converged) << s.report.message;
  ASSERT_LE(s.report.history.size(), cg.report.history.size());
  for (std::size_t k = 1; k < s.report.history.size(); ++k) {
    EXPECT_LE(s.report.history[k], s.report.history[k - 1] * (1 + 1e-12)) << k;
    EXPECT_LE(s.report.history[k], cg.report.history[k] * (1 + 1e-6)) << k;
  }
}

template <class V> void check_same_bits(const std::string& solver, const char* spec) {
  const auto a = generate(spec).a;
  const auto b = random_vector<V>(a.shape.rows, 11);
  auto o = solver_options<V>(solver, "jacobi");
  o.rtol = 1e-3;
  host_array<V> first;
  for (const int count : {1, 1, 2, 3}) {
    set_threads(count);
    auto s = solve_honestly<V>(a, b, o);
    ASSERT_EQ(s.report.why, status::converged) << s.report.message;
    if (first.empty()) first = std::move(s.x);
    else {
      EXPECT_TRUE(same_bits(as_cview(first), as_cview(s.x))) << count;
    }
  }
  set_threads(0);
}

/// A periodic Laplacian has the null vector 1, and b a part along it.
template <class V> void check_inconsistent(const std::string& solver) {
  const auto a = laplacian(20, 20, 1, true, 0);
  auto b = random_vector<V>(400, 7);
  for (V& v : b) v += 1;
  auto o = solver_options<V>(solver, "none");
  o.max_iterations = 2000;
  const auto s = solve_honestly<V>(a, b, o);
  EXPECT_NE(s.report.why, status::converged) << s.report.message;
  EXPECT_LE(s.report.relative_residual, 1 + 1e-14);
}

/// Ends as `why` says, with `words` in the sentence, and x no worse than the first guess.
template <class V>
void check_end(const coo<double>& a, const host_array<V>& b, const solve_options& o, status why, const char* words) {
  const auto s = solve_honestly<V>(a, b, o);
  EXPECT_EQ(s.report.why, why) << s.report.message;
  EXPECT_NE(s.report.message.find(words), std::string::npos) << s.report.message;
}

/// What a step of Method costs: passes, the bytes that it states, and waits. `general` hides what M is.
template <class Method, class V>
void check_cost(const char* spec, const char* precond, bool general, double passes, std::string_view parameters = {},
                index_t waits = 0) {
  SCOPED_TRACE(std::string(precond) + (general ? ", hidden" : ""));
  constexpr index_t steps = 8;
  const auto a = as_precision<V>(generate(spec).a);
  traffic seen;
  std::unique_ptr<any_preconditioner<V>> m = make_preconditioner<V>(precond, a, device{}, {{true, true}, {true, true}});
  if (general) m = std::make_unique<general_preconditioner<V>>(std::move(m), seen);
  const counting_operator<V> op(find_format("csr").cpu.make<V>()(a, {}, "auto"), seen);
  const auto b = random_vector<V>(a.shape.rows, 3);
  host_array<V> x(a.shape.rows, V(0));
  cpu::space<V> inner;
  counting_space<cpu::space<V>> space(inner, seen);
  solve_options o;
  o.rtol = 1e-30;
  o.max_iterations = steps;
  const stats s = measure(a);
  const auto report =
      run_in<Method>(space, {op, *m, as_cview(b), as_view(x), s.norm_inf, s.norm_inf, s.row_max, parameters}, o);
  EXPECT_EQ(report.iterations, steps) << report.message;
  EXPECT_EQ(double(seen.passes_inside_loops) / steps, passes);
  EXPECT_EQ(seen.bytes_inside_loops / steps, report.bytes_per_iteration);
  EXPECT_EQ(seen.waits_inside_loops, waits * steps);
}

} // namespace furrow::kit
