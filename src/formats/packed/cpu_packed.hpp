// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "packed.hpp"

/// Slices of packed on the CPU, for cpu::slice_operator: eight slots at a time are unpacked into a small buffer, then
/// added as those of sell are, in the same order.
namespace furrow::packed_slices {

struct unpacked {
  template <class V> static void sums(const packed<V, cview>& a, index_t slice, cview<V> x, V* out);
  /// Of W vectors x that lie row by row, as sell_slices::blocks has them.
  template <int W, class V> static void block_sums(const packed<V, cview>& a, index_t slice, const V* x, V* out);
};

} // namespace furrow::packed_slices
