// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "backends/cpu/parallel.hpp"
#include "box.hpp"
#include "formats/dia/dia.hpp"

#include <furrow/array.hpp>

#include <bitset>

namespace furrow::amg {

/// A place of a stencil is a step of -1, 0 or 1 along each direction; the 27 places are numbered with x fastest.
namespace place {
inline constexpr int count = 27, centre = 13;
using set = std::bitset<count>;
constexpr int unit(int axis) { return axis == 0 ? 1 : axis == 1 ? 3 : 9; }
constexpr int step(int place, int axis) { return place / unit(axis) % 3 - 1; }
constexpr int of(int x, int y, int z) { return centre + x + 3 * y + 9 * z; }
inline index_t offset(int place, const box& b) {
  return step(place, 0) + step(place, 1) * b.stride(1) + step(place, 2) * b.stride(2);
}
} // namespace place

/// A matrix whose rows and columns are the points of a box, and whose entries couple a point with itself and its 26
/// neighbours: a diagonal for each place of the stencil. An entry that would leave the box is there, as 0.
class box_matrix {
public:
  box_matrix() = default;
  /// Without values; they get the memory of `spare` where it is large enough.
  box_matrix(const box& points, place::set there, host_array<double> spare = {});

  const box& points() const { return points_; }
  index_t rows() const { return points_.size(); }
  place::set there() const { return there_; }
  double* at(int place) { return val_.data() + slot_[place] * stride_; }
  const double* at(int place) const { return val_.data() + slot_[place] * stride_; }
  host_array<double> take_memory() && { return std::move(val_); }
  /// Entries inside the box.
  index_t entries() const;
  /// The diagonals as they lie, in ascending order; where an extent is below 3 two of them may have the same offset.
  dia<double, cview> diagonals() const { return {{rows(), rows()}, stride_, as_cview(offset_), as_cview(val_)}; }

private:
  box points_;
  place::set there_;
  std::array<index_t, place::count> slot_{};
  index_t stride_ = 0;
  host_array<std::int32_t> offset_;
  host_array<double> val_;
};

/// f(x0, x1, y, z) for strips [x0, x1) of all lines along x, at most 1024 points each. Parallel.
template <class F> void for_each_strip(const box& b, F f) {
  constexpr index_t longest = 1024, grain = 1 << 13;
  const index_t nx = b.points[0], ny = b.points[1], nz = b.points[2];
  const index_t parts = (nx + longest - 1) / longest, strips = parts * ny * nz;
  cpu::for_each_range(strips, std::max<index_t>(1, grain * parts / std::max<index_t>(nx, 1)),
                      [&](index_t first, index_t last) {
                        for (index_t s = first; s < last; ++s) {
                          const index_t line = s / parts, part = s % parts;
                          f(part * longest, std::min(nx, (part + 1) * longest), line % ny, line / ny);
                        }
                      });
}

} // namespace furrow::amg
