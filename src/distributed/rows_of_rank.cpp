// SPDX-License-Identifier: BSD-3-Clause
#include "rows_of_rank.hpp"

#include "partition.hpp"
#include "together.hpp"

#include "core/check.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace furrow {
namespace {

std::vector<index_t> begins_of(communicator& c, shape2 mine) {
  const auto shapes = gather_each(c, mine);
  std::vector<index_t> begins{0};
  for (const shape2 s : shapes) begins.push_back(begins.back() + s.rows);
  together(c, [&] {
    for (std::size_t r = 0; r < shapes.size(); ++r)
      check(shapes[r].cols == begins.back(), fault::input,
            "rank {} has rows of {} columns, but the rows of all {} ranks together are {}: ranks solve square systems",
            r, shapes[r].cols, shapes.size(), begins.back());
  });
  return begins;
}

/// Columns of others, ascending, each once.
template <class V> host_array<std::int32_t> far_columns(const coo<V>& a, index_t first, index_t last) {
  std::vector<std::int32_t> columns;
  for (const std::int32_t j : a.col)
    if (j < first || j >= last) columns.push_back(j);
  std::ranges::sort(columns);
  const auto rest = std::unique(columns.begin(), columns.end());
  columns.erase(rest, columns.end());
  host_array<std::int32_t> result(static_cast<index_t>(columns.size()));
  std::ranges::copy(columns, result.begin());
  return result;
}

template <class V> void split(const coo<V>& a, index_t last, rows_of_rank<V>& to) {
  const auto& columns = to.plan.columns;
  index_t near = 0;
  for (const std::int32_t j : a.col) near += j >= to.first && j < last;
  const index_t n = a.shape.rows, far = a.nnz() - near;
  to.own = {{n, n}, host_array<std::int32_t>(near), host_array<std::int32_t>(near), host_array<V>(near)};
  to.far = {{0, columns.size()}, host_array<std::int32_t>(far), host_array<std::int32_t>(far), host_array<V>(far)};
  std::vector<std::int32_t> far_rows;
  index_t own_at = 0, far_at = 0;
  for (index_t k = 0; k < a.nnz(); ++k) {
    const std::int32_t i = a.row[k], j = a.col[k];
    if (j >= to.first && j < last) {
      to.own.row[own_at] = i, to.own.col[own_at] = j - static_cast<std::int32_t>(to.first),
      to.own.val[own_at] = a.val[k];
      ++own_at;
      continue;
    }
    if (far_rows.empty() || far_rows.back() != i) far_rows.push_back(i);
    to.far.row[far_at] = static_cast<std::int32_t>(far_rows.size()) - 1;
    to.far.col[far_at] = static_cast<std::int32_t>(std::ranges::lower_bound(columns, j) - columns.begin());
    to.far.val[far_at] = a.val[k];
    ++far_at;
  }
  to.far.shape.rows = static_cast<index_t>(far_rows.size());
  to.far_rows = host_array<std::int32_t>(to.far.shape.rows);
  std::ranges::copy(far_rows, to.far_rows.begin());
}

/// The largest sum of |A[i,j]| over a row and over a column, of which several ranks may hold parts.
template <class V> void measure_norms(communicator& c, rows_of_rank<V>& to) {
  const index_t n = to.own.shape.rows;
  host_array<double> by_row(n, 0.0), by_column(n, 0.0), elsewhere(to.plan.columns.size(), 0.0), diagonal(n, 0.0);
  host_array<index_t> length(n, 0);
  for (index_t k = 0; k < to.own.nnz(); ++k) {
    by_row[to.own.row[k]] += std::abs(double(to.own.val[k])), ++length[to.own.row[k]];
    by_column[to.own.col[k]] += std::abs(double(to.own.val[k]));
    if (to.own.row[k] == to.own.col[k]) diagonal[to.own.row[k]] = double(to.own.val[k]);
  }
  for (index_t k = 0; k < to.far.nnz(); ++k) {
    const std::int32_t i = to.far_rows[to.far.row[k]];
    by_row[i] += std::abs(double(to.far.val[k])), ++length[i];
    elsewhere[to.far.col[k]] += std::abs(double(to.far.val[k]));
  }
  halo<double>(c, to.plan).add_back(as_cview(elsewhere), as_view(by_column));
  const auto largest = [](const auto& v) { return v.empty() ? 0.0 : double(std::ranges::max(v)); };
  to.norm_inf = c.max(largest(by_row));
  to.norm_1 = c.max(largest(by_column));
  to.longest_row = static_cast<index_t>(c.max(largest(length)));
  const auto are_finite = [](const host_array<V>& values) {
    return std::ranges::all_of(values, [](V v) { return std::isfinite(v); });
  };
  to.finite = !c.any(!are_finite(to.own.val) || !are_finite(to.far.val));
  to.positive_diagonal = !c.any(!std::ranges::all_of(diagonal, [](double d) { return d > 0; }));
  to.full_diagonal = !c.any(!std::ranges::all_of(diagonal, [](double d) { return d != 0; }));
}

} // namespace

template <class V> rows_of_rank<V> take_apart_rows(communicator& c, coo<V> rows) {
  together(c, [&] { check_triplets(rows); });
  rows_of_rank<V> result;
  result.begins = begins_of(c, rows.shape);
  result.unknowns = result.begins.back();
  result.first = result.begins[static_cast<std::size_t>(c.rank())];
  const index_t last = result.first + rows.shape.rows;
  host_array<std::int32_t> columns;
  together(c, [&] { columns = far_columns(rows, result.first, last); });
  result.plan = plan_halo(c, result.begins, std::move(columns));
  together(c, [&] {
    split(rows, last, result);
    rows = {};
  });
  measure_norms(c, result);
  return result;
}

template <class V> coo<V> with_global_columns(coo<V> a, index_t first, cview<std::int32_t> far, index_t columns) {
  const index_t own = a.shape.cols - far.size;
  std::vector<std::pair<std::int32_t, V>> row;
  for (index_t k = 0; k < a.nnz();) {
    row.clear();
    index_t end = k;
    for (; end < a.nnz() && a.row[end] == a.row[k]; ++end) {
      const std::int32_t j = a.col[end];
      row.emplace_back(j < own ? static_cast<std::int32_t>(first) + j : far[j - own], a.val[end]);
    }
    std::ranges::sort(row, {}, &std::pair<std::int32_t, V>::first);
    for (const auto& [col, value] : row) a.col[k] = col, a.val[k++] = value;
  }
  a.shape.cols = columns;
  return a;
}

template coo<double> with_global_columns(coo<double>, index_t, cview<std::int32_t>, index_t);
template coo<float> with_global_columns(coo<float>, index_t, cview<std::int32_t>, index_t);
template rows_of_rank<double> take_apart_rows(communicator&, coo<double>);
template rows_of_rank<float> take_apart_rows(communicator&, coo<float>);

} // namespace furrow
