// SPDX-License-Identifier: BSD-3-Clause
#include "cg_single_reduction.hpp"

#include "kit/method_check.hpp"

namespace furrow {
namespace {

constexpr auto* cg_single_reduction_name = "cg_single_reduction";
template <class V> struct cg_single_reduction : testing::Test {};
using precisions = testing::Types<double, float>;
TYPED_TEST_SUITE(cg_single_reduction, precisions);

TYPED_TEST(cg_single_reduction, agrees_with_cholesky) {
  kit::check_against_cholesky<TypeParam>(cg_single_reduction_name);
}

TYPED_TEST(cg_single_reduction, has_the_same_bits_for_every_number_of_threads) {
  kit::check_same_bits<TypeParam>(cg_single_reduction_name, "poisson2d:120");
}

TYPED_TEST(cg_single_reduction, costs_a_product_and_one_pass) {
  using method = cg_single_reduction_method;
  kit::check_cost<method, TypeParam>("poisson2d:40", "none", false, 2);
  kit::check_cost<method, TypeParam>("poisson2d:40", "jacobi", false, 2);
  kit::check_cost<method, TypeParam>("poisson2d:40", "jacobi", true, 4);
}

TYPED_TEST(cg_single_reduction, tells_why_it_ends) {
  using V = TypeParam;
  const auto none = kit::solver_options<V>(cg_single_reduction_name, "none");
  kit::check_end<V>(kit::diagonal({1, -5, 2}), host_array<V>(3, V(1)), none, status::not_positive_definite,
                    "positive definite");
  kit::check_inconsistent<V>(cg_single_reduction_name);
}

/// u'A u is positive at first, p'A p is not.
TEST(cg_single_reduction, does_not_say_converged_of_an_indefinite_matrix_that_hides) {
  const auto s = kit::solve_honestly<double>(kit::diagonal({4, 3, 2, -0.5}), host_array<double>{1, 1, 1, 1},
                                             kit::solver_options<double>(cg_single_reduction_name, "none"));
  EXPECT_TRUE(s.report.why == status::not_positive_definite || s.report.why == status::breakdown) << s.report.message;
  EXPECT_NE(s.report.message.find("not positive definite"), std::string::npos) << s.report.message;
}

TEST(cg_single_reduction, says_that_a_product_with_a_diagonal_of_both_signs_vanishes) {
  kit::check_end<double>(kit::diagonal({1, -1}), host_array<double>{1, 1},
                         kit::solver_options<double>(cg_single_reduction_name, "none"), status::not_positive_definite,
                         "indefinite");
}

TEST(cg_single_reduction, takes_the_steps_of_cg) {
  for (const char* spec :
       {"poisson2d:60", "poisson3d:20", "anisotropic2d:40:100", "elasticity3d:6", "random:2000:8", "poisson2d:110"})
    for (const char* m : {"none", "jacobi", "ic0"}) {
      const auto a = generate(spec).a;
      const auto b = kit::times(a, host_array<double>(a.shape.rows, 1.0));
      auto o = kit::solver_options<double>("cg", m);
      o.rtol = 1e-8;
      const auto usual = kit::solve_honestly<double>(a, b, o);
      o.solver = cg_single_reduction_name;
      const auto s = kit::solve_honestly<double>(a, b, o);
      EXPECT_EQ(s.report.why, status::converged) << spec << ' ' << m << ": " << s.report.message;
      EXPECT_NEAR(double(s.report.iterations), double(usual.report.iterations), 2) << spec << ' ' << m;
    }
}

} // namespace
} // namespace furrow
