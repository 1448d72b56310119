// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "csr.hpp"

/// The rows of csr on x86 processors: what to give to row_operator in place of `each_row`, which these are where there
/// is neither AVX2 nor AVX-512.
///
/// What bounds rows whose matrix is in a cache: the loads, two an entry, and the branch at the end of a row. One
/// running sum would wait for every addition, 4 cycles each. Elements of x are loaded one by one into vectors: on the
/// processors measured a gather instruction takes longer (docs/cpu-performance.md).
///
/// The entries of a row are added in an order that its length alone decides, so rows may be cut anywhere:
/// |y - A x| <= (row length + 1) u |A| |x| for every row.
namespace furrow::csr_rows {

/// A row at a time: several sums side by side, 8 entries a step, then 4, 2, 1. For long rows, and for rows whose
/// lengths a branch predictor learns.
struct direct {
  template <class V, class I>
  static void sums(const csr<V, I, cview>& a, index_t first, index_t last, cview<V> x, V* out);
};

/// `direct` with gather instructions: slower while x is in the second cache, faster where most elements of x come from
/// beyond it.
struct gathered {
  template <class V, class I>
  static void sums(const csr<V, I, cview>& a, index_t first, index_t last, cview<V> x, V* out);
};
/// From this many bytes of x on.
inline constexpr index_t gathered_from = 2 << 20;

/// The products of 32 rows into a small buffer, then the sums of eight rows at once from masked vectors: no branch
/// depends on the length of a single row. For short rows of irregular lengths. Needs AVX-512; without it: `direct`.
struct staged {
  template <class V, class I>
  static void sums(const csr<V, I, cview>& a, index_t first, index_t last, cview<V> x, V* out);
};

/// Whether `staged` suits these rows. Decided by `mispredicted_lengths`, not by a stopwatch, so that the same matrix
/// always gives the same bits.
template <class I> bool irregular(cview<I> row_ptr);

} // namespace furrow::csr_rows
