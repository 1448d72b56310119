// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "panel_sweeps.hpp"

#include "backends/cpu/isa.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace furrow::lu {

/// P A = L U in columns of numbers without row indices, as LAPACK leaves them: column j holds U down to its diagonal,
/// and below it what was subtracted of row j from later rows; row pivots[j] - 1 changed places with it. LAPACK's own
/// loops call BLAS for each column, which for narrow bands and few rows takes longer than what it does.
struct plain_lu {
  index_t n, below, above; ///< diagonals of A under and over the main one
  index_t diagonal, step;  ///< element (j, j) is the one at diagonal + j step
  bool rows_whole;         ///< what was subtracted of a row changes places with it: not so in a band
  double* at;

  double* column(index_t j) const { return at + diagonal + j * step; } ///< from its diagonal on
  index_t under(index_t j) const { return std::min(below, n - 1 - j); }
  index_t over(index_t j) const { return std::min(below + above, j); }
  /// From an element to the one in the same row of the next column.
  index_t to_the_right() const { return step - 1; }
};

/// Pivots are the largest of their columns. As LAPACK counts: 0, or the number of the first column without one, from 1.
inline int factor_plain(const plain_lu& a, int* pivots) {
  int without = 0;
  cpu::widest([&]() FURROW_INLINE {
    index_t end = 0; // of the columns in which rows so far have entries
    for (index_t j = 0; j < a.n; ++j) {
      double* const mine = a.column(j);
      const index_t under = a.under(j);
      double most = 0;
      for (index_t i = 0; i <= under; ++i) most = std::abs(mine[i]) > most ? std::abs(mine[i]) : most;
      if (most == 0) {
        without = static_cast<int>(j + 1);
        return;
      }
      index_t p = 0;
      while (std::abs(mine[p]) != most) ++p;
      pivots[j] = static_cast<int>(j + p + 1);
      end = std::max(end, std::min(a.n, j + p + a.above + 1));
      const index_t right = a.to_the_right();
      if (p > 0)
        for (index_t k = a.rows_whole ? -j : 0; k < end - j; ++k) std::swap(mine[k * right], mine[k * right + p]);
      const double by = mine[0];
      for (index_t i = 1; i <= under; ++i) mine[i] /= by;
      for (index_t k = 1; k < end - j; ++k) {
        double* const other = mine + k * right;
        const double factor = other[0];
        if (factor == 0) continue;
        for (index_t i = 1; i <= under; ++i) other[i] -= factor * mine[i];
      }
    }
  });
  return without;
}

/// x <- A^-1 x, or A'^-1 x, in place for a number or a pair a row.
template <class T> void solve_plain(const plain_lu& a, const int* pivots, panel_work<T> x, bool transposed) {
  const auto swap_rows = [&](index_t j) FURROW_INLINE {
    const T mine = x[j];
    x.set(j, x[pivots[j] - 1]);
    x.set(pivots[j] - 1, mine);
  };
  cpu::widest([&]() FURROW_INLINE {
    if (a.rows_whole) { // dense
      panel_sweeps<T> sweeps(a.at, a.n, a.n, x);
      if (transposed) {
        sweeps.upper_transposed();
        sweeps.template lower_transposed<true>();
        for (index_t j = a.n; j-- > 0;) swap_rows(j);
      } else {
        for (index_t j = 0; j < a.n; ++j) swap_rows(j);
        sweeps.template lower<true>();
        sweeps.upper();
      }
      return;
    }
    if (!transposed) {
      for (index_t j = 0; j < a.n; ++j) {
        swap_rows(j);
        if (const T v = x[j]; !is_zero(v)) x.subtract(v, a.column(j) - j, j + 1, j + 1 + a.under(j));
      }
      for (index_t j = a.n; j-- > 0;) {
        const double* const u = a.column(j) - j;
        const T v = x[j] / u[j];
        x.set(j, v);
        if (!is_zero(v)) x.subtract(v, u, j - a.over(j), j);
      }
      return;
    }
    for (index_t j = 0; j < a.n; ++j) {
      const double* const u = a.column(j) - j;
      x.set(j, (x[j] - x.dot(u, j - a.over(j), j)) / u[j]);
    }
    for (index_t j = a.n; j-- > 0;) {
      x.set(j, x[j] - x.dot(a.column(j) - j, j + 1, j + 1 + a.under(j)));
      swap_rows(j);
    }
  });
}

inline void solve_plain(const plain_lu& a, const int* pivots, double* x, bool transposed) {
  solve_plain(a, pivots, panel_work<double>(x, a.n), transposed);
}
/// Of two vectors.
inline void solve_plain(const plain_lu& a, const int* pivots, double* x, double* y, bool transposed) {
  solve_plain(a, pivots, panel_work<two>(x, y), transposed);
}

} // namespace furrow::lu
