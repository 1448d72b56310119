// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "axis_transfer.hpp"
#include "box_matrix.hpp"

namespace furrow::amg {

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

/// P'A P for P of one direction: again a stencil of at most 27 places. Parallel, A and the result once; the sums of an
/// entry in a fixed order. The result gets the memory of `spare` where it is large enough.
box_matrix galerkin_product(const box_matrix& a, const axis_transfer<double>& p, host_array<double> spare = {});

} // namespace furrow::amg
