// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "levels.hpp"

#include <optional>

/// The way to a smaller matrix on the current GPU, where a node is a row: what strength, aggregates, diagonal and
/// prolongation do on the host, with the same result.
namespace furrow::amg {

using device_matrix = rows<double, gpu_array>;

diagonal_extremes extremes_of_diagonal(const device_matrix& a);

gpu_array<double> inverse_diagonal(const device_matrix& a);

/// As `largest_eigenvalue` of the host, up to rounding.
double largest_eigenvalue(const device_matrix& a, const gpu_array<double>& inverse);

/// The inverse of a small symmetric matrix, row by row, by Gauss and Jordan, a kernel a pivot; empty where a pivot is
/// no more than rounding.
std::optional<gpu_array<double>> dense_inverse(const device_matrix& a);

/// P, which is constant over each aggregate where it is not to be smoothed; empty where the level would not shrink by
/// `least_shrinking`.
device_matrix prolongation(const device_matrix& a, const gpu_array<double>& inverse, double lambda, double theta,
                           bool smoothed);

} // namespace furrow::amg
