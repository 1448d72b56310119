// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "matrices.hpp"
#include "random.hpp"
#include "row_error.hpp"

#include "backends/lanes.hpp"

#include <gtest/gtest.h>

#include <array>

namespace furrow::kit {

/// What a group of lanes adds up by shuffles: halves fold onto each other until lane 0 holds the sum.
template <class V> V tree_sum(std::array<V, 64> lane, int width) {
  int reach = 1;
  while (2 * reach < width) reach *= 2;
  for (; reach > 0; reach /= 2)
    for (int l = 0; l < reach && l + reach < width; ++l)
      lane[static_cast<std::size_t>(l)] += lane[static_cast<std::size_t>(l + reach)];
  return width ? lane[0] : V(0);
}

/// `matrix` (views of host memory) is `a` in a format with lane arithmetic: plays every width from 1 to 64 on the host,
/// so that the arithmetic of the GPU kernels is checked where there is no GPU.
template <class V, class Matrix> void check_lanes(const Matrix& matrix, const coo<V>& a) {
  const auto x = random_vector<V>(a.shape.cols, 105);
  const auto expected = reference_product(a, V(1), as_cview(x), V(0), {});
  host_array<V> y(a.shape.rows);
  for (int width = 1; width <= 64; ++width) {
    for (index_t row = 0; row < a.shape.rows; ++row) {
      std::array<V, 64> share{};
      for (int rank = 0; rank < width; ++rank)
        share[static_cast<std::size_t>(rank)] = partial(lanes{rank, width}, matrix, row, as_cview(x));
      y[row] = tree_sum(share, width);
    }
    EXPECT_LE(row_error(expected, as_cview(y)), 1) << width << " lanes";
  }
}

} // namespace furrow::kit
