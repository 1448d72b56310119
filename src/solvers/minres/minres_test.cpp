// SPDX-License-Identifier: BSD-3-Clause
#include "minres.hpp"

#include "kit/method_check.hpp"
#include "kit/said_by.hpp"

#include <furrow/solver.hpp>

namespace furrow {
namespace {

constexpr auto* minres_name = "minres";
template <class V> struct minres : testing::Test {};
using precisions = testing::Types<double, float>;
TYPED_TEST_SUITE(minres, precisions);

/// [A B'; B 0] with A a Laplacian: indefinite, with zeros on the diagonal.
coo<double> saddle(index_t n, index_t constraints) {
  return kit::from_function(n + constraints, [&](index_t i, index_t j) {
    if (i < n && j < n) return i == j ? 3.0 : i + 1 == j || j + 1 == i ? -1.0 : 0.0;
    if (i >= n && j >= n) return 0.0;
    const index_t row = std::min(i, j), constraint = std::max(i, j) - n;
    return row % constraints == constraint ? 1.0 + 0.1 * double(row) : 0.0;
  });
}

TYPED_TEST(minres, solves_definite_and_indefinite_matrices) {
  using V = TypeParam;
  const auto shifted = kit::laplacian(12, 12, 1, true, -1.3); // eigenvalues on both sides of 0
  const auto negative = kit::diagonal({-1, -2, -3, -40});
  const auto one = kit::diagonal({-4});
  for (const char* m : {"none", "jacobi"})
    for (const auto& a : {kit::laplacian(12, 12), shifted, negative, one, saddle(40, 5)}) {
      const auto expected = kit::random_vector<V>(a.shape.rows, 4);
      const auto s = kit::solve_honestly<V>(a, kit::times<V>(a, expected), kit::solver_options<V>(minres_name, m));
      ASSERT_EQ(s.report.why, status::converged) << m << ", " << a.shape.rows << ": " << s.report.message;
      for (index_t i = 0; i < a.shape.rows; ++i) ASSERT_NEAR(s.x[i], expected[i], sizeof(V) == 8 ? 1e-7 : 0.05);
    }
}

TYPED_TEST(minres, takes_stored_preconditioners) { kit::check_stored_preconditioners<TypeParam>(minres_name); }

TEST(minres_residuals, never_grow_and_are_below_those_of_cg) { kit::check_least_residuals(minres_name); }

TYPED_TEST(minres, says_that_b_is_out_of_range_and_hands_back_the_least_squares_answer) {
  using V = TypeParam;
  const auto a = kit::laplacian(20, 20, 1, true, 0); // its null space: the constants
  auto b = kit::random_vector<V>(400, 7);
  long double mean = 0, squares = 0;
  for (V& v : b) v += 1;
  for (const V v : b) mean += v / 400.0L, squares += static_cast<long double>(v) * v;
  const auto s = kit::solve_honestly<V>(a, b, kit::solver_options<V>(minres_name, "none", 1e-12));
  EXPECT_EQ(s.report.why, status::singular) << s.report.message;
  EXPECT_NE(s.report.message.find(" no x has a smaller residual, within"), std::string::npos) << s.report.message;
  const auto by_rows = kit::solve_honestly<V>(a, b, kit::solver_options<V>(minres_name, "jacobi", 1e-12)).report;
  EXPECT_NE(by_rows.message.find(" in the norm of the preconditioner no x has"), std::string::npos) << by_rows.message;
  EXPECT_NEAR(s.report.relative_residual, double(std::abs(mean) * 20 / std::sqrt(squares)), 1e-2);
  for (V& v : b) v -= static_cast<V>(mean);
  const auto consistent = kit::solve_honestly<V>(a, b, kit::solver_options<V>(minres_name, "none"));
  EXPECT_EQ(consistent.report.why, status::converged) << consistent.report.message;
}

TYPED_TEST(minres, says_why_it_cannot) {
  using V = TypeParam;
  const host_array<V> b{1, 1};
  const auto reason = [&](const coo<double>& a, const char* m) {
    return kit::solve_honestly<V>(a, b, kit::solver_options<V>(minres_name, m)).report;
  };
  EXPECT_EQ(reason(kit::assemble({2, 2}, {}), "none").why, status::singular);
  EXPECT_EQ(reason(kit::assemble({2, 2}, {}), "jacobi").why, status::singular);
  EXPECT_EQ(reason(kit::diagonal({1, 0}), "none").why, status::singular);
  kit::expect_refusal("not symmetric", [&] {
    reason(kit::assemble({2, 2}, {{0, 0, 1}, {0, 1, 2}, {1, 1, 1}}), "none");
  });
  if (sizeof(V) == 8) {
    EXPECT_EQ(reason(kit::diagonal({1e200, 1}), "none").why, status::nan);
  }
}

/// -I, stored.
template <class V> struct minus final : any_preconditioner<V> {
  void apply(cview<V> r, view<V> z) const override {
    for (index_t i = 0; i < r.size; ++i) z[i] = -r[i];
  }
  double stored_bytes() const override { return 0; }
};

TYPED_TEST(minres, refuses_a_preconditioner_that_is_not_definite) {
  using V = TypeParam;
  const auto a = kit::as_precision<V>(kit::laplacian(9));
  const auto op = find_format("csr").cpu.make<V>()(a, {}, "auto");
  const minus<V> m;
  solver<V> s(*op, &m, kit::solver_options<V>(minres_name, "none"));
  host_array<V> x(9, V(0));
  const auto report = s.solve(as_cview(kit::random_vector<V>(9, 1)), as_view(x));
  EXPECT_EQ(report.why, status::not_positive_definite);
  EXPECT_NE(report.message.find("preconditioner"), std::string::npos) << report.message;
}

TYPED_TEST(minres, has_the_same_bits_for_every_number_of_threads) {
  kit::check_same_bits<TypeParam>(minres_name, "poisson2d:120");
}

TYPED_TEST(minres, costs_what_its_header_says) {
  kit::check_cost<minres_method, TypeParam>("poisson2d:40", "none", false, 3);
  kit::check_cost<minres_method, TypeParam>("poisson2d:40", "jacobi", false, 3);
  kit::check_cost<minres_method, TypeParam>("poisson2d:40", "jacobi", true, 5);
}

} // namespace
} // namespace furrow
