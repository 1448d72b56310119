// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "gpu_format_look.hpp"

#include "core/blocks.hpp"

/// Aligned K x K blocks of rows on the current GPU, counted for every K at once.
namespace furrow {

/// Blocks and entries of the sample that `judge_edges` looks at, to words that are zeros before. Enqueues. wrong:
/// nothing is done where that word is set.
inline constexpr index_t block_sample_words = 2 * (most_edge + 1), block_count_words = most_edge + 1;
void sample_blocks(index_t rows, const index_t* row_ptr, const std::int32_t* col, const found_word* wrong,
                   found_word* to);
edge_verdicts judge_edges(const found_word* home);

/// Blocks of the edges that are worth it, to words that are zeros before. Enqueues.
void count_blocks(index_t rows, const index_t* row_ptr, const std::int32_t* col, const edge_verdicts& verdicts,
                  found_word* to);

} // namespace furrow
