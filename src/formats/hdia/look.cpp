// SPDX-License-Identifier: BSD-3-Clause
#include "slice_diagonals.hpp"

#include "backends/cpu/parallel.hpp"
#include "core/entries_before.hpp"
#include "core/look.hpp"
#include "core/row_numbers.hpp"

#include <vector>

namespace furrow {
namespace hdia_format {
namespace {

std::vector<row_range> rows_of_strips(const stats& s) { return ranges_of(sampled_slices(s)); }

template <class Places, class V>
void look_at_slices(const sight<V>& a, const stats& s, const spread_rows& slices, std::vector<strip_counts>& found) {
  cpu::for_each_range(slices.count, 16, [&](index_t first, index_t last) {
    slice_diagonals<Places> diagonals(a.shape);
    std::vector<std::int32_t> row;
    for (index_t n = first; n < last; ++n) {
      const row_range rows = slices[n];
      const auto start = starts_of_rows(rows_of_entries(a), s.row_length, rows.first, rows.count);
      const index_t k = start.front(), count = start.back() - k;
      row.resize(static_cast<std::size_t>(count) + row_numbers_beyond);
      write_row_numbers(start.data(), 0, k, k + count, rows.first, row.data());
      const strip_plan plan =
          diagonals.plan(row.data(), a.col.data + k, a.val.data + k, count, static_cast<std::int32_t>(rows.first));
      diagonals.leave();
      found[static_cast<std::size_t>(n)] = {count, plan.strips, plan.width * strip_height};
    }
  });
}

template <class V> estimate_numbers measure_strips(const sight<V>& a, const stats& s) {
  const spread_rows rows = sampled_slices(s);
  std::vector<strip_counts> found(static_cast<std::size_t>(rows.count));
  const double share = double(rows.count) / double(std::max<index_t>(rows.of, 1));
  with_places(a.shape, share * double(s.nnz),
              [&](auto places) { look_at_slices<typename decltype(places)::type>(a, s, rows, found); });
  strip_counts total;
  for (const strip_counts& one : found) {
    total.entries += one.entries;
    total.strips += one.strips;
    total.beside += one.beside;
  }
  return total.numbers();
}

} // namespace

extern const format_look look{"hdia", rows_of_strips, measure_strips<double>, measure_strips<float>, true};

} // namespace hdia_format

strip_fill strip_fill_of(const stats& s) {
  const estimate_numbers* const found = estimate_of(s, "hdia");
  return found ? strip_fill{(*found)[0], (*found)[1]} : strip_fill{};
}

} // namespace furrow
