// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "hierarchy.hpp"

#include <optional>

namespace furrow::amg {

/// The inverse of a small symmetric matrix on the current GPU, row by row, by Gauss and Jordan, a kernel for
/// 16 pivots. The host takes one that has a null space; empty where A is not positive semidefinite.
std::optional<gpu_array<double>> dense_inverse(const rows<double, cview>& a);

} // namespace furrow::amg
