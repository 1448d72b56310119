// SPDX-License-Identifier: BSD-3-Clause
#include "convert.hpp"

#include "slice_diagonals.hpp"

#include "backends/cpu/parallel.hpp"
#include "core/entries_before.hpp"
#include "core/row_offsets.hpp"
#include "core/spare.hpp"
#include "formats/sell/slicing.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace furrow {
namespace {

template <class Places, class V> hdia<V, host_array> strips_of(coo<V> a, cview<std::int32_t> length) {
  const index_t slices = (a.shape.rows + strip_height - 1) / strip_height;
  const index_t parts = std::clamp<index_t>(slices / 64, 1, 256);
  const auto begin_of = [&](index_t part) { return cpu::part_begin(slices, parts, part); };
  const auto rows_of = [&](index_t s) { return std::min(strip_height, a.shape.rows - s * strip_height); };
  hdia<V, host_array> made{a.shape, host_array<index_t>(slices + 1), {}, {}, {a.shape, strip_height, {}, {}, {}, {}}};
  auto& rest = made.rest;
  rest.slice_ptr = host_array<index_t>(slices + 1);
  std::vector<std::vector<std::int32_t>> offset(static_cast<std::size_t>(parts)); // of the strips of each part
  std::vector<index_t> places(static_cast<std::size_t>(parts));
  spare<slice_diagonals<Places>> diagonals_of_threads;
  cpu::for_each_task(parts, [&](index_t part) {
    const auto diagonals = diagonals_of_threads.take(a.shape);
    index_t k = entries_before(as_cview(a.row), begin_of(part) * strip_height);
    for (index_t s = begin_of(part); s < begin_of(part + 1); ++s) {
      made.strip_ptr[s] = std::ssize(offset[part]); // in its part, for now
      rest.slice_ptr[s] = places[part];
      const std::int32_t* const lengths = length.begin() + s * strip_height;
      const index_t count = std::accumulate(lengths, lengths + rows_of(s), index_t(0));
      const std::int32_t* const row = a.row.begin() + k;
      std::int32_t* const col = a.col.begin() + k;
      const V* const val = a.val.begin() + k;
      const strip_plan plan = diagonals->plan(row, col, val, count, static_cast<std::int32_t>(s * strip_height));
      diagonals->split(
          plan.least, row, col, val, count, [&](std::int32_t o) { offset[part].push_back(o); },
          [&](index_t n, std::int32_t strip) { // without a branch, which compilers make of a choice
            const std::int32_t beside = strip >> 31;
            col[n] = (col[n] & beside) | (~strip & ~beside);
          });
      places[part] += plan.width * strip_height;
      k += count;
    }
    diagonals_of_threads.give_back(diagonals);
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
      for (index_t i = 0; i < rows_of(s); ++i) {
        const index_t stop = k + length[s * strip_height + i];
        for (index_t place = begin + i; k < stop; ++k) {
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

template <class V> hdia<V, host_array> strips_of_rows(coo<V> a, cview<std::int32_t> length) {
  return with_places(a.shape, double(a.nnz()),
                     [&](auto places) { return strips_of<typename decltype(places)::type>(std::move(a), length); });
}

} // namespace

template <class V> hdia<V, host_array> to_hdia(coo<V> a) {
  const auto length = lengths_of(row_offsets(a));
  return strips_of_rows(std::move(a), as_cview(length));
}
template <class V> hdia<V, host_array> to_hdia(measured_coo<V> a) {
  const auto length = a.row_length;
  return strips_of_rows<V>(std::move(a), length);
}

template hdia<double, host_array> to_hdia(coo<double>);
template hdia<float, host_array> to_hdia(coo<float>);
template hdia<double, host_array> to_hdia(measured_coo<double>);
template hdia<float, host_array> to_hdia(measured_coo<float>);

} // namespace furrow
