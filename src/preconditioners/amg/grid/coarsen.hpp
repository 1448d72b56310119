// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "axis_transfer.hpp"
#include "box_layout.hpp"

namespace furrow::amg {

class box_matrix;

/// P along a direction from the matrix itself. Of a row of a point that goes, s-, s0 and s+ are the sums of the entries
/// one step back, in the plane across the direction, and one step on; s- and s+ count as 0 where they are positive.
/// lower = -s- / w and upper = -s+ / w. Between two points that stay w = -(s- + s+), unless s0 is above 4 times that;
/// there, and at an end, w = max(s0, -(s- + s+)). So 0 <= lower + upper <= 1: a wall beside the line, which makes s0
/// larger, leaves 1/2 and 1/2, one at its end and a large diagonal entry do not. Parallel, one pass over every other
/// row.
///
/// R. E. Alcouffe, A. Brandt, J. E. Dendy, J. W. Painter, The multi-grid method for the diffusion equation with
/// strongly discontinuous coefficients, 1981; J. E. Dendy, Black box multigrid, 1982; along single directions: S. F.
/// Ashby, R. D. Falgout, A parallel multigrid preconditioned conjugate gradient algorithm, 1996.
axis_transfer<double> weights_along(const box_matrix& a, int axis);

/// The weights of a point from these sums, the second of them s0.
struct two_weights {
  double lower, upper;
};
FURROW_HD inline two_weights weights_of(double back, double in, double on) {
  /// Up to this many times -(s- + s+), s0 is taken for that of a wall beside the line, along which nothing ends.
  constexpr double most_of_plane = 4.01;
  const double b = back < 0 ? -back : 0.0, o = on < 0 ? -on : 0.0, sides = b + o;
  const bool inner = b > 0 && o > 0 && in <= most_of_plane * sides;
  const double whole = inner || in < sides ? sides : in;
  return {whole > 0 ? b / whole : 0, whole > 0 ? o / whole : 0};
}

/// Where P'A P of one direction lies: again a stencil of at most 27 places.
box_layout layout_of_product(const box_layout& a, int axis);

/// P'A P for P of one direction. Parallel, A and the result once; the sums of an entry in a fixed order. The result
/// gets the memory of `spare` where it is large enough.
box_matrix galerkin_product(const box_matrix& a, const axis_transfer<double>& p, host_array<double> spare = {});

} // namespace furrow::amg
