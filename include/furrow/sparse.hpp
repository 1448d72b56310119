// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/coo.hpp>
#include <furrow/device.hpp>

#include <memory>

namespace furrow {

/// Compressed rows in the arrays of the caller: row i holds the entries row_ptr[i] to row_ptr[i + 1] - 1, in any order;
/// those that share a place add up. I: std::int32_t or std::int64_t. Entries beyond the last offset do not count.
template <class V, class I> struct csr_arrays {
  shape2 shape;
  cview<I> row_ptr; ///< shape.rows + 1 offsets, the first 0
  cview<I> col;     ///< counted from 0
  cview<V> val;
  device where{}; ///< whose memory they lie in
  /// Keeps the arrays alive for who stays beyond the call; empty: they are read in the call alone.
  std::shared_ptr<const void> owner{};
};

/// The same matrix as triplets: sorted by row and column, entries that share a place added in double, in their order.
/// Parallel; one pass over rows that are sorted already, others are sorted as by `assemble`. The same bits for any
/// number of threads. Throws `fault::input` for sides that no matrix has, lengths that do not fit, offsets that do not
/// begin with 0 or that decrease, and columns outside of the matrix, and names the first of them; `fault::device` for
/// arrays on a GPU, which `matrix` and `solver` take, `fault::memory` before it takes what cannot be had.
template <class V, class I> coo<V> to_coo(const csr_arrays<V, I>& a);

} // namespace furrow
