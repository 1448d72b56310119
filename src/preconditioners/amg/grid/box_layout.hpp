// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "box.hpp"

#include <bitset>
#include <cstdint>

namespace furrow::amg {

/// A place of a stencil is a step of -1, 0 or 1 along each direction; the 27 places are numbered with x fastest.
namespace place {
inline constexpr int count = 27, centre = 13;
using set = std::bitset<count>;
FURROW_HD constexpr int unit(int axis) { return axis == 0 ? 1 : axis == 1 ? 3 : 9; }
FURROW_HD constexpr int step(int place, int axis) { return place / unit(axis) % 3 - 1; }
constexpr int of(int x, int y, int z) { return centre + x + 3 * y + 9 * z; }
inline index_t offset(int place, const box& b) {
  return step(place, 0) + step(place, 1) * b.stride(1) + step(place, 2) * b.stride(2);
}
} // namespace place

/// Of a matrix whose rows and columns are the points of a box, and whose entries couple a point with itself and its 26
/// neighbours: where the diagonal of each place of the stencil lies. An entry that would leave the box is there, as 0.
class box_layout {
public:
  box_layout() = default;
  box_layout(const box& points, place::set there);

  const box& points() const { return points_; }
  index_t rows() const { return points_.size(); }
  place::set there() const { return there_; }
  index_t begin(int place) const { return slot_[place] * stride_; } ///< of its diagonal
  index_t stride() const { return stride_; }
  /// Of the diagonals as they lie, ascending; where an extent is below 3 two of them may be the same.
  const host_array<std::int32_t>& offsets() const { return offset_; }
  index_t size() const { return offset_.size() * stride_; } ///< elements of all diagonals
  index_t entries() const;                                  ///< inside the box

private:
  box points_;
  place::set there_;
  std::array<index_t, place::count> slot_{};
  index_t stride_ = 0;
  host_array<std::int32_t> offset_;
};

} // namespace furrow::amg
