// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/stats.hpp>

namespace furrow {

/// What `measure_lengths` finds, but for the lengths themselves and for `mispredicted_lengths`, which only products on
/// a CPU ask for. row_ptr: of s.shape.rows rows with s.nnz entries, in the memory of the current GPU. Waits.
void measure_lengths_on_gpu(const index_t* row_ptr, stats& s);

} // namespace furrow
