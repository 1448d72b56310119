// SPDX-License-Identifier: BSD-3-Clause
#include "band_lu.hpp"
#include "columns.hpp"
#include "dense_lu.hpp"

#include "preconditioners/stop.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace furrow::lu {
namespace {

constexpr index_t columns_at_once = 64; ///< as many rows of A are out of place for each column of a block

/// One after the other.
class band_elimination {
public:
  band_elimination(const plain_lu& a, int* pivots)
      : a_(a), pivots_(pivots), left_(at((a.below + columns_at_once) * columns_at_once)),
        top_(at((a.below + a.above) * columns_at_once)) {}

  int run() {
    for (index_t first = 0; first < a_.n; first += columns_at_once) {
      stops_set_up::at_row(0);
      const index_t w = std::min(columns_at_once, a_.n - first), h = std::min(a_.below + w, a_.n - first);
      const panel l{left_.data(), h}, u{top_.data(), w};
      for (index_t j = 0; j < w; ++j)
        for (index_t i = 0; i < h; ++i) l.at[j * h + i] = in_band(i, j) ? *place(first, i, j) : 0;
      if (const index_t without = factor_dense_panel(l, h, w, pivots_ + first); without >= 0)
        return static_cast<int>(first + without + 1);
      change_the_rest(first, w, h, l, u);
      put_back_rows(first, w, h, l);
    }
    return 0;
  }

private:
  bool in_band(index_t i, index_t j) const { return i - j <= a_.below && j - i <= a_.below + a_.above; }
  /// Of the element (first + i, first + j).
  double* place(index_t first, index_t i, index_t j) const { return a_.column(first + j) + i - j; }

  /// Rows of U, and what is below them.
  void change_the_rest(index_t first, index_t w, index_t h, panel l, panel u) {
    const index_t m = std::min(a_.below + a_.above, a_.n - first - w);
    if (m == 0) return;
    for (index_t j = 0; j < m; ++j) {
      double* const mine = u.at + j * w;
      for (index_t i = 0; i < w; ++i) mine[i] = in_band(i, w + j) ? *place(first, i, w + j) : 0;
      for (index_t t = 0; t < w; ++t)
        if (const index_t p = pivots_[first + t] - 1; p != t)
          std::swap(mine[t], p < w ? mine[p] : *place(first, p, w + j));
    }
    solve_unit_lower(l, w, u, m);
    for (index_t j = 0; j < m; ++j)
      for (index_t i = 0; i < w; ++i)
        if (in_band(i, w + j)) *place(first, i, w + j) = u.at[j * w + i];
    if (h > w) subtract_straight_product({place(first, w, w), a_.to_the_right()}, {l.at + w, l.stride}, u, h - w, m, w);
  }

  /// What was subtracted of a row stays where it was when it was subtracted.
  void put_back_rows(index_t first, index_t w, index_t h, panel l) {
    for (index_t t = w; t-- > 1;)
      if (const index_t p = pivots_[first + t] - 1; p != t)
        for (index_t j = 0; j < t; ++j) std::swap(l.at[j * h + t], l.at[j * h + p]);
    for (index_t j = 0; j < w; ++j)
      for (index_t i = 0; i < h; ++i)
        if (in_band(i, j)) *place(first, i, j) = l.at[j * h + i];
    for (index_t t = 0; t < w; ++t) pivots_[first + t] += static_cast<int>(first);
  }

  const plain_lu& a_;
  int* pivots_;
  std::vector<double> left_, top_;
};

} // namespace

int factor_band_by_blocks(const plain_lu& a, int* pivots) { return band_elimination(a, pivots).run(); }

} // namespace furrow::lu
