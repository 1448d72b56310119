// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "hierarchy.hpp"

#include "backends/gpu/launch.hpp"
#include "backends/gpu/reduce.hpp"

/// Products on a GPU that carry the work on their rows in the same pass: a step of a smoother, a residual, a
/// correction.
namespace furrow::amg {

/// What is done with (A x)_i. `load()` is called once a thread before its first row. One that `smooths` turns it into
/// a residual r_i, and is then given (D^-1 r)_i.
template <class Step>
concept row_step = std::is_trivially_copyable_v<Step> && requires {
  Step::smooths;
};

inline constexpr int pass_threads = 256;

/// Rows that a thread takes side by side, of a matrix by diagonals.
template <class W> inline constexpr int rows_side_by_side = sizeof(W) == 8 ? 1 : 4;

/// A by diagonals; of D^-1 one number a row.
template <class W, class Step>
__global__ void __launch_bounds__(pass_threads, 4)
    diagonals_pass(dia<W, cview> a, cview<W> inverse, cview<W> x, Step step) {
  constexpr int together = rows_side_by_side<W>;
  gpu::take_turn();
  const index_t first = index_t(blockIdx.x) * (together * pass_threads), row = first + threadIdx.x;
  W sum[together] = {};
  tile_sums(a, row_tile{first, together * pass_threads, pass_threads}, row, x, sum);
#pragma unroll
  for (int k = 0; k < together; ++k) {
    const index_t i = row + k * pass_threads;
    if (i >= a.shape.rows) break;
    if constexpr (Step::smooths) {
      const W r = step.residual(i, sum[k]);
      step(i, r, inverse[i] * r);
    } else step(i, sum[k]);
  }
}

/// Entries of a row that a lane has under way at once.
inline constexpr int entries_at_once = 4;

/// The share of a lane of (A x)_i: every L-th entry from its rank on.
template <int L, class W> __device__ W share_of_row(const rows<W, cview>& a, index_t i, int rank, cview<W> x) {
  const index_t end = a.row_ptr[i + 1];
  W sum = 0;
  for (index_t first = a.row_ptr[i] + rank; first < end; first += entries_at_once * L) {
    W val[entries_at_once], element[entries_at_once];
#pragma unroll
    for (int k = 0; k < entries_at_once; ++k) {
      const bool in = first + k * L < end;
      const std::int32_t col = in ? a.col[first + k * L] : -1;
      val[k] = in ? a.val[first + k * L] : W(0);
      element[k] = in ? x[col] : W(0);
    }
#pragma unroll
    for (int k = 0; k < entries_at_once; ++k) sum += val[k] * element[k];
  }
  return sum;
}

/// A by rows, L lanes each. Blocks take whole nodes of `block` rows, whose residuals meet in shared memory.
template <int L, class W, class Step>
__global__ void __launch_bounds__(pass_threads)
    lanes_pass(rows<W, cview> a, cview<W> inverse, int block, cview<W> x, Step step) {
  __shared__ W residual[Step::smooths ? pass_threads / L : 1];
  const int rank = static_cast<int>(threadIdx.x) % L;
  const int mine = static_cast<int>(threadIdx.x) / L, at_once = pass_threads / L / block * block;
  gpu::take_turn();
  const index_t i = index_t(blockIdx.x) * at_once + mine;
  const bool in = mine < at_once && i < a.shape.rows;
  const W sum = gpu::sum_lanes<L>(in ? share_of_row<L>(a, i, rank, x) : W(0));
  const bool first = in && rank == 0;
  if constexpr (Step::smooths) {
    const W r = first ? step.residual(i, sum) : W(0);
    if (block == 1) {
      if (first) step(i, r, inverse[i] * r);
      return;
    }
    if (rank == 0) residual[mine] = r;
    __syncthreads();
    if (!first) return;
    W z = 0;
    for (int k = 0; k < block; ++k) z += inverse[i * block + k] * residual[mine / block * block + k];
    step(i, r, z);
  } else if (first) step(i, sum);
}

/// Lanes that share a row of that many entries in the mean.
inline int lanes_for(double mean) {
  int lanes = 1;
  while (lanes < gpu::warp && lanes * (entries_at_once + 1) < mean) lanes *= 2;
  return lanes;
}

template <int L, class W, class Step>
void enqueue_lanes(const gpu::queue& q, const rows<W, cview>& a, cview<W> inverse, int block, cview<W> x, Step step) {
  const index_t at_once = pass_threads / L / block * block;
  gpu::launch(lanes_pass<L, W, Step>, static_cast<unsigned>((a.shape.rows + at_once - 1) / at_once), pass_threads, 0, q,
              a, inverse, block, x, step);
}

/// step for each row of A x.
template <class W, row_step Step>
void row_pass(const gpu::queue& q, const rows<W, cview>& a, cview<W> inverse, int block, cview<W> x, Step step) {
  switch (lanes_for(double(a.val.size) / double(std::max<index_t>(a.shape.rows, 1)))) {
  case 1:
    return enqueue_lanes<1>(q, a, inverse, block, x, step);
  case 2:
    return enqueue_lanes<2>(q, a, inverse, block, x, step);
  case 4:
    return enqueue_lanes<4>(q, a, inverse, block, x, step);
  case 8:
    return enqueue_lanes<8>(q, a, inverse, block, x, step);
  case 16:
    return enqueue_lanes<16>(q, a, inverse, block, x, step);
  default:
    return enqueue_lanes<gpu::warp>(q, a, inverse, block, x, step);
  }
}
template <class W, row_step Step>
void row_pass(const gpu::queue& q, const rows<W, gpu_array>& a, cview<W> inverse, int block, cview<W> x, Step step) {
  row_pass(q, view_of(a), inverse, block, x, step);
}
template <class W, row_step Step>
void row_pass(const gpu::queue& q, const dia<W, gpu_array>& a, cview<W> inverse, cview<W> x, Step step) {
  constexpr index_t at_once = index_t(rows_side_by_side<W>) * pass_threads;
  gpu::launch(diagonals_pass<W, Step>, static_cast<unsigned>((a.shape.rows + at_once - 1) / at_once), pass_threads, 0,
              q, view_of(a), inverse, x, step);
}

} // namespace furrow::amg
