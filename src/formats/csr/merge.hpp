// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "four_entries.hpp"
#include "merge_path.hpp"

#include "backends/gpu/row_end.hpp"

#include <furrow/value.hpp>

#include <cub/block/block_scan.cuh>

#include <cstdint>

namespace furrow::gpu {

/// The shape of the `merge` kernel. Items: of a thread; odd, so that threads walk through different banks. Few for
/// small matrices, so that all multiprocessors have work; many for large ones, so that much is under way.
template <int Items> struct merge_shape {
  static constexpr int threads = 128;
  static constexpr int tile = threads * Items;
  static constexpr int fours = (tile + 3 + 4 * threads - 1) / (4 * threads); ///< loads of four entries a thread
};
inline constexpr int few_items = 7, many_items = 11;
/// Blocks that a multiprocessor should have room for.
template <int Items, class V>
inline constexpr int merge_blocks = Items == few_items ? (is_wide<V> ? 6 : 7)
                                    : is_wide<V>       ? 5
                                                       : 6;

/// product[k] <- val[begin + k] * x[col[begin + k]], 0 <= k < count <= tile. Loads start at multiples of four entries
/// and may read past the last one: device arrays are padded to 64 bytes.
template <class Shape, class V, class I>
__device__ void stage_products(const csr<V, I, cview>& a, const V* x, index_t begin, int count, V* product) {
  const int offset = static_cast<int>(begin & 3), thread = static_cast<int>(threadIdx.x);
  const V* const val = a.val.data + (begin - offset);
  const std::int32_t* const col = a.col.data + (begin - offset);
  four_entries<V> part[Shape::fours];
#pragma unroll
  for (int n = 0; n < Shape::fours; ++n) {
    const int at = 4 * (thread + n * Shape::threads);
    if (at < count + offset) load_four(part[n], val + at, col + at);
  }
#pragma unroll
  for (int n = 0; n < Shape::fours; ++n)
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int k = 4 * (thread + n * Shape::threads) + i - offset;
      if (k >= 0 && k < count) part[n].val[i] *= x[part[n].col[i]];
    }
#pragma unroll
  for (int n = 0; n < Shape::fours; ++n)
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int k = 4 * (thread + n * Shape::threads) + i - offset;
      if (k >= 0 && k < count) product[k] = part[n].val[i];
    }
}

/// What a tile leaves of a row that goes on, and whether it is there: 16 bytes that are written and read at once, so
/// that nobody has to wait for a fence. Whoever takes it lowers the flag: all flags are down when the kernel ends.
struct alignas(16) left_over {
  double sum;
  unsigned long long there;
};
inline __device__ void leave(left_over& slot, double sum) {
  asm volatile("st.relaxed.gpu.global.v2.b64 [%0], {%1, %2};" ::"l"(&slot), "l"(__double_as_longlong(sum)), "l"(1LL)
               : "memory");
}
/// Waits: tiles are taken in order by blocks that all run, so that the tile before is under way.
inline __device__ double take(left_over& slot) {
  long long sum, there;
  do {
    asm volatile("ld.relaxed.gpu.global.v2.b64 {%0, %1}, [%2];" : "=l"(sum), "=l"(there) : "l"(&slot) : "memory");
  } while (!there);
  slot.there = 0;
  return __longlong_as_double(sum);
}

/// y <- alpha A x + beta y, and what `ending` asks for. A block takes tiles of equally many entries and row ends; a
/// thread walks through equally many of them, and a segmented scan hands on what is left of a row to the threads
/// behind. The tile in which a row ends writes it: it takes what the tiles before have left of the row, always in the
/// order of the tiles, and not before the block has done another tile, so that it hardly ever waits. No more blocks
/// than run at a time.
template <int Items, class V, class I, int N>
__global__ void __launch_bounds__(merge_shape<Items>::threads, merge_blocks<Items, V>)
    merge_kernel(csr<V, I, cview> a, cview<std::int32_t> cut, V alpha, cview<V> x, V beta, view<V> y,
                 view<left_over> left, row_end<V, N> ending) {
  using shape = merge_shape<Items>;
  using scan = cub::BlockScan<run<V>, shape::threads>;
  __shared__ typename scan::TempStorage room;
  __shared__ V product[shape::tile], head[2];
  __shared__ std::uint16_t end[shape::tile];
  const int thread = static_cast<int>(threadIdx.x);
  double dots[N ? N : 1] = {};
  const auto finish_row = [&](index_t row, V sum) { ending(alpha, sum, beta, y, row, dots); };
  index_t ended = -1; // the tile whose first row still lacks what the tiles from `ended_from` on have left of it
  index_t ended_from = 0;
  int side = 0;                              // of `head`, for this tile; the other one belongs to `ended`
  const auto finish_ended = [&](int where) { // by the first warp
    if (ended < 0 || thread >= warp) return;
    V sum{};
    for (index_t k = ended_from + thread; k < ended; k += warp) sum += static_cast<V>(take(left[k]));
    sum = sum_lanes<warp>(sum);
    if (thread == 0) finish_row(cut[ended], sum + head[where]);
  };
  for (index_t t = blockIdx.x; t + 1 < cut.size; t += gridDim.x) {
    const index_t begin = t * shape::tile, rest = a.shape.rows + a.val.size - begin, first_row = cut[t];
    const int items = static_cast<int>(rest < shape::tile ? rest : shape::tile);
    const int rows = static_cast<int>(cut[t + 1] - first_row);
    for (int r = thread; r < rows; r += shape::threads)
      end[r] = static_cast<std::uint16_t>(a.row_ptr[first_row + r + 1] + (first_row + r) - begin);
    stage_products<shape>(a, x.data, begin - first_row, items - rows, product);
    const carries c = carries_of(t, a.row_ptr, cut, shape::tile);
    const bool open = c.from < t && rows > 0; // this tile ends a row that tiles before have begun
    __syncthreads();

    const int first = thread * Items < items ? thread * Items : items;
    const int last = first + Items < items ? first + Items : items;
    const walked<V> mine = walk_items<V>(
        first, last, rows, [&](int r) { return int(end[r]); }, [&](int k) { return product[k]; },
        [&](int r, V sum) { finish_row(first_row + r, sum); });
    run<V> before{V(0), false}, whole{};
    scan(room).ExclusiveScan(mine.left_over(), before, run<V>{V(0), false}, add_runs{}, whole);
    if (thread == 0 && c.leaves) leave(left[t], double(whole.sum));
    if (mine.row == 0 && open) head[side] = before.sum + mine.head;
    else if (mine.row >= 0) finish_row(first_row + mine.row, before.sum + mine.head);
    __syncthreads();
    finish_ended(side ^ 1);
    ended = open ? t : -1;
    ended_from = c.from;
    side ^= 1;
  }
  finish_ended(side ^ 1);
  finish<shape::threads, N>(dots, ending);
}

} // namespace furrow::gpu
