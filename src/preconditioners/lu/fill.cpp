// SPDX-License-Identifier: BSD-3-Clause
#include "fill.hpp"

#include <algorithm>
#include <vector>

namespace furrow::lu {
namespace {

/// tell(i, j) for each entry under the diagonal of A + A' in that order.
template <class Tell> void each_entry_below(const columns& a, const host_array<std::int32_t>& place, Tell tell) {
  for (index_t c = 0; c < a.n; ++c)
    for (index_t k = a.begin[c]; k < a.begin[c + 1]; ++k) {
      const std::int32_t i = place[a.row[k]], j = place[c];
      if (i > j) tell(i, j);
      else if (i < j && !a.symmetric_pattern) tell(j, i);
    }
}

/// The order with its subtrees in one piece each.
host_array<std::int32_t> in_postorder(const host_array<std::int32_t>& place, const host_array<std::int32_t>& parent) {
  const std::vector<std::int32_t> order = postorder(parent);
  host_array<std::int32_t> moved(place.size()), all(place.size());
  for (index_t k = 0; k < place.size(); ++k) moved[order[static_cast<std::size_t>(k)]] = static_cast<std::int32_t>(k);
  for (index_t c = 0; c < place.size(); ++c) all[c] = moved[place[c]];
  return all;
}

/// The place of the first column of each row; n where it is empty. A'A has an entry for each two columns of a row; the
/// edges from the first one to the others give the same elimination tree and counts.
std::vector<std::int32_t> first_columns(const columns& a, const host_array<std::int32_t>& place) {
  std::vector<std::int32_t> first(static_cast<std::size_t>(a.n), static_cast<std::int32_t>(a.n));
  for (index_t c = 0; c < a.n; ++c)
    for (index_t k = a.begin[c]; k < a.begin[c + 1]; ++k) {
      std::int32_t& f = first[static_cast<std::size_t>(a.row[k])];
      f = std::min(f, place[c]);
    }
  return first;
}

template <class EachPair> lower_pattern pattern_of(index_t n, const EachPair& each) {
  lower_pattern p{host_array<index_t>(n + 1, 0), {}};
  each([&](std::int32_t i, std::int32_t) { ++p.row_ptr[i + 1]; });
  for (index_t i = 0; i < n; ++i) p.row_ptr[i + 1] += p.row_ptr[i];
  p.col.resize(p.row_ptr[n]);
  host_array<index_t> to = p.row_ptr;
  each([&](std::int32_t i, std::int32_t j) { p.col[to[i]++] = j; });
  return p;
}

double sum(const host_array<index_t>& counts) {
  double all = 0;
  for (const index_t c : counts) all += double(c);
  return all;
}

factor_size sized(double entries, bool is_bound) {
  factor_size s;
  s.expected = entries, s.expected_bytes = 12 * entries, s.is_bound = is_bound;
  return s;
}

/// Rows that may hold the pivot of each column, and go on below it.
host_array<index_t> candidates(const std::vector<std::int32_t>& first, const host_array<std::int32_t>& parent) {
  const index_t n = parent.size();
  host_array<index_t> rows(n, 0);
  for (const std::int32_t j : first)
    if (j < n) ++rows[j];
  for (index_t j = 0; j < n; ++j) // a parent comes after its children
    if (parent[j] >= 0) rows[parent[j]] += std::max<index_t>(rows[j] - 1, 0);
  return rows;
}

/// Of columns with so many entries of L and rows with so many of U at most.
double operations_at_most(const host_array<index_t>& in_l, const host_array<index_t>& in_u) {
  double all = 0;
  for (index_t j = 0; j < in_l.size(); ++j) {
    const index_t left = in_l.size() - j;
    const auto l = double(std::min(in_l[j], left)), u = double(std::min(in_u[j], left));
    all += std::max(l - 1, 0.0) * (2 * u - 1); // a division, and a product with its sum for the others of the row
  }
  return all;
}

} // namespace

lower_pattern entries_below(const columns& a, const host_array<std::int32_t>& place) {
  return pattern_of(a.n, [&](auto tell) { each_entry_below(a, place, tell); });
}

factor_size expected_fill(const columns& a, const host_array<std::int32_t>& place) {
  return forecast_fill(a, place, a.symmetric_pattern).size;
}

fill_forecast forecast_fill(const columns& a, const host_array<std::int32_t>& place, bool pivots_stay) {
  const double n = double(a.n);
  if (pivots_stay) {
    const lower_pattern p = entries_below(a, place);
    const auto parent = elimination_tree(p);
    fill_forecast f;
    double entries = 0;
    const host_array<index_t> counts = cholesky_counts(p, parent);
    bool last = true;
    for (index_t j = a.n; j-- > 0;) {
      const auto c = double(counts[j]), takes = (c - 1) * (2 * c - 1);
      last = last && 4 * counts[j] >= 3 * (a.n - j);
      entries += c, f.operations += takes, f.in_last_columns += last ? takes : 0;
    }
    f.size = sized(2 * entries - n, !a.symmetric_pattern);
    f.place = in_postorder(place, parent);
    return f;
  }
  const std::vector<std::int32_t> first = first_columns(a, place);
  const lower_pattern p = pattern_of(a.n, [&](auto tell) {
    for (index_t c = 0; c < a.n; ++c)
      for (index_t k = a.begin[c]; k < a.begin[c + 1]; ++k)
        if (const std::int32_t j = first[static_cast<std::size_t>(a.row[k])]; j < place[c]) tell(place[c], j);
  });
  const auto parent = elimination_tree(p);
  const host_array<index_t> in_u = cholesky_counts(p, parent), in_l = candidates(first, parent);
  fill_forecast f;
  f.size = sized(std::min(sum(in_l) + sum(in_u) - n, n * n), true);
  f.most_operations = operations_at_most(in_l, in_u);
  f.place = in_postorder(place, parent);
  return f;
}

} // namespace furrow::lu
