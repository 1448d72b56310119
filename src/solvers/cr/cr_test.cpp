// SPDX-License-Identifier: BSD-3-Clause
#include "cr.hpp"

#include "kit/method_check.hpp"

namespace furrow {
namespace {

template <class V> struct cr : testing::Test {};
using precisions = testing::Types<double, float>;
TYPED_TEST_SUITE(cr, precisions);

TYPED_TEST(cr, agrees_with_cholesky) { kit::check_against_cholesky<TypeParam>("cr"); }

TEST(cr_iterations, are_those_of_the_textbook) {
  kit::check_steps("cr", "poisson2d:60", 127, 2); // Saad's algorithm 6.20 in NumPy 2
}

TEST(cr_residuals, do_not_grow_where_the_matrix_is_definite) {
  auto o = kit::solver_options<double>("cr", "none");
  o.history = true;
  const auto a = kit::laplacian(40, 40);
  const auto s = kit::solve_honestly<double>(a, kit::random_vector<double>(1600, 9), o);
  ASSERT_EQ(s.report.why, status::converged) << s.report.message;
  ASSERT_GT(s.report.history.size(), 50U);
  for (std::size_t i = 1; i < s.report.history.size(); ++i)
    ASSERT_LE(s.report.history[i], s.report.history[i - 1] * (1 + 1e-8)) << i;
}

TYPED_TEST(cr, solves_negative_definite_and_indefinite_systems) {
  using V = TypeParam;
  auto negative = kit::laplacian(20, 20);
  for (double& v : negative.val) v = -v;
  const auto o = kit::solver_options<V>("cr", "none");
  const auto s = kit::solve_honestly<V>(negative, kit::random_vector<V>(400, 2), o);
  EXPECT_EQ(s.report.why, status::converged) << s.report.message;
  const auto t = kit::solve_honestly<V>(kit::diagonal({1, -2, 3, -4, 5}), {1, 2, 3, 4, 7}, o);
  EXPECT_EQ(t.report.why, status::converged) << t.report.message;
}

TYPED_TEST(cr, has_the_same_bits_for_every_number_of_threads) {
  kit::check_same_bits<TypeParam>("cr", "poisson2d:120");
}

TYPED_TEST(cr, breaks_down_with_a_sentence) {
  using V = TypeParam;
  const auto o = kit::solver_options<V>("cr", "none");
  kit::check_inconsistent<V>("cr");
  // r'A r = 0 in the first step, and in every one that starts again.
  kit::check_end<V>(kit::assemble({2, 2}, {{0, 0, 1}, {1, 1, -1}}), {1, 1}, o, status::breakdown, "minres");
  // b.A b overflows; double sums hold that of float.
  if (sizeof(V) == 8) kit::check_end<V>(kit::diagonal({1e300, 3e300}), {1e10, 2e10}, o, status::nan, "overflow");
}

/// Diagonal, of both signs.
template <class V> struct indefinite final : any_preconditioner<V> {
  void apply(cview<V> r, view<V> z) const override {
    for (index_t i = 0; i < r.size; ++i) z[i] = i % 2 ? -r[i] : r[i];
  }
  double stored_bytes() const override { return 0; }
};

TYPED_TEST(cr, names_a_preconditioner_that_is_not_positive_definite) {
  using V = TypeParam;
  const auto a = kit::as_precision<V>(kit::diagonal({1, 2, 3, 4}));
  const auto op = find_format("csr").cpu.make<V>()(a, {}, "auto");
  const indefinite<V> m;
  const host_array<V> b{1, 5, 1, 5};
  host_array<V> x(4, V(0));
  cpu::space<V> space;
  const auto report =
      run_in<cr_method>(space, {*op, m, as_cview(b), as_view(x), 4, 4, 1}, kit::solver_options<V>("cr", "none"));
  EXPECT_EQ(report.why, status::not_positive_definite) << report.message;
}

TYPED_TEST(cr, costs_what_its_header_says) {
  using V = TypeParam;
  kit::check_cost<cr_method, V>("poisson2d:40", "none", false, 3);
  kit::check_cost<cr_method, V>("poisson2d:40", "jacobi", false, 3);
  kit::check_cost<cr_method, V>("poisson2d:40", "jacobi", true, 5);
}

} // namespace
} // namespace furrow
