// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "../call.hpp"
#include "cut.hpp"
#include "load.hpp"

#include "backends/gpu/reduce.hpp"

#include <cstring>

/// Sums that several blocks share: each leaves its piece in scratch memory, the block that comes last to a tile adds
/// the pieces in an order that depends on their number alone.
namespace furrow::dense {

/// Registers that the running sums of a thread take where lines are added up.
template <class T, class S, int Rhs> inline constexpr int sum_registers = Rhs* int(sizeof(S)) / 4 * per_load<T>;

/// Scratch memory of one call.
template <class S> struct gpu_scratch {
  S* partial = nullptr;        ///< pieces of all tiles, where there is more than one a tile
  unsigned* arrived = nullptr; ///< one a tile; 0 between kernels
};

/// a / b for 0 <= a < 2^20 and b > 0, in a few instructions where a division of integers takes forty: the quotient of
/// a + 1/2 is further from all integers than it is wrong.
inline __device__ int small_quotient(int a, int b) { return int(__fdividef(float(a) + 0.5f, float(b))); }

/// The first item of a block where tiles, pieces and problems are the three sides of the grid; the others are the same
/// of later problems.
inline __device__ gpu_item first_item() { return {index_t(blockIdx.z), index_t(blockIdx.y), index_t(blockIdx.x)}; }

/// N neighbours that another block wrote: past the first cache.
template <int N, class S> __device__ neighbours<N, S> load_fresh(const S* p, fixed<N>) {
  neighbours<N, S> all;
  if constexpr (N == 1) {
    all.of[0] = __ldcg(p);
  } else {
    static_assert(sizeof(all) == 16);
    const uint4 raw = __ldcg(reinterpret_cast<const uint4*>(p));
    std::memcpy(&all, &raw, 16);
  }
  return all;
}

/// True for the block that is the last of `pieces` to arrive at a tile; its partial sums are then all there. All
/// threads must call, after they have written theirs.
inline __device__ bool last_to_arrive(unsigned* arrived, index_t pieces) {
  __shared__ bool last;
  __syncthreads();
  if (threadIdx.x == 0) {
    unsigned before; // what a block wrote before its barrier is there for those who come later
    asm volatile("atom.add.acq_rel.gpu.global.u32 %0, [%1], 1;" : "=r"(before) : "l"(arrived) : "memory");
    last = before == unsigned(pieces) - 1;
    if (last) *arrived = 0;
  }
  __syncthreads();
  return last;
}

/// The sum over pieces of output `threadIdx.x` < outputs <= gpu_threads; piece p of it is partial[p * distance +
/// output]. A thread reads N neighbours at a time, which `outputs` and `distance` are multiples of. `room` holds N
/// numbers a thread. The pieces are all there. All threads must call.
template <int Unroll = 16, int N = 1, class S>
__device__ S sum_pieces(S* partial, int pieces, index_t distance, int outputs, S* room) {
  // No more threads for an output: their sums are added up one by one.
  const int places = outputs / N;
  const int share = min(small_quotient(gpu_threads, places), int(gpu::warp));
  const int rank = small_quotient(int(threadIdx.x), places), first = (int(threadIdx.x) - rank * places) * N;
  S sum[N] = {};
  if (rank < share) {
#pragma unroll 1
    for (int p = rank; p < pieces; p += Unroll * share) {
      neighbours<N, S> piece[Unroll] = {};
#pragma unroll
      for (int u = 0; u < Unroll; ++u)
        if (p + u * share < pieces) piece[u] = load_fresh(partial + (p + u * share) * distance + first, fixed<N>{});
#pragma unroll
      for (int u = 0; u < Unroll; ++u)
#pragma unroll
        for (int j = 0; j < N; ++j) sum[j] += piece[u].of[j];
    }
  }
  __syncthreads();
  if (rank < share)
#pragma unroll
    for (int j = 0; j < N; ++j) room[rank * outputs + first + j] = sum[j];
  __syncthreads();
  const int output = int(threadIdx.x);
  S total{};
  if (output < outputs) {
    total = room[output];
#pragma unroll 4
    for (int r = 1; r < share; ++r) total += room[r * outputs + output];
  }
  __syncthreads();
  return total;
}

/// Output threadIdx.x < outputs of a tile, whose sum has several pieces: `sum` is this block's. True for the block that
/// comes last; its `sum` is then the whole one. Pieces are `distance` numbers apart. All threads must call.
template <class S>
__device__ bool join_pieces(const gpu_scratch<S>& scratch, index_t tile, index_t piece, index_t pieces,
                            index_t distance, int outputs, S* room, S& sum) {
  S* const partial = scratch.partial + tile * pieces * distance;
  const int output = int(threadIdx.x);
  if (output < outputs) partial[piece * distance + output] = sum;
  if (!last_to_arrive(scratch.arrived + tile, pieces)) return false;
  sum = sum_pieces(partial, int(pieces), distance, outputs, room);
  return true;
}

/// The sum of sum[q] over a block of gpu_threads threads, in thread q < N, through a room of N numbers a warp.
template <int N, class S> __device__ S sum_over_block(const S* sum, S* room) {
  constexpr int warps = gpu_threads / gpu::warp;
  const int thread = int(threadIdx.x);
#pragma unroll
  for (int q = 0; q < N; ++q) {
    const S of_warp = gpu::sum_lanes<gpu::warp>(sum[q]);
    if (thread % gpu::warp == 0) room[q * warps + thread / gpu::warp] = of_warp;
  }
  __syncthreads();
  S total{};
  if (thread < N)
    for (int w = 0; w < warps; ++w) total += room[thread * warps + w];
  return total;
}

/// room[w][k] <- the sum over warp w of column k, where groups of Lanes threads have the same columns: a thread, N in
/// sum. There is a barrier behind it.
template <int Lanes, int N, class S> __device__ void sum_groups_of_warps(const S* sum, S (*room)[Lanes * N]) {
  const int thread = int(threadIdx.x);
#pragma unroll
  for (int j = 0; j < N; ++j) {
    S of_warp = sum[j];
#pragma unroll
    for (int distance = gpu::warp / 2; distance >= Lanes; distance /= 2)
      of_warp += gpu::from_lane_across<gpu::warp>(of_warp, distance);
    if (thread % gpu::warp < Lanes) room[thread / gpu::warp][thread % Lanes * N + j] = of_warp;
  }
  __syncthreads();
}

/// room[q] <- the sum of room[q + i pitch] over i < parts, for q < pitch, always in the same order. By Threads threads,
/// between whose stores into the room and this call there is a barrier; there is one behind it.
template <int Threads, class S> __device__ void fold_parts(S* room, int parts, int pitch) {
#pragma unroll 1
  for (int left = parts; left > 1;) { // eight parts onto the first one
    const int part = (left + 7) / 8, step = part * pitch, end = left * pitch;
#pragma unroll 1
    for (int q = int(threadIdx.x); q < step; q += Threads) {
      S total = room[q];
#pragma unroll
      for (int i = 1; i < 8; ++i)
        if (const int other = q + i * step; other < end) total += room[other];
      room[q] = total;
    }
    left = part;
    __syncthreads();
  }
}

/// How the second cache treats a matrix that goes through it once while much is written. Where y has room there, the
/// matrix leaves first, so that y stays. Otherwise it is like anything else: what leaves first gives way to what comes
/// next, so that of y nothing stays to be written back together, and memory that reads and writes by turns is slower
/// (of two lines in and one out by 5 percent, on an H200).
inline __device__ std::uint64_t once_policy([[maybe_unused]] bool y_stays) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  std::uint64_t first, unchanged;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(first));
  asm("createpolicy.fractional.L2::evict_unchanged.b64 %0, 1.0;" : "=l"(unchanged));
  return y_stays ? first : unchanged;
