// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "hdia.hpp"

#include "backends/cpu/parallel.hpp"
#include "core/entries_before.hpp"
#include "formats/collect_rows.hpp"

namespace furrow {

/// body(s, k) for all slices, k being the first triplet of slice s; it returns that of the next. Parallel.
template <class V, class F> void for_each_slice(const coo<V>& a, F body) {
  const index_t slices = (a.shape.rows + strip_height - 1) / strip_height;
  cpu::for_each_range(slices, 256, [&](index_t first, index_t last) {
    index_t k = entries_before(as_cview(a.row), first * strip_height);
    for (index_t s = first; s < last; ++s) k = body(s, k);
  });
}

/// Two passes over the triplets, parallel; holds them and the result.
template <class V> hdia<V, host_array> to_hdia(const coo<V>& a) {
  const index_t slices = (a.shape.rows + strip_height - 1) / strip_height;
  hdia<V, host_array> made{a.shape, host_array<index_t>(slices + 1), {}, {}, {a.shape, strip_height, {}, {}, {}, {}}};
  auto& rest = made.rest;
  rest.slice_ptr = host_array<index_t>(slices + 1);
  made.strip_ptr[0] = rest.slice_ptr[0] = 0;
  host_array<std::int8_t> least(slices);
  for_each_slice(a, [&](index_t s, index_t k) {
    const strip_plan plan = plan_strips(a, s, k);
    least[s] = static_cast<std::int8_t>(plan.least);
    made.strip_ptr[s + 1] = plan.strips;
    rest.slice_ptr[s + 1] = plan.width * strip_height;
    return plan.next;
  });
  for (index_t s = 0; s < slices; ++s) {
    made.strip_ptr[s + 1] += made.strip_ptr[s];
    rest.slice_ptr[s + 1] += rest.slice_ptr[s];
  }
  made.offset = host_array<std::int32_t>(made.strip_ptr[slices]);
  made.val = host_array<V>(made.strip_ptr[slices] * strip_height);
  rest.col = host_array<std::int32_t>(rest.slice_ptr[slices]);
  rest.val = host_array<V>(rest.slice_ptr[slices]);
  for_each_slice(a, [&](index_t s, index_t k) {
    const index_t strip = made.strip_ptr[s], place = rest.slice_ptr[s];
    std::fill(made.val.begin() + strip * strip_height, made.val.begin() + made.strip_ptr[s + 1] * strip_height, V(0));
    std::fill(rest.col.begin() + place, rest.col.begin() + rest.slice_ptr[s + 1], -1);
    std::fill(rest.val.begin() + place, rest.val.begin() + rest.slice_ptr[s + 1], V(0));
    const auto to_strip = [&](index_t n, std::int32_t offset, index_t i, index_t entry) {
      made.offset[strip + n] = offset;
      made.val[(strip + n) * strip_height + i] = a.val[entry];
    };
    const auto to_rest = [&](index_t i, index_t n, index_t entry) {
      rest.col[place + n * strip_height + i] = a.col[entry];
      rest.val[place + n * strip_height + i] = a.val[entry];
    };
    return split_slice(a, s, k, least[s], to_strip, to_rest);
  });
  return made;
}

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
