// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "matrix/rows.hpp"

namespace furrow {

/// A', sorted. Parallel by rows of A: a count a column and thread, a scan, one pass that fills. Takes 8 bytes a column
/// and thread beside the result, and no more threads than entries a column: at most 8 bytes an entry, or a column. The
/// same for every number of threads.
template <class V> row_matrix<V> transposed(row_view<V> a);

} // namespace furrow
