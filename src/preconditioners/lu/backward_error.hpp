// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "factors.hpp"

namespace furrow::lu {

/// How far from A the matrix is that factors of A solve with, beside the rounding of A: the largest of |b - A x|_i /
/// (|A| |x| + |b|)_i with x by one solve and b = A v for numbers v of both signs between 1 and 2 (W. Oettli, W. Prager,
/// Compatibility of approximate solution of linear equations with given error bounds, 1964). A solve and two passes
/// over the entries. Not a number where x is none.
double backward_error(const columns& a, const factors& f);

} // namespace furrow::lu
