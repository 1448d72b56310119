// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "matrix/rows_on_gpu.hpp"

#include <vector>

namespace furrow {

/// A rank's rows, taken apart on its GPU.
template <class V> struct rows_apart {
  rows_on_gpu<V> own; ///< square: its own columns, numbered from 0 on
  coo<V> far;         ///< in host memory: the other entries, with the columns of the whole matrix
  index_t longest_row = 0;
  std::vector<std::int32_t> diagonals; ///< of `own`, column minus row; so many as are asked for at most
};

/// rows: with the columns of the whole matrix, of which [first, last) are the rank's own. Some passes;
/// takes (4 + sizeof(V)) bytes an entry and 20 a row there beside them, no entry where all columns are its own. The
/// same bits on every run. Waits. For sources that know nothing of CUDA; in a build without a GPU part throws
/// `fault::device`.
template <class V>
rows_apart<V> take_apart_on_gpu(const rows_on_gpu<V>& rows, index_t first, index_t last, index_t most_diagonals);

} // namespace furrow
