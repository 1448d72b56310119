// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "cholesky_pattern.hpp"
#include "panel_product.hpp"
#include "panel_sweeps.hpp"

#include "preconditioners/stop.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

/// What factors of a symmetric pattern share that are kept by supernodes: a panel of h rows for w columns each.
namespace furrow::lu {

/// The rows from `from` on of a supernode that changes s now, of which those before `end` are columns of s; where each
/// row stands in the panel of s.
struct supernode_update {
  index_t by, from, end;
  const std::int32_t* local;
};

/// Zeros: of a panel of many columns, whose memory is touched for the first time, `stops_set_up` is heard here.
inline void begin_column(panel of, index_t j) {
  if (j > 0) stops_set_up::at_row(j);
  std::fill_n(of.at + j * of.stride, of.stride, 0.0);
}

/// Left-looking, supernode by supernode: `take.begin(s, local)` gathers the entries of A, where local[i] is the place
/// of row i in its panel; `take.subtract(s, update)` comes for each one that changes it, always in the same order; then
/// `take.finish(s)` factors the panel. False as soon as that says so. Hears `stops_set_up` at every sixteenth supernode
/// and, in those that take long, every 1e8 operations.
template <class Take> bool eliminate_by_supernodes(const cholesky_pattern& p, Take& take) {
  const index_t count = p.supernodes();
  // Of each supernode those that change it next, and of each of these the first of its rows that is not done.
  std::vector<std::int32_t> head(at(count), -1), next(at(count), -1), local(at(p.place.size()), 0);
  std::vector<index_t> done(at(count), 0);
  double unheard = 0; // operations
  const auto wait_for_next = [&](index_t d) {
    if (done[at(d)] >= p.height(d)) return;
    const std::int32_t s = p.supernode_of[at(p.rows_of(d)[done[at(d)]])];
    next[at(d)] = head[at(s)], head[at(s)] = static_cast<std::int32_t>(d);
  };
  for (index_t s = 0; s < count; ++s) {
    stops_set_up::at_row(s);
    const std::int32_t* const rows = p.rows_of(s);
    for (index_t i = 0; i < p.height(s); ++i) local[at(rows[i])] = static_cast<std::int32_t>(i);
    take.begin(s, local.data());
    for (std::int32_t d = head[at(s)]; d >= 0;) {
      const std::int32_t after = next[at(d)], *const below = p.rows_of(d);
      index_t end = done[at(d)];
      while (end < p.height(d) && below[end] < p.first[at(s + 1)]) ++end;
      unheard += 4 * double(p.height(d) - done[at(d)]) * double(end - done[at(d)]) * double(p.width(d));
      if (unheard > 1e8) stops_set_up::at_row(0), unheard = 0;
      take.subtract(s, supernode_update{d, done[at(d)], end, local.data()});
      done[at(d)] = end;
      wait_for_next(d);
      d = after;
    }
    if (!take.finish(s)) return false;
    done[at(s)] = p.width(s);
    wait_for_next(s);
  }
  return true;
}

/// Adds n columns of m - from numbers each, for the rows of the supernode from u.from on, to the panel of s; of column
/// j those from row `first(j)` on.
template <class First>
void add_to_panel(panel mine, const cholesky_pattern& p, index_t s, const supernode_update& u, panel what,
                  const First& first) {
  const std::int32_t* const rows = p.rows_of(u.by) + u.from;
  const index_t m = p.height(u.by) - u.from;
  for (index_t j = 0; j < u.end - u.from; ++j) {
    double* const to = mine.at + (rows[j] - p.first[at(s)]) * mine.stride;
    const double* const column = what.at + j * what.stride;
    for (index_t i = first(j); i < m; ++i) to[u.local[rows[i]]] += column[i];
  }
}

/// Supernodes so narrow are gone through where their numbers lie: bringing them together takes longer than it saves.
inline constexpr index_t few_columns = 3;

/// The part of one supernode of L y' = y: its rows come together first, in `space` for twice as many numbers. `Unit`:
/// ones stand on the diagonal.
template <bool Unit, class T>
FURROW_INLINE inline void sweep_down(panel l, const std::int32_t* rows, index_t w, T* y, double* space) {
  const index_t h = l.stride;
  if (w <= few_columns) {
    for (index_t j = 0; j < w; ++j) {
      const double* const column = l.at + j * h;
      T v = y[rows[j]];
      if constexpr (!Unit) v /= column[j];
      y[rows[j]] = v;
      for (index_t i = j + 1; i < h; ++i) y[rows[i]] -= v * column[i];
    }
    return;
  }
  panel_work<T> work(space, h);
  for (index_t i = 0; i < h; ++i) work.set(i, i < w ? y[rows[i]] : T{});
  panel_sweeps<T>(l.at, h, w, work).template lower<Unit>();
  for (index_t i = 0; i < w; ++i) y[rows[i]] = work[i];
  for (index_t i = w; i < h; ++i) y[rows[i]] += work[i];
}

/// And of L' y' = y.
template <bool Unit, class T>
FURROW_INLINE inline void sweep_up(panel l, const std::int32_t* rows, index_t w, T* y, double* space) {
  const index_t h = l.stride;
  if (w <= few_columns) {
    for (index_t j = w; j-- > 0;) {
      const double* const column = l.at + j * h;
      const std::int32_t* const under = rows + j + 1;
      const T sum =
          sum_of_products<T>(column + j + 1, h - j - 1, [under, y](index_t i) FURROW_INLINE { return y[under[i]]; });
      T v = y[rows[j]] - sum;
      if constexpr (!Unit) v /= column[j];
      y[rows[j]] = v;
    }
    return;
  }
  panel_work<T> work(space, h);
  for (index_t i = 0; i < h; ++i) work.set(i, y[rows[i]]);
  panel_sweeps<T>(l.at, h, w, work).template lower_transposed<Unit>();
  for (index_t i = 0; i < w; ++i) y[rows[i]] = work[i];
}

} // namespace furrow::lu
