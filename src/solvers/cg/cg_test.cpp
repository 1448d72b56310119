// SPDX-License-Identifier: BSD-3-Clause
// The mathematics of conjugate gradients, through `solve`.
#include "preconditioners/entry.hpp"

#include "kit/guarded.hpp"
#include "kit/hilbert.hpp"
#include "kit/method_check.hpp"
#include "kit/options.hpp"
#include "kit/random.hpp"
#include "kit/sanitized.hpp"
#include "kit/serves.hpp"
#include "kit/solve_check.hpp"

#include <furrow/formats.hpp>
#include <furrow/solver.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace furrow {
namespace {

template <class V> struct cg : testing::Test {
  static solve_options options(std::string precond = "jacobi") {
    return kit::options("cg", std::move(precond), sizeof(V) == 8 ? 1e-10 : 1e-4);
  }
};
using precisions = testing::Types<double, float>;
TYPED_TEST_SUITE(cg, precisions);

/// A = R'R + I with R random: dense, positive definite.
coo<double> random_spd(index_t n, std::uint64_t seed) {
  const auto r = kit::random_vector<double>(n * n, seed);
  return kit::from_function(n, [&](index_t i, index_t j) {
    double sum = i == j;
    for (index_t k = 0; k < n; ++k) sum += r[k * n + i] * r[k * n + j];
    return sum;
  });
}

TYPED_TEST(cg, agrees_with_cholesky_for_every_format_and_preconditioner) {
  using V = TypeParam;
  for (const format_entry* f : formats())
    for (const preconditioner_entry* m : preconditioner_entries())
      for (const index_t n : {1, 2, 3, 10, 40}) {
        SCOPED_TRACE(std::string(f->name) + ", " + std::string(m->name) + ", n = " + std::to_string(n));
        if (!m->keeps.symmetric) continue;
        auto o = this->options(std::string(m->name));
        o.format = f->name;
        const auto a = random_spd(n, static_cast<std::uint64_t>(n));
        if (!kit::serves(*f, a)) continue;
        const auto b = kit::random_vector<V>(n, 7);
        const auto s = kit::solve_honestly<V>(a, b, o);
        ASSERT_EQ(s.report.why, status::converged) << s.report.message;
        EXPECT_EQ(s.report.format, f->name);
        EXPECT_LE(s.report.iterations, 3 * n + 5);
        const auto exact = kit::cholesky_solve(
            a, as_cview(host_array<double>(kit::times<double>(kit::diagonal(std::vector<double>(b.begin(), b.end())),
                                                              host_array<double>(n, 1.0)))));
        EXPECT_LE(kit::relative_error(as_cview(s.x), exact), sizeof(V) == 8 ? 1e-7 : 5e-2);
      }
}

TYPED_TEST(cg, finds_eigenvectors_of_the_laplacian_in_one_step) {
  using V = TypeParam;
  const index_t n = 31;
  const auto a = kit::laplacian(n, n);
  for (const index_t k : {1, 5, 31}) {
    const double step = double(k) * std::numbers::pi / double(n + 1), lambda = 4 - 4 * std::cos(step);
    host_array<V> b(n * n);
    for (index_t i = 0; i < n * n; ++i)
      b[i] = static_cast<V>(std::sin(step * double(i % n + 1)) * std::sin(step * double(i / n + 1)));
    const auto s = kit::solve_honestly<V>(a, b, this->options("none"));
    EXPECT_EQ(s.report.why, status::converged) << s.report.message;
    EXPECT_LE(s.report.iterations, 2);
    for (index_t i = 0; i < n * n; ++i)
      ASSERT_NEAR(double(s.x[i]), double(b[i]) / lambda, (sizeof(V) == 8 ? 1e-9 : 1e-3) / lambda) << i;
  }
}

TYPED_TEST(cg, needs_as_many_steps_as_there_are_eigenvalues) {
  std::vector<double> d(3000);
  for (std::size_t i = 0; i < d.size(); ++i) d[i] = double(1 + i % 5);
  const auto s = kit::solve_honestly<TypeParam>(kit::diagonal(d), host_array<TypeParam>(3000, TypeParam(1)),
                                                this->options("none"));
  EXPECT_EQ(s.report.why, status::converged);
  EXPECT_LE(s.report.iterations, 5 + (sizeof(TypeParam) == 4));
}

TYPED_TEST(cg, reaches_what_was_asked_on_a_laplacian) {
  using V = TypeParam;
  const auto a = kit::laplacian(60, 50);
  const host_array<V> ones(3000, V(1));
  const auto s = kit::solve_honestly<V>(a, kit::times(a, ones), this->options());
  EXPECT_EQ(s.report.why, status::converged);
  EXPECT_GT(s.report.iterations, 50);
  EXPECT_LT(s.report.iterations, 250);
  for (const V v : s.x) ASSERT_NEAR(double(v), 1, sizeof(V) == 8 ? 1e-7 : 5e-1);
}

TYPED_TEST(cg, has_the_same_bits_on_every_run_and_for_every_number_of_threads) {
  using V = TypeParam;
  const auto a = kit::laplacian(60, 60, 20); // enough for several pieces and blocks
  const auto b = kit::random_vector<V>(a.shape.rows, 11);
  for (const format_entry* f : formats()) {
    if (!kit::serves(*f, a)) continue;
    SCOPED_TRACE(f->name);
    auto o = this->options();
    o.format = f->name;
    o.rtol = kit::sanitized() ? 1e-2 : 1e-4; // enough iterations to differ; with sanitizers, to run all loops
    kit::solved<V> first;
    for (const int count : {1, 2, 2, 3}) {
      set_threads(count);
      auto next = kit::solve_honestly<V>(a, b, o);
      ASSERT_EQ(next.report.why, status::converged) << next.report.message;
      if (first.x.empty()) first = std::move(next);
      else {
        EXPECT_TRUE(kit::same_bits(as_cview(first.x), as_cview(next.x))) << count << " threads";
        EXPECT_EQ(first.report.history, next.report.history) << count << " threads";
      }
    }
  }
  set_threads(0);
}

TYPED_TEST(cg, scales_a_badly_scaled_matrix_by_its_diagonal) {
  using V = TypeParam;
  // D A D with D from 1e-3 to 1e3: hopeless for plain conjugate gradients, easy with the diagonal.
  auto a = kit::laplacian(30, 30);
  const auto d = [](index_t i) { return std::pow(10.0, double(i * 7919 % 601) / 100 - 3); };
  for (index_t k = 0; k < a.nnz(); ++k) a.val[k] *= d(a.row[k]) * d(a.col[k]);
  const auto b = kit::times<V>(a, host_array<V>(900, V(1)));
  const auto with = kit::solve_honestly<V>(a, b, this->options("jacobi"));
  EXPECT_EQ(with.report.why, status::converged) << with.report.message;
  EXPECT_LT(with.report.iterations, 400);
  auto o = this->options("none");
  o.max_iterations = 2 * with.report.iterations;
  const auto without = kit::solve_honestly<V>(a, b, o);
  EXPECT_GT(without.report.relative_residual, with.report.relative_residual);
}

TYPED_TEST(cg, never_says_converged_of_a_residual_that_is_not_small) {
  using V = TypeParam;
  // Near what the precision allows, the recursive residual falls on while the true one does not.
  for (const index_t n : {4, 6, 8, 10, 12})
    for (const double rtol : {1e-4, 1e-6, 1e-8, 1e-10, 1e-12, 1e-14, 1e-16})
      for (const char* m : {"none", "jacobi"}) {
        SCOPED_TRACE("hilbert " + std::to_string(n) + ", rtol " + std::to_string(rtol) + ", " + m);
        auto o = this->options(m);
        o.rtol = rtol;
        const auto s = kit::solve_honestly<V>(kit::hilbert(n), kit::random_vector<V>(n, 13), o);
        EXPECT_NE(s.report.why, status::nan) << s.report.message;
        EXPECT_NE(s.report.why, status::diverged) << s.report.message;
      }
}

TEST(cg_restart, goes_on_from_the_recomputed_residual) {
  // The recurrence drifts by condition times rounding: a goal below that needs a restart, and is then reached.
  auto a = kit::laplacian(400);
  const auto d = [](index_t i) { return 1 + 1e4 * double(i % 2); };
  for (index_t k = 0; k < a.nnz(); ++k) a.val[k] *= d(a.row[k]) * d(a.col[k]);
  auto o = kit::options("cg", "none");
  o.max_iterations = 1000000;
  index_t restarts = 0;
  for (const double rtol : {1e-8, 1e-10, 1e-11, 1e-12, 1e-13, 1e-14}) {
    o.rtol = rtol;
    const auto s = kit::solve_honestly<double>(a, kit::random_vector<double>(400, 17), o);
    EXPECT_TRUE(s.report.why == status::converged || s.report.why == status::stagnated)
        << rtol << ": " << s.report.message;
    if (s.report.why == status::converged) restarts = std::max(restarts, s.report.restarts);
  }
  EXPECT_GT(restarts, 0) << "no goal needed a restart: the test does not test it";
}

/// Of complete factors, where each start is done after a step, and none of them brings the goal.
TEST(cg_restart, is_stopped_by_who_watches) {
  const auto a = kit::laplacian(2000);
  const auto b = kit::random_vector<double>(2000, 17);
  auto o = kit::options("cg", "ic0", 1e-16);
  const auto patient = kit::solve_honestly<double>(a, b, o).report;
  EXPECT_EQ(patient.why, status::stagnated);
  EXPECT_GT(patient.restarts, 5);
  o.watch = [](const progress& p) { return p.due; }; // stops between two starts
  const auto stopped = kit::solve_honestly<double>(a, b, o).report;
  EXPECT_EQ(stopped.why, status::interrupted) << stopped.message;
  EXPECT_LE(stopped.iterations, 2);
  EXPECT_EQ(stopped.restarts, 0);
}

/// p'Ap is 0 of an indefinite matrix, too.
TEST(cg_singular, is_not_said_of_an_indefinite_matrix) {
  const auto swap = kit::assemble({2, 2}, {{0, 1, 1}, {1, 0, 1}});
  const auto unlike = kit::assemble({2, 2}, {{0, 0, 1}, {0, 1, 1.25}, {1, 0, 1.25}, {1, 1, 1}});
  const auto ones = kit::assemble({2, 2}, {{0, 0, 1}, {0, 1, 1}, {1, 0, 1}, {1, 1, 1}});
  for (const char* method : {"cg", "fcg", "cg_tutorial", "cg_single_reduction", "block_cg"}) {
    SCOPED_TRACE(method);
    const auto none = kit::solver_options<double>(method, "none"),
               jacobi = kit::solver_options<double>(method, "jacobi");
    kit::check_end<double>(swap, {1, 0}, none, status::not_positive_definite, "indefinite; minres");
    kit::check_end<double>(unlike, {1, -2}, none, status::not_positive_definite, "indefinite; minres");
    kit::check_end<double>(unlike, {1, -2}, jacobi, status::not_positive_definite, "indefinite; minres");
    kit::check_end<double>(ones, {1, -1}, none, status::singular, "singular");
    kit::check_end<double>(ones, {1, -1}, jacobi, status::singular, "singular");
  }
}

/// The matrix is regular: what it is not good for must not be said of it.
TEST(cg_singular, is_said_of_the_preconditioner_where_that_one_is) {
  const auto a = kit::laplacian(3);
  const host_array<double> b(3, 1.0);
  const auto s = kit::solve_honestly<double>(a, b, kit::options("cg", "ssor:1e-300", 1e-8));
  EXPECT_EQ(s.report.why, status::breakdown);
  EXPECT_NE(s.report.message.find("the preconditioner is singular"), std::string::npos) << s.report.message;
}

/// diag(even, odd, even, ...), stored.
struct alternating final : any_preconditioner<double> {
  double even, odd;
  alternating(double even, double odd) : even(even), odd(odd) {}
  void apply(cview<double> r, view<double> z) const override {
    for (index_t i = 0; i < r.size; ++i) z[i] = (i % 2 == 0 ? even : odd) * r[i];
  }
  double stored_bytes() const override { return 0; }
};

solve_report with_preconditioner_of_ones_own(const char* method, const alternating& m) {
  const auto a = kit::laplacian(40, 40);
  const auto op = find_format("csr").cpu.make<double>()(a, {}, "auto");
  host_array<double> b(1600), x(1600, 0.0);
  for (index_t i = 0; i < 1600; ++i) b[i] = std::sin(double(i)); // b'M b < 0 for M = diag(-1, 1, ...)
  return solver<double>(*op, &m, kit::options(method, "none", 1e-8), {}, op.get()).solve(as_cview(b), as_view(x));
}

TEST(cg_singular, is_not_said_of_a_matrix_whose_preconditioner_is_indefinite) {
  for (const char* method : {"cg", "cg_tutorial", "cg_single_reduction", "block_cg", "fcg", "cr", "minres"})
    for (const double odd : {1, -1}) {
      const auto report = with_preconditioner_of_ones_own(method, {-1, odd});
      EXPECT_EQ(report.why, status::not_positive_definite) << method << ": " << report.message;
      EXPECT_NE(report.message.find("preconditioner is not"), std::string::npos) << method << ": " << report.message;
      EXPECT_LE(report.iterations, 3) << method;
    }
}

TEST(cg_singular, is_not_said_of_a_matrix_whose_preconditioner_is_zero) {
  for (const char* method : {"cg", "cg_tutorial", "cg_single_reduction", "fcg", "cr", "minres", "lsmr", "lsqr"}) {
    const auto report = with_preconditioner_of_ones_own(method, {0, 0});
    EXPECT_EQ(report.why, status::breakdown) << method << ": " << report.message;
    EXPECT_NE(report.message.find("the preconditioner is singular"), std::string::npos) << method << report.message;
  }
}

TEST(cg_singular, is_not_said_where_numbers_overflow) {
  const auto a = kit::from_function(4, [](index_t i, index_t j) {
    return 1e-305 * (i == j ? 2 : std::abs(i - j) == 1 ? -1 : 0);
  });
  const host_array<double> b(4, 1.0);
  auto o = kit::options("cg", "none", 1e-8);
  o.scale = "symmetric";
  const auto s = kit::solve_honestly<double>(a, b, o);
  EXPECT_NE(s.report.why, status::singular) << s.report.message;
}

TEST(cg_ill_conditioned, hilbert_in_double_precision_has_a_small_residual) {
  for (const index_t n : {3, 5, 7, 9}) {
    const auto s =
        kit::solve_honestly<double>(kit::hilbert(n), host_array<double>(n, 1.0), kit::options("cg", "auto", 1e-10));
    EXPECT_EQ(s.report.why, status::converged) << n << ": " << s.report.message;
  }
}

/// Eight eigenvalues, of which the last step meets the smallest one: it belongs to a single element.
TEST(cg_estimates, know_what_the_last_step_has_met) {
  std::vector<double> diagonal(3000);
  for (std::size_t i = 0; i < diagonal.size(); ++i) diagonal[i] = 1 + double(i % 7);
  diagonal[123] = 1e-9;
  const auto a = kit::diagonal(diagonal);
  const host_array<double> b = kit::random_vector<double>(3000, 5);
  solve_options o = kit::solver_options<double>("cg", "none");
  o.rtol = 1e-3;
  const auto s = kit::solve_honestly<double>(a, b, o);
  ASSERT_EQ(s.report.why, status::converged) << s.report.message;
  ASSERT_EQ(s.report.iterations, 8);
  EXPECT_NEAR(s.report.condition_estimate, 7e9, 0.05 * 7e9);
}

/// The norm of an x of 1e170 and more overflows; its error is that of an x of 1.
TEST(cg_estimates, are_those_of_any_units) {
  const auto a = kit::hilbert(8);
  const auto b = kit::times(a, host_array<double>(8, 1.0));
  const solve_options o = kit::solver_options<double>("cg", "jacobi");
  const auto one = kit::solve_honestly<double>(a, b, o).report;
  ASSERT_GT(one.error_estimate, 0);
  for (const double unit : {1e-170, 1e-300}) {
    auto scaled = a;
    for (double& v : scaled.val) v *= unit;
    const auto r = kit::solve_honestly<double>(scaled, b, o).report;
    ASSERT_EQ(r.why, status::converged) << r.message;
    EXPECT_NEAR(std::log10(r.error_estimate / one.error_estimate), 0, 2) << unit << " " << r.error_estimate;
  }
}

} // namespace
} // namespace furrow
