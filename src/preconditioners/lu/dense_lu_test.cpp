// SPDX-License-Identifier: BSD-3-Clause
#include "dense_lu.hpp"

#include "kit/random.hpp"

#include <furrow/device.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

namespace furrow {
namespace {

std::vector<double> random_panel(index_t h, index_t w, unsigned seed) {
  const auto v = kit::random_vector<double>(h * w, seed);
  return {v.begin(), v.end()};
}

TEST(dense_lu, is_a_factorisation_whose_pivots_are_the_largest_of_their_columns) {
  for (const auto& [h, w] :
       {std::pair<index_t, index_t>{1, 1}, {5, 3}, {16, 16}, {17, 17}, {40, 33}, {200, 100}, {301, 301}}) {
    const std::vector<double> given = random_panel(h, w, unsigned(h));
    std::vector<double> f = given, moved = given;
    std::vector<int> pivots(static_cast<std::size_t>(w));
    ASSERT_EQ(lu::factor_dense_panel({f.data(), h}, h, w, pivots.data()), -1);
    const auto of = [h = h](std::vector<double>& a, index_t i, index_t j) -> double& {
      return a[static_cast<std::size_t>(j * h + i)];
    };
    for (index_t k = 0; k < w; ++k)
      for (index_t j = 0; j < w; ++j) std::swap(of(moved, k, j), of(moved, pivots[static_cast<std::size_t>(k)] - 1, j));
    for (index_t j = 0; j < w; ++j)
      for (index_t i = 0; i < h; ++i) {
        if (i > j) {
          ASSERT_LE(std::abs(of(f, i, j)), 1) << h << ' ' << w << ' ' << i << ' ' << j;
        }
        double sum = 0;
        for (index_t k = 0; k <= std::min(i, j); ++k) sum += (k == i ? 1 : of(f, i, k)) * of(f, k, j);
        ASSERT_NEAR(sum, of(moved, i, j), 1e-13 * double(w)) << h << ' ' << w << ' ' << i << ' ' << j;
      }
  }
}

TEST(dense_lu, names_the_column_without_a_pivot) {
  const index_t n = 100;
  std::vector<double> a = random_panel(n, n, 4);
  for (index_t i = 0; i < n; ++i) a[std::size_t(70 * n + i)] = 0;
  std::vector<int> pivots(n);
  EXPECT_EQ(lu::factor_dense_panel({a.data(), n}, n, n, pivots.data()), 70);
}

TEST(dense_lu, has_the_same_bits_for_any_number_of_threads) {
  const index_t n = 700;
  const std::vector<double> given = random_panel(n, n, 5);
  const int before = threads();
  std::vector<double> first;
  for (const int count : {1, 2, 3, 8}) {
    set_threads(count);
    std::vector<double> a = given;
    std::vector<int> pivots(n);
    EXPECT_EQ(lu::factor_dense_panel({a.data(), n}, n, n, pivots.data()), -1);
    if (first.empty()) first = a;
    EXPECT_EQ(a, first) << count;
  }
  set_threads(before);
}

} // namespace
} // namespace furrow
