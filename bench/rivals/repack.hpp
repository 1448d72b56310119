// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/coo.hpp>

/// Triplets in the layouts that cuSPARSE takes. Pure host code, tested without a GPU.
namespace furrow::bench {

/// Slices of `height` rows, each as wide as its longest row, by columns; padding has column -1 and value 0. The last
/// slice is full too.
template <class V> struct sliced {
  static constexpr index_t height = 32;
  host_array<std::int32_t> begin; ///< slices + 1
  host_array<std::int32_t> col;
  host_array<V> val;
};
/// Throws `fault::input` where the padded matrix has more than 2^31 - 1 places or three times its entries.
template <class V> sliced<V> to_sliced(const coo<V>& a);

/// Dense square blocks, each by rows, block rows compressed.
template <class V> struct blocked {
  index_t size = 0;               ///< of a block
  host_array<std::int32_t> begin; ///< block rows + 1
  host_array<std::int32_t> col;   ///< of the blocks, ascending inside a block row
  host_array<V> val;
};
/// With the block size from 2 to 8 that takes the fewest bytes among those that divide both sides. Throws
/// `fault::input` where none divides them or the blocks hold more than three times the entries.
template <class V> blocked<V> to_blocked(const coo<V>& a);

} // namespace furrow::bench
