// SPDX-License-Identifier: BSD-3-Clause
#include "rows_of_inverse.hpp"

#include "kit/matrices.hpp"
#include "kit/random.hpp"

#include <furrow/device.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace furrow {
namespace {

using fsai_preconditioner::places_wanted;
using fsai_preconditioner::rows_of_inverse;

/// A grid with a diagonal of ones.
coo<double> scaled_grid(index_t nx, index_t ny) {
  auto a = kit::laplacian(nx, ny);
  for (double& v : a.val) v /= 4;
  return a;
}

/// G A G' at (i, j).
long double triple(const row_matrix<double>& g, const std::vector<double>& a, index_t i, index_t j) {
  const index_t n = g.shape.rows;
  long double sum = 0;
  for (index_t p = g.row_ptr[i]; p < g.row_ptr[i + 1]; ++p)
    for (index_t q = g.row_ptr[j]; q < g.row_ptr[j + 1]; ++q)
      sum += static_cast<long double>(g.val[p]) * a[g.col[p] * n + g.col[q]] * g.val[q];
  return sum;
}

TEST(rows_of_inverse, keep_their_equations) {
  const auto a = scaled_grid(7, 6);
  const index_t n = a.shape.rows;
  std::vector<double> dense(static_cast<std::size_t>(n * n), 0);
  for (index_t k = 0; k < a.nnz(); ++k) dense[a.row[k] * n + a.col[k]] = a.val[k];
  for (const places_wanted places : {places_wanted{1}, {2}, {3}, {1, 5, 3}, {1, 1, 1}, {1, 2, 60}}) {
    const auto f = rows_of_inverse(rows_of_triplets<double>(a).view(), places);
    EXPECT_EQ(f.diagonal_rows, 0);
    for (index_t i = 0; i < n; ++i) {
      const index_t last = f.g.row_ptr[i + 1] - 1;
      ASSERT_EQ(f.g.col[last], i);
      ASSERT_NEAR(double(triple(f.g, dense, i, i)), 1, 1e-14); // the diagonal of G A G'
      for (index_t e = f.g.row_ptr[i]; e < last; ++e) {        // (G A)[i, j] = 0 at the places of the row
        long double sum = 0;
        for (index_t q = f.g.row_ptr[i]; q <= last; ++q)
          sum += static_cast<long double>(f.g.val[q]) * dense[f.g.col[q] * n + f.g.col[e]];
        ASSERT_NEAR(double(sum), 0, 1e-14) << i;
      }
    }
  }
}

TEST(rows_of_inverse, are_the_exact_factor_where_the_pattern_is_whole) {
  kit::splitmix random(6);
  const index_t n = 30;
  const auto a = kit::from_function(n, [&](index_t i, index_t j) { return i == j ? 1.0 : 0.4 / double(1 + i + j); });
  const auto f = rows_of_inverse(rows_of_triplets<double>(a).view(), {});
  std::vector<double> dense(static_cast<std::size_t>(n * n), 0);
  for (index_t k = 0; k < a.nnz(); ++k) dense[a.row[k] * n + a.col[k]] = a.val[k];
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j < n; ++j) ASSERT_NEAR(double(triple(f.g, dense, i, j)), i == j, 1e-13);
}

/// The place before i where the gradient of g A g' is largest, for the g with g_i = 1 and the least g A g' at `places`.
index_t steepest(const std::vector<double>& a, index_t n, index_t i, std::vector<index_t> places) {
  const auto m = static_cast<index_t>(places.size());
  std::vector<std::vector<long double>> system(places.size(), std::vector<long double>(places.size() + 1));
  for (index_t r = 0; r < m; ++r) {
    for (index_t c = 0; c < m; ++c) system[r][c] = a[places[r] * n + places[c]];
    system[r][m] = -a[places[r] * n + i];
  }
  for (index_t k = 0; k < m; ++k) // Gauss and Jordan: the matrix is definite
    for (index_t r = 0; r < m; ++r)
      if (r != k)
        for (index_t c = m; c >= k; --c) system[r][c] -= system[r][k] / system[k][k] * system[k][c];
  index_t best = -1;
  long double largest = 0;
  for (index_t j = 0; j < i; ++j) {
    if (std::ranges::count(places, j) > 0) continue;
    long double slope = a[j * n + i];
    for (index_t r = 0; r < m; ++r) slope += a[j * n + places[r]] * system[r][m] / system[r][r];
    if (std::abs(slope) > largest) largest = std::abs(slope), best = j;
  }
  return best;
}

TEST(rows_of_inverse, grow_to_where_the_gradient_is_largest) {
  kit::splitmix random(8);
  const index_t n = 40;
  std::vector<double> dense(static_cast<std::size_t>(n * n));
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j <= i; ++j)
      dense[i * n + j] = dense[j * n + i] = i == j ? 1 : random.unit() < 0.3 ? 0.2 * random.unit() - 0.1 : 0;
  const auto a = kit::from_function(n, [&](index_t i, index_t j) { return dense[i * n + j]; });
  constexpr index_t steps = 4;
  const auto f = rows_of_inverse(rows_of_triplets<double>(a).view(), {1, steps, 1});
  EXPECT_EQ(f.diagonal_rows, 0);
  index_t whole = 0;
  for (index_t i = 0; i < n; ++i) {
    std::vector<index_t> places;
    const index_t length = f.g.row_ptr[i + 1] - f.g.row_ptr[i];
    for (index_t k = 1; k < length; ++k) places.push_back(steepest(dense, n, i, places));
    std::ranges::sort(places);
    places.push_back(i);
    for (index_t k = 0; k < length; ++k) ASSERT_EQ(f.g.col[f.g.row_ptr[i] + k], places[k]) << i;
    whole += length == 1 + steps;
  }
  EXPECT_GT(whole, n / 2);
}

TEST(rows_of_inverse, stop_growing_where_nothing_is_gained) {
  const auto a = kit::from_function(50, [](index_t i, index_t j) { return i == j ? 1.0 : 1e-3; });
  const auto f = rows_of_inverse(rows_of_triplets<double>(a).view(), {1, 10, 2});
  EXPECT_EQ(f.g.nnz(), 1 + 2 + 48 * 3);
}

TEST(rows_of_inverse, count_rows_that_are_not_definite) {
  const auto a = kit::assemble({3, 3}, {{0, 0, 1}, {0, 1, 2}, {1, 0, 2}, {1, 1, 1}, {2, 2, 1}});
  const auto f = rows_of_inverse(rows_of_triplets<double>(a).view(), {});
  EXPECT_EQ(f.diagonal_rows, 1);
  EXPECT_EQ(f.g.nnz(), 3);
}

TEST(rows_of_inverse, keep_the_heaviest_places_of_long_rows) {
  const index_t n = 400;
  const auto a =
      kit::from_function(n, [](index_t i, index_t j) { return i == j ? 1.0 : 1e-3 / double(1 + std::abs(i - j)); });
  const auto f = rows_of_inverse(rows_of_triplets<double>(a).view(), {});
  const index_t last = n - 1, first = f.g.row_ptr[last];
  EXPECT_EQ(f.g.row_ptr[n] - first, fsai_preconditioner::most_places);
  EXPECT_EQ(f.g.col[first], n - fsai_preconditioner::most_places); // those next to the diagonal
}

} // namespace
} // namespace furrow
