// SPDX-License-Identifier: BSD-3-Clause
#include "features.hpp"

#include "together.hpp"
#include "whole_rows.hpp"

#include "core/dominance.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <mutex>
#include <set>
#include <utility>

namespace furrow {
namespace {

/// What a rank finds in its rows, as it goes to the others.
struct rows_found {
  index_t entries = 0, zero = 0, negative = 0, small = 0, dominant = 0;
  double largest = 0, least = std::numeric_limits<double>::infinity();
  index_t diagonal_count = 0;
  std::array<index_t, std::size_t(most_diagonals)> diagonals{};
};

struct row_sizes {
  double diagonal = 0, others = 0, largest = 0;
  void see(index_t offset, double value) {
    const double size = std::abs(value);
    if (offset == 0) diagonal = value;
    else others += size;
    largest = std::max(largest, size);
  }
};

using few_diagonals = std::set<index_t>;
void add(few_diagonals& to, index_t offset) {
  if (index_t(to.size()) < most_diagonals) to.insert(offset);
}

void add(rows_found& f, const row_sizes& r) {
  f.zero += r.diagonal == 0;
  f.negative += r.diagonal < 0;
  f.small += r.diagonal != 0 && std::abs(r.diagonal) < 1e-10 * r.largest; // as of one rank: solve/features.cpp
  f.dominant += dominates(std::abs(r.diagonal), r.others);
  if (r.largest > 0) f.largest = std::max(f.largest, r.largest), f.least = std::min(f.least, r.largest);
}
void add(rows_found& f, const rows_found& other) {
  f.zero += other.zero, f.negative += other.negative, f.small += other.small, f.dominant += other.dominant;
  f.largest = std::max(f.largest, other.largest), f.least = std::min(f.least, other.least);
}

/// Parallel. Of a row the own entries are seen first, in their order; an offset that the row before has at the same
/// place is known.
template <class V> rows_found look_at_rows(const rows_of_rank<V>& a, few_diagonals& diagonals) {
  const whole_rows<V> rows(a);
  rows_found all;
  std::mutex one_at_a_time;
  cpu::for_each_range(rows.count(), 1 << 12, [&](index_t first, index_t last) {
    rows_found f;
    few_diagonals seen;
    std::array<index_t, 64> before;
    before.fill(std::numeric_limits<index_t>::min());
    rows.each(first, last, [&](index_t i, auto own, auto far) {
      row_sizes r;
      std::size_t place = 0;
      for (index_t k = own.begin; k < own.end; ++k, ++place) {
        const index_t offset = a.own.col[k] - i;
        r.see(offset, double(a.own.val[k]));
        if (place < before.size() && std::exchange(before[place], offset) == offset) continue;
        add(seen, offset);
      }
      for (index_t k = far.begin; k < far.end; ++k) {
        const index_t offset = a.plan.columns[a.far.col[k]] - (a.first + i);
        r.see(offset, double(a.far.val[k]));
        add(seen, offset);
      }
      add(f, r);
    });
    const std::lock_guard alone(one_at_a_time);
    add(all, f);
    for (const index_t offset : seen) add(diagonals, offset);
  });
  return all;
}

/// What a GPU has seen.
template <class V> rows_found look_there(const rows_of_rank<V>& a, few_diagonals& diagonals) {
  const rows_look& l = a.look;
  rows_found f;
  f.zero = l.zero_diagonal, f.negative = l.negative_diagonal, f.small = l.small_diagonal, f.dominant = l.dominant;
  f.largest = l.largest_row, f.least = l.least_row;
  for (const index_t offset : a.diagonals_of_own) add(diagonals, offset);
  index_t before = std::numeric_limits<index_t>::min(); // entries at a border mostly lie on one diagonal
  for (index_t k = 0; k < a.far.nnz(); ++k) {
    const index_t offset = a.plan.columns[a.far.col[k]] - (a.first + a.far_rows[a.far.row[k]]);
    if (std::exchange(before, offset) != offset) add(diagonals, offset);
  }
  return f;
}

template <class V> rows_found look_at_all(const rows_of_rank<V>& a) {
  few_diagonals diagonals;
  rows_found f = a.own_there ? look_there(a, diagonals) : look_at_rows(a, diagonals);
  f.entries = (a.own_there ? a.own_there->nnz() : a.own.nnz()) + a.far.nnz();
  f.diagonal_count = index_t(diagonals.size());
  std::ranges::copy(diagonals, f.diagonals.begin());
  return f;
}

} // namespace

template <class V> features features_on_ranks(communicator& c, const rows_of_rank<V>& a, bool symmetric) {
  rows_found mine;
  together(c, [&] { mine = look_at_all(a); });
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
