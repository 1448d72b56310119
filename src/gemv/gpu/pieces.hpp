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

/// Which tile this block has, of all problems.
inline __device__ index_t this_tile() { return blockIdx.z * index_t(gridDim.x) + blockIdx.x; }

/// True for the block that is the last of `pieces` to arrive at its tile; the partial sums are then all there. All
/// threads must call, after they have written theirs.
template <class S> __device__ bool last_to_arrive(const gpu_scratch<S>& scratch, index_t pieces) {
  __shared__ bool last;
  unsigned* const arrived = scratch.arrived + this_tile();
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
/// output]. `room` holds a number a thread. The pieces are all there. All threads must call.
template <class S> __device__ S sum_pieces(const S* partial, int pieces, index_t distance, int outputs, S* room) {
  // No more threads for an output: their sums are added up one by one.
  const int thread = int(threadIdx.x), share = min(gpu_threads / outputs, int(gpu::warp));
  const int rank = thread / outputs, output = thread - rank * outputs;
  constexpr int unroll = sizeof(S) == 8 ? 8 : 16;
  S sum{};
  if (rank < share) {
#pragma unroll 1
    for (int p = rank; p < pieces; p += unroll * share) {
      S piece[unroll];
#pragma unroll
      for (int u = 0; u < unroll; ++u) // another block wrote it: past the first cache
        piece[u] = p + u * share < pieces ? __ldcg(partial + (p + u * share) * distance + output) : S(0);
#pragma unroll
      for (int u = 0; u < unroll; ++u) sum += piece[u];
    }
  }
  __syncthreads();
  room[thread] = sum;
  __syncthreads();
  S total = sum;
#pragma unroll 4
  for (int r = 1; r < share && thread < outputs; ++r) total += room[r * outputs + output];
  __syncthreads();
  return total;
}

/// Output threadIdx.x < outputs of a tile, whose sum has several pieces: `sum` is this block's. True for the block that
/// comes last; its `sum` is then the whole one. All threads must call.
template <class S>
__device__ bool join_pieces(const gpu_scratch<S>& scratch, const cut& p, int outputs, S* room, S& sum) {
  S* const partial = scratch.partial + this_tile() * p.pieces * outputs;
  if (int(threadIdx.x) < outputs) partial[blockIdx.y * outputs + threadIdx.x] = sum;
  if (!last_to_arrive(scratch, p.pieces)) return false;
  sum = sum_pieces(partial, int(p.pieces), outputs, outputs, room);
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

/// room[q] <- the sum of room[q + i pitch] over i < parts, for q < pitch, always in the same order. Between the stores
/// into the room and this call there is a barrier; there is one behind it.
template <class S> __device__ void fold_parts(S* room, int parts, int pitch) {
#pragma unroll 1
  for (int left = parts; left > 1;) { // eight parts onto the first one
    const int part = (left + 7) / 8, step = part * pitch, end = left * pitch;
#pragma unroll 1
    for (int q = int(threadIdx.x); q < step; q += gpu_threads) {
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

/// load_once of a matrix that goes through the second cache while much is written. Where what is read leaves first, it
/// gives way to what comes next, so that of y nothing stays to be written back together, and memory that reads and
/// writes by turns is slower (of two lines in and one out by 3 percent, of packed lines of two by 6, on an H200).
inline __device__ bytes16 load_beside_stores(const void* p) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  std::uint64_t unchanged;
  asm("createpolicy.fractional.L2::evict_unchanged.b64 %0, 1.0;" : "=l"(unchanged));
  bytes16 b;
  asm("ld.global.nc.L1::no_allocate.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
      : "=r"(b.word[0]), "=r"(b.word[1]), "=r"(b.word[2]), "=r"(b.word[3])
      : "l"(p), "l"(unchanged));
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
