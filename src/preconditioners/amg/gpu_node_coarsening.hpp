// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "gpu_coarsening.hpp"

/// The way to a smaller matrix on the current GPU, where nodes have 2 to 6 unknowns: what strength, aggregates,
/// diagonal and prolongation do on the host, with the same result.
namespace furrow::amg {

inline constexpr int most_unknowns = 6; ///< of a node

/// The inverses of the diagonal blocks, as `inverse_diagonal`: block * block numbers a node.
gpu_array<double> inverse_blocks(const device_view& a, int block);

/// The graph of the nodes: an entry for each block that has entries, the sum of their squares, which were scaled by the
/// norms of the diagonal blocks before. Sorted.
device_matrix squares_of_blocks(const device_view& a, int block);

/// As `largest_eigenvalue`, by Lanczos and the most blocks of a row of that graph.
double largest_eigenvalue(const device_view& a, int block, const device_matrix& squares,
                          const gpu_array<double>& inverse);

/// P as of `prolongation`: the constants of each unknown, smoothed by (I - omega D^-1 A_F).
device_matrix node_prolongation(const device_view& a, int block, const device_matrix& squares,
                                const gpu_array<double>& inverse, double lambda, double theta, bool smoothed);

} // namespace furrow::amg
