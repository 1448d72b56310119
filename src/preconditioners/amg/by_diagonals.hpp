// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "formats/dia/dia.hpp"
#include "formats/padded.hpp"
#include "matrix/rows.hpp"

#include <vector>

namespace furrow::amg {

/// Diagonals that take at most 0.8 of the bytes of compressed rows.
template <class W> index_t most_diagonals(index_t rows, index_t entries) {
  const double bytes = double(entries) * (sizeof(W) + sizeof(std::int32_t)) + double(rows) * sizeof(index_t);
  return static_cast<index_t>(0.8 * bytes / (double(padded_rows(rows)) * sizeof(W)));
}

/// The distinct values of column minus row, ascending; none where there are more than `most`. Parallel, one pass, which
/// ends early there.
std::vector<std::int32_t> offsets_of(row_view<double> a, std::size_t most);

/// A times a power of two by its diagonals, where they are few enough; otherwise without offsets. Parallel, two passes;
/// the first ends early where there are too many diagonals.
template <class W> dia<W, host_array> by_diagonals(row_view<double> a, double scale);

/// Other values of the same matrix. Parallel, one pass.
template <class W> void fill_diagonals(dia<W, host_array>& d, row_view<double> a, double scale);

} // namespace furrow::amg
