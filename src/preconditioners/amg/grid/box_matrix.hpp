// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "backends/cpu/parallel.hpp"
#include "box_layout.hpp"
#include "formats/dia/dia.hpp"

#include <utility>

namespace furrow::amg {

/// A matrix of a box.
class box_matrix : public box_layout {
public:
  box_matrix() = default;
  /// Without values; they get the memory of `spare` where it is large enough.
  explicit box_matrix(box_layout layout, host_array<double> spare = {})
      : box_layout(std::move(layout)), val_(std::move(spare)) {
    val_.resize(size());
  }

  double* at(int place) { return val_.data() + begin(place); }
  const double* at(int place) const { return val_.data() + begin(place); }
  double* data() { return val_.data(); }
  host_array<double> take_memory() && { return std::move(val_); }
  dia<double, cview> diagonals() const { return {{rows(), rows()}, stride(), as_cview(offsets()), as_cview(val_)}; }

private:
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
