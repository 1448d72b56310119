// SPDX-License-Identifier: BSD-3-Clause
#include "stencils.hpp"

#include "core/entries_before.hpp"
#include "core/look.hpp"

namespace furrow {
namespace stencil_format {
namespace {

/// 1024 runs of up to 32 rows, one in each of as many equal parts of the matrix, at a place that does not repeat with
/// the part as lines of a grid do: all rows of a matrix that has at most `stencils_counted` rows and few enough entries
/// (`sampled_rows`).
std::vector<row_range> rows_of_stencils(const stats& s) {
  constexpr index_t most_samples = 1024;
  const index_t rows = s.shape.rows, counted = sampled_rows(s, stencils_counted / 8, stencils_counted);
  const index_t run = counted / most_samples;
  const index_t samples = std::min(rows, most_samples);
  std::vector<row_range> sample;
  for (index_t k = 0; k < samples; ++k) {
    const index_t begin = cpu::part_begin(rows, samples, k), end = cpu::part_begin(rows, samples, k + 1);
    const auto jitter = static_cast<std::uint32_t>(k) * 0x9e3779b9u; // Fibonacci hashing
    const index_t first =
        begin + (rows <= counted ? 0 : static_cast<index_t>(std::uint64_t(jitter) * (end - begin) >> 32));
    sample.push_back({first, (rows <= counted ? end : std::min(rows, first + run)) - first});
  }
  return sample;
}

/// Looks at the first row of each run of `rows_of_stencils`; only where a quarter of these have a stencil of another
/// one, at the whole runs.
template <class V> row_stencils find_stencils(const sight<V>& a, const stats& sizes) {
  const auto sample = rows_of_stencils(sizes);
  const auto samples = static_cast<index_t>(sample.size());
  index_t pairs = 0, changes = 0, next = -1; // neighbours that were looked at, and those of them that differ
  std::size_t before = 0;
  const auto look = [&](stencil_set<V, std::int32_t>& set, index_t first, index_t last) {
    for (index_t row = first, begin = entries_before(a.row, first); row < last; ++row) {
      index_t end = begin;
      while (end < a.nnz() && a.row[end] == row) ++end;
      const std::size_t number = set.add({row, begin, end - begin});
      pairs += row == next;
      changes += row == next && number != before;
      before = number;
      next = row + 1;
      begin = end;
    }
  };
  stencil_set<V, std::int32_t> few(a.col.data, a.val.data), all(a.col.data, a.val.data);
  for (index_t k = 0; k < samples; ++k) look(few, sample[k].first, sample[k].first + 1);
  if (4 * index_t(few.found().size()) > 3 * samples) return {};
  pairs = changes = 0, next = -1;
  for (index_t k = 0; k < samples; ++k) look(all, sample[k].first, sample[k].first + sample[k].count);
  index_t seen = 0, entries = 0, rows_taken = 0, entries_taken = 0;
  for (const seen_stencil& s : all.found()) {
    seen += s.uses;
    entries += s.uses * s.first.count;
  }
  row_stencils result;
  for (const std::size_t k : choose_stencils(all.found(), seen)) {
    const seen_stencil& s = all.found()[k];
    ++result.stencils;
    result.places += s.first.count;
    rows_taken += s.uses;
    entries_taken += s.uses * s.first.count;
  }
  result.changes = pairs ? double(changes) / double(pairs) : 1;
  result.rows_beside = seen ? double(seen - rows_taken) / double(seen) : 1;
  result.entries_beside = entries ? double(entries - entries_taken) / double(entries) : 0;
  return result;
}

template <class V> estimate_numbers measure_stencils(const sight<V>& a, const stats& sizes) {
  const row_stencils found = find_stencils(a, sizes);
  return {double(found.stencils), found.changes, double(found.places), found.rows_beside, found.entries_beside};
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
