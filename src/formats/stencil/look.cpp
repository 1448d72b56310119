// SPDX-License-Identifier: BSD-3-Clause
#include "stencils.hpp"

#include "backends/cpu/parallel.hpp"
#include "core/entries_before.hpp"
#include "core/look.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace furrow {
namespace stencil_format {
namespace {

std::vector<row_range> rows_of_stencils(const stats& s) {
  const sampled_runs runs = sampled_runs::of(s);
  std::vector<row_range> all;
  for (index_t k = 0; k < runs.count; ++k) all.push_back(runs[k]);
  return all;
}

/// The first entry at or behind `k` that is not of that row.
index_t end_of_entries(cview<std::int32_t> row, index_t r, index_t k) {
  while (k < row.size && row[k] == r) ++k;
  return k;
}

/// What a stretch of runs shows: rows that are like the one before as one.
struct stretch_of_runs {
  std::vector<seen_stencil> found;
  index_t rows = 0, entries = 0;
  index_t pairs = 0, changes = 0; ///< neighbours that were looked at, and those of them that differ
};

/// The first `most` rows of each of the runs [first, last).
template <class V>
stretch_of_runs look_at_runs(const sight<V>& a, const stats& sizes, const sampled_runs& runs, index_t first,
                             index_t last, index_t most) {
  const stencil_set<V, std::int32_t> compare(a.col.data, a.val.data);
  const auto length_of = [&](index_t row, index_t begin) {
    if (!sizes.row_length.empty()) return index_t(sizes.row_length[row]);
    return (a.row_ptr.empty() ? end_of_entries(a.row, row, begin) : index_t(a.row_ptr[row + 1])) - begin;
  };
  stretch_of_runs seen;
  row_entries before;
  for (index_t k = first; k < last; ++k) {
    const row_range rows = runs[k];
    const bool goes_on = k > 0 && rows.first == runs[k - 1].first + runs[k - 1].count;
    index_t begin = entries_before(rows_of_entries(a), rows.first);
    if (goes_on && k == first) { // with a row of another stretch
      const index_t there = entries_before(rows_of_entries(a), rows.first - 1);
      before = {rows.first - 1, there, begin - there};
    }
    for (index_t n = 0; n < std::min(most, rows.count); ++n) {
      const row_entries r{rows.first + n, begin, length_of(rows.first + n, begin)};
      const bool has_neighbour = n > 0 || goes_on, alike = has_neighbour && compare.same(before, r);
      seen.pairs += has_neighbour;
      seen.changes += has_neighbour && !alike;
      if (alike && !seen.found.empty()) ++seen.found.back().uses;
      else seen.found.push_back({r, compare.hash(r), 1});
      ++seen.rows;
      seen.entries += r.count;
      begin += r.count;
      before = r;
    }
  }
  return seen;
}

/// The distinct ones of all stretches, in no order: each part of the hashes is a thread's own.
template <class V>
std::vector<seen_stencil> distinct_stencils(const sight<V>& a, const std::vector<stretch_of_runs>& stretches) {
  constexpr index_t parts = 4;
  std::array<std::vector<seen_stencil>, parts> found;
  cpu::for_each_task(parts, [&](index_t part) {
    stencil_set<V, std::int32_t> set(a.col.data, a.val.data);
    for (const stretch_of_runs& some : stretches)
      for (const seen_stencil& s : some.found)
        if (index_t(s.hash >> 62) == part) set.merge(s);
    found[static_cast<std::size_t>(part)] = set.found();
  });
  for (index_t part = 1; part < parts; ++part) {
    const auto& more = found[static_cast<std::size_t>(part)];
    found[0].insert(found[0].end(), more.begin(), more.end());
  }
  return std::move(found[0]);
}

template <class V>
std::vector<stretch_of_runs> look_at_all_runs(const sight<V>& a, const stats& sizes, const sampled_runs& runs,
                                              index_t most) {
  constexpr index_t together = 64;
  std::vector<stretch_of_runs> seen(static_cast<std::size_t>((runs.count + together - 1) / together));
  cpu::for_each_task(std::ssize(seen), [&](index_t k) {
    const index_t first = k * together, last = std::min(runs.count, first + together);
    seen[static_cast<std::size_t>(k)] = look_at_runs(a, sizes, runs, first, last, most);
  });
  return seen;
}

/// Looks at the first row of each run; only where a quarter of these have a stencil of another one, at the whole runs.
template <class V> row_stencils find_stencils(const sight<V>& a, const stats& sizes) {
  const sampled_runs sample = sampled_runs::of(sizes);
  const auto first_rows = look_at_all_runs(a, sizes, sample, 1);
  if (hardly_shared(std::ssize(distinct_stencils(a, first_rows)), sample.count)) return {};
  const auto all = look_at_all_runs(a, sizes, sample, sizes.shape.rows);
  index_t seen = 0, entries = 0, pairs = 0, changes = 0;
  for (const stretch_of_runs& some : all) {
    seen += some.rows;
    entries += some.entries;
    pairs += some.pairs;
    changes += some.changes;
  }
  return table_of(distinct_stencils(a, all), seen, entries, pairs, changes);
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
