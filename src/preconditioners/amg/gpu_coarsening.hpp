// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "gpu_aggregates.hpp"
#include "gpu_dense.hpp"
#include "levels.hpp"

#include "matrix/gpu_products.hpp"

/// The way to a smaller matrix on the current GPU, where a node is a row: what strength, aggregates, diagonal and
/// prolongation do on the host, with the same result.
namespace furrow::amg {

using device_matrix = rows<double, gpu_array>;
using device_view = rows<double, cview>;

/// Of each row; one that is missing or no number counts as 0.
gpu_array<double> diagonal_of(const device_view& a);
diagonal_extremes extremes_of(const gpu_array<double>& diagonal);
/// 1 over each element.
gpu_array<double> inverse_of(const gpu_array<double>& diagonal);

/// Gershgorin's bound of the spectrum of D^-1 A. Of rows that are a part of a matrix, their share of it.
double gershgorin(const device_view& a, const gpu_array<double>& inverse);
/// As `largest_eigenvalue` of the host, up to rounding.
double largest_eigenvalue(const device_view& a, const gpu_array<double>& inverse);

/// The same without the entries that are 0.
device_matrix without_zeros(device_matrix p);

/// What stays of P when A gets other values in the same places: a byte an entry of A, 8 a row.
struct kept_prolongation {
  gpu_array<std::uint8_t> strong; ///< of each entry of A: whether P takes it as it is, and not as one of its row's sum
  gpu_array<std::int32_t> aggregate; ///< of each row, or -1
  gpu::rows_by_table sums;
  double theta = 0;
  bool smoothed = false, has_weak = false;
  double stored_bytes() const { return double(strong.byte_count() + aggregate.byte_count()) + sums.stored_bytes(); }
};

/// P, which is constant over each aggregate where it is not to be smoothed; empty where the level would not shrink by
/// `least_shrinking`. Entries of P that add up to 0 go, unless what stays is to be kept.
device_matrix prolongation(const device_view& a, const gpu_array<double>& inverse, double lambda, double theta,
                           bool smoothed, kept_prolongation* kept = nullptr);

/// The D^-1 of `nonsymmetric_kit::look`.
gpu_array<double> damped_inverse(const device_view& a);
/// P and R' of `nonsymmetric_kit`, of A and A'; empty where the level would not shrink by `least_shrinking`.
struct two_prolongations {
  device_matrix p, r_transposed;
};
two_prolongations nonsymmetric_prolongations(const device_view& a, const device_view& back,
                                             const gpu_array<double>& inverse, double theta, bool smoothed);

/// |A_ii|^-1/2 of each row, 0 where there is no such entry; with room for `more` behind them.
gpu_array<double> scales_of(const gpu_array<double>& diagonal, index_t more = 0);

// Of rows that are a part of a matrix, whose columns lie before those of others; `scale` is of all columns.

/// Of the couplings among the rows themselves.
device_aggregates aggregates_of_part(const device_view& a, const gpu_array<double>& scale, double theta);
/// P, smoothed with all strong couplings, which are weighed once more rather than kept; `found` names the aggregates of
/// all columns. Without the entries that add up to 0. Its arrays have room for as many rows as there are columns of
/// others, each twice as long as the mean.
device_matrix prolongation_of_part(const device_view& a, const gpu_array<double>& scale, double theta,
                                   device_aggregates found, const gpu_array<double>& inverse, double omega);
/// P that is 1 where a row is in an aggregate.
device_matrix constants(const device_aggregates& found);

/// The numbers of that P for other values of A, to val: the sums of `prolongation` in their order. Where the weak
/// entries of a row would leave less than a fifth of its diagonal entry they are left out. Gives the rows whose weak
/// couplings are by now half as large as their strong ones: for these the aggregates are in doubt.
index_t prolong_again(const device_view& a, const gpu_array<double>& inverse, double lambda,
                      const kept_prolongation& kept, const device_view& p, view<double> val);

} // namespace furrow::amg
