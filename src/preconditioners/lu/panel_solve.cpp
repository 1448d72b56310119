// SPDX-License-Identifier: BSD-3-Clause
#include "panel_solve.hpp"

#include "backends/cpu/isa.hpp"
#include "backends/cpu/parallel.hpp"

#include <algorithm>

namespace furrow::lu {
namespace {

constexpr index_t columns_by_loops = 16;
constexpr index_t rows_in_cache = 192; ///< of so many columns: 24 KB
constexpr double worth_a_thread = 5e5; ///< operations

/// Some rows of a few columns, one column after the other.
FURROW_INLINE inline void solve_few(panel x, index_t m, panel l, index_t w, bool unit) {
  for (index_t j = 0; j < w; ++j) {
    double* const mine = x.at + j * x.stride;
    index_t t = 0;
    for (; t + 4 <= j; t += 4) {
      const double *const a = x.at + t * x.stride, *const b = a + x.stride, *const c = b + x.stride,
                          *const d = c + x.stride;
      const double* const f = l.at + t * l.stride + j;
      const double p = f[0], q = f[l.stride], r = f[2 * l.stride], s = f[3 * l.stride];
#pragma omp simd
      for (index_t i = 0; i < m; ++i) mine[i] -= (p * a[i] + q * b[i]) + (r * c[i] + s * d[i]);
    }
    for (; t < j; ++t) {
      const double* const a = x.at + t * x.stride;
      const double p = l.at[t * l.stride + j];
#pragma omp simd
      for (index_t i = 0; i < m; ++i) mine[i] -= p * a[i];
    }
    if (unit) continue;
    const double by = l.at[j * l.stride + j];
    for (index_t i = 0; i < m; ++i) mine[i] /= by;
  }
}

} // namespace

void solve_transposed_from_right(panel x, index_t m, panel l, index_t w, bool unit) {
  if (m <= 0) return;
  if (w > columns_by_loops) {
    const index_t left = (w / 2 + columns_by_loops - 1) / columns_by_loops * columns_by_loops, right = w - left;
    solve_transposed_from_right(x, m, l, left, unit);
    const panel rest{x.at + left * x.stride, x.stride};
    subtract_product(rest, x, {l.at + left, l.stride}, m, right, left, false);
    return solve_transposed_from_right(rest, m, {l.at + left * l.stride + left, l.stride}, right, unit);
  }
  const auto piece = [&](index_t p) {
    const index_t first = p * rows_in_cache;
    cpu::widest([&]() FURROW_INLINE {
      solve_few({x.at + first, x.stride}, std::min(rows_in_cache, m - first), l, w, unit);
    });
  };
  const index_t pieces = (m + rows_in_cache - 1) / rows_in_cache;
  if (double(m) * double(w * w) >= worth_a_thread) return cpu::for_each_task(pieces, piece);
  for (index_t p = 0; p < pieces; ++p) piece(p);
}

} // namespace furrow::lu
