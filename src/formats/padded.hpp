// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/entries_before.hpp"

#include <furrow/array.hpp>

#include <algorithm>

#if !defined(__CUDACC__)
#include "backends/row_kernel.hpp"
#endif

/// What formats share that store rows side by side, with padding (dia, ell, hyb).
namespace furrow {

/// The distance between columns of `rows` values: each starts on 64 bytes, in f32 and f64.
constexpr index_t padded_rows(index_t rows) { return (rows + 15) / 16 * 16; }

#if !defined(__CUDACC__)
/// Pieces of equally many rows, of about `work` places: whole blocks of rows where a piece holds some, otherwise a
/// multiple of 16 rows, so that it starts on 64 bytes. With 16,384 places products of 25,000 to 60,000 places stay on
/// one thread and take up to 1.3 times as long in dia and 1.7 in ell (2 threads of an Intel Xeon).
inline row_pieces even_pieces(index_t rows, index_t places_a_row, index_t work = 8192) {
  const index_t wanted = std::clamp<index_t>(work / (places_a_row + 1), 16, 4 * row_block);
  const index_t unit = wanted >= row_block ? row_block : 16, size = wanted / unit * unit;
  row_pieces pieces;
  for (index_t row = size; row < rows; row += size) pieces.begin.push_back(row);
  if (rows) pieces.begin.push_back(rows);
  return pieces;
}
#endif

} // namespace furrow
