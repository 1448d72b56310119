// SPDX-License-Identifier: BSD-3-Clause
#include "strips.hpp"

#include "backends/cpu/parallel.hpp"
#include "core/entries_before.hpp"
#include "core/look.hpp"

#include <vector>

namespace furrow {
namespace hdia_format {
namespace {

std::vector<row_range> rows_of_strips(const stats& s) {
  const index_t rows = s.shape.rows, counted = rows_counted_for_strips(s);
  const index_t slices = (rows + strip_height - 1) / strip_height;
  std::vector<row_range> sample(static_cast<std::size_t>(std::min(slices, counted / strip_height)));
  for (std::size_t n = 0; n < sample.size(); ++n) {
    const index_t first = cpu::part_begin(slices, std::ssize(sample), index_t(n)) * strip_height;
    sample[n] = {first, std::min(strip_height, rows - first)};
  }
  return sample;
}

template <class V> estimate_numbers measure_strips(const sight<V>& a, const stats& s) {
  struct sample {
    index_t entries = 0, strips = 0, beside = 0;
  };
  const auto rows = rows_of_strips(s);
  std::vector<sample> found(rows.size());
  cpu::for_each_range(std::ssize(rows), 16, [&](index_t first, index_t last) {
    for (index_t n = first; n < last; ++n) {
      const index_t k = entries_before(a.row, rows[n].first);
      const strip_plan plan = plan_strips(a, rows[n].first / strip_height, k);
      found[static_cast<std::size_t>(n)] = {plan.next - k, plan.strips, plan.width * strip_height};
    }
  });
  sample total;
  for (const sample& one : found) {
    total.entries += one.entries;
    total.strips += one.strips;
    total.beside += one.beside;
  }
  if (total.entries == 0) return {0, 1};
  return {double(total.strips) / double(total.entries), double(total.beside) / double(total.entries)};
}

} // namespace

extern const format_look look{"hdia", rows_of_strips, measure_strips<double>, measure_strips<float>, true};

} // namespace hdia_format

strip_fill strip_fill_of(const stats& s) {
  const estimate_numbers* const found = estimate_of(s, "hdia");
  return found ? strip_fill{(*found)[0], (*found)[1]} : strip_fill{};
}

} // namespace furrow
