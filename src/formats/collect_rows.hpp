// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "backends/cpu/parallel.hpp"

#include <furrow/coo.hpp>

#include <algorithm>
#include <vector>

namespace furrow {

/// The way back to triplets for formats whose rows can be walked one by one: each_entry(row, put) calls put(col, val)
/// for the entries of a row by ascending column. Parallel; two passes, of which the first counts.
template <class V, class EachEntry> coo<V> collect_rows(shape2 shape, EachEntry each_entry) {
  const index_t rows = shape.rows, parts = std::clamp<index_t>(rows / 4096, 1, 256);
  std::vector<index_t> before(static_cast<std::size_t>(parts) + 1, 0);
  const auto each_row = [&](index_t part, auto&& body) {
    for (index_t r = cpu::part_begin(rows, parts, part); r < cpu::part_begin(rows, parts, part + 1); ++r) body(r);
  };
  cpu::for_each_task(parts, [&](index_t part) {
    index_t count = 0;
    each_row(part, [&](index_t r) { each_entry(r, [&](index_t, V) { ++count; }); });
    before[part + 1] = count;
  });
  for (index_t part = 0; part < parts; ++part) before[part + 1] += before[part];
  const index_t nnz = before[parts];
  coo<V> result{shape, host_array<std::int32_t>(nnz), host_array<std::int32_t>(nnz), host_array<V>(nnz)};
  cpu::for_each_task(parts, [&](index_t part) {
    index_t at = before[part];
    each_row(part, [&](index_t r) {
      each_entry(r, [&](index_t col, V v) {
        result.row[at] = static_cast<std::int32_t>(r);
        result.col[at] = static_cast<std::int32_t>(col);
        result.val[at++] = v;
      });
    });
  });
  return result;
}

} // namespace furrow
