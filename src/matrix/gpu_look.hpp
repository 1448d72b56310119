// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "gpu_block_counts.hpp"
#include "gpu_format_look.hpp"
#include "gpu_lengths.hpp"
#include "rows_on_gpu.hpp"

namespace furrow {

/// What `measure` needs before it can enqueue the rest, found on the way of a look.
struct first_facts {
  found_lengths lengths;
  edge_verdicts edges{}; ///< of blocks, by a sample
};

/// What a look saw.
struct seen_rows {
  bool wrong = false;      ///< offsets, or columns outside of the matrix
  bool disordered = false; ///< columns that do not ascend
  index_t entries = 0;
  rows_look look; ///< of the entries inside, where the offsets are right
};

/// One look at all entries of rows on the current GPU, their lengths and a sample of their blocks: what is found comes
/// home in one copy.
class look_under_way {
public:
  /// most_entries: no fewer than the rows have.
  look_under_way(shape2 shape, index_t most_entries);
  /// Enqueues. given: the offsets as they came, a.row_ptr itself or what is to be written there. They, the columns and
  /// their order are checked before they are believed. a.col has `most_entries` places. first: see `look_at_rows`.
  template <class V, class I> void enqueue(const csr<V, index_t, cview>& a, const I* given, index_t first = 0);
  /// Waits.
  seen_rows finish();

private:
  shape2 shape_;
  index_t most_entries_;
  gpu_array<found_word> words_;
};

} // namespace furrow
