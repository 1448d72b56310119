// SPDX-License-Identifier: BSD-3-Clause
#include "box_matrix.hpp"

#include "formats/padded.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace furrow::amg {

std::string to_string(const box& b) {
  const auto [nx, ny, nz] = b.points;
  if (nz > 1) return fmt::format("a grid of {} x {} x {} points", nx, ny, nz);
  return ny > 1 ? fmt::format("a grid of {} x {} points", nx, ny) : fmt::format("a line of {} points", nx);
}

box_layout::box_layout(const box& points, place::set there)
    : points_(points), there_(there), stride_(padded_rows(points.size())) {
  std::vector<std::pair<index_t, int>> order;
  for (int p = 0; p < place::count; ++p)
    if (there[p]) order.emplace_back(place::offset(p, points), p);
  std::ranges::sort(order);
  offset_.resize(static_cast<index_t>(order.size()));
  for (index_t k = 0; k < offset_.size(); ++k) {
    offset_[k] = static_cast<std::int32_t>(order[k].first);
    slot_[order[k].second] = k;
  }
}

index_t box_layout::entries() const {
  index_t sum = 0;
  for (int p = 0; p < place::count; ++p) {
    index_t inside = there_[p];
    for (int axis = 0; axis < 3; ++axis) inside *= points_.points[axis] - (place::step(p, axis) != 0);
    sum += inside;
  }
  return sum;
}

} // namespace furrow::amg
