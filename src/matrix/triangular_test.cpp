// SPDX-License-Identifier: BSD-3-Clause
#include "triangular.hpp"

#include "kit/matrices.hpp"
#include "kit/random.hpp"

#include <furrow/device.hpp>

#include <gtest/gtest.h>

namespace furrow {
namespace {

/// The entries of a square matrix on one side of its diagonal, values drawn from a seed.
template <class V> row_matrix<V> side_of(const coo<double>& a, triangle side) {
  kit::splitmix random(11);
  std::vector<kit::triplet> kept;
  for (index_t k = 0; k < a.nnz(); ++k)
    if (side == triangle::lower ? a.col[k] < a.row[k] : a.col[k] > a.row[k])
      kept.push_back({a.row[k], a.col[k], random.value() / 8});
  return to_rows(kit::as_precision<V>(kit::assemble(a.shape, kept)));
}

template <class V> host_array<V> halves(index_t n) { return host_array<V>(n, V(0.5)); }

template <class V> struct triangular : testing::Test {
  /// T x - b in long double over the sizes of its terms.
  static double backward_error(row_view<V> t, cview<V> inverse, cview<V> x, cview<V> b) {
    long double worst = 0;
    for (index_t i = 0; i < t.shape.rows; ++i) {
      long double sum = inverse.empty() ? x[i] : x[i] / static_cast<long double>(inverse[i]);
      long double size = std::abs(sum) + std::abs(static_cast<long double>(b[i]));
      for (index_t k = t.begin(i); k < t.end(i); ++k) {
        const long double term = static_cast<long double>(t.val[k]) * x[t.col[k]];
        sum += term;
        size += std::abs(term);
      }
      worst = std::max(worst, std::abs(sum - b[i]) / size);
    }
    return double(worst);
  }
};
using precisions = testing::Types<double, float>;
TYPED_TEST_SUITE(triangular, precisions);

TYPED_TEST(triangular, solves_to_rounding_in_either_order) {
  using V = TypeParam;
  const int before = threads();
  set_threads(4);
  for (const auto& a :
       {kit::laplacian(9, 7), kit::laplacian(300, 300), kit::laplacian(5000), kit::laplacian(60, 60, 60)})
    for (const auto side : {triangle::lower, triangle::upper})
      for (const bool unit : {true, false}) {
        const auto t = side_of<V>(a, side);
        const index_t n = a.shape.rows;
        const auto inverse = unit ? host_array<V>() : halves<V>(n);
        const triangular_solver<V> solver(t, inverse, side);
        const auto b = kit::random_vector<V>(n, 2);
        auto x = b;
        solver.solve(as_view(x));
        EXPECT_LE(this->backward_error(t.view(), as_cview(inverse), as_cview(x), as_cview(b)),
                  4 * std::numeric_limits<V>::epsilon());
      }
  set_threads(before);
}

TYPED_TEST(triangular, knows_the_levels_of_a_box) {
  using V = TypeParam;
  const auto levels = [](const coo<double>& a, triangle side) {
    return triangular_solver<V>(side_of<V>(a, side), {}, side).levels();
  };
  EXPECT_EQ(levels(kit::laplacian(12, 12, 12), triangle::lower), 34); // 3 n - 2
  EXPECT_EQ(levels(kit::laplacian(12, 12, 12), triangle::upper), 34);
  EXPECT_EQ(levels(kit::laplacian(50), triangle::lower), 50);
  EXPECT_EQ(levels(kit::diagonal({1, 2, 3}), triangle::lower), 1);
}

TYPED_TEST(triangular, has_the_same_bits_for_every_number_of_threads) {
  using V = TypeParam;
  const int before = threads();
  const auto t = side_of<V>(kit::laplacian(60, 60, 60), triangle::lower);
  const index_t n = t.shape.rows;
  const auto b = kit::random_vector<V>(n, 4);
  set_threads(4);
  const triangular_solver<V> solver(t, halves<V>(n), triangle::lower);
  EXPECT_TRUE(solver.in_parallel());
  EXPECT_FALSE(
      triangular_solver<V>(side_of<V>(kit::laplacian(100000), triangle::lower), {}, triangle::lower).in_parallel());
  set_threads(2);
  const triangular_solver<V> in_order(t, halves<V>(n), triangle::lower);
  EXPECT_FALSE(in_order.in_parallel());
  auto first = b;
  in_order.solve(as_view(first));
  for (const int count : {1, 2, 3, 7}) {
    set_threads(count);
    auto x = b;
    solver.solve(as_view(x));
    for (index_t i = 0; i < n; ++i) ASSERT_EQ(x[i], first[i]) << count << ' ' << i;
  }
  set_threads(before);
}

} // namespace
} // namespace furrow
