// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "slicing.hpp"

#include <bit>

/// Rows into slices on the current GPU: what slicing.cpp does on the host, with the same result.
namespace furrow {

/// Of a number up to `most`.
inline int bits_for(index_t most) { return std::bit_width(static_cast<std::uint64_t>(most)); }

/// As `sorted_rows`. row_ptr: of `rows` rows, of which the longest has `longest` entries.
gpu_array<std::int32_t> sorted_rows_on_gpu(const index_t* row_ptr, index_t rows, index_t longest, slicing s);

/// As `offsets_of_slices`. order: null where the rows stay where they are. Enqueues.
gpu_array<index_t> offsets_of_slices_on_gpu(const index_t* row_ptr, index_t rows, const std::int32_t* order,
                                            index_t height);

} // namespace furrow
