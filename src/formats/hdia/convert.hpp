// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "hdia.hpp"

#include "backends/cpu/parallel.hpp"
#include "core/entries_before.hpp"
#include "formats/collect_rows.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace furrow {

/// From triplets, which it takes apart. Parallel: one pass plans slices, and leaves ~r for the column of an entry that
/// lies in strip r of its slice; another one puts the entries into place.
template <class V> hdia<V, host_array> to_hdia(coo<V> a) {
  const index_t slices = (a.shape.rows + strip_height - 1) / strip_height;
  const index_t parts = std::clamp<index_t>(slices / 64, 1, 256);
  const auto begin_of = [&](index_t part) { return cpu::part_begin(slices, parts, part); };
  hdia<V, host_array> made{a.shape, host_array<index_t>(slices + 1), {}, {}, {a.shape, strip_height, {}, {}, {}, {}}};
  auto& rest = made.rest;
  rest.slice_ptr = host_array<index_t>(slices + 1);
  std::vector<std::vector<std::int32_t>> offset(static_cast<std::size_t>(parts)); // of the strips of each part
  std::vector<index_t> places(static_cast<std::size_t>(parts));
  cpu::for_each_task(parts, [&](index_t part) {
    slice_diagonals diagonals;
    index_t k = entries_before(as_cview(a.row), begin_of(part) * strip_height);
    for (index_t s = begin_of(part); s < begin_of(part + 1); ++s) {
      made.strip_ptr[s] = std::ssize(offset[part]); // in its part, for now
      rest.slice_ptr[s] = places[part];
      const strip_plan plan = diagonals.plan(a, s, k);
      diagonals.split(
          plan.least, [&](std::int32_t o) { offset[part].push_back(o); },
          [&](index_t n, std::int32_t strip) { // without a branch, which compilers make of a choice
            const std::int32_t beside = strip >> 31;
            a.col[k + n] = (a.col[k + n] & beside) | (~strip & ~beside);
          });
      places[part] += plan.width * strip_height;
      k = plan.next;
    }
  });
  std::vector<index_t> strips_before(1), places_before(1);
  for (index_t part = 0; part < parts; ++part) {
    strips_before.push_back(strips_before.back() + std::ssize(offset[part]));
    places_before.push_back(places_before.back() + places[part]);
  }
  made.strip_ptr[slices] = strips_before.back();
  rest.slice_ptr[slices] = places_before.back();
  made.offset = host_array<std::int32_t>(strips_before.back());
  made.val = host_array<V>(strips_before.back() * strip_height);
  rest.col = host_array<std::int32_t>(places_before.back());
  rest.val = host_array<V>(places_before.back());
  cpu::for_each_task(parts, [&](index_t part) {
    std::ranges::copy(offset[part], made.offset.begin() + strips_before[part]);
    V* const strip = made.val.data() + strips_before[part] * strip_height;
    std::int32_t* const col = rest.col.data() + places_before[part];
    V* const val = rest.val.data() + places_before[part];
    index_t k = entries_before(as_cview(a.row), begin_of(part) * strip_height);
    for (index_t s = begin_of(part); s < begin_of(part + 1); ++s) {
      const bool last = s + 1 == begin_of(part + 1);
      const index_t strip_begin = made.strip_ptr[s], strips = last ? std::ssize(offset[part]) : made.strip_ptr[s + 1];
      const index_t begin = rest.slice_ptr[s], end = last ? places[part] : rest.slice_ptr[s + 1];
      made.strip_ptr[s] += strips_before[part];
      rest.slice_ptr[s] += places_before[part];
      std::fill(strip + strip_begin * strip_height, strip + strips * strip_height, V(0));
      std::fill(col + begin, col + end, -1);
      std::fill(val + begin, val + end, V(0));
      for (index_t i = 0; i < strip_height; ++i) {
        const index_t row = s * strip_height + i;
        for (index_t place = begin + i; k < a.nnz() && a.row[k] == row; ++k) {
          const std::int32_t c = a.col[k];
          std::int32_t ignored;
          *(c < 0 ? &ignored : col + place) = c;
          *(c < 0 ? strip + (strip_begin + ~c) * strip_height + i : val + place) = a.val[k];
          place += c < 0 ? 0 : strip_height;
        }
      }
    }
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
