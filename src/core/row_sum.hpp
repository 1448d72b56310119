// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "backends/cpu/isa.hpp"

#include <furrow/view.hpp>

namespace furrow {

/// Lanes among which the entries of a row are dealt out, one after the other.
inline constexpr int row_sum_lanes = 8;

/// Entries that eight lanes add before others begin anew: the pieces of a long row are added by as many groups of
/// lanes.
inline constexpr int row_sum_piece = 1024;

/// The sum over a row as eight lanes of a GPU add it: each its entries in their order, then lanes that are 4, 2 and 1
/// apart; of a long row piece by piece, and then the pieces in their order. So a statistic has the same bits wherever
/// it is worked out.
class row_sum {
public:
  void add(double v) {
    part_[at_++ % row_sum_lanes] += v;
    if (at_ == row_sum_piece) *this = row_sum(total());
  }
  double total() const {
    double sum[row_sum_lanes];
    for (int l = 0; l < row_sum_lanes; ++l) sum[l] = part_[l];
    for (int apart = row_sum_lanes / 2; apart > 0; apart /= 2)
      for (int l = 0; l < apart; ++l) sum[l] += sum[l + apart];
    return pieces_ + sum[0];
  }
  row_sum() = default;

private:
  explicit row_sum(double pieces) : pieces_(pieces) {}
  double part_[row_sum_lanes] = {};
  double pieces_ = 0;
  int at_ = 0;
};

/// The same sum of size(0) to size(n - 1), none of them negative. Rows of up to eight entries stay in registers: a
/// third of the time.
template <class Size> FURROW_INLINE inline double sum_of_row(index_t n, Size size) {
  static_assert(row_sum_lanes == 8);
  if (n <= row_sum_lanes) {
    const auto lane = [&](index_t l) FURROW_INLINE { return l < n ? size(l) : 0.0; };
    return ((lane(0) + lane(4)) + (lane(2) + lane(6))) + ((lane(1) + lane(5)) + (lane(3) + lane(7)));
  }
  const auto add = [&](index_t k, index_t end) FURROW_INLINE {
    double lane[row_sum_lanes] = {};
    for (; k + row_sum_lanes <= end; k += row_sum_lanes)
      for (int l = 0; l < row_sum_lanes; ++l) lane[l] += size(k + l);
    for (int l = 0; k + l < end; ++l) lane[l] += size(k + l);
    for (int apart = row_sum_lanes / 2; apart > 0; apart /= 2)
      for (int l = 0; l < apart; ++l) lane[l] += lane[l + apart];
    return lane[0];
  };
  double pieces = 0;
  index_t k = 0;
  for (; n - k >= row_sum_piece; k += row_sum_piece) pieces += add(k, k + row_sum_piece);
  return pieces + add(k, n);
}

} // namespace furrow
