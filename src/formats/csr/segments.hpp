// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "four_entries.hpp"
#include "pieces.hpp"

#include "backends/gpu/launch.hpp"
#include "backends/gpu/row_end.hpp"

#include <furrow/value.hpp>

namespace furrow::gpu {

/// The shape of the `segments` kernel: four entries a thread, so that a warp reads whole lines of columns and values,
/// and few registers.
struct segment_shape {
  static constexpr int threads = 256;
  /// Blocks that a multiprocessor should have room for, with N sums beside the product.
  template <class V, int N> static constexpr int blocks = (is_wide<V> ? 5 : 6) - (N > 0);
  static constexpr int run = 4;               ///< entries of a thread
  static constexpr int warp_run = run * warp; ///< entries of a warp
  static constexpr int tile = run * threads;  ///< entries of a block
  static constexpr int rows = 4 * threads;    ///< most rows of a block
  static constexpr int few = 2, many = 4;     ///< tiles that a part of a long row has: small matrices, large ones
  /// Where a tile's entry k waits in shared memory: neighbouring threads in different banks.
  static constexpr __device__ int place(int k) { return k + k / 8; }
};

/// val <- val x[col] of the entries at, at + 1, ... of a piece that lie in [lead, end); the others become zero.
template <class V> __device__ void multiply_four(four_entries<V>& e, int at, int lead, int end, const V* x) {
#pragma unroll
  for (int i = 0; i < segment_shape::run; ++i)
    e.val[i] = at + i >= lead && at + i < end ? e.val[i] * x[e.col[i]] : V(0);
}

/// What the lanes before have left of the row that goes on in this one. `tail` is what this lane leaves, `fresh`
/// whether a row ends in it; `whole` becomes what the warp leaves. All lanes must call.
template <class V> __device__ V left_before(V tail, bool fresh, V& whole) {
  const int lane = static_cast<int>(threadIdx.x) % warp;
  const unsigned ends = __ballot_sync(group_mask<warp>(), fresh) & (group_mask<warp>() >> (warp - 1 - lane));
  const int from = ends ? warp - 1 - __clz(static_cast<int>(ends)) : 0; // the last lane up to this one with an end
#pragma unroll
  for (int distance = 1; distance < warp; distance *= 2) {
    const V other = from_lane_below<warp>(tail, distance);
    if (lane - distance >= from) tail += other;
  }
  whole = __shfl_sync(group_mask<warp>(), tail, warp - 1);
  const V before = from_lane_below<warp>(tail, 1);
  return lane ? before : V(0);
}

/// What blocks leave of a row that they share, and how many have: all counts are 0 between kernels. Any of its blocks
/// may be the last one of a row, so that its shares of sums go to its first slot, not to those of the block: otherwise
/// the order of the sums would depend on the run.
template <class V> struct shared_rows {
  view<V> sum;
  view<unsigned> arrived;
  double* shares; ///< `gram_sums` times as many as sums

  __device__ double* share(int k, index_t slot) const { return shares + k * sum.size + slot; }
};

/// The sum of a part of a long row, its entries [lead, end) behind `val` and `col`. Where the row has more parts, the
/// block that comes last adds the sums of all in the order of the parts, and `last` says which one that is; the sum is
/// in its thread 0.
template <class V>
__device__ V sum_part(const piece& p, const V* val, const std::int32_t* col, int lead, int end, const V* x,
                      const shared_rows<V>& shared, V* room, bool& last) {
  using shape = segment_shape;
  const int thread = static_cast<int>(threadIdx.x);
  V sum{};
#pragma unroll 1
  for (int at = thread * shape::run; at < end; at += shape::tile) {
    four_entries<V> e;
    load_four(e, val + at, col + at);
    multiply_four(e, at, lead, end, x);
    sum += (e.val[0] + e.val[1]) + (e.val[2] + e.val[3]);
  }
  sum = sum_block<shape::threads>(sum, room);
  if (thread == 0) {
    last = p.parts == 1;
    if (!last) {
      shared.sum.data[p.slot] = sum;
      last = arrives_last(shared.arrived.data + p.first, static_cast<unsigned>(p.parts));
    }
  }
  __syncthreads();
  if (!last || p.parts == 1) return sum;
  sum = V(0);
#pragma unroll 1
  for (int k = thread; k < p.parts; k += shape::threads) sum += __ldcg(shared.sum.data + p.first + k);
  sum = sum_block<shape::threads>(sum, room);
  if (thread == 0) shared.arrived.data[p.first] = 0;
  return sum;
}

/// y <- alpha A x + beta y, and what `ending` asks for. A thread multiplies four neighbouring entries and adds up what
/// belongs to one row; a segmented scan over the warp hands on what is left of a row to the lanes behind, and sums wait
/// in shared memory at the places of the rows' last entries. There a thread a row picks them up, with what the warps
/// before have left of the row. Nothing but x depends on a load that depends on a load. Each block has whole rows, so
/// nobody waits for anybody; rows that are longer than a tile are left to blocks of their own.
template <class V, class I, int N>
__global__ void __launch_bounds__(segment_shape::threads, segment_shape::blocks<V, N>)
    segments_kernel(csr<V, I, cview> a, cview<piece> pieces, cview<std::uint8_t> ends, V alpha, cview<V> x, V beta,
                    view<V> y, shared_rows<V> shared, row_end<V, N> ending) {
  using shape = segment_shape;
  __shared__ V at_end[shape::place(shape::tile)], left[shape::threads / warp];
  __shared__ bool last;
  const int thread = static_cast<int>(threadIdx.x), at = thread * shape::run;
  double dots[N ? N : 1] = {};
  const auto finish_row = [&](index_t row, V sum) { ending(alpha, sum, beta, y, row, dots); };
  let_next_come();
  for (index_t t = blockIdx.x; t < pieces.size; t += gridDim.x) {
    const piece p = pieces[t];
    if (t != blockIdx.x) __syncthreads(); // the shared memory has been read
    const index_t first = aligned(p.begin);
    const int lead = static_cast<int>(p.begin - first), end = lead + p.count;
    const V* const val = a.val.data + first;
    const std::int32_t* const col = a.col.data + first;
    if (p.parts > 0) {
      wait_for_previous();
      const V sum = sum_part(p, val, col, lead, end, x.data, shared, at_end, last);
      if (last && thread == 0) {
        double share[N ? N : 1] = {};
        ending(alpha, sum, beta, y, p.row, share);
        for (int k = 0; k < N; ++k) *shared.share(k, p.first) = share[k];
      }
      continue;
    }
    four_entries<V> e;
    unsigned row_ends = 0;
    if (at < end) {
      load_four(e, val + at, col + at);
      row_ends = ends.data[(first + at) / 8] >> (at & 4);
    }
    const I* const row_ptr = a.row_ptr.data + p.row;
    I row_begin = 0, row_end = 0;
    if (thread < p.rows) {
      row_begin = row_ptr[thread];
      row_end = row_ptr[thread + 1];
    }
    wait_for_previous();
    multiply_four(e, at, lead, end, x.data);
    const segment<V> mine = walk_entries(e.val, row_ends, [&](int i, V sum) { at_end[shape::place(at) + i] = sum; });
    V whole;
    const V before = left_before(mine.tail, mine.first >= 0, whole);
    if (mine.first >= 0) at_end[shape::place(at) + mine.first] = before + mine.head;
    if (thread % warp == 0) left[thread / warp] = whole;
    __syncthreads();
    for (int r = thread; r < p.rows; r += shape::threads) {
      if (r != thread) {
        row_begin = row_ptr[r];
        row_end = row_ptr[r + 1];
      }
      const int from = static_cast<int>(row_begin - first), to = static_cast<int>(row_end - first) - 1;
      V sum{};
      if (to >= from) {
        for (int w = from / shape::warp_run; w < to / shape::warp_run; ++w) sum += left[w];
        sum += at_end[shape::place(to)];
      }
      finish_row(p.row + r, sum);
    }
  }
  wait_for_previous(); // where there was no piece
  finish<shape::threads, N>(dots, ending, [&](int k) {
    double share = 0;
    for (index_t s = thread; s < shared.sum.size; s += shape::threads) share += __ldcg(shared.share(k, s));
    return share;
  });
}

} // namespace furrow::gpu
