// SPDX-License-Identifier: BSD-3-Clause
#include "balanced_rows.hpp"

#include "kit/guarded.hpp"
#include "kit/matrices.hpp"
#include "kit/random.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace furrow {
namespace {

/// A path of three rows, a pair whose weights are far from 1 and from those of the path, and a pair with a boundary.
coo<double> three_parts() {
  return kit::assemble({7, 7}, {{0, 0, 1},
                                {0, 1, -1},
                                {1, 0, -1},
                                {1, 1, 1.1},
                                {1, 2, -0.1},
                                {2, 1, -0.1},
                                {2, 2, 0.1},
                                {3, 3, 1e-9},
                                {3, 6, -1e-9},
                                {6, 3, -1e-9},
                                {6, 6, 1e-9},
                                {4, 4, 2},
                                {4, 5, -1},
                                {5, 4, -1},
                                {5, 5, 1}});
}

TEST(balanced_rows, are_the_connected_parts_of_a_laplacian) {
  const auto sets = balanced_rows_of(three_parts());
  ASSERT_EQ(sets.rows_of, (std::vector<index_t>{3, 2}));
  EXPECT_EQ(sets.set_of, (std::vector<std::int32_t>{0, 0, 0, 1, -1, -1, 1}));
  host_array<double> b{1, 2, 6, 4, 7, 8, -1};
  EXPECT_NEAR(take_means_out(sets, as_view(b)), std::sqrt(3 * 9 + 2 * 1.5 * 1.5), 1e-14);
  const double left[] = {-2, -1, 3, 2.5, 7, 8, -2.5};
  for (index_t i = 0; i < 7; ++i) EXPECT_NEAR(b[i], left[i], 1e-14) << i;
}

TEST(balanced_rows, are_those_of_the_pressure_in_an_enclosed_flow) {
  for (const double relaxed : {0.0, -1e-3}) { // equal orders, held together by a Laplacian of the pressure
    const index_t cells = 6;                  // velocities on the five faces between them
    std::vector<kit::triplet> entries;
    for (index_t i = 0; i + 1 < cells; ++i) {
      entries.push_back({i, i, 2});
      if (i > 0) entries.push_back({i, i - 1, -1}), entries.push_back({i - 1, i, -1});
      for (const index_t side : {0, 1}) {
        const index_t p = cells - 1 + i + side;
        const double g = side == 0 ? -7.3 : 7.3;
        entries.push_back({i, p, g}), entries.push_back({p, i, g});
        entries.push_back({p, p, relaxed}), entries.push_back({p, cells - 1 + i + 1 - side, -relaxed});
      }
    }
    const auto sets = balanced_rows_of(kit::assemble({2 * cells - 1, 2 * cells - 1}, std::move(entries)));
    ASSERT_EQ(sets.rows_of, std::vector<index_t>{cells}) << relaxed;
    for (index_t i = 0; i < 2 * cells - 1; ++i) EXPECT_EQ(sets.set_of[i], i < cells - 1 ? -1 : 0) << i;
  }
}

TEST(balanced_rows, are_found_by_columns) {
  const auto along = kit::assemble({2, 2}, {{0, 0, 1}, {0, 1, 2}, {1, 0, -1}, {1, 1, -2}});
  const auto across = kit::assemble({2, 2}, {{0, 0, 1}, {0, 1, -1}, {1, 0, 2}, {1, 1, -2}});
  EXPECT_TRUE(balanced_rows_of(across).none());
  EXPECT_EQ(balanced_rows_of(along).rows_of, std::vector<index_t>{2});
  EXPECT_TRUE(balanced_rows_of(kit::laplacian(5, 5)).none());
  EXPECT_EQ(balanced_rows_of(kit::laplacian(5, 5, 1, true, 0)).rows_of, std::vector<index_t>{25});
}

/// A grid without a boundary value with weights that no precision holds, whose diagonal is added up in V, and `shift`.
template <class V> coo<V> grid(index_t side, V shift) {
  const auto w = kit::random_vector<double>(2 * side * side, 3);
  std::vector<V> diagonal(std::size_t(side * side), V(0));
  std::vector<kit::triplet> entries;
  for (index_t i = 0; i < side * side; ++i)
    for (const index_t step : {index_t(1), side}) {
      if (step == 1 ? (i + 1) % side == 0 : i + side >= side * side) continue;
      const V weight = V(0.5 + 0.4 * w[2 * i + (step > 1)]);
      diagonal[std::size_t(i)] += weight, diagonal[std::size_t(i + step)] += weight;
      entries.push_back({i, i + step, -double(weight)}), entries.push_back({i + step, i, -double(weight)});
    }
  for (index_t i = 0; i < side * side; ++i) entries.push_back({i, i, double(V(diagonal[std::size_t(i)] + shift))});
  return kit::as_precision<V>(kit::assemble({side * side, side * side}, std::move(entries)));
}

/// Of a matrix that is regular by little nothing may be taken out of b.
TEST(balanced_rows, differ_from_those_that_a_little_holds) {
  EXPECT_EQ(balanced_rows_of(grid<float>(30, 0)).rows_of, std::vector<index_t>{900});
  EXPECT_EQ(balanced_rows_of(grid<double>(30, 0)).rows_of, std::vector<index_t>{900});
  EXPECT_TRUE(balanced_rows_of(grid<float>(30, 2e-6F)).none());
  EXPECT_TRUE(balanced_rows_of(grid<double>(30, 1e-14)).none());
  auto whole = kit::laplacian(30, 30, 1, true, 0); // whose weights are 1
  EXPECT_EQ(balanced_rows_of(kit::as_precision<float>(whole)).rows_of, std::vector<index_t>{900});
  for (index_t k = 0; k < whole.nnz(); ++k)
    if (whole.row[k] == whole.col[k]) whole.val[k] += 2e-6;
  EXPECT_TRUE(balanced_rows_of(kit::as_precision<float>(whole)).none());
}

} // namespace
} // namespace furrow
