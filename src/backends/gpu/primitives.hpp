// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "launch.hpp"

#include <vector>

/// What sets up matrices on a GPU: loops over indices, scans, selections and sorts, in the order of the current queue.
/// Integers only where the order of a sum could show: the same bits on every run. What CUB does is compiled once, in
/// primitives.cu: its headers take longer than most sources that need it.
namespace furrow::gpu {

inline constexpr int each_threads = 256;

template <class F> __global__ void __launch_bounds__(each_threads) each_kernel(index_t n, F f) {
  take_turn();
  const index_t i = index_t(blockIdx.x) * each_threads + threadIdx.x;
  if (i < n) f(i);
}

/// f(i) for every i in [0, n), a thread each. Writes what it likes, matrices too: nothing that follows reads early.
template <class F> void for_each(index_t n, F f) {
  if (n == 0) return;
  launch(each_kernel<F>, static_cast<unsigned>((n + each_threads - 1) / each_threads), each_threads, 0, current_queue(),
         n, f);
}

/// Entries that a block of `each_entry_kernel` takes.
inline constexpr int entries_a_block = 4 * each_threads;

/// The last of the rows in [low, high] that begins at or before entry k.
__device__ inline index_t row_of_entry(const index_t* row_ptr, index_t k, index_t low, index_t high) {
  while (low < high) {
    const index_t middle = low + (high - low + 1) / 2;
    if (row_ptr[middle] <= k) low = middle;
    else high = middle - 1;
  }
  return low;
}

template <class F>
__global__ void __launch_bounds__(each_threads)
    each_entry_kernel(index_t rows, const index_t* row_ptr, index_t entries, F f) {
  __shared__ index_t row[2]; // of the first and the last entry
  take_turn();
  const index_t first = index_t(blockIdx.x) * entries_a_block;
  const index_t last = first + entries_a_block < entries ? first + entries_a_block : entries;
  if (threadIdx.x % warp == 0 && threadIdx.x / warp < 2)
    row[threadIdx.x / warp] = row_of_entry(row_ptr, threadIdx.x ? last - 1 : first, 0, rows - 1);
  __syncthreads();
  for (index_t k = first + threadIdx.x; k < last; k += each_threads) f(row_of_entry(row_ptr, k, row[0], row[1]), k);
}

/// f(i, k) for every entry k, in row i, of compressed rows: equal shares whatever their lengths.
template <class F> void for_each_entry(index_t rows, const index_t* row_ptr, index_t entries, F f) {
  if (entries == 0) return;
  launch(each_entry_kernel<F>, static_cast<unsigned>((entries + entries_a_block - 1) / entries_a_block), each_threads,
         0, current_queue(), rows, row_ptr, entries, f);
}

/// L lanes of a warp that work together, L a power of two.
template <int L> struct lane_group {
  int rank;
  unsigned lanes; ///< of the warp
  __device__ lane_group() : rank(static_cast<int>(threadIdx.x) % L) {
    const int first = static_cast<int>(threadIdx.x) % warp / L * L;
    lanes = L == warp ? ~0u : ((1u << (L % warp)) - 1) << first;
  }
  __device__ void sync() const {
    if constexpr (L > 1) __syncwarp(lanes);
  }
  __device__ index_t sum(index_t v) const {
    for (int d = L / 2; d > 0; d /= 2) v += __shfl_xor_sync(lanes, v, d);
    return v;
  }
  __device__ double largest(double v) const {
    for (int d = L / 2; d > 0; d /= 2) v = fmax(v, __shfl_xor_sync(lanes, v, d));
    return v;
  }
  /// What a lane of the warp has.
  template <class T> __device__ T from(int lane, T v) const { return __shfl_sync(lanes, v, lane); }
  /// Which of them have the same number as this one, as bits of the warp.
  __device__ unsigned alike(int number) const { return __match_any_sync(lanes, number); }
  /// Which of them say yes, as bits of the warp, and how many of these come before this lane.
  __device__ unsigned vote(bool yes) const { return __ballot_sync(lanes, yes) & lanes; }
  __device__ int votes_before(unsigned votes) const { return __popc(votes & ((1u << threadIdx.x % warp) - 1)); }
};

/// Lanes that walk along a row together, so that they read and write neighbouring places.
inline constexpr int walking_lanes = 8;

/// to(i, k, place) for every entry k of row i that passes, `place` counting from first[i] on; or, without `to`, how
/// many of row i pass, to first[i].
template <class F, bool Count>
__global__ void __launch_bounds__(each_threads) walk_kernel(index_t rows, const index_t* row_ptr, F f, index_t* first) {
  const lane_group<walking_lanes> lanes;
  take_turn();
  const index_t i = (index_t(blockIdx.x) * each_threads + threadIdx.x) / walking_lanes;
  if (i >= rows) return; // whole groups
  index_t place = Count ? 0 : first[i];
  for (index_t begin = row_ptr[i], end = row_ptr[i + 1]; begin < end; begin += walking_lanes) {
    const index_t k = begin + lanes.rank;
    const bool passes = k < end && f.passes(i, k);
    const unsigned votes = lanes.vote(passes);
    if constexpr (!Count)
      if (passes) f.put(i, k, place + lanes.votes_before(votes));
    place += __popc(votes);
  }
  if (Count && lanes.rank == 0) first[i] = place;
}

/// Counts the entries of each row of compressed rows that pass: f.passes(i, k).
template <class F> void count_passing(index_t rows, const index_t* row_ptr, F f, index_t* count) {
  if (rows == 0) return;
  launch(walk_kernel<F, true>, static_cast<unsigned>((rows * walking_lanes + each_threads - 1) / each_threads),
         each_threads, 0, current_queue(), rows, row_ptr, f, count);
}
/// f.put(i, k, place) for those, in their order, row i from place first[i] on.
template <class F> void put_passing(index_t rows, const index_t* row_ptr, F f, const index_t* first) {
  if (rows == 0) return;
  launch(walk_kernel<F, false>, static_cast<unsigned>((rows * walking_lanes + each_threads - 1) / each_threads),
         each_threads, 0, current_queue(), rows, row_ptr, f, const_cast<index_t*>(first));
}

template <class F> __global__ void __launch_bounds__(each_threads) by_lanes_kernel(index_t rows, F f) {
  const lane_group<walking_lanes> lanes;
  take_turn();
  const index_t i = (index_t(blockIdx.x) * each_threads + threadIdx.x) / walking_lanes;
  if (i < rows) f(lanes, i);
}
/// f(lanes, i) for every row i, by lanes that walk along it together.
template <class F> void for_each_by_lanes(index_t rows, F f) {
  if (rows == 0) return;
  launch(by_lanes_kernel<F>, static_cast<unsigned>((rows * walking_lanes + each_threads - 1) / each_threads),
         each_threads, 0, current_queue(), rows, f);
}

/// call(room, bytes, stream) in the manner of CUB: first it says how much room it needs. CUB takes a failure that stays
/// with the thread for one of its own, and says "invalid device ordinal".
template <class Call> void with_room(Call call) {
  const runtime::stream stream = current_queue().stream;
  std::size_t bytes = 0;
  runtime::last_failure();
  check(call(static_cast<void*>(nullptr), bytes, stream));
  gpu_array<unsigned char> room(static_cast<index_t>(bytes ? bytes : 1));
  check(call(static_cast<void*>(room.data()), bytes, stream));
}

/// n elements, and memory for some more behind them.
template <class T> gpu_array<T> with_spare(index_t n, index_t spare) {
  gpu_array<T> a(n + spare);
  a.resize(n);
  return a;
}

/// A copy in the memory of the current GPU.
template <class T> gpu_array<T> on_device(const std::vector<T>& values) {
  gpu_array<T> there(static_cast<index_t>(values.size()));
  copy_bytes(gpu_memory{}, there.data(), host_memory{}, values.data(), there.byte_count());
  return there;
}

/// One number. Waits.
template <class T> T fetch(const T* at) {
  T value;
  copy_bytes(host_memory{}, &value, gpu_memory{}, at, sizeof value);
  return value;
}

/// Lengths become offsets: each the sum of those before it. `lengths` has one element more than there are lengths.
/// The sum of all. Waits.
index_t to_offsets(gpu_array<index_t>& lengths);
/// The same for who knows the sum, or asks for it later: nobody waits.
void enqueue_offsets(gpu_array<index_t>& lengths);

/// The places that are marked, ascending: to `found`. Their number. Waits. Of std::int32_t and std::uint32_t.
template <class T> index_t marked_places(const gpu_array<std::uint8_t>& marks, gpu_array<T>& found);

/// a b, rounded before anything is added to it, as on a host without fused operations.
FURROW_HD inline double product(double a, double b) {
#if defined(__CUDA_ARCH__)
  return __dmul_rn(a, b);
#else
  return a * b;
#endif
}

/// Of all elements and `first`, where the order does not show. They wait. Of double and float; sums of integers.
template <class T> T largest_of(cview<T> items, T first);
template <class T> T least_of(cview<T> items, T first);
index_t sum_of(cview<index_t> items);

template <class T> struct count_up {
  T* to;
  FURROW_HD void operator()(index_t i) const { to[i] = static_cast<T>(i); }
};

/// Keys sorted by their lowest `bits`, and with them the values, equal keys in the order in which they come. Keys of
/// std::uint8_t, std::int32_t and std::uint64_t.
template <class Key> void sort_pairs(gpu_array<Key>& keys, gpu_array<std::int32_t>& values, int bits);

/// The same for the pieces [begin[k], end[k]) of two lists, each piece by itself; what lies between them is not written
/// to `sorted` and `moved`.
void sort_pieces(const gpu_array<std::int32_t>& keys, const gpu_array<double>& values, const gpu_array<index_t>& begin,
                 const gpu_array<index_t>& end, gpu_array<std::int32_t>& sorted, gpu_array<double>& moved);

} // namespace furrow::gpu
