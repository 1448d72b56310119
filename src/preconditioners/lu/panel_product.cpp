// SPDX-License-Identifier: BSD-3-Clause
#include "panel_product.hpp"

#include "backends/cpu/isa.hpp"
#include "backends/cpu/parallel.hpp"
#include "backends/cpu/scratch.hpp"
#include "preconditioners/stoppable_tasks.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace furrow::lu {
namespace {

constexpr index_t vectors = 3, columns_at_once = 4; ///< 12 sums in registers, and 4 registers for what they are made of
constexpr index_t depth = 256;                      ///< of a block of A, 48 KB at most
constexpr double worth_threads = 4e6;               ///< operations
constexpr double worth_asking = 1e8;                ///< operations of which each task asks whether to go on
constexpr index_t block = 32;                       ///< columns
constexpr index_t share = 96;                       ///< rows of a task: a multiple of a place's, whatever the registers

/// Rows from i on, `rows` of them and zeros up to `height`, of k columns: a column behind the other.
void pack(double* to, panel a, index_t i, index_t rows, index_t height, index_t k) {
  for (index_t t = 0; t < k; ++t, to += height) {
    const double* const from = a.at + t * a.stride + i;
    for (index_t r = 0; r < rows; ++r) to[r] = from[r];
    for (index_t r = rows; r < height; ++r) to[r] = 0;
  }
}

/// Columns from j on, `columns` of them and zeros up to `columns_at_once`, of k rows: a row behind the other.
void pack_straight(double* to, panel b, index_t j, index_t columns, index_t k) {
  for (index_t c = 0; c < columns_at_once; ++c) {
    const double* const from = b.at + (j + std::min(c, columns - 1)) * b.stride;
    for (index_t t = 0; t < k; ++t) to[t * columns_at_once + c] = c < columns ? from[t] : 0;
  }
}

/// The 3 vectors by 4 columns of one place: sums in registers, then taken from C.
template <int Bytes>
FURROW_INLINE inline void tile(panel c, const double* a, const double* b, index_t k, index_t rows, index_t columns) {
  using vec [[gnu::vector_size(Bytes)]] = double;
  constexpr index_t lanes = Bytes / 8, height = vectors * lanes;
  vec sum[columns_at_once][vectors] = {};
  for (index_t t = 0; t < k; ++t) {
    vec of_a[vectors];
    std::memcpy(of_a, a + t * height, sizeof of_a);
    for (index_t j = 0; j < columns_at_once; ++j)
      for (index_t v = 0; v < vectors; ++v) sum[j][v] += of_a[v] * b[t * columns_at_once + j];
  }
  if (rows == height && columns == columns_at_once) {
    for (index_t j = 0; j < columns_at_once; ++j)
      for (index_t v = 0; v < vectors; ++v) {
        double* const place = c.at + j * c.stride + v * lanes;
        vec old;
        std::memcpy(&old, place, sizeof old);
        old -= sum[j][v];
        std::memcpy(place, &old, sizeof old);
      }
    return;
  }
  double all[columns_at_once][height];
  std::memcpy(all, sum, sizeof all);
  for (index_t j = 0; j < columns; ++j)
    for (index_t i = 0; i < rows; ++i) c.at[j * c.stride + i] -= all[j][i];
}

/// Rows first to last of C, multiples of the height but for the end, with B packed.
template <int Bytes>
FURROW_INLINE inline void rows_of_product(panel c, panel a, const double* b, index_t first, index_t last, index_t n,
                                          index_t k, bool lower) {
  constexpr index_t height = vectors * Bytes / 8;
  alignas(64) double packed[std::size_t(height * depth)];
  for (index_t i = first; i < last; i += height) {
    const index_t rows = std::min(height, last - i);
    pack(packed, a, i, rows, height, k);
    for (index_t j = 0; j < n && !(lower && j >= i + rows); j += columns_at_once)
      tile<Bytes>({c.at + j * c.stride + i, c.stride}, packed, b + j * k, k, rows, std::min(columns_at_once, n - j));
  }
}

struct packed_columns; ///< what the scratch of a product is for

/// C -= A B in blocks of k, of which pack_b(to, first of k, how deep, j, columns) brings the columns of B together.
template <class PackB>
void subtract_packed(panel c, panel a, index_t m, index_t n, index_t k, bool lower, const PackB& pack_b) {
  const index_t wide = (n + columns_at_once - 1) / columns_at_once * columns_at_once;
  double* const of_b = cpu::scratch<double, packed_columns>(wide * depth);
  for (index_t from = 0; from < k; from += depth) {
    const index_t deep = std::min(depth, k - from);
    const panel a_here{a.at + from * a.stride, a.stride};
    for (index_t j = 0; j < n; j += columns_at_once)
      pack_b(of_b + j * deep, from, deep, j, std::min(columns_at_once, n - j));
    const auto rows = [&](index_t first, index_t last) {
      cpu::widest_registers([&](auto bytes) FURROW_INLINE {
        constexpr int width = decltype(bytes)::value;
        rows_of_product<width>(c, a_here, of_b, first, last, n, deep, lower);
      });
    };
    const auto task = [&](index_t p) { rows(p * share, std::min((p + 1) * share, m)); };
    const index_t tasks = (m + share - 1) / share;
    const double operations = 2 * double(m) * double(n) * double(deep);
    if (operations < worth_threads) rows(0, m);
    else if (operations < worth_asking) cpu::for_each_task(tasks, task);
    else for_each_stoppable(tasks, [&] { return task; });
    stops_set_up::after(operations);
  }
}

} // namespace

void subtract_product(panel c, panel a, panel b, index_t m, index_t n, index_t k, bool lower) {
  subtract_packed(c, a, m, n, k, lower, [b](double* to, index_t from, index_t deep, index_t j, index_t columns) {
    pack(to, {b.at + from * b.stride, b.stride}, j, columns, columns_at_once, deep);
  });
}

void subtract_straight_product(panel c, panel a, panel b, index_t m, index_t n, index_t k) {
  subtract_packed(c, a, m, n, k, false, [b](double* to, index_t from, index_t deep, index_t j, index_t columns) {
    pack_straight(to, {b.at + from, b.stride}, j, columns, deep);
  });
}

index_t factor_panel(panel a, index_t h, index_t w, double least) {
  index_t failed = -1;
  const auto column = [&](index_t j) { return a.at + j * a.stride; };
  for (index_t first = 0; first < w && failed < 0; first += block) {
    const index_t last = std::min(first + block, w);
    cpu::widest([&]() FURROW_INLINE {
      for (index_t j = first; j < last; ++j) {
        double* const mine = column(j);
        for (index_t t = first; t < j; ++t) {
          const double* const other = column(t);
          const double factor = other[j];
          for (index_t i = j; i < h; ++i) mine[i] -= factor * other[i];
        }
        if (!(mine[j] > least)) {
          failed = j;
          return;
        }
        const double root = std::sqrt(mine[j]), inverse = 1 / root;
        mine[j] = root;
        for (index_t i = j + 1; i < h; ++i) mine[i] *= inverse;
      }
    });
    if (failed < 0 && last < w)
      subtract_product({column(last) + last, a.stride}, {column(first) + last, a.stride},
                       {column(first) + last, a.stride}, h - last, w - last, last - first, true);
  }
  return failed;
}

} // namespace furrow::lu
