// SPDX-License-Identifier: BSD-3-Clause
#include "several.hpp"

#include "backends/cpu/block.hpp"
#include "backends/cpu/parallel.hpp"
#include "backends/lanes.hpp"

#include <furrow/array.hpp>

#include <algorithm>

namespace furrow {
namespace {

/// Where element i of vector k lies.
struct places {
  index_t step; ///< between elements of a vector
  index_t next; ///< between vectors
  places(index_t n, index_t vectors, storage_order order)
      : step(order == storage_order::row_major ? vectors : 1), next(order == storage_order::row_major ? 1 : n) {}
};

constexpr index_t rows_of_task = 4096, rows_of_tile = 64; ///< a tile of 16 vectors stays in the first cache

/// body(first, last) for tiles of rows, over the threads.
template <class F> void for_each_tile(index_t rows, const F& body) {
  cpu::for_each_task((rows + rows_of_task - 1) / rows_of_task, [&](index_t task) {
    const index_t end = std::min(rows, (task + 1) * rows_of_task);
    for (index_t first = task * rows_of_task; first < end; first += rows_of_tile)
      body(first, std::min(end, first + rows_of_tile));
  });
}

/// to[i width + q] <- element i of vector first + q, or 0 where q >= count.
template <class V> void gather(const V* x, places at, index_t n, index_t first, index_t count, index_t width, V* to) {
  for_each_tile(n, [&](index_t begin, index_t end) {
    for (index_t q = 0; q < width; ++q) {
      const V* const from = x + (first + q) * at.next;
      for (index_t i = begin; i < end; ++i) to[i * width + q] = q < count ? from[i * at.step] : V(0);
    }
  });
}

/// Element i of vector first + q <- alpha from[i width + q] + beta times itself.
template <class V>
void scatter(const V* from, V alpha, V beta, V* y, places at, index_t n, index_t first, index_t count, index_t width) {
  for_each_tile(n, [&](index_t begin, index_t end) {
    for (index_t q = 0; q < count; ++q) {
      V* const to = y + (first + q) * at.next;
      for (index_t i = begin; i < end; ++i) store(alpha, from[i * width + q], beta, to[i * at.step]);
    }
  });
}

/// How many of `left` vectors go together.
constexpr index_t group_of(index_t left) { return left >= 16 ? 16 : left >= 8 ? 8 : std::min<index_t>(left, 4); }

/// Whether one pass over A for `count` vectors saves more than copies there and back cost: by bytes that move.
template <class V> bool gains(const any_operator<V>& a, index_t count) {
  const double vectors = double(sizeof(V)) * double(a.shape().rows + a.shape().cols) * double(count);
  return a.multiplies_blocks() && a.stored_bytes() * double(count - 1) > 2 * vectors;
}

} // namespace

template <class V>
void apply_several(const any_operator<V>& a, V alpha, cview<V> x, V beta, view<V> y, index_t vectors,
                   storage_order order) {
  const shape2 s = a.shape();
  const bool by_rows = order == storage_order::row_major;
  const places at_x(s.cols, vectors, order), at_y(s.rows, vectors, order);
  const bool as_it_lies = by_rows && cpu::with_block_width(vectors, [](auto) {});
  if (as_it_lies && alpha == V(1) && beta == V(0)) return a.apply_block(x, y, vectors);
  host_array<V> block_x, block_y;
  for (index_t first = 0, count; first < vectors; first += count) {
    count = group_of(vectors - first);
    const bool together = alpha != V(0) && (by_rows ? a.multiplies_blocks() : gains(a, count));
    if (!together) count = 1;
    if (count == 1 && !by_rows) {
      a.apply(alpha, part<const V>(x, first * s.cols, s.cols), beta, part(y, first * s.rows, s.rows));
      continue;
    }
    const index_t width = count == 1 ? 1 : cpu::block_width(count);
    block_y.resize(s.rows * width);
    cview<V> in = x;
    if (alpha != V(0) && !(as_it_lies && together)) {
      block_x.resize(s.cols * width);
      gather(x.data, at_x, s.cols, first, count, width, block_x.data());
      in = as_cview(block_x);
    }
    if (alpha == V(0)) std::fill_n(block_y.data(), block_y.size(), V(0));
    else if (width == 1) a.apply(V(1), in, V(0), as_view(block_y));
    else a.apply_block(in, as_view(block_y), width);
    scatter(block_y.data(), alpha, beta, y.data, at_y, s.rows, first, count, width);
  }
}

template void apply_several(const any_operator<double>&, double, cview<double>, double, view<double>, index_t,
                            storage_order);
template void apply_several(const any_operator<float>&, float, cview<float>, float, view<float>, index_t,
                            storage_order);

} // namespace furrow
