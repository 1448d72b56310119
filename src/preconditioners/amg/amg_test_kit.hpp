// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "matrix/rows.hpp"
#include "preconditioners/entry.hpp"

#include <gtest/gtest.h>

namespace furrow::amg {

/// What cg needs of A and of M.
inline constexpr solver_needs cg_needs{{true, true}, {true, true}};

inline auto rows_of(const coo<double>& a) { return to_rows(coo<double>(a)); }

/// A times its inverse, row by row, is I.
inline void expect_inverse(const row_matrix<double>& a, const host_array<double>& inverse, double off) {
  const index_t n = a.shape.rows;
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j < n; ++j) {
      double sum = 0;
      for (index_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) sum += a.val[k] * inverse[a.col[k] * n + j];
      ASSERT_NEAR(sum, i == j, off);
    }
}

} // namespace furrow::amg
