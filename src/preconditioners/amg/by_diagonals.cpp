// SPDX-License-Identifier: BSD-3-Clause
#include "by_diagonals.hpp"

#include "rounding.hpp"

#include <algorithm>
#include <iterator>
#include <vector>

namespace furrow::amg {
namespace {

constexpr index_t rows_by_diagonals = 1 << 12;

using offsets = std::vector<std::int32_t>;

/// The distinct values of column minus row in rows [first, last), ascending; more than `most` of them where it gave up.
offsets offsets_of_rows(row_view<double> a, index_t first, index_t last, std::size_t most) {
  offsets found;
  for (index_t i = first; i < last && found.size() <= most; ++i) {
    auto at = found.begin(); // of a row they ascend
    for (index_t k = a.begin(i); k < a.end(i) && found.size() <= most; ++k) {
      const auto offset = static_cast<std::int32_t>(a.col[k] - i);
      while (at != found.end() && *at < offset) ++at;
      if (at == found.end() || *at != offset) at = found.insert(at, offset);
    }
  }
  return found;
}

} // namespace

offsets offsets_of(row_view<double> a, std::size_t most) {
  const index_t parts = std::clamp<index_t>(a.shape.rows / rows_by_diagonals, 1, cpu::thread_count());
  std::vector<offsets> found(static_cast<std::size_t>(parts));
  cpu::for_each_task(parts, [&](index_t k) {
    found[k] =
        offsets_of_rows(a, cpu::part_begin(a.shape.rows, parts, k), cpu::part_begin(a.shape.rows, parts, k + 1), most);
  });
  offsets all;
  for (const offsets& part : found) {
    offsets both;
    std::ranges::set_union(all, part, std::back_inserter(both));
    all = std::move(both);
  }
  return all.size() > most ? offsets() : all;
}

template <class W> void fill_diagonals(dia<W, host_array>& d, row_view<double> a, double scale) {
  const index_t rows = a.shape.rows, diagonals = d.offset.size(), stride = d.stride;
  cpu::for_each_range(rows, rows_by_diagonals, [&](index_t first, index_t last) {
    const index_t end = last == rows ? stride : last;
    for (index_t at = 0; at < diagonals; ++at) std::fill_n(d.val.data() + at * stride + first, end - first, W(0));
    for (index_t i = first; i < last; ++i) {
      index_t at = 0;
      for (index_t k = a.begin(i); k < a.end(i); ++k) {
        while (d.offset[at] < a.col[k] - i) ++at;
        d.val[at * stride + i] = rounded<W>(a.val[k], scale);
      }
    }
  });
}

template <class W> dia<W, host_array> by_diagonals(row_view<double> a, double scale) {
  const index_t rows = a.shape.rows, stride = padded_rows(rows);
  const offsets found = offsets_of(a, static_cast<std::size_t>(most_diagonals<W>(rows, a.nnz())));
  const auto diagonals = static_cast<index_t>(found.size());
  dia<W, host_array> d{a.shape, stride, host_array<std::int32_t>(diagonals), host_array<W>(diagonals * stride)};
  std::ranges::copy(found, d.offset.begin());
  if (diagonals > 0) fill_diagonals(d, a, scale);
  return d;
}

template dia<double, host_array> by_diagonals(row_view<double>, double);
template dia<float, host_array> by_diagonals(row_view<double>, double);
template void fill_diagonals(dia<double, host_array>&, row_view<double>, double);
template void fill_diagonals(dia<float, host_array>&, row_view<double>, double);

} // namespace furrow::amg
