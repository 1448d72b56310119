// SPDX-License-Identifier: BSD-3-Clause
#include "cholesky_pattern.hpp"

#include "fill.hpp"

#include "matrix/symbolic.hpp"

#include <algorithm>

namespace furrow::lu {
namespace {

/// A supernode while others may join it.
struct group {
  std::int32_t first, columns;
  index_t rows;     ///< of its panel
  double zeros = 0; ///< that are stored
  double places() const { return double(columns) * double(rows) - 0.5 * double(columns) * double(columns - 1); }
};

/// Whether so many stored zeros are worth a panel of so many columns: what CHOLMOD takes (T. Davis, 2008).
bool worth(double zeros, double places, index_t columns) {
  if (columns <= 4) return true;
  return zeros < places * (columns <= 16 ? 0.8 : columns <= 48 ? 0.1 : 0.05);
}

/// Columns whose rows are those of the next one, and itself; then those that differ by little from their parent's.
std::vector<group> groups_of(const host_array<std::int32_t>& parent, const host_array<index_t>& counts) {
  std::vector<group> groups;
  for (std::int32_t j = 0; j < parent.size();) {
    std::int32_t last = j;
    while (last + 1 < parent.size() && parent[last] == last + 1 && counts[last] == counts[last + 1] + 1) ++last;
    group g{j, last + 1 - j, counts[j]};
    while (!groups.empty()) { // children come before their parents, the last one next to them
      const group& child = groups.back();
      const std::int32_t above = parent[child.first + child.columns - 1];
      if (above < g.first || above >= g.first + g.columns) break;
      group both{child.first, child.columns + g.columns, child.columns + g.rows};
      both.zeros = both.places() - (child.places() - child.zeros) - (g.places() - g.zeros);
      if (!worth(both.zeros, both.places(), both.columns)) break;
      g = both;
      groups.pop_back();
    }
    groups.push_back(g);
    j = last + 1;
  }
  return groups;
}

} // namespace

cholesky_pattern pattern_of_factor(const columns& a, const host_array<std::int32_t>& place) {
  cholesky_pattern p;
  p.place = place;
  const lower_pattern lower = entries_below(a, p.place);
  host_array<std::int32_t> parent = elimination_tree(lower);
  const host_array<index_t> counts_before = cholesky_counts(lower, parent);
  const std::vector<std::int32_t> order = postorder(parent);
  host_array<std::int32_t> moved(a.n), moved_parent(a.n);
  host_array<index_t> counts(a.n);
  for (index_t k = 0; k < a.n; ++k) moved[order[at(k)]] = static_cast<std::int32_t>(k);
  for (index_t j = 0; j < a.n; ++j) {
    moved_parent[moved[j]] = parent[j] < 0 ? parent[j] : moved[parent[j]];
    counts[moved[j]] = counts_before[j];
  }
  for (std::int32_t& to : p.place) to = moved[to];
  parent = std::move(moved_parent);
  for (const index_t c : counts) p.entries += double(c), p.operations += double(c) * double(c);

  const std::vector<group> groups = groups_of(parent, counts);
  p.rows_from.assign(1, 0), p.values_from.assign(1, 0);
  p.supernode_of.resize(at(a.n));
  for (const group& g : groups) {
    std::fill_n(p.supernode_of.begin() + g.first, g.columns, static_cast<std::int32_t>(p.first.size()));
    p.first.push_back(g.first);
    p.rows_from.push_back(p.rows_from.back() + g.rows);
    p.values_from.push_back(p.values_from.back() + g.rows * g.columns);
  }
  p.first.push_back(static_cast<std::int32_t>(a.n));

  std::vector<std::int32_t> child(groups.size(), -1), sibling(groups.size(), -1), seen(at(a.n), -1);
  host_array<std::int32_t> column_at(a.n);
  for (index_t c = 0; c < a.n; ++c) column_at[p.place[c]] = static_cast<std::int32_t>(c);
  const columns across = a.symmetric_pattern ? columns{} : transposed(a);
  p.rows.resize(at(p.rows_from.back()));
  for (std::int32_t s = 0; s < std::int32_t(groups.size()); ++s) {
    const std::int32_t end = p.first[at(s + 1)];
    std::int32_t* const from = p.rows.data() + p.rows_from[at(s)];
    std::int32_t* to = from;
    for (std::int32_t j = p.first[at(s)]; j < end; ++j) *to++ = j;
    std::int32_t* const below = to;
    const auto add = [&](std::int32_t i) {
      if (i >= end && seen[at(i)] != s) seen[at(i)] = s, *to++ = i;
    };
    for (std::int32_t j = p.first[at(s)]; j < end; ++j)
      for (const columns* const m : {&a, &across})
        for (index_t c = column_at[j], k = m->n ? m->begin[c] : 0; m->n && k < m->begin[c + 1]; ++k)
          add(p.place[m->row[k]]);
    for (std::int32_t c = child[at(s)]; c >= 0; c = sibling[at(c)])
      for (index_t k = p.rows_from[at(c)] + p.width(c); k < p.rows_from[at(c + 1)]; ++k) add(p.rows[at(k)]);
    std::sort(below, to);
    if (to != below) {
      const std::int32_t up = p.supernode_of[at(*below)];
      sibling[at(s)] = child[at(up)], child[at(up)] = s;
    }
  }
  return p;
}

} // namespace furrow::lu
