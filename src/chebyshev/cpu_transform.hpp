// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "lengths.hpp"
#include "tile_fft.hpp"

#include <memory>

namespace furrow::chebyshev {

/// Values of two real series at M Chebyshev points by one complex transform, and back by one of half the length.
///
/// With w_k = e^(pi i k / 2M) (a_k - i a_{M-k}), a_M = 0, the transform v_m = sum_k w_k e^(2 pi i k m / M) is real and
/// v_m = 2 f(cos((4m + 1) pi / 2M)) for the primed series f of a: all Chebyshev points in some order. So the transform
/// of w^a + i w^b holds the values of both series, a product of series is a product point by point, and c_k is the real
/// part of e^(-pi i k / 2M) W_k / M, W the transform back of half of u = v^a v^b (Makhoul, 1980). As u is real, the
/// transform back is one of u_2m + i u_{2m+1}, of M / 2 numbers.
///
/// The M numbers are a matrix of rows x cols: columns, a twiddle, rows; back: rows, the twiddle, columns. Eight columns
/// or eight rows at a time: the columns leave the even rows of sixteen in one tile, where they are side by side, and
/// the odd ones in the next tile, so that the rows back begin where the rows forth end.
class cpu_transform {
public:
  static constexpr index_t part = 8192; ///< points that are worth a thread
  explicit cpu_transform(split_length length);
  split_length length() const { return length_; }
  index_t points() const { return length_.points(); }
  double bytes() const;

  /// Coefficients, scaled and primed, with zeros up to M + 1 elements: columns of w^a + i w^b into z (2 M numbers).
  void columns(const double* a, const double* b, double* z) const;
  /// Rows of z, then the products of its two series' values go back through the rows, to place 0 of z.
  void rows_pair(double* z) const;
  /// The same with the values of a fixed series: those of the two series are multiplied by it, to places 0 and 1 of z.
  void rows_fixed(double* z, const double* values) const;
  /// The values of the first series in z, in the order of the rows.
  void values(double* z, double* values) const;
  /// The columns back from a place of z: w (M + 2 numbers) is the transform of u_2m + i u_{2m+1}.
  void columns_back(const double* z, int place, double* w) const;
  /// c (M + 1 numbers) <- the coefficients of the product.
  void coefficients(const double* w, double* c) const;

private:
  template <class F> void each_row_tiles(double* z, F body) const;
  void turn(const double* x, index_t row, index_t c, double* to) const;
  void quarter(const double* w, double* c, index_t k) const;

  split_length length_;
  tile_fft by_rows_, by_cols_, by_half_; ///< along a column, along a row (cols numbers), along a column of rows / 2
  root_table roots_;                     ///< order 4 M
  host_array<double> twist_;             ///< e^(2 pi i j d / M), a complex pack for each j < rows
  double low_[pair_size], low_five_[pair_size]; ///< e^(2 pi i d / 4M), its fifth power
};

/// The transform of this length. Those of the lengths asked for last are kept: their tables, some 20 sqrt(M) numbers,
/// take longer to make than a product, and a product made by one call is often one of many of its length.
std::shared_ptr<const cpu_transform> cpu_transform_of(split_length length);

} // namespace furrow::chebyshev
