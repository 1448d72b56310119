// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/coo.hpp>

namespace furrow {

/// How a matrix compares with its transpose.
struct transpose_comparison {
  bool pattern = false;   ///< A[i,j] is an entry exactly where A[j,i] is
  bool symmetric = false; ///< A = A', up to the few units in the last place that `solve` accepts
  bool skew = false;      ///< A = -A', exactly
};

/// Rectangular matrices are none of these. Parallel; a binary search an entry and eight bytes a row.
transpose_comparison compare_with_transpose(const coo<double>& a);

} // namespace furrow
