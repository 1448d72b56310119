// SPDX-License-Identifier: BSD-3-Clause
#include "gpu_lengths.hpp"

#include "backends/gpu/primitives.hpp"
#include "core/measure.hpp"
#include "formats/sell/gpu_slicing.hpp"

namespace furrow {
namespace gpu_lengths {

using word = unsigned long long;
/// Rows of fewer entries are counted in shared memory; the lengths of the others come back one by one.
constexpr int short_lengths = 1024;
enum place { fingerprint, slice_places, long_rows, places };

__device__ inline word sum_over_warp(word v) {
  for (int d = gpu::warp / 2; d > 0; d /= 2) v += gpu::from_lane_across<gpu::warp>(v, d);
  return v;
}

/// A warp takes slices of 32 rows.
__global__ void __launch_bounds__(gpu::each_threads)
    lengths_kernel(index_t rows, const index_t* row_ptr, word* count, word* found, index_t* of_long_rows) {
  __shared__ unsigned counted[short_lengths];
  for (int l = static_cast<int>(threadIdx.x); l < short_lengths; l += gpu::each_threads) counted[l] = 0;
  gpu::take_turn();
  __syncthreads();
  word print = 0, in_slices = 0;
  const index_t stride = index_t(gridDim.x) * gpu::each_threads;
  for (index_t first = index_t(blockIdx.x) * gpu::each_threads; first < rows; first += stride) {
    const index_t i = first + threadIdx.x;
    index_t length = 0;
    if (i < rows) {
      length = row_ptr[i + 1] - row_ptr[i];
      print += fingerprint_of_length(i, length);
      if (length < short_lengths) atomicAdd(counted + length, 1u);
      else of_long_rows[atomicAdd(found + long_rows, word(1))] = length;
    }
    for (int d = gpu::warp / 2; d > 0; d /= 2) {
      const index_t other = gpu::from_lane_across<gpu::warp>(length, d);
      length = other > length ? other : length;
    }
    if (threadIdx.x % gpu::warp == 0) in_slices += static_cast<word>(gpu::warp * length);
  }
  print = sum_over_warp(print);
  if (threadIdx.x % gpu::warp == 0) {
    if (print) atomicAdd(found + fingerprint, print);
    if (in_slices) atomicAdd(found + slice_places, in_slices);
  }
  __syncthreads();
  for (int l = static_cast<int>(threadIdx.x); l < short_lengths; l += gpu::each_threads)
    if (counted[l]) atomicAdd(count + l, word(counted[l]));
}

index_t places_in_windows(const index_t* row_ptr, const stats& s, index_t window) {
  const auto order = sorted_rows_on_gpu(row_ptr, s.shape.rows, s.row_max, {usual_height, window});
  const auto slice_ptr = offsets_of_slices_on_gpu(row_ptr, s.shape.rows, order.data(), usual_height);
  return gpu::fetch(slice_ptr.data() + slice_ptr.size() - 1);
}

} // namespace gpu_lengths

void measure_lengths_on_gpu(const index_t* row_ptr, stats& s) {
  using namespace gpu_lengths;
  static_assert(usual_height == gpu::warp);
  const gpu::queue& q = gpu::current_queue();
  gpu_array<word> there(short_lengths + places, word(0));
  gpu_array<index_t> of_long_rows(s.nnz / short_lengths + 1);
  gpu::launch(lengths_kernel, gpu::blocks_for(s.shape.rows, gpu::each_threads, q, 8), gpu::each_threads, 0, q,
              s.shape.rows, row_ptr, there.data(), there.data() + short_lengths, of_long_rows.data());
  const host_array<word> home(there);
  const auto number = [&](place p) { return home[short_lengths + p]; };
  std::vector<index_t> count;
  const auto add = [&](index_t length, word rows) {
    if (length >= std::ssize(count)) count.resize(static_cast<std::size_t>(length) + 1);
    count[static_cast<std::size_t>(length)] += static_cast<index_t>(rows);
  };
  for (index_t l = 0; l < short_lengths; ++l)
    if (home[l]) add(l, home[l]);
  if (number(long_rows)) {
    const host_array<index_t> lengths(of_long_rows);
    for (word k = 0; k < number(long_rows); ++k) add(lengths[static_cast<index_t>(k)], 1);
  }
  describe_lengths(std::move(count), s);
  s.lengths_fingerprint = number(fingerprint);
  s.slice_places.fill(-1);
  s.slice_places[0] = static_cast<index_t>(number(slice_places));
  if (hardly_padded(s.slice_places[0], s.nnz)) return;
  for (std::size_t k = 1; k < sorting_windows.size(); ++k)
    s.slice_places[k] = places_in_windows(row_ptr, s, sorting_windows[k]);
}

} // namespace furrow
