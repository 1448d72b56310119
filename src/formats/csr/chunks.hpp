// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "csr.hpp"

#include "backends/gpu/launch.hpp"
#include "backends/gpu/row_end.hpp"
#include "backends/load_once.hpp"

#include <algorithm>

namespace furrow {

/// First rows of `parts` runs of rows with nearly equal entries, and the number of rows behind them: parts + 1 numbers.
template <class I> host_array<std::int32_t> cut_chunks(const host_array<I>& row_ptr, index_t parts) {
  const index_t rows = row_ptr.size() - 1, entries = row_ptr[rows];
  host_array<std::int32_t> begin(parts + 1);
  begin[0] = 0;
  for (index_t k = 1; k < parts; ++k) {
    const I target = static_cast<I>(entries / parts * k + std::min(k, entries % parts));
    const auto at = std::lower_bound(row_ptr.begin() + begin[k - 1], row_ptr.begin() + rows, target);
    begin[k] = static_cast<std::int32_t>(at - row_ptr.begin());
  }
  begin[parts] = static_cast<std::int32_t>(rows);
  return begin;
}

namespace gpu {

/// The shape of the `chunks` kernel. One large block a multiprocessor: the rows under way there are neighbours.
struct chunk_shape {
  static constexpr int threads = 1024;
  static constexpr int batch = 3; ///< entries that a lane brings at once
};

/// A lane's next entries of a row, under way.
template <int W, class V, class I> struct chunk_batch {
  std::int32_t col[chunk_shape::batch];
  V val[chunk_shape::batch];

  __device__ void bring(const csr<V, I, cview>& a, I first, I end) {
#pragma unroll
    for (int j = 0; j < chunk_shape::batch; ++j) {
      const bool there = first + j * W < end;
      col[j] = there ? load_once(a.col.data + first + j * W) : -1;
      val[j] = there ? load_once(a.val.data + first + j * W) : V(0);
    }
  }
  __device__ V times(const V* x) const {
    V element[chunk_shape::batch], sum{};
#pragma unroll
    for (int j = 0; j < chunk_shape::batch; ++j) element[j] = col[j] >= 0 ? x[col[j]] : V(0);
#pragma unroll
    for (int j = 0; j < chunk_shape::batch; ++j) sum += val[j] * element[j];
    return sum;
  }
};

/// y <- alpha A x + beta y, and what `ending` asks for. A block owns one run of rows, so that the elements of x which
/// it needs stay in the first-level cache of its multiprocessor from one row to the next: for columns that are
/// scattered inside a band. The matrix passes that cache by; while a row is multiplied the next one is under way.
template <int W, class V, class I, int N>
__global__ void __launch_bounds__(chunk_shape::threads)
    chunks_kernel(csr<V, I, cview> a, cview<std::int32_t> begin, V alpha, cview<V> x, V beta, view<V> y,
                  row_end<V, N> ending) {
  constexpr int groups = chunk_shape::threads / W, batch = chunk_shape::batch;
  let_next_come();
  const int lane = static_cast<int>(threadIdx.x) % W;
  const index_t last = begin[blockIdx.x + 1];
  double dots[N ? N : 1] = {};
  index_t row = begin[blockIdx.x] + static_cast<int>(threadIdx.x) / W;
  const auto bounds = [&](index_t r, I& from, I& to) {
    from = r < last ? a.row_ptr[r] : 0;
    to = r < last ? a.row_ptr[r + 1] : 0;
  };
  I from, to, next_from, next_to;
  bounds(row, from, to);
  bounds(row + groups, next_from, next_to);
  chunk_batch<W, V, I> now, next;
  now.bring(a, from + lane, to);
  wait_for_previous();
  for (; row < last; row += groups) {
    next.bring(a, next_from + lane, next_to);
    const I rest = from + batch * W, end = to;
    from = next_from;
    to = next_to;
    bounds(row + 2 * groups, next_from, next_to);
    V sum = now.times(x.data);
    for (I k = rest + lane; k < end; k += batch * W) {
      now.bring(a, k, end);
      sum += now.times(x.data);
    }
    now = next;
    sum = sum_lanes<W>(sum);
    if (lane > 0) continue;
    ending(alpha, sum, beta, y, row, dots);
  }
  finish<chunk_shape::threads, N>(dots, ending);
}

} // namespace gpu
} // namespace furrow
