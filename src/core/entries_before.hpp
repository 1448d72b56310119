// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/view.hpp>

#include <algorithm>

namespace furrow {

/// The number of entries before row r, for sorted row indices.
inline index_t entries_before(cview<std::int32_t> row, index_t r) {
  return std::lower_bound(row.begin(), row.end(), r) - row.begin();
}

} // namespace furrow
