// SPDX-License-Identifier: BSD-3-Clause
#include "entry.hpp"

namespace furrow {
namespace {

/// All 3^D - 1 neighbours with -1 and the centre with 3^D - 1, on a grid of N^D points, x fastest, zero boundary
/// values.
template <int D> struct box {
  index_t n = 0, size = 0;

  explicit box(const arguments& words) : n(words.whole(0)) {
    if constexpr (D == 2) size = words.rows({n, n});
    else size = words.rows({n, n, n});
  }

  struct range {
    index_t first, last;
  };
  /// Offsets from x that stay on the grid.
  range around(index_t x) const { return {x > 0 ? -1 : 0, x < n - 1 ? 1 : 0}; }

  shape2 shape() const { return {size, size}; }
  index_t entries() const {
    index_t total = 1;
    for (int d = 0; d < D; ++d) total *= 3 * n - 2;
    return total;
  }
  index_t count(index_t i) const {
    index_t total = 1;
    for (int d = 0; d < D; ++d, i /= n) total *= around(i % n).last - around(i % n).first + 1;
    return total;
  }
  void fill(index_t i, std::int32_t* col, double* val) const {
    const range x = around(i % n), y = around(i / n % n), z = D == 3 ? around(i / n / n) : range{0, 0};
    for (index_t dz = z.first; dz <= z.last; ++dz)
      for (index_t dy = y.first; dy <= y.last; ++dy)
        for (index_t dx = x.first; dx <= x.last; ++dx) {
          const index_t j = i + (dz * n + dy) * n + dx;
          *col++ = static_cast<std::int32_t>(j);
          *val++ = j == i ? (D == 2 ? 8 : 26) : -1;
        }
  }
};

} // namespace

extern const generator_entry stencil2d9 =
    generator_of<box<2>>("stencil2d9:N", "all 8 neighbours on N x N points: 8, -1", "stencil2d9:1000");
extern const generator_entry stencil3d27 =
    generator_of<box<3>>("stencil3d27:N", "all 26 neighbours on N x N x N points: 26, -1", "stencil3d27:100");

} // namespace furrow
