// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "hyb.hpp"

#include "formats/ell/convert.hpp"

namespace furrow {

/// The first `width` entries of each row into ell, the others into triplets. Parallel; two passes over what is beyond.
template <class V> hyb<V, host_array> to_hyb(const coo<V>& a, index_t width) {
  const index_t rows = a.shape.rows, parts = std::clamp<index_t>(rows / 4096, 1, 256);
  const auto each_beyond = [&](index_t part, auto&& put) {
    index_t k = entries_before(as_cview(a.row), cpu::part_begin(rows, parts, part));
    const index_t end = entries_before(as_cview(a.row), cpu::part_begin(rows, parts, part + 1));
    for (index_t place = 0; k < end; ++k) {
      place = k > 0 && a.row[k] == a.row[k - 1] ? place + 1 : 0;
      if (place >= width) put(k);
    }
  };
  std::vector<index_t> before(static_cast<std::size_t>(parts) + 1, 0);
  cpu::for_each_task(parts, [&](index_t part) {
    index_t count = 0;
    each_beyond(part, [&](index_t) { ++count; });
    before[part + 1] = count;
  });
  for (index_t part = 0; part < parts; ++part) before[part + 1] += before[part];
  const index_t beyond = before[parts];
  triplets<V, host_array> rest{a.shape, host_array<std::int32_t>(beyond), host_array<std::int32_t>(beyond),
                               host_array<V>(beyond)};
  cpu::for_each_task(parts, [&](index_t part) {
    index_t at = before[part];
    each_beyond(part, [&](index_t k) {
      rest.row[at] = a.row[k];
      rest.col[at] = a.col[k];
      rest.val[at++] = a.val[k];
    });
  });
  return {a.shape, to_ell(a, width), std::move(rest)};
}

/// Parallel; two passes over ell.
template <class V> coo<V> to_coo(const hyb<V, host_array>& a) {
  const index_t rows = a.shape.rows, parts = std::clamp<index_t>(rows / 4096, 1, 256);
  const auto& regular = a.regular;
  const auto& rest = a.rest;
  const auto begin_of = [&](index_t part) { return cpu::part_begin(rows, parts, part); };
  const auto rest_before = [&](index_t row) { return entries_before(as_cview(rest.row), row); };
  const auto places = [&](index_t row, auto&& put) {
    for (index_t at = row; at < regular.col.size() && regular.col[at] >= 0; at += regular.stride) put(at);
  };
  std::vector<index_t> before(static_cast<std::size_t>(parts) + 1, 0);
  cpu::for_each_task(parts, [&](index_t part) {
    index_t count = rest_before(begin_of(part + 1)) - rest_before(begin_of(part));
    for (index_t r = begin_of(part); r < begin_of(part + 1); ++r) places(r, [&](index_t) { ++count; });
    before[part + 1] = count;
  });
  for (index_t part = 0; part < parts; ++part) before[part + 1] += before[part];
  const index_t nnz = before[parts];
  coo<V> result{a.shape, host_array<std::int32_t>(nnz), host_array<std::int32_t>(nnz), host_array<V>(nnz)};
  cpu::for_each_task(parts, [&](index_t part) {
    index_t at = before[part], beyond = rest_before(begin_of(part));
    const auto put = [&](index_t row, std::int32_t col, V v) {
      result.row[at] = static_cast<std::int32_t>(row);
      result.col[at] = col;
      result.val[at++] = v;
    };
    for (index_t r = begin_of(part); r < begin_of(part + 1); ++r) {
      places(r, [&](index_t place) { put(r, regular.col[place], regular.val[place]); });
      for (; beyond < rest.val.size() && rest.row[beyond] == r; ++beyond) put(r, rest.col[beyond], rest.val[beyond]);
    }
  });
  return result;
}

} // namespace furrow
