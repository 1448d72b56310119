// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "../call.hpp"
#include "cut.hpp"
#include "load.hpp"

#include "backends/gpu/reduce.hpp"

/// Sums that several blocks share: each leaves its piece in scratch memory, the block that comes last to a tile adds
/// the pieces in an order that depends on their number alone.
namespace furrow::dense {

/// Many running sums a thread: such kernels have the registers of a multiprocessor to themselves, and fewer loads under
/// way a thread.
template <class T, class S, int Rhs> inline constexpr bool many_sums = Rhs* int(sizeof(S)) * per_load<T> >= 128;

/// Blocks a multiprocessor that a kernel has registers for.
template <class T, class S, int Rhs>
inline constexpr int room_for = many_sums<T, S, Rhs>                             ? 1
                                : Rhs > 1 || sizeof(S) > sizeof(vector_value<T>) ? 2
                                                                                 : resident;

/// Scratch memory of one call.
template <class S> struct gpu_scratch {
  S* partial = nullptr;        ///< pieces of all tiles, where there is more than one a tile
  unsigned* arrived = nullptr; ///< one a tile; 0 between kernels
};

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

/// One more arrival; how many there were. What the block wrote before a barrier before it is there for those who come
/// later.
inline __device__ unsigned count_arrival(unsigned* arrived) {
  unsigned before;
  asm volatile("atom.add.acq_rel.gpu.global.u32 %0, [%1], 1;" : "=r"(before) : "l"(arrived) : "memory");
  return before;
}

/// True for the block that is the last of `pieces` to arrive at a tile; its partial sums are then all there. All
/// threads must call, after they have written theirs.
inline __device__ bool last_to_arrive(unsigned* arrived, index_t pieces) {
  __shared__ bool last;
  __syncthreads();
  if (threadIdx.x == 0) {
    last = count_arrival(arrived) == unsigned(pieces) - 1;
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
