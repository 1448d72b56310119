// SPDX-License-Identifier: BSD-3-Clause
#include "dense_lu.hpp"

#include "backends/cpu/isa.hpp"
#include "backends/cpu/parallel.hpp"
#include "preconditioners/stop.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace furrow::lu {
namespace {

constexpr index_t narrow = 16;             ///< columns that plain loops take
constexpr double rows_worth_threads = 4e4; ///< elements that one thread goes through before others join

panel part_of(panel a, index_t row, index_t column) { return {a.at + column * a.stride + row, a.stride}; }

/// Half of so many columns, a multiple of `narrow`: products are then as deep as they can be.
index_t half(index_t w) { return (w / 2 + narrow - 1) / narrow * narrow; }

/// body(column) for n columns that have nothing to do with each other, `each` elements long.
template <class Body> void for_columns(index_t n, index_t each, const Body& body) {
  const auto grain = static_cast<index_t>(rows_worth_threads) / std::max<index_t>(each, 1) + 1;
  cpu::for_each_range(n, grain, [&](index_t first, index_t last) {
    cpu::widest([&]() FURROW_INLINE {
      for (index_t j = first; j < last; ++j) body(j);
    });
  });
}

/// The same changes of rows in n columns: row j with row pivots[j] - 1.
void swap_rows(panel a, index_t n, const int* pivots, index_t count) {
  for_columns(n, count, [=](index_t c) FURROW_INLINE {
    double* const mine = a.at + c * a.stride;
    for (index_t j = 0; j < count; ++j) std::swap(mine[j], mine[pivots[j] - 1]);
  });
}

/// A few columns, one after the other.
index_t factor_narrow(panel a, index_t h, index_t w, int* pivots, small_pivots* small) {
  index_t without = -1;
  cpu::widest([&]() FURROW_INLINE {
    for (index_t j = 0; j < w; ++j) {
      double* const mine = a.at + j * a.stride;
      double most = 0;
      for (index_t i = j; i < h; ++i) most = std::abs(mine[i]) > most ? std::abs(mine[i]) : most;
      index_t p = j;
      if (small && !(most >= small->least)) {
        mine[j] = std::copysign(small->instead, mine[j]);
        ++small->raised;
      } else if (!(most > 0)) {
        without = j;
        return;
      } else {
        while (std::abs(mine[p]) != most) ++p;
      }
      pivots[j] = static_cast<int>(p + 1);
      if (p != j)
        for (index_t c = 0; c < w; ++c) std::swap(a.at[c * a.stride + j], a.at[c * a.stride + p]);
      const double by = mine[j];
      for (index_t i = j + 1; i < h; ++i) mine[i] /= by;
      for (index_t c = j + 1; c < w; ++c) {
        double* const other = a.at + c * a.stride;
        const double factor = other[j];
        for (index_t i = j + 1; i < h; ++i) other[i] -= factor * mine[i];
      }
    }
  });
  return without;
}

} // namespace

void solve_unit_lower(panel l, index_t k, panel b, index_t n) {
  if (k <= narrow) {
    for_columns(n, k * k, [=](index_t c) FURROW_INLINE {
      double* const mine = b.at + c * b.stride;
      for (index_t j = 0; j < k; ++j) {
        const double* const column = l.at + j * l.stride;
        const double v = mine[j];
        for (index_t i = j + 1; i < k; ++i) mine[i] -= v * column[i];
      }
    });
    return;
  }
  const index_t top = half(k), rest = k - top;
  solve_unit_lower(l, top, b, n);
  subtract_straight_product(part_of(b, top, 0), part_of(l, top, 0), b, rest, n, top);
  solve_unit_lower(part_of(l, top, top), rest, part_of(b, top, 0), n);
}

index_t factor_dense_panel(panel a, index_t h, index_t w, int* pivots, small_pivots* small) {
  if (w <= narrow) {
    stops_set_up::at_row(0);
    return factor_narrow(a, h, w, pivots, small);
  }
  const index_t left = half(w), right = w - left;
  if (const index_t j = factor_dense_panel(a, h, left, pivots, small); j >= 0) return j;
  swap_rows(part_of(a, 0, left), right, pivots, left);
  solve_unit_lower(a, left, part_of(a, 0, left), right);
  const panel below = part_of(a, left, left);
  subtract_straight_product(below, part_of(a, left, 0), part_of(a, 0, left), h - left, right, left);
  if (const index_t j = factor_dense_panel(below, h - left, right, pivots + left, small); j >= 0) return left + j;
  swap_rows(part_of(a, left, 0), left, pivots + left, right);
  for (index_t j = left; j < w; ++j) pivots[j] += static_cast<int>(left);
  return -1;
}

} // namespace furrow::lu
