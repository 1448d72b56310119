// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "gpu_format_look.hpp"

#include "core/measure.hpp"

#include <vector>

namespace furrow {

/// What `measure_lengths` finds of rows in the memory of the current GPU, but for the lengths themselves and for
/// `mispredicted_lengths`, which only products on a CPU ask for: to words that are zeros before. Enqueues.
/// far: `far_length_words(nnz)` words, of any content. wrong: nothing is done where that word is set. The bits that
/// kernels before have marked are counted along the way: a launch is 2.5 us.
struct marked_bits {
  const unsigned* bit;
  index_t words;
  found_word* count;
};
inline constexpr index_t length_words = 1024 + 3 + 256;
index_t far_length_words(index_t nnz);
void enqueue_lengths(index_t rows, const index_t* row_ptr, const found_word* wrong, found_word* to, found_word* far,
                     const marked_bits& marked);
/// What they tell. May fetch from `far`, and waits then.
struct found_lengths {
  std::vector<length_count> occurring;
  std::uint64_t fingerprint = 0;
  index_t slice_places = 0; ///< of rows as they lie
};
found_lengths lengths_found(const found_word* home, const found_word* far);
/// Sets it in `s`, whose shape and nnz are known; but not the places in windows where rows are sorted: 0 where these
/// are to be counted, otherwise -1.
void describe(const found_lengths& found, stats& s);

/// Places of slices in each of `sorting_windows` but the first, a word each, zeros before. Enqueues.
inline constexpr index_t window_words = std::ssize(sorting_windows) - 1;
void enqueue_windows(index_t rows, const index_t* row_ptr, found_word* to);

} // namespace furrow
