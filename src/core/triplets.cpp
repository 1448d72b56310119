// SPDX-License-Identifier: BSD-3-Clause
#include "triplets.hpp"

#include "set_up_part.hpp"

#include "backends/cpu/parallel.hpp"

#include <furrow/coo.hpp>

#include <algorithm>
#include <limits>

namespace furrow {
namespace {

/// Whether triplet k is outside the matrix or does not come after triplet k - 1.
bool is_wrong(shape2 shape, cview<std::int32_t> row, cview<std::int32_t> col, index_t k) {
  if (!is_inside(row[k], col[k], shape)) return true;
  return k > 0 && (row[k] < row[k - 1] || (row[k] == row[k - 1] && col[k] <= col[k - 1]));
}

/// Whether any of [first, last) is, first > 0. Without branches, so that a vector of them is looked at at a time.
bool any_wrong(shape2 shape, cview<std::int32_t> row, cview<std::int32_t> col, index_t first, index_t last) {
  const auto rows = static_cast<std::uint32_t>(shape.rows), cols = static_cast<std::uint32_t>(shape.cols);
  int wrong = 0;
  for (index_t k = first; k < last; ++k) {
    const int low_row = row[k] < row[k - 1], same_row = row[k] == row[k - 1], low_col = col[k] <= col[k - 1];
    const int beyond_rows = static_cast<std::uint32_t>(row[k]) >= rows;
    const int beyond_cols = static_cast<std::uint32_t>(col[k]) >= cols;
    wrong |= beyond_rows | beyond_cols | low_row | (same_row & low_col);
  }
  return wrong != 0;
}

/// The first triplet that is, or their number.
index_t first_wrong(shape2 shape, cview<std::int32_t> row, cview<std::int32_t> col) {
  if (row.empty() || is_wrong(shape, row, col, 0)) return 0;
  std::atomic<index_t> found = row.size;
  const index_t pieces = std::max<index_t>(row.size / set_up_part, 1);
  cpu::for_each_task(pieces, [&](index_t piece) {
    index_t k = std::max<index_t>(cpu::part_begin(row.size, pieces, piece), 1);
    const index_t last = cpu::part_begin(row.size, pieces, piece + 1);
    if (k > found || !any_wrong(shape, row, col, k, last)) return;
    while (!is_wrong(shape, row, col, k)) ++k;
    lower(found, k);
  });
  return found;
}

} // namespace

std::string wrong_sides(shape2 shape) {
  constexpr index_t longest = std::numeric_limits<std::int32_t>::max();
  if (std::min(shape.rows, shape.cols) < 0 || std::max(shape.rows, shape.cols) > longest)
    return fmt::format("the matrix is {} x {}: both sides must be between 0 and {}", shape.rows, shape.cols, longest);
  return {};
}

std::string wrong_sizes(shape2 shape, index_t rows, index_t cols, index_t values) {
  if (auto what = wrong_sides(shape); !what.empty()) return what;
  if (rows != values || cols != values || values < 0)
    return fmt::format("the matrix has {} row indices, {} column indices and {} values: give as many of each", rows,
                       cols, values);
  return {};
}

std::string broken_promise(shape2 shape, cview<std::int32_t> row, cview<std::int32_t> col, index_t values) {
  if (auto what = wrong_sizes(shape, row.size, col.size, values); !what.empty()) return what;
  const index_t k = first_wrong(shape, row, col);
  if (k == row.size) return {};
  if (!is_inside(row[k], col[k], shape)) return outside(k, row[k], col[k], shape);
  if (row[k] == row[k - 1] && col[k] == col[k - 1])
    return fmt::format("triplets {} and {} are both ({}, {}): a place comes once; furrow::assemble adds up those that "
                       "share one",
                       k - 1, k, row[k], col[k]);
  return fmt::format("triplet {} is ({}, {}) and comes after ({}, {}): triplets are sorted by row, then by column; "
                     "furrow::assemble takes any order",
                     k, row[k], col[k], row[k - 1], col[k - 1]);
}

template <class V> void check_triplets(const coo<V>& a) {
  if (const auto what = broken_promise(a.shape, a.row, a.col, a.nnz()); !what.empty()) throw error(fault::input, what);
}

template void check_triplets(const coo<double>&);
template void check_triplets(const coo<float>&);

} // namespace furrow
