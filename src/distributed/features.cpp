// SPDX-License-Identifier: BSD-3-Clause
#include "features.hpp"

#include "together.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>

namespace furrow {
namespace {

/// One more than the rows of a grid have at most: from there on nobody counts.
constexpr std::size_t most_diagonals = 28;

/// What a rank finds in its rows, as it goes to the others.
struct rows_found {
  index_t entries = 0, zero = 0, negative = 0, small = 0, dominant = 0;
  double largest = 0, least = std::numeric_limits<double>::infinity();
  index_t diagonal_count = 0;
  std::array<index_t, most_diagonals> diagonals{};
};

struct row_sizes {
  double diagonal = 0, others = 0, largest = 0;
};

template <class V> rows_found look_at_rows(const rows_of_rank<V>& a) {
  host_array<row_sizes> rows(a.own.shape.rows, row_sizes{});
  std::set<index_t> diagonals;
  const auto see = [&](index_t i, index_t offset, V value) {
    row_sizes& r = rows[i];
    const double size = std::abs(double(value));
    if (offset == 0) r.diagonal = double(value);
    else r.others += size;
    r.largest = std::max(r.largest, size);
    if (diagonals.size() < most_diagonals) diagonals.insert(offset);
  };
  for (index_t k = 0; k < a.own.nnz(); ++k) see(a.own.row[k], a.own.col[k] - a.own.row[k], a.own.val[k]);
  for (index_t k = 0; k < a.far.nnz(); ++k) {
    const index_t i = a.far_rows[a.far.row[k]];
    see(i, a.plan.columns[a.far.col[k]] - (a.first + i), a.far.val[k]);
  }
  rows_found f;
  f.entries = a.own.nnz() + a.far.nnz();
  for (const row_sizes& r : rows) {
    f.zero += r.diagonal == 0;
    f.negative += r.diagonal < 0;
    f.small += r.diagonal != 0 && std::abs(r.diagonal) < 1e-10 * r.largest; // as of one rank: solve/features.cpp
    f.dominant += r.diagonal != 0 && std::abs(r.diagonal) >= r.others;
    if (r.largest > 0) f.largest = std::max(f.largest, r.largest), f.least = std::min(f.least, r.largest);
  }
  f.diagonal_count = index_t(diagonals.size());
  std::ranges::copy(diagonals, f.diagonals.begin());
  return f;
}

} // namespace

template <class V> features features_on_ranks(communicator& c, const rows_of_rank<V>& a, bool symmetric) {
  rows_found mine;
  together(c, [&] { mine = look_at_rows(a); });
  features f;
  f.rows = a.unknowns, f.longest_row = a.longest_row, f.symmetric = symmetric;
  double largest = 0, least = std::numeric_limits<double>::infinity();
  std::set<index_t> diagonals;
  for (const rows_found& one : gather_each(c, mine)) {
    f.nnz += one.entries;
    f.zero_diagonal += one.zero, f.negative_diagonal += one.negative, f.small_diagonal += one.small;
    f.dominant += one.dominant;
    largest = std::max(largest, one.largest), least = std::min(least, one.least);
    diagonals.insert(one.diagonals.begin(), one.diagonals.begin() + one.diagonal_count);
  }
  f.scales = largest > 0 ? largest / least : 1;
  f.diagonals = index_t(diagonals.size());
  return f;
}

template features features_on_ranks(communicator&, const rows_of_rank<double>&, bool);
template features features_on_ranks(communicator&, const rows_of_rank<float>&, bool);

} // namespace furrow
