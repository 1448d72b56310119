// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "backends/cpu/parallel.hpp"
#include "core/distinct.hpp"
#include "core/look.hpp"
#include "core/row_sum.hpp"

#include <furrow/sparse.hpp>
#include <furrow/stats.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace furrow {

/// Some rows, ascending and none twice, as triplets.
template <class V, class I> coo<V> triplets_of(const csr_arrays<V, I>& a, const std::vector<row_range>& rows) {
  index_t count = 0;
  for (const row_range& r : rows) count += a.row_ptr[r.first + r.count] - a.row_ptr[r.first];
  coo<V> some{a.shape, host_array<std::int32_t>(count), host_array<std::int32_t>(count), host_array<V>(count)};
  index_t at = 0;
  for (const row_range& r : rows)
    for (index_t row = r.first; row < r.first + r.count; ++row)
      for (index_t k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k, ++at) {
        some.row[at] = static_cast<std::int32_t>(row);
        some.col[at] = static_cast<std::int32_t>(a.col[k]);
        some.val[at] = a.val[k];
      }
  return some;
}

/// Makes those of `s`, which were measured of the same pattern, that depend on values. Rows are sorted, each place
/// comes once. One pass over values and columns; the same numbers as `measure`, for any number of threads.
template <class V, class I> void measure_values(const csr_arrays<V, I>& a, stats& s) {
  struct piece {
    double norm_inf = 0, largest = 0;
    index_t zeros = 0, diagonal = 0;
    bool finite = true;
  };
  constexpr index_t rows = 1 << 13;
  std::vector<piece> found(static_cast<std::size_t>((a.shape.rows + rows - 1) / rows));
  cpu::for_each_task(static_cast<index_t>(found.size()), [&](index_t task) {
    piece p;
    for (index_t row = task * rows; row < std::min(a.shape.rows, (task + 1) * rows); ++row) {
      row_sum sum;
      for (index_t k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k) {
        const double size = std::abs(double(a.val[k]));
        p.zeros += size == 0;
        p.diagonal += a.col[k] == row && size != 0;
        p.finite = p.finite && std::isfinite(size);
        p.largest = std::max(p.largest, size);
        sum.add(size);
      }
      p.norm_inf = std::max(p.norm_inf, sum.total());
    }
    found[static_cast<std::size_t>(task)] = p;
  });
  s.norm_inf = s.largest = 0;
  s.explicit_zeros = 0;
  s.zero_diagonal = std::min(a.shape.rows, a.shape.cols);
  s.finite = true;
  for (const piece& p : found) {
    s.norm_inf = std::max(s.norm_inf, p.norm_inf);
    s.largest = std::max(s.largest, p.largest);
    s.explicit_zeros += p.zeros;
    s.zero_diagonal -= p.diagonal;
    s.finite = s.finite && p.finite;
  }
  s.distinct_values = count_distinct(cview<V>{a.val.data, index_t(a.row_ptr[a.shape.rows])});
  for (const format_look* look : format_looks()) {
    if (!look->again) continue;
    const coo<V> some = triplets_of(a, look->rows(s));
    std::erase_if(s.estimates, [&](const format_estimate& e) { return e.format == look->format; });
    s.estimates.push_back({look->format, look->at(sight_of(some), s)});
  }
  std::ranges::sort(s.estimates, {}, &format_estimate::format);
}

} // namespace furrow
