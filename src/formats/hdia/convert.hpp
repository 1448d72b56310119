// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "hdia.hpp"

#include "formats/collect_rows.hpp"

#include <furrow/coo.hpp>

#include <cstdint>

namespace furrow {

/// From triplets, which it takes apart. Parallel: one pass plans slices, and leaves ~r for the column of an entry that
/// lies in strip r of its slice; another one puts the entries into place.
template <class V> hdia<V, host_array> to_hdia(coo<V> a);
template <class V> hdia<V, host_array> to_hdia(measured_coo<V> a);

/// put(col, val) for the entries of a row by ascending column.
template <class V, class F> void each_entry(const hdia<V, host_array>& a, index_t row, F put) {
  const index_t s = row / strip_height, i = row % strip_height;
  index_t strip = a.strip_ptr[s], place = a.rest.slice_ptr[s] + i;
  const index_t strips = a.strip_ptr[s + 1], places = a.rest.slice_ptr[s + 1];
  for (;;) {
    while (strip < strips && a.val[strip * strip_height + i] == V(0)) ++strip;
    const bool beside = place < places && a.rest.col[place] >= 0;
    if (beside && (strip == strips || a.rest.col[place] < row + a.offset[strip])) {
      put(a.rest.col[place], a.rest.val[place]);
      place += strip_height;
    } else if (strip < strips) {
      put(row + a.offset[strip], a.val[strip * strip_height + i]);
      ++strip;
    } else {
      return;
    }
  }
}

/// All entries, those with the value 0 too. Parallel; two passes.
template <class V> coo<V> to_coo(const hdia<V, host_array>& a) {
  return collect_rows<V>(a.shape, [&](index_t row, auto&& put) { each_entry(a, row, put); });
}

} // namespace furrow
