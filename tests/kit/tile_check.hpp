// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "matrices.hpp"
#include "random.hpp"
#include "row_error.hpp"

#include "backends/row_tiles.hpp"

#include <gtest/gtest.h>

namespace furrow::kit {

template <int R, class V, class Matrix> void check_tiles_of(const Matrix& matrix, const coo<V>& a, index_t apart) {
  const auto x = random_vector<V>(a.shape.cols, 106);
  const auto expected = reference_product(a, V(1), as_cview(x), V(0), {});
  host_array<V> y(a.shape.rows);
  for (index_t first = 0; first < a.shape.rows; first += R * apart)
    for (index_t thread = 0; thread < apart; ++thread) {
      V sum[R] = {};
      tile_sums(matrix, row_tile{first, R * apart, apart}, first + thread, as_cview(x), sum);
      for (int r = 0; r < R; ++r)
        if (const index_t row = first + thread + r * apart; row < a.shape.rows) y[row] = sum[r];
    }
  EXPECT_LE(row_error(expected, as_cview(y)), 1) << R << " rows a thread, " << apart << " threads";
}

/// `matrix` (views of host memory) is `a` in a format with tile arithmetic: plays blocks of several sizes on the host,
/// so that the arithmetic of the GPU kernel is checked where there is no GPU.
template <class V, class Matrix> void check_tiles(const Matrix& matrix, const coo<V>& a) {
  for (const index_t apart : {1, 3, 8, 32, 256}) {
    check_tiles_of<1>(matrix, a, apart);
    check_tiles_of<2>(matrix, a, apart);
    check_tiles_of<4>(matrix, a, apart);
  }
}

} // namespace furrow::kit
