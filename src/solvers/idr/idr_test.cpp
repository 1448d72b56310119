// SPDX-License-Identifier: BSD-3-Clause
#include "idr.hpp"

#include "kit/method_check.hpp"

namespace furrow {
namespace {

template <class V> struct idr : testing::Test {};
using precisions = testing::Types<double, float>;
TYPED_TEST_SUITE(idr, precisions);

TYPED_TEST(idr, solves_matrices_without_symmetry) { kit::check_lopsided_systems<TypeParam>("idr"); }

TYPED_TEST(idr, agrees_with_cholesky) { kit::check_against_cholesky<TypeParam>("idr"); }

TEST(idr_iterations, are_those_of_the_textbook) {
  // Algorithm 913 in NumPy 2, with four random P: 17 to 20, 31 to 32, 29 to 30.
  kit::check_steps("idr", "convection2d:60:100", 18.5, 2.5);
  kit::check_steps("idr", "convection2d:60:1", 31.5, 2.5);
  kit::check_steps("idr", "poisson2d:60", 29.5, 2.5);
}

TYPED_TEST(idr, has_the_same_bits_for_every_number_of_threads) {
  kit::check_same_bits<TypeParam>("idr", "convection2d:120:10");
}

TYPED_TEST(idr, breaks_down_with_a_sentence) {
  using V = TypeParam;
  const auto o = kit::solver_options<V>("idr", "none");
  kit::check_inconsistent<V>("idr");
  kit::check_end<V>(kit::assemble({2, 2}, {{0, 1, 1}}), {1, 0}, o, status::breakdown, "rank"); // A b = 0
  // b.A b overflows; double sums hold that of float.
  if (sizeof(V) == 8) kit::check_end<V>(kit::diagonal({1e300, 3e300}), {1e10, 2e10}, o, status::nan, "overflow");
}

TEST(idr_parameters, are_checked) {
  const auto a = kit::laplacian(4);
  for (const char* solver : {"idr:0", "idr:33", "idr:x", "idr:3:4"}) {
    const host_array<double> b(4, 1.0);
    host_array<double> x(4, 0.0);
    try {
      solve(a, as_cview(b), as_view(x), kit::solver_options<double>(solver, "none"));
      ADD_FAILURE() << solver;
    } catch (const error& e) {
      EXPECT_EQ(e.kind, fault::usage) << solver;
    }
  }
}

TEST(idr_shadow_space, is_orthonormal) {
  const auto p = idr_messages::shadow_space(1000, 8);
  for (std::size_t i = 0; i < p.size(); ++i)
    for (std::size_t k = 0; k < p.size(); ++k) {
      double sum = 0;
      for (index_t j = 0; j < 1000; ++j) sum += p[i][j] * p[k][j];
      EXPECT_NEAR(sum, double(i == k), 1e-14) << i << ", " << k;
    }
}

TYPED_TEST(idr, solves_for_every_dimension) {
  for (const char* solver : {"idr:1", "idr:2", "idr:8"}) kit::check_lopsided_systems<TypeParam>(solver);
}

TYPED_TEST(idr, costs_what_its_header_says) {
  using V = TypeParam;
  kit::check_cost<idr_method, V>("convection2d:40:1", "none", false, 28);
  kit::check_cost<idr_method, V>("convection2d:40:1", "jacobi", false, 33);
  kit::check_cost<idr_method, V>("convection2d:40:1", "jacobi", true, 33);
  kit::check_cost<idr_method, V>("convection2d:40:1", "none", false, 10, "1");
}

} // namespace
} // namespace furrow
