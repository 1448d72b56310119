// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "backends/gpu/play/rows.hpp"

#include "segmented_kernels.hpp"

#include <vector>

namespace furrow {

/// The arrays of triplets as a played kernel takes them.
template <class T, int Lanes, template <class> class Array> struct triplets<play::real<T, Lanes>, Array> {
  shape2 shape;
  Array<play::whole<std::int32_t>> row, col;
  Array<play::real<T, Lanes>> val;
};

namespace coo_format {

/// y += alpha A x by `segmented`, which is two kernels; x and y are on the machine. `prefix`: before the names of the
/// arrays, where others are on the machine already.
template <int Lanes, class V>
std::vector<play::kernel_report> play_segmented(play::machine& m, const triplets<V, cview>& a, V alpha, cview<V> x,
                                                view<V> y, const std::string& prefix = {}) {
  using N = play::real<V, Lanes>;
  const index_t tiles = (a.val.size + tile_entries - 1) / tile_entries;
  if (tiles == 0) return {};
  host_array<V> carries(tiles);
  m.add(prefix + "row", view<const std::int32_t>(a.row));
  m.add(prefix + "col", view<const std::int32_t>(a.col));
  m.add(prefix + "val", view<const V>(a.val));
  m.add("carry", as_view(carries));
  const triplets<N, cview> there{a.shape, play::as_played<Lanes>(view<const std::int32_t>(a.row)),
                                 play::as_played<Lanes>(view<const std::int32_t>(a.col)),
                                 play::as_played<Lanes>(view<const V>(a.val))};
  const cview<N> px = play::as_played<Lanes>(view<const V>(x));
  const view<N> py = play::as_played<Lanes>(y), carry = play::as_played<Lanes>(as_view(carries));
  std::vector<play::kernel_report> reports;
  reports.push_back(m.play("segmented", {static_cast<unsigned>(tiles), 1, 1}, threads,
                           [&] { segmented_kernel<N>(there, N(alpha), px, py, carry); }));
  reports.push_back(m.play("carry", play::blocks_for(tiles * Lanes, threads), threads,
                           [&] { carry_kernel<N>(there, N(alpha), py, cview<N>(carry)); }));
  return reports;
}

} // namespace coo_format
} // namespace furrow