#else
  return 0;
#endif
}

/// load_once by such a policy.
inline __device__ bytes16 load_once(const void* p, [[maybe_unused]] std::uint64_t policy) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  bytes16 b;
  asm("ld.global.nc.L1::no_allocate.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
      : "=r"(b.word[0]), "=r"(b.word[1]), "=r"(b.word[2]), "=r"(b.word[3])
      : "l"(p), "l"(policy));
  return b;
#else
  return load_once(p);
#endif
}

/// Writes N neighbours, 16 bytes at a time and in their order, so that halves of the 32 bytes that memory deals in stay
/// together (a compiler that moves them apart costs a fifth of the time).
template <int N, class V> __device__ void store_neighbours(V* to, const neighbours<N, V>& values) {
  if constexpr (sizeof(values) > 16) {
    std::uint32_t word[sizeof(values) / 4];
    std::memcpy(word, &values, sizeof(values));
#pragma unroll
    for (int k = 0; k < int(sizeof(values) / 4); k += 4)
      asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to + k * 4 / sizeof(V)), "r"(word[k]),
                   "r"(word[k + 1]), "r"(word[k + 2]), "r"(word[k + 3])
                   : "memory");
  } else {
    *reinterpret_cast<neighbours<N, V>*>(to) = values;
  }
}

/// Where element `output` of vector r of a problem goes.
template <class S, class T>
__device__ void put_output(const call<T>& c, index_t problem, int r, index_t output, S sum) {
  put(c.alpha, sum, c.beta, c.y_of(problem)[output * c.y_stride + r * c.y_next]);
}

} // namespace furrow::dense
