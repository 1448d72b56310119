// SPDX-License-Identifier: BSD-3-Clause
#include "matched.hpp"

#include "matrix/matching.hpp"
#include "preconditioners/stop.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace furrow::lu {
namespace {

constexpr double weak = 1e-3;  ///< diagonal entries beside the largest of their columns
constexpr double strong = 0.1; ///< beside the entries of the matching

/// A' by rows is A by columns.
heavy_diagonal matched(const columns& a) {
  host_array<index_t> begin(a.n + 1);
  std::copy_n(a.begin.data(), a.n + 1, begin.data());
  const row_view<double> across{{a.n, a.n}, as_cview(begin), as_cview(a.row), as_cview(a.val)};
  return match_heavy_diagonal(across, [] { stops_set_up::at_row(0); });
}

double diagonal_of(const columns& a, index_t j) {
  const std::int32_t *const first = a.row.data() + a.begin[j], *const last = a.row.data() + a.begin[j + 1];
  const auto* const k = std::lower_bound(first, last, static_cast<std::int32_t>(j));
  return k != last && *k == j ? std::abs(a.val[k - a.row.data()]) : 0;
}

/// The matching is one of A', whose rows are the columns of A.
arranged_columns scaled_by(const heavy_diagonal& m, const columns& a) {
  const auto powers = [](const host_array<double>& scale) {
    host_array<double> near(scale.size());
    for (index_t i = 0; i < near.size(); ++i) near[i] = std::ldexp(1, std::ilogb(scale[i]));
    return near;
  };
  arranged_columns s{a, {}, powers(m.col_scale), powers(m.row_scale)};
  for (index_t j = 0; j < a.n; ++j)
    for (std::int32_t k = a.begin[j]; k < a.begin[j + 1]; ++k) s.a.val[k] *= s.row_scale[a.row[k]] * s.col_scale[j];
  return s;
}

/// The other one of the pair of each column, or itself.
std::vector<std::int32_t> partners_of(const columns& a, const heavy_diagonal& m) {
  std::vector<double> diagonal(at(a.n)); // beside 1 for the entries of the matching
  for (index_t j = 0; j < a.n; ++j) diagonal[at(j)] = diagonal_of(a, j) * m.row_scale[j] * m.col_scale[j];
  std::vector<std::int32_t> partner(at(a.n), -1), cycle;
  for (std::int32_t start = 0; start < a.n; ++start) {
    if (partner[at(start)] >= 0) continue;
    cycle.clear();
    for (std::int32_t j = start; partner[at(j)] < 0; j = m.row_of[j]) partner[at(j)] = j, cycle.push_back(j);
    if (cycle.size() % 2 == 1) // the one with the largest diagonal stays alone
      std::rotate(cycle.begin(), std::ranges::max_element(cycle, {}, [&](std::int32_t j) { return diagonal[at(j)]; }),
                  cycle.end());
    for (std::size_t k = cycle.size() % 2; k + 1 < cycle.size(); k += 2) {
      const std::int32_t i = cycle[k], j = cycle[k + 1];
      if (std::min(diagonal[at(i)], diagonal[at(j)]) < strong) partner[at(i)] = j, partner[at(j)] = i;
    }
  }
  return partner;
}

} // namespace

bool is_mirrored(const columns& a) {
  if (a.symmetric_pattern) return true;
  host_array<std::int32_t> next(a.n);
  std::copy_n(a.begin.data(), a.n, next.data());
  for (index_t j = 0; j < a.n; ++j) // entries of a row come in the order of their columns
    for (std::int32_t k = a.begin[j]; k < a.begin[j + 1]; ++k) {
      const std::int32_t i = a.row[k], q = next[i]++;
      if (q >= a.begin[i + 1] || a.row[q] != j) return false;
    }
  return true;
}

bool has_weak_diagonal(const columns& a) {
  for (index_t j = 0; j < a.n; ++j) {
    double most = 0;
    for (std::int32_t k = a.begin[j]; k < a.begin[j + 1]; ++k) most = std::max(most, std::abs(a.val[k]));
    if (diagonal_of(a, j) < weak * most) return true;
  }
  return false;
}

arranged_columns scale_by_matching(const columns& a) { return scaled_by(matched(a), a); }

arranged_columns match_rows(const columns& a) {
  const heavy_diagonal m = matched(a);
  arranged_columns to = scaled_by(m, a);
  columns moved{a.n, to.a.begin, host_array<std::int32_t>(a.nnz()), host_array<double>(a.nnz()), false};
  std::vector<std::pair<std::int32_t, double>> entries;
  for (index_t j = 0; j < a.n; ++j) {
    entries.clear();
    for (std::int32_t k = a.begin[j]; k < a.begin[j + 1]; ++k) entries.emplace_back(m.row_of[a.row[k]], to.a.val[k]);
    std::ranges::sort(entries, {}, &std::pair<std::int32_t, double>::first);
    for (std::int32_t k = a.begin[j]; const auto& [i, v] : entries) moved.row[k] = i, moved.val[k++] = v;
  }
  to.a = std::move(moved);
  to.row_at = host_array<std::int32_t>(a.n);
  for (index_t i = 0; i < a.n; ++i) to.row_at[m.row_of[i]] = static_cast<std::int32_t>(i);
  return to;
}

paired_columns match_pairs(const columns& a) {
  const heavy_diagonal m = matched(a);
  const std::vector<std::int32_t> partner = partners_of(a, m);
  columns p{a.n, host_array<std::int32_t>(a.n + 1), {}, {}, true};
  std::vector<std::int32_t> rows, seen(at(a.n), -1);
  const auto add = [&](std::int32_t i, std::int32_t j) {
    if (std::exchange(seen[at(i)], j) != j) rows.push_back(i);
  };
  p.begin[0] = 0;
  for (std::int32_t j = 0; j < a.n; ++j) {
    const auto first = std::ptrdiff_t(rows.size());
    add(j, j), add(partner[at(j)], j);
    for (const std::int32_t c : {j, partner[at(j)]})
      for (std::int32_t k = a.begin[c]; k < a.begin[c + 1]; ++k) add(a.row[k], j), add(partner[at(a.row[k])], j);
    std::sort(rows.begin() + first, rows.end());
    p.begin[j + 1] = static_cast<std::int32_t>(rows.size());
  }
  p.row = host_array<std::int32_t>(index_t(rows.size()));
  std::ranges::copy(rows, p.row.data());
  p.val = host_array<double>(p.row.size(), 1.0);
  return {scaled_by(m, a), std::move(p)};
}

} // namespace furrow::lu
