// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/operator.hpp>
#include <furrow/storage_order.hpp>

#include <algorithm>

namespace furrow::several {

/// Where element i of vector k lies.
struct places {
  index_t step; ///< between elements of a vector
  index_t next; ///< between vectors
  places(index_t n, index_t vectors, storage_order order)
      : step(order == storage_order::row_major ? vectors : 1), next(order == storage_order::row_major ? 1 : n) {}
};

/// The least number of vectors that operators take at once and that holds `count`, at most 16.
constexpr index_t width_for(index_t count) { return count <= 2 ? 2 : count <= 4 ? 4 : count <= 8 ? 8 : 16; }
/// How many of `left` vectors go together.
constexpr index_t group_of(index_t left) { return left >= 16 ? 16 : left >= 8 ? 8 : std::min<index_t>(left, 4); }

/// Whether one pass over A for `count` vectors saves more than copies there and back cost: by bytes that move.
template <class V> bool gains(const any_operator<V>& a, index_t count) {
  const double vectors = double(sizeof(V)) * double(a.shape().rows + a.shape().cols) * double(count);
  return a.multiplies_blocks() && a.stored_bytes() * double(count - 1) > 2 * vectors;
}

/// See apply_several. What the memory of A gives:
/// array<V>                                            its arrays
/// gather(x, places, n, first, count, width, to)       to[i width + q] <- element i of vector first + q, 0 from `count`
/// on scatter(from, alpha, beta, y, places, n, first, count, width)   element i of it <- alpha from[...] + beta times
/// itself clear(view)                                         zeros
template <class Memory, class V>
void in_groups(const any_operator<V>& a, V alpha, cview<V> x, V beta, view<V> y, index_t vectors, storage_order order) {
  const shape2 s = a.shape();
  const bool by_rows = order == storage_order::row_major;
  const places at_x(s.cols, vectors, order), at_y(s.rows, vectors, order);
  const bool as_it_lies = by_rows && vectors > 1 && vectors == width_for(vectors) && a.multiplies_blocks();
  if (as_it_lies && alpha == V(1) && beta == V(0)) return a.apply_block(x, y, vectors);
  typename Memory::template array<V> block_x, block_y;
  for (index_t first = 0, count; first < vectors; first += count) {
    count = group_of(vectors - first);
    const bool together = alpha != V(0) && (by_rows ? a.multiplies_blocks() : gains(a, count));
    if (!together) count = 1;
    if (count == 1 && !by_rows) {
      a.apply(alpha, part<const V>(x, first * s.cols, s.cols), beta, part(y, first * s.rows, s.rows));
      continue;
    }
    const index_t width = count == 1 ? 1 : width_for(count);
    block_y.resize(s.rows * width);
    cview<V> in = x;
    if (alpha != V(0) && !(as_it_lies && together)) {
      block_x.resize(s.cols * width);
      Memory::gather(x.data, at_x, s.cols, first, count, width, block_x.data());
      in = as_cview(block_x);
    }
    if (alpha == V(0)) Memory::clear(as_view(block_y));
    else if (width == 1) a.apply(V(1), in, V(0), as_view(block_y));
    else a.apply_block(in, as_view(block_y), width);
    Memory::scatter(block_y.data(), alpha, beta, y.data, at_y, s.rows, first, count, width);
  }
}

} // namespace furrow::several
