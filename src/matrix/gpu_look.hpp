// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "gpu_format_look.hpp"
#include "rows_on_gpu.hpp"

namespace furrow {

/// One look at all entries of rows on the current GPU, to words that are zeros before. Enqueues. Columns and their
/// order are checked before they are believed; offsets must be right, or the word `wrong` set, which stops it.
/// most_entries: no fewer than the rows have.
inline constexpr index_t look_words = 16;
template <class V>
void enqueue_look(const csr<V, index_t, cview>& a, index_t most_entries, const found_word* wrong, found_word* to);

rows_look look_found(const found_word* home);
/// What it saw of columns: outside of the matrix, or not ascending.
struct column_faults {
  bool outside = false, disordered = false;
};
column_faults faults_found(const found_word* home);

} // namespace furrow
