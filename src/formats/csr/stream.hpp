// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "csr.hpp"
#include "tiles.hpp"

#include "backends/gpu/bulk_copy.hpp"
#include "backends/gpu/launch.hpp"
#include "backends/gpu/row_end.hpp"

#include <furrow/value.hpp>

namespace furrow::gpu {

/// The shape of the `stream` kernel. A tile is the work of a block at a time; its entries wait in shared memory while
/// those of the tile before are multiplied.
struct stream_shape {
  static constexpr int threads = 128;
  static constexpr int blocks = 8; ///< that a multiprocessor should have room for
  static constexpr int stages = 2;
  static constexpr int rows = 256;        ///< most rows of a tile
  static constexpr int bytes = 12 * 1024; ///< of entries that a stage holds
  static constexpr int slack = 8;         ///< elements before and after, so that copies start and end on 16 bytes
  /// Most entries of a tile; a multiple of four.
  template <class V> static constexpr int entries = bytes / int(sizeof(V) + sizeof(std::int32_t)) / 4 * 4;
  /// Elements of x that a thread has under way at once.
  template <class V> static constexpr int batch = is_wide<V> ? 4 : 8;
};

/// A tile's share of the three arrays.
template <class V, class I> struct alignas(128) stream_stage {
  V val[stream_shape::entries<V> + stream_shape::slack];
  std::int32_t col[stream_shape::entries<V> + stream_shape::slack];
  I row_ptr[stream_shape::rows + 1 + stream_shape::slack];
};

template <class V, class I> struct stream_memory {
  stream_stage<V, I> stage[stream_shape::stages];
  tile what[stream_shape::stages]; ///< what each stage holds
  arrival here[stream_shape::stages];
  V room[stream_shape::threads / warp];
};

/// Begins to bring tile `t` into stage `s`. By one thread. The three copies start at multiples of four elements and end
/// behind the last one: device arrays are padded to 64 bytes.
template <class V, class I>
__device__ void bring(stream_memory<V, I>& to, int s, const csr<V, I, cview>& a, const tile& t) {
  to.what[s] = t;
  arrival& here = to.here[s];
  if (t.count < 0) return expect(here, 0);
  const index_t first = t.begin & ~index_t(3), first_row = t.row & ~3;
  const auto entries = static_cast<unsigned>((t.begin + t.count - first + 3) & ~index_t(3));
  const auto offsets = static_cast<unsigned>((t.row + t.rows + 1 - first_row + 3) & ~index_t(3));
  expect(here, static_cast<unsigned>(entries * (sizeof(V) + sizeof(std::int32_t)) + offsets * sizeof(I)));
  if (entries) {
    bulk_copy(to.stage[s].val, a.val.data + first, static_cast<unsigned>(entries * sizeof(V)), here);
    bulk_copy(to.stage[s].col, a.col.data + first, static_cast<unsigned>(entries * sizeof(std::int32_t)), here);
  }
  bulk_copy(to.stage[s].row_ptr, a.row_ptr.data + first_row, static_cast<unsigned>(offsets * sizeof(I)), here);
}

/// The same by all threads, for devices without a copy engine.
template <class V, class I>
__device__ void bring_together(stream_memory<V, I>& to, int s, const csr<V, I, cview>& a, const tile& t) {
  const index_t first = t.begin & ~index_t(3), first_row = t.row & ~3;
  if (threadIdx.x == 0) to.what[s] = t;
  for (index_t k = t.begin + threadIdx.x; k < t.begin + t.count; k += stream_shape::threads) {
    to.stage[s].val[k - first] = a.val[k];
    to.stage[s].col[k - first] = a.col[k];
  }
  for (index_t r = t.row + threadIdx.x; t.count >= 0 && r <= t.row + t.rows; r += stream_shape::threads)
    to.stage[s].row_ptr[r - first_row] = a.row_ptr[r];
}

/// put(row, (A x)[row]) for the rows of a tile, W lanes a row.
template <int W, class V, class I, class Put>
__device__ void multiply_tile(const stream_stage<V, I>& stage, const tile& t, const V* x, Put put) {
  constexpr int batch = stream_shape::batch<V>, together = warp / W; // rows that a warp adds up at the same time
  const int lane = static_cast<int>(threadIdx.x) % W;
  const I* const row_ptr = stage.row_ptr + (t.row & 3);
  const I base = static_cast<I>(t.begin & ~index_t(3));
  for (int r = static_cast<int>(threadIdx.x) / W; r < (t.rows + together - 1) / together * together;
       r += stream_shape::threads / W) {
    V sum{};
    if (r < t.rows) {
      const int end = static_cast<int>(row_ptr[r + 1] - base);
      int k = static_cast<int>(row_ptr[r] - base) + lane;
      for (; k + (batch - 1) * W < end; k += batch * W) {
        V element[batch];
#pragma unroll
        for (int j = 0; j < batch; ++j) element[j] = x[stage.col[k + j * W]];
#pragma unroll
        for (int j = 0; j < batch; ++j) sum += stage.val[k + j * W] * element[j];
      }
      V element[batch - 1];
#pragma unroll
      for (int j = 0; j < batch - 1; ++j)
        if (k + j * W < end) element[j] = x[stage.col[k + j * W]];
#pragma unroll
      for (int j = 0; j < batch - 1; ++j)
        if (k + j * W < end) sum += stage.val[k + j * W] * element[j];
    }
    sum = sum_lanes<W>(sum);
    if (lane == 0 && r < t.rows) put(t.row + r, sum);
  }
}

/// y <- alpha A x + beta y, and what `ending` asks for. The entries of a tile arrive in shared memory in the order in
/// which they are stored, whatever the rows; there a few lanes take a row each, so that neighbouring lanes also read
/// neighbouring elements of x where neighbouring rows look alike. A tile that is one long row is added up by the whole
/// block. Reads every byte of A once.
template <class V, class I, int N>
__global__ void __launch_bounds__(stream_shape::threads, stream_shape::blocks)
    stream_kernel(csr<V, I, cview> a, cview<tile> tiles, V alpha, cview<V> x, V beta, view<V> y, row_end<V, N> ending) {
  using shape = stream_shape;
  extern __shared__ __align__(128) unsigned char memory[];
  auto& shared = *reinterpret_cast<stream_memory<V, I>*>(memory);
  const int thread = static_cast<int>(threadIdx.x);
  let_next_come();
  double dots[N ? N : 1] = {};
  const auto put = [&](index_t row, V sum) { ending(alpha, sum, beta, y, row, dots); };

  if (FURROW_BULK_COPY && thread == 0)
    for (int s = 0; s < shape::stages; ++s) {
      open(shared.here[s]);
      const index_t mine = blockIdx.x + index_t(s) * gridDim.x;
      if (mine < tiles.size) bring(shared, s, a, tiles[mine]);
    }
  __syncthreads();
  wait_for_previous();

  int s = 0;
  unsigned parity = 0;
  for (index_t at = blockIdx.x; at < tiles.size; at += gridDim.x) {
    const index_t next = at + index_t(shape::stages) * gridDim.x;
    tile later{};
    if (FURROW_BULK_COPY) {
      if (thread == 0 && next < tiles.size) later = tiles[next]; // arrives while this tile is multiplied
      wait(shared.here[s], parity);
    } else {
      bring_together(shared, s, a, tiles[at]);
      __syncthreads();
    }

    const tile t = shared.what[s];
    if (t.count < 0) {
      V sum{};
      const index_t end = a.row_ptr[t.row + 1];
#pragma unroll 4
      for (index_t k = t.begin + thread; k < end; k += shape::threads) sum += __ldcs(&a.val[k]) * x[__ldcs(&a.col[k])];
      sum = sum_block<shape::threads>(sum, shared.room);
      if (thread == 0) put(t.row, sum);
    } else {
      switch (tile_width(t.count, t.rows, warp)) {
      case 1:
        multiply_tile<1>(shared.stage[s], t, x.data, put);
        break;
      case 2:
        multiply_tile<2>(shared.stage[s], t, x.data, put);
        break;
      case 4:
        multiply_tile<4>(shared.stage[s], t, x.data, put);
        break;
      case 8:
        multiply_tile<8>(shared.stage[s], t, x.data, put);
        break;
      case 16:
        multiply_tile<16>(shared.stage[s], t, x.data, put);
        break;
      default:
        multiply_tile<warp>(shared.stage[s], t, x.data, put);
        break;
      }
    }
    __syncthreads();
    if (FURROW_BULK_COPY && thread == 0 && next < tiles.size) bring(shared, s, a, later);
    if (++s == shape::stages) {
      s = 0;
      parity ^= 1;
    }
  }
  finish<shape::threads, N>(dots, ending);
}

} // namespace furrow::gpu
