// SPDX-License-Identifier: BSD-3-Clause
#include "entry.hpp"

#include <cmath>

namespace furrow {
namespace {

/// A centre and two neighbours in each of D directions, on a grid of N^D points, x fastest, zero boundary values.
template <int D> struct star {
  index_t n = 0, size = 0;
  double centre = 0, low[D]{}, high[D]{}; ///< weights of the point itself and of the neighbours at -1 and +1

  explicit star(const arguments& words) : n(words.whole(0)) {
    if constexpr (D == 1) size = words.rows({n});
    if constexpr (D == 2) size = words.rows({n, n});
    if constexpr (D == 3) size = words.rows({n, n, n});
    for (int d = 0; d < D; ++d) low[d] = high[d] = -1;
    centre = 2 * D;
  }

  shape2 shape() const { return {size, size}; }
  index_t entries() const { return size + 2 * D * (size / n) * (n - 1); }
  index_t count(index_t i) const {
    index_t total = 1;
    for (int d = 0; d < D; ++d, i /= n) total += (i % n > 0) + (i % n < n - 1);
    return total;
  }
  void fill(index_t i, std::int32_t* col, double* val) const {
    bool has_low[D], has_high[D];
    index_t rest = i, stride = 1;
    for (int d = 0; d < D; ++d, rest /= n) {
      has_low[d] = rest % n > 0;
      has_high[d] = rest % n < n - 1;
      if (d) stride *= n;
    }
    const auto put = [&](index_t j, double value) {
      *col++ = static_cast<std::int32_t>(j);
      *val++ = value;
    };
    for (int d = D; d-- > 0; stride /= n)
      if (has_low[d]) put(i - stride, low[d]);
    put(i, centre);
    stride = 1;
    for (int d = 0; d < D; ++d, stride *= n)
      if (has_high[d]) put(i + stride, high[d]);
  }
};

/// -EPS u_xx - u_yy.
struct anisotropic : star<2> {
  explicit anisotropic(const arguments& words) : star<2>(words) {
    const double eps = words.real(1);
    words.check_that(eps > 0 && std::isfinite(2 + 2 * eps), "EPS must be positive, and 2 EPS finite");
    low[0] = high[0] = -eps;
    centre = 2 + 2 * eps;
  }
};

/// -u_xx - u_yy + P u_x / h, first-order upwind: P >= 0 is the Peclet number of a cell, and the wind blows towards
/// larger x.
struct convection : star<2> {
  explicit convection(const arguments& words) : star<2>(words) {
    const double peclet = words.real(1);
    words.check_that(peclet >= 0, "PECLET must not be negative");
    low[0] = -(1 + peclet);
    centre = 4 + peclet;
  }
};

} // namespace

extern const generator_entry poisson1d =
    generator_of<star<1>>("poisson1d:N", "Laplacian on N points of a line: 2, -1 (3 points)", "poisson1d:1000");
extern const generator_entry poisson2d =
    generator_of<star<2>>("poisson2d:N", "Laplacian on N x N points: 4, -1 (5 points)", "poisson2d:1000");
extern const generator_entry poisson3d =
    generator_of<star<3>>("poisson3d:N", "Laplacian on N x N x N points: 6, -1 (7 points)", "poisson3d:100");
extern const generator_entry anisotropic2d =
    generator_of<anisotropic>("anisotropic2d:N:EPS", "-EPS u_xx - u_yy on N x N points", "anisotropic2d:500:0.001");
extern const generator_entry convection2d = generator_of<convection>(
    "convection2d:N:PECLET", "convection along x and diffusion on N x N points, upwind; nonsymmetric",
    "convection2d:500:10");

} // namespace furrow
