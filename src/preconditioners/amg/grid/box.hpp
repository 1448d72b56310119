// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/array.hpp>

#include <array>
#include <string>

namespace furrow::amg {

/// Points of a box in one, two or three directions, x fastest. An extent of 1 is no direction.
struct box {
  std::array<index_t, 3> points{1, 1, 1};

  index_t size() const { return points[0] * points[1] * points[2]; }
  index_t stride(int axis) const { return axis == 0 ? 1 : axis == 1 ? points[0] : points[0] * points[1]; }
  index_t at(index_t x, index_t y, index_t z) const { return x + points[0] * (y + points[1] * z); }
  box with(int axis, index_t extent) const {
    box other = *this;
    other.points[axis] = extent;
    return other;
  }
  bool operator==(const box&) const = default;
};

/// "a grid of 100 x 100 x 50 points", for people.
std::string to_string(const box& b);

} // namespace furrow::amg
