// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "lengths.hpp"
#include "tile_fft.hpp"

namespace furrow::chebyshev {

/// Values of two real series at M Chebyshev points by one complex transform, and back.
///
/// With w_k = e^(pi i k / 2M) (a_k - i a_{M-k}), a_M = 0, the transform v_m = sum_k w_k e^(2 pi i k m / M) is real and
/// v_m = 2 f(cos((4m + 1) pi / 2M)) for the primed series f of a: all Chebyshev points in some order. So the transform
/// of w^a + i w^b holds the values of both series, a product of series is a product point by point, and c_k is the real
/// part of e^(-pi i k / 2M) W_k / M, W the transform back of half of v^a v^b (Makhoul, 1980).
///
/// The M numbers are a matrix of rows x cols: columns, a twiddle, rows; back: rows, the twiddle, columns. Values stay
/// in the order that this leaves them in, so that nothing is ever transposed; eight columns or rows at a time.
class cpu_transform {
public:
  explicit cpu_transform(split_length length);
  index_t points() const { return length_.points(); }
  double bytes() const;

  /// Coefficients, scaled and primed, with zeros up to M + 1 elements: columns of w^a + i w^b into z (2 M numbers).
  void columns(const double* a, const double* b, double* z) const;
  /// Rows of z, then its values are multiplied and go back through the rows. second: a pair of series of its own, whose
  /// product becomes the imaginary part, or nullptr.
  void rows_pair(double* z, const double* second) const;
  /// The same with the values of a fixed series: both parts of z are multiplied by it.
  void rows_fixed(double* z, const double* values) const;
  /// The values of the series in the real part of z, in the order of the rows.
  void values(const double* z, double* values) const;
  /// The columns back: z becomes 2 M W.
  void columns_back(double* z) const;
  /// c <- the first `count` coefficients of the product in the real (imaginary) part of W, times scale.
  void coefficients(const double* z, bool imaginary, index_t count, double scale, double* c) const;

private:
  struct room;
  template <class F> void each_row_tile(F body) const;
  void load_rows(const double* z, index_t first, tile t) const;
  void store_rows(double* z, index_t first, tile t) const;

  split_length length_;
  tile_fft by_rows_, by_cols_; ///< along a column (rows numbers), along a row (cols numbers)
  root_table roots_;           ///< order 4 M
  host_array<double> twist_;   ///< e^(2 pi i j d / M), real and imaginary parts, j < rows, d < tile_lanes
  double low_re_[tile_lanes], low_im_[tile_lanes]; ///< e^(2 pi i d / 4M)
};

} // namespace furrow::chebyshev
