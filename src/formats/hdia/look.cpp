// SPDX-License-Identifier: BSD-3-Clause
#include "strips.hpp"

#include "backends/cpu/parallel.hpp"
#include "core/entries_before.hpp"
#include "core/look.hpp"

#include <vector>

namespace furrow {
namespace hdia_format {
namespace {

std::vector<row_range> rows_of_strips(const stats& s) { return ranges_of(sampled_slices(s)); }

template <class V> estimate_numbers measure_strips(const sight<V>& a, const stats& s) {
  const spread_rows rows = sampled_slices(s);
  std::vector<strip_counts> found(static_cast<std::size_t>(rows.count));
  cpu::for_each_range(rows.count, 16, [&](index_t first, index_t last) {
    slice_diagonals diagonals;
    for (index_t n = first; n < last; ++n) {
      const index_t k = entries_before(a.row, rows[n].first);
      const strip_plan plan = diagonals.plan(a, rows[n].first / strip_height, k);
      found[static_cast<std::size_t>(n)] = {plan.next - k, plan.strips, plan.width * strip_height};
    }
  });
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
