// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "matrix/rows.hpp"
#include "preconditioners/entry.hpp"

namespace furrow::amg {

/// Whether the levels of A have room in single precision: its diagonal spans at most 1e30, and a level follows the
/// first, for a dense inverse alone is exact as far as double goes. Throws a `refusal` unless A can have a hierarchy:
/// its diagonal is positive. Parallel, one pass.
template <class V> bool fits_single(const coo<V>& a, solver_needs needed);

/// Whether its levels are symmetric. Parallel, a pass where that is not known.
template <class V> bool has_symmetric_levels(const coo<V>& a, solver_needs needed);

/// The values in double: where they are, or in an array of their own.
template <class V> row_view<double> in_double(const coo<V>& a, cview<index_t> row_ptr, host_array<double>& wide);

/// Diagonals that span more leave single precision no room for the vectors of a cycle.
inline constexpr double most_span = 1e30;

} // namespace furrow::amg
