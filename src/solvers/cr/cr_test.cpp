// SPDX-License-Identifier: BSD-3-Clause
#include "cr.hpp"

#include "kit/method_check.hpp"

#include <furrow/generate.hpp>
#include <furrow/solver.hpp>

#include <array>

namespace furrow {
namespace {

constexpr auto* cr_name = "cr";
template <class V> struct cr : testing::Test {};
using precisions = testing::Types<double, float>;
TYPED_TEST_SUITE(cr, precisions);

TYPED_TEST(cr, solves_definite_matrices_of_either_sign) {
  using V = TypeParam;
  const auto lower = kit::laplacian(12, 12, 1, true, 0.2);
  for (const char* m : {"none", "jacobi"})
    for (const auto& a : {kit::laplacian(12, 12), lower, kit::laplacian(7, 6, 5), kit::diagonal({-1, -2, -3, -40}),
                          kit::diagonal({-4})}) {
      const auto expected = kit::random_vector<V>(a.shape.rows, 4);
      const auto s = kit::solve_honestly<V>(a, kit::times<V>(a, expected), kit::solver_options<V>(cr_name, m));
      ASSERT_EQ(s.report.why, status::converged) << m << ", " << a.shape.rows << ": " << s.report.message;
      for (index_t i = 0; i < a.shape.rows; ++i) ASSERT_NEAR(s.x[i], expected[i], sizeof(V) == 8 ? 1e-7 : 0.05);
    }
}

TYPED_TEST(cr, solves_indefinite_matrices_where_it_does_not_break_down) {
  using V = TypeParam;
  const auto a = kit::laplacian(12, 12, 1, true, -1.3); // eigenvalues on both sides of 0
  const auto expected = kit::random_vector<V>(a.shape.rows, 4);
  for (const char* m : {"none", "jacobi"}) {
    const auto s = kit::solve_honestly<V>(a, kit::times<V>(a, expected), kit::solver_options<V>(cr_name, m));
    EXPECT_EQ(s.report.why, status::converged) << m << ": " << s.report.message;
  }
}

TYPED_TEST(cr, takes_stored_preconditioners) { kit::check_stored_preconditioners<TypeParam>(cr_name); }

TEST(cr_iterations, are_those_of_the_textbook) {
  // 127, as many as MINRES takes with each M.
  const auto a = generate("poisson2d:60").a;
  const auto b = kit::times(a, host_array<double>(a.shape.rows, 1.0));
  for (const char* m : {"none", "jacobi", "ic0"}) {
    auto o = kit::solver_options<double>(cr_name, m);
    const auto s = kit::solve_honestly<double>(a, b, o);
    EXPECT_EQ(s.report.why, status::converged) << s.report.message;
    o.solver = "minres";
    EXPECT_NEAR(double(s.report.iterations), double(kit::solve_honestly<double>(a, b, o).report.iterations), 1) << m;
    if (std::string(m) == "none") {
      EXPECT_NEAR(double(s.report.iterations), 127, 1);
    }
  }
}

TEST(cr_residuals, never_grow_and_are_below_those_of_cg) { kit::check_least_residuals(cr_name); }

TYPED_TEST(cr, says_that_b_is_out_of_range_and_solves_where_it_is_not) {
  using V = TypeParam;
  const auto a = kit::laplacian(20, 20, 1, true, 0); // its null space: the constants
  auto b = kit::random_vector<V>(400, 7);
  long double mean = 0;
  for (V& v : b) v += 1;
  for (const V v : b) mean += v / 400.0L;
  const auto s = kit::solve_honestly<V>(a, b, kit::solver_options<V>(cr_name, "none", 1e-12));
  EXPECT_EQ(s.report.why, status::singular) << s.report.message;
  EXPECT_LE(s.report.relative_residual, 1 + 1e-14);
  for (V& v : b) v -= static_cast<V>(mean);
  const auto consistent = kit::solve_honestly<V>(a, b, kit::solver_options<V>(cr_name, "none"));
  EXPECT_EQ(consistent.report.why, status::converged) << consistent.report.message;
}

TYPED_TEST(cr, says_why_it_cannot) {
  using V = TypeParam;
  const host_array<V> b{1, 1};
  const auto report = [&](const coo<double>& a, const char* m) {
    return kit::solve_honestly<V>(a, b, kit::solver_options<V>(cr_name, m)).report;
  };
  const auto indefinite = report(kit::diagonal({1, -1}), "none");
  EXPECT_EQ(indefinite.why, status::breakdown) << indefinite.message;
  EXPECT_NE(indefinite.message.find("minres"), std::string::npos) << indefinite.message;
  EXPECT_EQ(report(kit::assemble({2, 2}, {}), "none").why, status::singular);
  EXPECT_EQ(report(kit::assemble({2, 2}, {}), "jacobi").why, status::singular);
  EXPECT_EQ(report(kit::diagonal({1, 0}), "none").why, status::singular);
  if (sizeof(V) == 8) {
    EXPECT_EQ(report(kit::diagonal({1e200, 1}), "none").why, status::nan);
  }
  EXPECT_THROW(report(kit::assemble({2, 2}, {{0, 0, 1}, {0, 1, 2}, {1, 1, 1}}), "none"), error);
}

/// `times` I, stored.
template <class V> struct multiple final : any_preconditioner<V> {
  V times;
  explicit multiple(V times) : times(times) {}
  void apply(cview<V> r, view<V> z) const override {
    for (index_t i = 0; i < r.size; ++i) z[i] = times * r[i];
  }
  double stored_bytes() const override { return 0; }
};

TYPED_TEST(cr, says_which_preconditioner_is_not_definite_or_singular) {
  using V = TypeParam;
  const auto a = kit::as_precision<V>(kit::laplacian(9));
  const auto op = find_format("csr").cpu.make<V>()(a, {}, "auto");
  const auto reason = [&](V times) {
    const multiple<V> m(times);
    solver<V> s(*op, &m, kit::solver_options<V>(cr_name, "none"));
    host_array<V> x(9, V(0));
    return s.solve(as_cview(kit::random_vector<V>(9, 1)), as_view(x));
  };
  const auto negative = reason(-1), zero = reason(0);
  EXPECT_EQ(negative.why, status::not_positive_definite) << negative.message;
  EXPECT_NE(negative.message.find("preconditioner"), std::string::npos) << negative.message;
  EXPECT_EQ(zero.why, status::breakdown) << zero.message;
  EXPECT_NE(zero.message.find("preconditioner"), std::string::npos) << zero.message;
}

/// Products of what an M has left of r, such as one that is nothing on half of the rows, are anything.
TEST(cr_singular, is_said_of_the_preconditioner_where_little_is_left_of_r) {
  std::array<double, cr_steps::slot_end> slots{};
  for (const int verdict : {cr_steps::no_range, cr_steps::indefinite, cr_steps::outgrown})
    for (const double left : {1e-170, 1e-100}) {
      slots[cr_steps::zz] = left;
      const auto end = cr_messages::explain(verdict, slots.data(), false);
      ASSERT_TRUE(end);
      EXPECT_EQ(end->sentence({}).find("the preconditioner is singular") != std::string::npos, left < 1e-160)
          << verdict;
    }
}

TYPED_TEST(cr, has_the_same_bits_for_every_number_of_threads) {
  kit::check_same_bits<TypeParam>(cr_name, "poisson2d:120");
}

TYPED_TEST(cr, costs_what_its_header_says) {
  kit::check_cost<cr_method, TypeParam>("poisson2d:40", "none", false, 3);
  kit::check_cost<cr_method, TypeParam>("poisson2d:40", "jacobi", false, 3);
  kit::check_cost<cr_method, TypeParam>("poisson2d:40", "jacobi", true, 5);
}

} // namespace
} // namespace furrow
