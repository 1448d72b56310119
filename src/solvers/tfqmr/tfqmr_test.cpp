// SPDX-License-Identifier: BSD-3-Clause
#include "tfqmr.hpp"

#include "kit/method_check.hpp"

namespace furrow {
namespace {

template <class V> struct tfqmr : testing::Test {};
using precisions = testing::Types<double, float>;
TYPED_TEST_SUITE(tfqmr, precisions);

TYPED_TEST(tfqmr, solves_matrices_without_symmetry) { kit::check_lopsided_systems<TypeParam>("tfqmr"); }

TYPED_TEST(tfqmr, agrees_with_cholesky) { kit::check_against_cholesky<TypeParam>("tfqmr"); }

TEST(tfqmr_iterations, are_those_of_the_textbook) {
  // Saad's algorithm 7.8 in NumPy 2, until b - A x is small.
  kit::check_steps("tfqmr", "poisson2d:60", 95, 8);
}

TYPED_TEST(tfqmr, has_the_same_bits_for_every_number_of_threads) {
  kit::check_same_bits<TypeParam>("tfqmr", "convection2d:120:10");
}

TYPED_TEST(tfqmr, breaks_down_with_a_sentence) {
  using V = TypeParam;
  const auto o = kit::solver_options<V>("tfqmr", "none");
  kit::check_inconsistent<V>("tfqmr");
  // r~'A r = 0 in the first step, and in every one that starts again.
  kit::check_end<V>(kit::assemble({2, 2}, {{0, 1, 1}, {1, 0, -1}}), {1, 2}, o, status::breakdown, "r~'Ap");
  // b.A b overflows; double sums hold that of float.
  if (sizeof(V) == 8) kit::check_end<V>(kit::diagonal({1e300, 3e300}), {1e10, 2e10}, o, status::nan, "overflow");
}

TYPED_TEST(tfqmr, costs_what_its_header_says) {
  using V = TypeParam;
  kit::check_cost<tfqmr_method, V>("convection2d:40:1", "none", false, 6);
  kit::check_cost<tfqmr_method, V>("convection2d:40:1", "jacobi", false, 6);
  kit::check_cost<tfqmr_method, V>("convection2d:40:1", "jacobi", true, 8);
}

} // namespace
} // namespace furrow
