// SPDX-License-Identifier: BSD-3-Clause
#include "factor.hpp"

#include "preconditioners/stop.hpp"

#include <algorithm>
#include <cmath>

namespace furrow::ic0_preconditioner {
namespace {

/// Sum of the products of row i and row j of L at columns below j; `at` is the place of column j in row i.
double product_below(const row_matrix<double>& l, index_t i, index_t at, index_t j) {
  double sum = 0;
  index_t p = l.row_ptr[i], q = l.row_ptr[j];
  while (p < at && q < l.row_ptr[j + 1]) {
    if (l.col[p] == l.col[q]) sum += l.val[p++] * l.val[q++];
    else if (l.col[p] < l.col[q]) ++p;
    else ++q;
  }
  return sum;
}

} // namespace

std::optional<factor> factorise(const row_matrix<double>& lower, double shift) {
  constexpr double least = 1e-10; // of the diagonal, which is 1
  factor f{lower, host_array<double>(lower.shape.rows)};
  row_matrix<double>& l = f.beside;
  for (index_t i = 0; i < l.shape.rows; ++i) {
    stops_set_up::at_row(i);
    double pivot = 1 + shift;
    for (index_t k = l.row_ptr[i]; k < l.row_ptr[i + 1]; ++k) {
      l.val[k] = (l.val[k] - product_below(l, i, k, l.col[k])) * f.inverse_diagonal[l.col[k]];
      pivot -= l.val[k] * l.val[k];
    }
    if (!(pivot > least)) return {};
    f.inverse_diagonal[i] = 1 / std::sqrt(pivot);
  }
  return f;
}

std::pair<factor, double> factorise_shifted(const row_matrix<double>& lower) {
  for (double shift = 0; shift < 1e12; shift = std::max(1e-3, 2 * shift))
    if (auto f = factorise(lower, shift)) return {std::move(*f), shift};
  throw refusal{status::breakdown,
                "no shift of the diagonal leaves the pivots of the incomplete Cholesky factor positive"};
}

template <class V> row_matrix<double> scaled_lower_part(row_view<V> a, cview<double> scale) {
  const index_t n = a.shape.rows;
  row_matrix<double> l{a.shape, host_array<index_t>(n + 1), {}, {}};
  const auto walk = [&](auto take) {
    for (index_t i = 0, next = 0; i <= n; ++i) {
      stops_set_up::at_row(i);
      l.row_ptr[i] = next;
      for (index_t k = i < n ? a.begin(i) : 0; i < n && k < a.end(i) && a.col[k] < i; ++k) take(i, k, next++);
    }
  };
  walk([](index_t, index_t, index_t) {});
  l.col.resize(l.row_ptr[n]);
  l.val.resize(l.row_ptr[n]);
  walk([&](index_t i, index_t k, index_t to) {
    l.col[to] = a.col[k];
    l.val[to] = scale[i] * double(a.val[k]) * scale[a.col[k]];
  });
  return l;
}

template row_matrix<double> scaled_lower_part(row_view<double>, cview<double>);
template row_matrix<double> scaled_lower_part(row_view<float>, cview<double>);

} // namespace furrow::ic0_preconditioner
