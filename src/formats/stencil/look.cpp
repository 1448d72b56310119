// SPDX-License-Identifier: BSD-3-Clause
#include "stencils.hpp"

#include "core/entries_before.hpp"
#include "core/look.hpp"

namespace furrow {
namespace stencil_format {
namespace {

std::vector<row_range> rows_of_stencils(const stats& s) {
  const sampled_runs runs = sampled_runs::of(s);
  std::vector<row_range> all;
  for (index_t k = 0; k < runs.count; ++k) all.push_back(runs[k]);
  return all;
}

/// Looks at the first row of each run; only where a quarter of these have a stencil of another one, at the whole runs.
template <class V> row_stencils find_stencils(const sight<V>& a, const stats& sizes) {
  const sampled_runs sample = sampled_runs::of(sizes);
  const index_t samples = sample.count;
  index_t pairs = 0, changes = 0, next = -1; // neighbours that were looked at, and those of them that differ
  std::size_t before = 0;
  const auto look = [&](stencil_set<V, std::int32_t>& set, index_t first, index_t last) {
    const std::vector<index_t> start = starts_of_rows(a.row, sizes.row_length, first, last - first);
    for (index_t row = first; row < last; ++row) {
      const index_t begin = start[row - first];
      const std::size_t number = set.add({row, begin, start[row - first + 1] - begin});
      pairs += row == next;
      changes += row == next && number != before;
      before = number;
      next = row + 1;
    }
  };
  stencil_set<V, std::int32_t> few(a.col.data, a.val.data), all(a.col.data, a.val.data);
  for (index_t k = 0; k < samples; ++k) look(few, sample[k].first, sample[k].first + 1);
  if (hardly_shared(std::ssize(few.found()), samples)) return {};
  pairs = changes = 0, next = -1;
  for (index_t k = 0; k < samples; ++k) look(all, sample[k].first, sample[k].first + sample[k].count);
  index_t seen = 0, entries = 0;
  for (const seen_stencil& s : all.found()) {
    seen += s.uses;
    entries += s.uses * s.first.count;
  }
  return table_of(all.found(), seen, entries, pairs, changes);
}

template <class V> estimate_numbers measure_stencils(const sight<V>& a, const stats& sizes) {
  return find_stencils(a, sizes).numbers();
}

} // namespace

extern const format_look look{"stencil", rows_of_stencils, measure_stencils<double>, measure_stencils<float>, true,
                              true};

} // namespace stencil_format

row_stencils row_stencils_of(const stats& s) {
  const estimate_numbers* const found = estimate_of(s, "stencil");
  if (!found) return {};
  return {index_t((*found)[0]), (*found)[1], index_t((*found)[2]), (*found)[3], (*found)[4]};
}

} // namespace furrow
