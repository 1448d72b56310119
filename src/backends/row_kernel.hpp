// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "lanes.hpp"

#include <furrow/operator.hpp>

#if !defined(__CUDACC__)
#include "cpu/isa.hpp"
#include "cpu/parallel.hpp"

#include <vector>
#else
#include "gpu/reduce.hpp"
#endif

/// Any format with `partial(lanes, A, row, x)`, one lane's share of (A x)[row], gets its CPU loop and its GPU kernel of
/// every lane width from here.
namespace furrow {

#if !defined(__CUDACC__)

/// The rows of a matrix, cut once into pieces of nearly equal work. Their number depends on the matrix alone, so sums
/// over pieces have the same bits for every number of threads.
struct row_pieces {
  std::vector<index_t> begin{0}; ///< pieces + 1 rows, ascending
  index_t count() const { return static_cast<index_t>(begin.size()) - 1; }
};

/// Pieces of about `work` entries; `offset(r)` is the number of entries before row r.
template <class Offset> row_pieces cut_rows(index_t rows, Offset offset, index_t work = 16384) {
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
  cpu::for_each_range(pieces.count(), 2, [&](index_t first, index_t last) {
    for (index_t k = first; k < last; ++k) task(k, pieces.begin[k], pieces.begin[k + 1]);
  });
}

/// y <- alpha A x + beta y with one thread a row. alpha == 0 reads neither A nor x.
template <class A, class V>
void rows_on_cpu(const A& a, const row_pieces& pieces, V alpha, cview<V> x, V beta, view<V> y) {
  for_each_piece(pieces, [&](index_t, index_t first, index_t last) {
    cpu::widest([&]() FURROW_INLINE {
      if (alpha == V(0)) {
        for (index_t row = first; row < last; ++row) store(V(0), V(0), beta, y[row]);
      } else {
        for (index_t row = first; row < last; ++row) store(alpha, partial(lanes{}, a, row, x), beta, y[row]);
      }
    });
  });
}

/// y <- A x and x . y in the same pass. `scratch` holds one sum a piece.
template <class A, class V>
void rows_dot_on_cpu(const A& a, const row_pieces& pieces, cview<V> x, view<V> y, slot xy,
                     std::vector<double>& scratch) {
  scratch.resize(static_cast<std::size_t>(pieces.count()));
  for_each_piece(pieces, [&](index_t piece, index_t first, index_t last) {
    cpu::widest([&]() FURROW_INLINE {
      double total = 0;
      for (index_t row = first; row < last; ++row) {
        const V value = partial(lanes{}, a, row, x);
        y[row] = value;
        total += double(x[row]) * double(value);
      }
      scratch[piece] = total;
    });
  });
  double total = 0;
  for (const double share : scratch) total += share;
  *xy.at = total;
}

#else

/// y <- alpha A x + beta y with W lanes a row.
template <int W, class A, class V>
__global__ void __launch_bounds__(256) rows_kernel(A a, V alpha, cview<V> x, V beta, view<V> y) {
  const index_t row = (index_t(blockIdx.x) * blockDim.x + threadIdx.x) / W;
  if (row >= a.shape.rows) return; // a whole group leaves together
  const lanes lane{static_cast<int>(threadIdx.x) % W, W};
  const V sum = gpu::sum_lanes<W>(partial(lane, a, row, x));
  if (lane.rank == 0) store(alpha, sum, beta, y[row]);
}

#endif

} // namespace furrow
