// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/view.hpp>

namespace furrow {

/// Lanes among which the entries of a row are dealt out, one after the other.
inline constexpr int row_sum_lanes = 8;

/// The sum over a row as eight lanes of a GPU add it: each its entries in their order, then lanes that are 4, 2 and 1
/// apart. So a statistic has the same bits wherever it is worked out.
class row_sum {
public:
  void add(double v) { part_[at_++ % row_sum_lanes] += v; }
  double total() const {
    double sum[row_sum_lanes];
    for (int l = 0; l < row_sum_lanes; ++l) sum[l] = part_[l];
    for (int apart = row_sum_lanes / 2; apart > 0; apart /= 2)
      for (int l = 0; l < apart; ++l) sum[l] += sum[l + apart];
    return sum[0];
  }

private:
  double part_[row_sum_lanes] = {};
  unsigned at_ = 0;
};

} // namespace furrow
