// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "lanes.hpp"

#include <furrow/operator.hpp>

#if !defined(__CUDACC__)
#include "cpu/isa.hpp"
#include "cpu/parallel.hpp"
#include "cpu/scratch.hpp"

#include <algorithm>
#include <vector>
#else
#include "gpu/launch.hpp"
#include "gpu/row_end.hpp"
#endif

/// Any format with `partial(lanes, A, row, x)`, one lane's share of (A x)[row], gets its CPU loop and its GPU kernel of
/// every lane width from here.
namespace furrow {

#if !defined(__CUDACC__)

/// The rows of a matrix, cut once into pieces of nearly equal work. Their number depends on the matrix alone, so sums
/// over pieces have the same bits for every number of threads.
struct row_pieces {
  std::vector<index_t> begin{0}; ///< pieces + 1 rows, ascending
  double streamed = 0;           ///< as cpu::for_each_task has it
  index_t count() const { return static_cast<index_t>(begin.size()) - 1; }
};

/// Pieces of about `work` entries; `offset(r)` is the number of entries before row r. The default is about a
/// microsecond of work: threads stay balanced, and to claim a piece costs a hundredth of it.
template <class Offset> row_pieces cut_rows(index_t rows, Offset offset, index_t work = 4096) {
  row_pieces pieces;
  const index_t total = offset(rows) + rows; // an empty row costs something too
  const index_t parts = (total + work - 1) / work;
  for (index_t k = 1; k < parts; ++k) {
    index_t low = pieces.begin.back(), high = rows;
    while (low < high) {
      const index_t middle = (low + high) / 2;
      if (offset(middle) + middle < total / parts * k) low = middle + 1;
      else high = middle;
    }
    if (low > pieces.begin.back() && low < rows) pieces.begin.push_back(low);
  }
  if (rows) pieces.begin.push_back(rows);
  return pieces;
}

/// task(piece, first_row, last_row) for all pieces, spread over the threads.
template <class F> void for_each_piece(const row_pieces& pieces, F&& task) {
  const auto run = [&](index_t k) { task(k, pieces.begin[k], pieces.begin[k + 1]); };
  if (pieces.count() >= 4) return cpu::for_each_task(pieces.count(), run, pieces.streamed);
  for (index_t k = 0; k < pieces.count(); ++k) run(k);
}

/// Rows on the CPU, one by one. A format may bring something faster in its place: a type with a function `sums` that
/// writes (A x)[row] to out[row - first] for the rows [first, last), with the same bits however the rows are cut.
struct each_row {
  template <class A, class V> static void sums(const A& a, index_t first, index_t last, cview<V> x, V* out) {
    cpu::widest([&]() FURROW_INLINE {
      for (index_t row = first; row < last; ++row) out[row - first] = partial(lanes{}, a, row, x);
    });
  }
};

/// Rows whose sums are still in the first cache when they are stored or multiplied by x.
inline constexpr index_t row_block = 512;

/// The rows [first, last) of y <- alpha A x + beta y. alpha == 0 reads neither A nor x.
template <class Rows, class A, class V>
void piece_on_cpu(const A& a, index_t first, index_t last, V alpha, cview<V> x, V beta, view<V> y) {
  if (alpha == V(1) && beta == V(0)) return Rows::sums(a, first, last, x, y.data + first);
  alignas(64) V sum[row_block];
  for (index_t row = first; row < last; row += row_block) {
    const index_t count = std::min(row_block, last - row);
    if (alpha == V(0)) std::fill_n(sum, count, V(0));
    else Rows::sums(a, row, row + count, x, sum);
    cpu::widest([&]() FURROW_INLINE {
      V* const out = y.data + row;
      if (beta == V(0)) {
#pragma omp simd
        for (index_t i = 0; i < count; ++i) out[i] = alpha * sum[i];
      } else {
#pragma omp simd
        for (index_t i = 0; i < count; ++i) out[i] = alpha * sum[i] + beta * out[i];
      }
    });
  }
}

/// The sums that `epilogue` may ask for, at most.
inline constexpr int most_sums = epilogue<double>::gram::count;

/// Adds the rows' [first, last) share of each sum of `e` to those of `share`.
template <class V> void add_sums_on_cpu(const epilogue<V>& e, index_t first, index_t last, view<V> y, double* share) {
  if (e.one.to.at)
    cpu::widest([&]() FURROW_INLINE {
      const V *const u = e.one.u.data, *const out = y.data;
      double total = 0;
#pragma omp simd reduction(+ : total)
      for (index_t i = first; i < last; ++i) total += double(u[i]) * double(out[i]);
      share[0] += total;
    });
  if (e.all.to.at)
    cpu::widest([&]() FURROW_INLINE {
      const V *const u = e.all.u.data, *const w = e.all.w.data, *const out = y.data;
      double yy = 0, yu = 0, yw = 0, uu = 0, uw = 0;
#pragma omp simd reduction(+ : yy, yu, yw, uu, uw)
      for (index_t i = first; i < last; ++i) {
        const double of_y(out[i]), of_u(u[i]), of_w(w[i]);
        yy += of_y * of_y, yu += of_y * of_u, yw += of_y * of_w, uu += of_u * of_u, uw += of_u * of_w;
      }
      const double more[] = {yy, yu, yw, uu, uw};
      for (int k = 0; k < most_sums; ++k) share[k] += more[k];
    });
}

/// The rows [first, last) of y <- A x, or b - A x, with their share of each sum of `e`.
template <class Rows, class A, class V>
void piece_with_on_cpu(const A& a, index_t first, index_t last, cview<V> x, view<V> y, const epilogue<V>& e,
                       double* share) {
  for (index_t row = first; row < last; row += row_block) {
    const index_t end = std::min(row + row_block, last);
    alignas(64) V sum[row_block]; // NOLINT: written before it is read
    Rows::sums(a, row, end, x, e.b.data ? sum : y.data + row);
    if (e.b.data)
      cpu::widest([&]() FURROW_INLINE {
        const V* const b = e.b.data + row;
        V* const out = y.data + row;
#pragma omp simd
        for (index_t i = 0; i < end - row; ++i) out[i] = b[i] - sum[i];
      });
    add_sums_on_cpu(e, row, end, y, share);
  }
}

/// y <- alpha A x + beta y. alpha == 0 reads neither A nor x.
template <class Rows = each_row, class A, class V>
void rows_on_cpu(const A& a, const row_pieces& pieces, V alpha, cview<V> x, V beta, view<V> y) {
  for_each_piece(pieces,
                 [&](index_t, index_t first, index_t last) { piece_on_cpu<Rows>(a, first, last, alpha, x, beta, y); });
}

/// The slots of `e` <- the sums over all pieces, in their order, of what `piece(k, share)` adds to those of `share`;
/// run(f) calls f(k) for k in [0, pieces).
template <class V, class Run, class Piece>
void sum_pieces(const epilogue<V>& e, index_t pieces, Run&& run, Piece&& piece) {
  double* const shares = cpu::scratch<double, row_pieces>(most_sums * pieces);
  run([&](index_t k) {
    std::fill_n(shares + most_sums * k, most_sums, 0.0);
    piece(k, shares + most_sums * k);
  });
  double* const to = e.all.to.at ? e.all.to.at : e.one.to.at;
  for (int j = 0; j < e.count(); ++j) {
    to[j] = 0;
    for (index_t k = 0; k < pieces; ++k) to[j] += shares[most_sums * k + j];
  }
}

/// The same over pieces of rows: piece(first, last, share).
template <class V, class Piece> void sum_over_pieces(const row_pieces& pieces, const epilogue<V>& e, Piece&& piece) {
  sum_pieces(
      e, pieces.count(), [&](auto&& f) { for_each_piece(pieces, [&](index_t k, index_t, index_t) { f(k); }); },
      [&](index_t k, double* share) { piece(pieces.begin[k], pieces.begin[k + 1], share); });
}

/// y <- A x, or b - A x, with the sums of `e` in the same pass.
template <class Rows = each_row, class A, class V>
void rows_with_on_cpu(const A& a, const row_pieces& pieces, cview<V> x, view<V> y, const epilogue<V>& e) {
  sum_over_pieces(pieces, e, [&](index_t first, index_t last, double* share) {
    piece_with_on_cpu<Rows>(a, first, last, x, y, e, share);
  });
}

#else

namespace gpu {

inline constexpr int row_threads = 256;

/// y <- alpha A x + beta y with W lanes a row, and what `ending` asks for. Groups of lanes stride over the rows, so any
/// grid will do; a group leaves its loop together.
template <int W, class A, class V, int N>
__global__ void __launch_bounds__(row_threads)
    rows_kernel(A a, V alpha, cview<V> x, V beta, view<V> y, row_end<V, N> ending) {
  const lanes lane{static_cast<int>(threadIdx.x) % W, W};
  const index_t groups = index_t(gridDim.x) * (row_threads / W);
  double dots[N ? N : 1] = {};
  take_turn();
  for (index_t row = (index_t(blockIdx.x) * row_threads + threadIdx.x) / W; row < a.shape.rows; row += groups) {
    const V sum = sum_lanes<W>(partial(lane, a, row, x));
    if (lane.rank > 0) continue;
    ending(alpha, sum, beta, y, row, dots); // y[row] <- alpha sum + beta y[row]
  }
  finish<row_threads, N>(dots, ending);
}

/// The same in blocks of any size, for who wants to try them.
template <int W, class A, class V>
__global__ void __launch_bounds__(1024) rows_in_blocks_kernel(A a, V alpha, cview<V> x, V beta, view<V> y) {
  const lanes lane{static_cast<int>(threadIdx.x) % W, W};
  const index_t groups = index_t(gridDim.x) * blockDim.x / W;
  take_turn();
  for (index_t row = (index_t(blockIdx.x) * blockDim.x + threadIdx.x) / W; row < a.shape.rows; row += groups) {
    const V sum = sum_lanes<W>(partial(lane, a, row, x));
    if (lane.rank == 0) store(alpha, sum, beta, y[row]);
  }
}

} // namespace gpu

#endif

} // namespace furrow
