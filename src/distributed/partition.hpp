// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/array.hpp>

#include <vector>

namespace furrow {

/// What the passes over vectors cost a row, in entries of a matrix: some ten numbers of 8 bytes beside 12 an entry.
inline constexpr index_t entries_of_a_row = 6;

/// Where the rows of each rank begin, `ranks` + 1 numbers: contiguous rows, about as much work for each. Of sorted row
/// indices. Some have none where there are fewer rows than ranks, or a row holds more than a share.
std::vector<index_t> cut_by_entries(cview<std::int32_t> row, index_t rows, int ranks);

/// The same of the offsets of compressed rows.
template <class I> std::vector<index_t> cut_by_offsets(cview<I> row_ptr, int ranks);

/// Who has row i.
int owner_of(const std::vector<index_t>& begins, index_t i);

} // namespace furrow
