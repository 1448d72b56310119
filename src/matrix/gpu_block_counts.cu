// SPDX-License-Identifier: BSD-3-Clause
#include "gpu_block_counts.hpp"

#include "backends/gpu/primitives.hpp"
#include "core/sample.hpp"

#include <algorithm>
#include <limits>

namespace furrow {
namespace gpu_block_counts {

using word = found_word;
/// Lanes that merge the rows of a block row, one each.
constexpr int lanes_a_row = most_edge, rows_a_block = gpu::each_threads / lanes_a_row;
using lanes = gpu::lane_group<lanes_a_row>;

struct pattern {
  index_t rows;
  const index_t* row_ptr;
  const std::int32_t* col;
};

__device__ inline unsigned least_of_lanes(unsigned v) {
  for (int d = lanes_a_row / 2; d > 0; d /= 2) {
    const unsigned other = gpu::from_lane_across<lanes_a_row>(v, d);
    v = other < v ? other : v;
  }
  return v;
}

/// Blocks of block row r; of all lanes together, and the entries of this lane's row.
template <int K> __device__ index_t walk(const pattern& a, index_t r, const lanes& lane, index_t& entries) {
  constexpr unsigned none = ~0u;
  const index_t row = r * K + lane.rank;
  const bool has_row = lane.rank < K && row < a.rows;
  index_t at = has_row ? a.row_ptr[row] : 0;
  const index_t end = has_row ? a.row_ptr[row + 1] : 0;
  entries = end - at;
  const auto block_at = [&](index_t k) { return k < end ? static_cast<unsigned>(a.col[k]) / K : none; };
  unsigned next = block_at(at), ahead = block_at(at + 1); // so that it is there when it is asked for
  for (index_t blocks = 0;; ++blocks) {
    const unsigned c = least_of_lanes(next);
    if (c == none) return blocks;
    while (next == c) {
      next = ahead;
      ahead = block_at(++at + 1);
    }
  }
}

/// f(std::integral_constant<int, K>) for the K that equals `edge`.
template <int K = least_edge, class F> __device__ void with_edge_of(int edge, F f) {
  if constexpr (K < most_edge)
    if (edge != K) return with_edge_of<K + 1>(edge, f);
  f(std::integral_constant<int, K>{});
}

/// Adds up over a warp what the lanes have, and for all.
__device__ inline void leave(index_t v, word* to) {
  const gpu::lane_group<gpu::warp> all;
  __syncwarp();
  v = all.sum(v);
  if (all.rank == 0 && v) atomicAdd(to, static_cast<word>(v));
}

struct edge_list {
  int edge[most_edge - least_edge + 1];
  int count;
};

/// The blocks of edge number blockIdx.x % edges.count.
__global__ void __launch_bounds__(gpu::each_threads) count_kernel(pattern a, edge_list edges, word* to) {
  const gpu::beside_others turn;
  const int edge = edges.edge[blockIdx.x % edges.count];
  with_edge_of(edge, [&]<int K>(std::integral_constant<int, K>) {
    const lanes lane;
    const index_t block_rows = (a.rows + K - 1) / K, stride = index_t(gridDim.x / edges.count) * rows_a_block;
    index_t blocks = 0, entries = 0;
    for (index_t r = index_t(blockIdx.x / edges.count) * rows_a_block + threadIdx.x / lanes_a_row; r < block_rows;
         r += stride)
      blocks += walk<K>(a, r, lane, entries);
    leave(lane.rank == 0 ? blocks : 0, to + edge);
  });
}

/// The same of the sample of each edge, with the entries.
constexpr int most_sampled = sampled_block_rows::stretches * sampled_block_rows::most;
__global__ void __launch_bounds__(gpu::each_threads) sample_kernel(pattern a, const word* wrong, word* to) {
  const gpu::beside_others turn;
  if (*wrong) return;
  constexpr int blocks_an_edge = most_sampled / rows_a_block;
  const int edge = least_edge + static_cast<int>(blockIdx.x) / blocks_an_edge;
  with_edge_of(edge, [&]<int K>(std::integral_constant<int, K>) {
    const lanes lane;
    const sampled_block_rows sample{(a.rows + K - 1) / K};
    const index_t n = index_t(blockIdx.x) % blocks_an_edge * rows_a_block + threadIdx.x / lanes_a_row;
    const row_range stretch = sample[n % sample.stretches]; // so that short stretches end with whole blocks
    index_t blocks = 0, entries = 0;
    if (n / sample.stretches < stretch.count) blocks = walk<K>(a, stretch.first + n / sample.stretches, lane, entries);
    leave(lane.rank == 0 ? blocks : 0, to + 2 * edge);
    leave(entries, to + 2 * edge + 1);
  });
}

} // namespace gpu_block_counts

void sample_blocks(index_t rows, const index_t* row_ptr, const std::int32_t* col, const found_word* wrong,
                   found_word* to) {
  using namespace gpu_block_counts;
  constexpr int blocks = (most_edge - least_edge + 1) * (most_sampled / rows_a_block);
  gpu::launch(sample_kernel, blocks, gpu::each_threads, 0, gpu::current_queue(), pattern{rows, row_ptr, col}, wrong,
              to);
}

edge_verdicts judge_edges(const found_word* home) {
  std::array<double, most_edge + 1> fill{};
  for (int edge = least_edge; edge <= most_edge; ++edge)
    fill[static_cast<std::size_t>(edge)] =
        fill_of(edge, static_cast<index_t>(home[2 * edge]), static_cast<index_t>(home[2 * edge + 1]));
  return judge_edges(fill);
}

void count_blocks(index_t rows, const index_t* row_ptr, const std::int32_t* col, const edge_verdicts& verdicts,
                  found_word* to) {
  using namespace gpu_block_counts;
  edge_list edges{};
  for (int edge = least_edge; edge <= most_edge; ++edge)
    if (verdicts[static_cast<std::size_t>(edge)] == 0) edges.edge[edges.count++] = edge;
  if (edges.count == 0 || rows == 0) return;
  const gpu::queue& q = gpu::current_queue();
  const unsigned each = gpu::blocks_for((rows + least_edge - 1) / least_edge * lanes_a_row, gpu::each_threads, q);
  gpu::launch(count_kernel, each * static_cast<unsigned>(edges.count), gpu::each_threads, 0, q,
              pattern{rows, row_ptr, col}, edges, to);
}

} // namespace furrow
