// SPDX-License-Identifier: BSD-3-Clause
#pragma once
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

} // namespace furrow
