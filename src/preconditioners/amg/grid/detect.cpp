// SPDX-License-Identifier: BSD-3-Clause
#include "detect.hpp"

#include "box_matrix.hpp"
#include "preconditioners/amg/by_diagonals.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <atomic>
#include <cstdlib>
#include <set>

namespace furrow::amg {
namespace {

constexpr index_t least_extent = 3; ///< with fewer points an offset would be that of two places

/// The smallest of `offsets` that no place of the box has; 0: none.
index_t first_unexplained(const std::set<index_t>& offsets, const box& b) {
  for (const index_t offset : offsets)
    if (!place_of(offset, b)) return offset;
  return 0;
}

/// Boxes of `rows` points all whose places have all these offsets, ascending and above 0. A box of one direction more
/// is looked for where an offset is not explained: it is at most a step in each direction before from the new stride.
std::vector<box> boxes_for(const std::set<index_t>& offsets, const box& b, int axis) {
  const index_t offset = first_unexplained(offsets, b);
  if (offset == 0) return {b};
  std::vector<box> found;
  if (axis == 3) return found;
  const index_t line = b.stride(axis - 1), rows = b.size();
  for (const index_t near : {index_t(0), index_t(1), index_t(-1)})
    for (const index_t nearer : {index_t(0), index_t(1), index_t(-1)}) {
      if (axis == 1 && nearer != 0) continue;
      const index_t stride = offset + near * line + nearer;
      if (stride < least_extent * line || stride % line != 0 || rows % stride != 0 || stride == rows) continue;
      const auto more = boxes_for(offsets, b.with(axis - 1, stride / line).with(axis, rows / stride), axis + 1);
      found.insert(found.end(), more.begin(), more.end());
    }
  return found;
}

/// The first row with an entry that leaves the box, and its column; rows where there is none.
std::pair<index_t, index_t> leaving(row_view<double> a, const box& b) {
  const index_t nx = b.points[0], ny = b.points[1], nz = b.points[2];
  std::atomic<index_t> first_row = a.shape.rows;
  const auto leaves = [&](index_t x, index_t y, index_t z, index_t k, index_t row) {
    if (a.val[k] == 0) return false;
    const int p = *place_of(a.col[k] - row, b);
    const index_t to_x = x + place::step(p, 0), to_y = y + place::step(p, 1), to_z = z + place::step(p, 2);
    return to_x < 0 || to_x >= nx || to_y < 0 || to_y >= ny || to_z < 0 || to_z >= nz;
  };
  const auto look = [&](index_t x, index_t y, index_t z) {
    const index_t row = b.at(x, y, z);
    for (index_t k = a.begin(row); k < a.end(row); ++k)
      if (leaves(x, y, z, k, row)) {
        index_t seen = first_row.load(std::memory_order_relaxed);
        while (row < seen && !first_row.compare_exchange_weak(seen, row, std::memory_order_relaxed)) {
        }
      }
  };
  cpu::for_each_range(ny * nz, 1 << 8, [&](index_t first, index_t last) {
    for (index_t line = first; line < last; ++line) {
      const index_t y = line % ny, z = line / ny;
      if (nz > 1 && (y == 0 || y + 1 == ny))
        for (index_t x = 0; x < nx; ++x) look(x, y, z);
      else look(0, y, z), look(nx - 1, y, z);
    }
  });
  const index_t row = first_row;
  if (row == a.shape.rows) return {row, 0};
  index_t k = a.begin(row);
  while (!leaves(row % nx, row / nx % ny, row / nx / ny, k, row)) ++k;
  return {row, a.col[k]};
}

found_box no_box(std::string why) { return {{}, {}, std::move(why)}; }

} // namespace

std::optional<int> place_of(index_t offset, const box& b) {
  for (int p = 0; p < place::count; ++p) {
    bool fits = place::offset(p, b) == offset;
    for (int axis = 0; axis < 3; ++axis) fits = fits && (place::step(p, axis) == 0 || b.points[axis] > 1);
    if (fits) return p;
  }
  return std::nullopt;
}

found_box box_of_offsets(index_t rows, std::vector<std::int32_t> offsets,
                         const std::function<std::pair<index_t, index_t>(const box&)>& leaving) {
  std::set<index_t> beside;
  for (const index_t offset : offsets)
    if (offset != 0) beside.insert(std::abs(offset));
  if (beside.empty()) return no_box("is diagonal");
  const auto possible = boxes_for(beside, {{rows, 1, 1}}, 1);
  if (possible.empty())
    return no_box(fmt::format("has diagonals that are no grid's: {} beside the main one", fmt::join(beside, ", ")));
  std::string failure;
  for (const box& b : possible) {
    const auto [row, col] = leaving(b);
    if (row == rows) return {b, std::move(offsets), ""};
    if (failure.empty())
      failure = fmt::format("has entry ({}, {}), which leaves its line of {}", row + 1, col + 1, to_string(b));
  }
  return no_box(std::move(failure));
}

found_box find_box(row_view<double> a) {
  if (a.shape.rows == 0) return no_box("has no rows");
  auto offsets = offsets_of(a, place::count);
  if (offsets.empty()) return no_box(too_many_diagonals);
  return box_of_offsets(a.shape.rows, std::move(offsets), [&](const box& b) { return leaving(a, b); });
}

box_layout layout_of(const found_box& found) {
  place::set there;
  there.set(place::centre);
  for (const index_t offset : found.offsets) there.set(*place_of(offset, found.points));
  return {found.points, there};
}

box_matrix in_box(row_view<double> a, const found_box& found) {
  const box& points = found.points;
  box_matrix m(layout_of(found));
  std::vector<double*> column;
  for (const index_t offset : found.offsets) column.push_back(m.at(*place_of(offset, points)));
  cpu::for_each_range(a.shape.rows, 1 << 12, [&](index_t first, index_t last) {
    for (int p = 0; p < place::count; ++p)
      if (m.there()[p]) std::fill(m.at(p) + first, m.at(p) + last, 0.0);
    for (index_t i = first; i < last; ++i) {
      std::size_t at = 0;
      for (index_t k = a.begin(i); k < a.end(i); ++k) {
        while (found.offsets[at] < a.col[k] - i) ++at; // of a row they ascend
        column[at][i] = a.val[k];
      }
    }
  });
  return m;
}

} // namespace furrow::amg
