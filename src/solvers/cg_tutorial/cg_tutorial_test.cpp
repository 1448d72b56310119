// SPDX-License-Identifier: BSD-3-Clause
#include "cg_tutorial.hpp"

#include "kit/method_check.hpp"

#include <furrow/solver.hpp>

namespace furrow {
namespace {

constexpr auto* cg_tutorial_name = "cg_tutorial";
template <class V> struct cg_tutorial : testing::Test {};
using precisions = testing::Types<double, float>;
TYPED_TEST_SUITE(cg_tutorial, precisions);

TYPED_TEST(cg_tutorial, agrees_with_cholesky) { kit::check_against_cholesky<TypeParam>(cg_tutorial_name); }

TYPED_TEST(cg_tutorial, has_the_same_bits_for_every_number_of_threads) {
  kit::check_same_bits<TypeParam>(cg_tutorial_name, "poisson2d:120");
}

TYPED_TEST(cg_tutorial, makes_a_pass_of_every_operation_and_waits_for_every_inner_product) {
  using method = cg_tutorial_method;
  kit::check_cost<method, TypeParam>("poisson2d:40", "none", false, 6, {}, 2); // q, p'q, x, r, r'z, p
  kit::check_cost<method, TypeParam>("poisson2d:40", "jacobi", false, 8, {}, 3);
  kit::check_cost<method, TypeParam>("poisson2d:40", "jacobi", true, 8, {}, 3);
}

TYPED_TEST(cg_tutorial, tells_why_it_ends) {
  using V = TypeParam;
  const auto none = kit::solver_options<V>(cg_tutorial_name, "none");
  kit::check_end<V>(kit::diagonal({1, -5, 2}), host_array<V>(3, V(1)), none, status::not_positive_definite,
                    "positive definite");
  kit::check_end<V>(kit::diagonal({1, -1}), host_array<V>(2, V(1)), none, status::not_positive_definite, "indefinite");
  kit::check_inconsistent<V>(cg_tutorial_name);
}

/// p'q is added up in another order, and nothing else differs.
TEST(cg_tutorial, takes_the_steps_of_cg) {
  for (const char* spec : {"poisson1d:200", "poisson2d:60", "poisson3d:20", "anisotropic2d:40:100", "random:2000:8"})
    for (const char* m : {"none", "jacobi", "ic0"}) {
      const auto a = generate(spec).a;
      const auto b = kit::times(a, host_array<double>(a.shape.rows, 1.0));
      auto o = kit::solver_options<double>("cg", m);
      o.rtol = 1e-8;
      const auto usual = kit::solve_honestly<double>(a, b, o);
      o.solver = cg_tutorial_name;
      const auto s = kit::solve_honestly<double>(a, b, o);
      EXPECT_EQ(s.report.why, status::converged) << spec << ' ' << m << ": " << s.report.message;
      EXPECT_NEAR(double(s.report.iterations), double(usual.report.iterations), 1) << spec << ' ' << m;
      EXPECT_GE(s.report.waits, 2 * s.report.iterations) << spec << ' ' << m;
      EXPECT_LT(usual.report.waits, s.report.waits) << spec << ' ' << m;
    }
}

/// The document has no preconditioner, and "auto" means none here.
TEST(cg_tutorial, is_taken_by_name_alone) {
  const auto a = generate("poisson2d:30").a;
  const auto b = kit::times(a, host_array<double>(a.shape.rows, 1.0));
  host_array<double> x(a.shape.rows, 0.0);
  solve_options o;
  const auto chosen = solve<double>(a, as_cview(b), as_view(x), o);
  EXPECT_NE(chosen.solver, cg_tutorial_name);
  for (const auto& rung : chosen.rungs) EXPECT_NE(rung.solver, cg_tutorial_name);
  for (const auto& rung : chosen.untried) EXPECT_EQ(rung.find(cg_tutorial_name), std::string::npos) << rung;
  o.solver = cg_tutorial_name;
  EXPECT_EQ(solve<double>(a, as_cview(b), as_view(x), o).precond, "none");
}

} // namespace
} // namespace furrow
