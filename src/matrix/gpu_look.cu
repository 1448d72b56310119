// SPDX-License-Identifier: BSD-3-Clause
#include "rows_on_gpu.hpp"

#include "backends/gpu/primitives.hpp"
#include "core/dominance.hpp"
#include "core/row_sum.hpp"

#include <bit>
#include <limits>

namespace furrow {
namespace gpu_look {

using word = unsigned long long;
constexpr double largest_number = std::numeric_limits<double>::max();

/// Where the kernel leaves what it found. Numbers that are not negative are compared by their bits.
enum place { zeros, stored_diagonal, zero_diagonal, negative_diagonal, small_diagonal, dominant, counted };
enum extreme { lower, upper, norm_inf, largest, infinite, largest_row, extremes };
inline constexpr int words = int(counted) + int(extremes) + 1; // and the least row

__device__ inline word bits(double v) { return static_cast<word>(__double_as_longlong(v)); }

struct found {
  word count[counted] = {}, most[extremes] = {}, least = ~word(0);

  __device__ void raise(extreme e, word v) { most[e] = v > most[e] ? v : most[e]; }
  /// Over a warp, then for all.
  __device__ void leave(word* to) {
    for (int d = gpu::warp / 2; d > 0; d /= 2) {
      for (word& c : count) c += gpu::from_lane_across<gpu::warp>(c, d);
      for (word& m : most) {
        const word other = gpu::from_lane_across<gpu::warp>(m, d);
        m = other > m ? other : m;
      }
      const word other = gpu::from_lane_across<gpu::warp>(least, d);
      least = other < least ? other : least;
    }
    if (threadIdx.x % gpu::warp != 0) return;
    for (int k = 0; k < counted; ++k)
      if (count[k]) atomicAdd(to + k, count[k]);
    for (int k = 0; k < extremes; ++k)
      if (most[k]) atomicMax(to + counted + k, most[k]);
    atomicMin(to + counted + extremes, least);
  }
};

/// Eight lanes a row: the order of `row_sum`.
template <class V>
__global__ void __launch_bounds__(gpu::each_threads) look_kernel(csr<V, index_t, cview> a, word* to) {
  constexpr int lanes = row_sum_lanes, rows = gpu::each_threads / lanes;
  const gpu::lane_group<lanes> lane;
  gpu::take_turn();
  found f;
  for (index_t i = index_t(blockIdx.x) * rows + threadIdx.x / lanes; i < a.shape.rows; i += index_t(gridDim.x) * rows) {
    double sum = 0, others = 0, most = 0, diagonal = 0;
    for (index_t k = a.row_ptr[i] + lane.rank, end = a.row_ptr[i + 1]; k < end; k += lanes) {
      const double v = double(a.val[k]), size = fabs(v);
      const index_t offset = a.col[k] - i;
      if (offset < 0) f.raise(lower, static_cast<word>(-offset));
      else f.raise(upper, static_cast<word>(offset));
      f.count[zeros] += size == 0;
      if (!(size <= largest_number)) f.most[infinite] = 1;
      if (size > most) most = size; // never a NaN
      sum += size;
      if (offset == 0) diagonal = v;
      else others += size;
    }
    for (int d = lanes / 2; d > 0; d /= 2) {
      sum += gpu::from_lane_across<lanes>(sum, d);
      others += gpu::from_lane_across<lanes>(others, d);
      diagonal += gpu::from_lane_across<lanes>(diagonal, d);
      const double other = gpu::from_lane_across<lanes>(most, d);
      most = other > most ? other : most;
    }
    if (lane.rank != 0) continue;
    const double own = fabs(diagonal);
    f.count[stored_diagonal] += own != 0;
    f.count[zero_diagonal] += own == 0;
    f.count[negative_diagonal] += diagonal < 0;
    f.count[small_diagonal] += own != 0 && own < 1e-10 * most;
    f.count[dominant] += dominates(own, others);
    if (sum == sum) f.raise(norm_inf, bits(sum));
    f.raise(largest, bits(most));
    if (most > 0) {
      f.raise(largest_row, bits(most));
      f.least = bits(most) < f.least ? bits(most) : f.least;
    }
  }
  __syncwarp();
  f.leave(to);
}

} // namespace gpu_look

template <class V> rows_look look_at_rows(const rows_on_gpu<V>& a) {
  using namespace gpu_look;
  host_array<word> home(words, word(0));
  home[words - 1] = ~word(0);
  gpu_array<word> there(home);
  const gpu::queue& q = gpu::current_queue();
  gpu::launch(look_kernel<V>, gpu::blocks_for(a.shape.rows * row_sum_lanes, gpu::each_threads, q, 8), gpu::each_threads,
              0, q, a.view(), there.data());
  home = host_array<word>(there);
  const auto count = [&](place p) { return static_cast<index_t>(home[p]); };
  const auto most = [&](extreme e) { return home[index_t(counted) + e]; };
  rows_look l;
  l.explicit_zeros = count(zeros);
  l.stored_diagonal = count(stored_diagonal);
  l.zero_diagonal = count(zero_diagonal);
  l.negative_diagonal = count(negative_diagonal);
  l.small_diagonal = count(small_diagonal);
  l.dominant = count(dominant);
  l.lower_bandwidth = static_cast<index_t>(most(lower));
  l.upper_bandwidth = static_cast<index_t>(most(upper));
  l.norm_inf = std::bit_cast<double>(most(norm_inf));
  l.largest = std::bit_cast<double>(most(largest));
  l.finite = most(infinite) == 0;
  l.largest_row = std::bit_cast<double>(most(largest_row));
  const word least = home[words - 1];
  l.least_row = least == ~word(0) ? std::numeric_limits<double>::infinity() : std::bit_cast<double>(least);
  return l;
}

template rows_look look_at_rows(const rows_on_gpu<double>&);
template rows_look look_at_rows(const rows_on_gpu<float>&);

} // namespace furrow
