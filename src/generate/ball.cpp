// SPDX-License-Identifier: BSD-3-Clause
#include "entry.hpp"

#include <cmath>

namespace furrow {
namespace {

/// The Laplacian inside the sphere (circle) that touches the walls of a box of N^D points, x fastest, zero on it.
/// Points outside keep their numbers and have a row of 1 on the diagonal alone. For a neighbour beyond the sphere,
/// which cuts the way there after a share t of it, a point has 1 / t on the diagonal in the place of 1: F. Gibou, R.
/// Fedkiw, L.-T. Cheng, M. Kang, A second-order-accurate symmetric discretization of the Poisson equation on irregular
/// domains, J. Comput. Phys. 176 (2002). Lengths are whole numbers of half steps from the centre, so that a value takes
/// a root, a quotient and a sum.
template <int D> struct ball {
  index_t n = 0, size = 0;

  explicit ball(const arguments& words) : n(words.whole(0)) {
    if constexpr (D == 2) size = words.rows({n, n});
    else size = words.rows({n, n, n});
  }

  struct point {
    index_t at[D];      ///< from the centre; odd or even like N - 1
    index_t beyond = 0; ///< radius^2 - distance^2: positive inside
  };
  point point_of(index_t i) const {
    point p;
    p.beyond = (n + 1) * (n + 1);
    for (int d = 0; d < D; ++d, i /= n) {
      p.at[d] = 2 * (i % n) - (n - 1);
      p.beyond -= p.at[d] * p.at[d];
    }
    return p;
  }
  /// Whether the neighbour at -1 (side 0) or +1 (side 1) in direction d is inside, too.
  static bool stays(const point& p, int d, int side) {
    const index_t moved = p.at[d] + (side ? 2 : -2);
    return p.beyond + p.at[d] * p.at[d] - moved * moved > 0;
  }

  shape2 shape() const { return {size, size}; }
  index_t count(index_t i) const {
    const point p = point_of(i);
    index_t total = 1;
    if (p.beyond > 0)
      for (int d = 0; d < D; ++d) total += stays(p, d, 0) + stays(p, d, 1);
    return total;
  }
  void fill(index_t i, std::int32_t* col, double* val) const {
    const point p = point_of(i);
    const auto put = [&](index_t j, double value) {
      *col++ = static_cast<std::int32_t>(j);
      *val++ = value;
    };
    if (p.beyond <= 0) return put(i, 1);
    double centre = 0;
    for (int d = 0; d < D; ++d) {
      const double wall = std::sqrt(double(p.beyond + p.at[d] * p.at[d])); // of this line, from the middle of it
      for (int side = 0; side < 2; ++side)
        centre += stays(p, d, side) ? 1 : 2 / (wall - double(side ? p.at[d] : -p.at[d]));
    }
    index_t stride = size;
    for (int d = D; d-- > 0;)
      if (stride /= n; stays(p, d, 0)) put(i - stride, -1);
    put(i, centre);
    for (int d = 0; d < D; ++d, stride *= n)
      if (stays(p, d, 1)) put(i + stride, -1);
  }
};

} // namespace

extern const generator_entry disc2d =
    generator_of<ball<2>>("disc2d:N", "Laplacian inside a circle on N x N points; 1 for points outside", "disc2d:1000");
extern const generator_entry ball3d = generator_of<ball<3>>(
    "ball3d:N", "Laplacian inside a sphere on N x N x N points; 1 for points outside", "ball3d:100");

} // namespace furrow
