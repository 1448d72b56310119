// SPDX-License-Identifier: BSD-3-Clause
#include "several.hpp"

#include "several_groups.hpp"

#include "backends/cpu/parallel.hpp"
#include "backends/lanes.hpp"

#include <furrow/array.hpp>

#include <algorithm>

namespace furrow {
namespace {

constexpr index_t rows_of_task = 4096, rows_of_tile = 64; ///< a tile of 16 vectors stays in the first cache

/// body(first, last) for tiles of rows, over the threads.
template <class F> void for_each_tile(index_t rows, const F& body) {
  cpu::for_each_task((rows + rows_of_task - 1) / rows_of_task, [&](index_t task) {
    const index_t end = std::min(rows, (task + 1) * rows_of_task);
    for (index_t first = task * rows_of_task; first < end; first += rows_of_tile)
      body(first, std::min(end, first + rows_of_tile));
  });
}

struct host {
  template <class V> using array = host_array<V>;

  template <class V>
  static void gather(const V* x, several::places at, index_t n, index_t first, index_t count, index_t width, V* to) {
    for_each_tile(n, [&](index_t begin, index_t end) {
      for (index_t q = 0; q < width; ++q) {
        const V* const from = x + (first + q) * at.next;
        for (index_t i = begin; i < end; ++i) to[i * width + q] = q < count ? from[i * at.step] : V(0);
      }
    });
  }
  template <class V>
  static void scatter(const V* from, V alpha, V beta, V* y, several::places at, index_t n, index_t first, index_t count,
                      index_t width) {
    for_each_tile(n, [&](index_t begin, index_t end) {
      for (index_t q = 0; q < count; ++q) {
        V* const to = y + (first + q) * at.next;
        for (index_t i = begin; i < end; ++i) store(alpha, from[i * width + q], beta, to[i * at.step]);
      }
    });
  }
  template <class V> static void clear(view<V> v) { std::fill_n(v.data, v.size, V(0)); }
};

} // namespace

template <class V>
void apply_several(const any_operator<V>& a, V alpha, cview<V> x, V beta, view<V> y, index_t vectors,
                   storage_order order) {
#if FURROW_HAS_GPU
  if (a.where().is_gpu()) return apply_several_on_gpu(a, alpha, x, beta, y, vectors, order);
#endif
  several::in_groups<host>(a, alpha, x, beta, y, vectors, order);
}

template void apply_several(const any_operator<double>&, double, cview<double>, double, view<double>, index_t,
                            storage_order);
template void apply_several(const any_operator<float>&, float, cview<float>, float, view<float>, index_t,
                            storage_order);

} // namespace furrow
