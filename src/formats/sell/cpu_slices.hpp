// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "sell.hpp"

/// Slices of sell on the CPU, for cpu::slice_operator. The entries of a row are added in their order by one running
/// sum; rows of a slice lie side by side, so that their additions overlap.
namespace furrow::sell_slices {

/// The sums of W vectors x that lie row by row: to out[0 .. height W), a slice of A is read once.
struct blocks {
  template <int W, class V> static void block_sums(const sell<V, cview>& a, index_t slice, const V* x, V* out);
};

/// An entry at a time.
struct scalar : blocks {
  template <class V> static void sums(const sell<V, cview>& a, index_t slice, cview<V> x, V* out);
};

/// A vector of rows at a time, x by gather instructions that leave out padding: 16 or 8 rows with AVX-512, 8 or 4 with
/// AVX2. Where neither fits the height, or there is none: scalar.
struct vectors : blocks {
  template <class V> static void sums(const sell<V, cview>& a, index_t slice, cview<V> x, V* out);
};

/// out[i] += sum of val * x over `width` columns of `height` places each, as `vectors` does it.
template <class V>
void add_columns(const std::int32_t* col, const V* val, index_t width, index_t height, const V* x, V* out);

/// The same for W vectors x that lie row by row: out[i W + q] += sum of val * x[col W + q]. Row by row, for the places
/// of a slice stay in the first cache.
template <int W, class V>
void add_columns_to_block(const std::int32_t* col, const V* val, index_t width, index_t height, const V* x, V* out);

} // namespace furrow::sell_slices
