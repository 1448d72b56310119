// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "formats/dia/dia.hpp"
#include "matrix/rows.hpp"

namespace furrow::amg {

/// A times a power of two by its diagonals, where they take at most 0.8 of the bytes of compressed rows; otherwise
/// without offsets. Parallel, two passes; the first ends early where there are too many diagonals.
template <class W> dia<W, host_array> by_diagonals(row_view<double> a, double scale);

} // namespace furrow::amg
