// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "gpu_format_look.hpp"

#include "core/locality.hpp"

namespace furrow {

/// Sectors that the sample of `measure_locality` touches, in rows on the current GPU, to four words that are zeros
/// before. Enqueues.
inline constexpr index_t locality_words = 4;
void look_at_locality(shape2 shape, const index_t* row_ptr, const std::int32_t* col, const stats& sizes,
                      found_word* to);
locality_counts locality_found(const found_word* home);

} // namespace furrow
