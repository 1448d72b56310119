// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "call.hpp"
#include "gpu_load.hpp"
#include "gpu_plan.hpp"

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

/// True for the block that is the last of `pieces` to arrive at a tile; its partial sums are then all there. All
/// threads must call, after they have written theirs.
inline __device__ bool last_to_arrive(unsigned* arrived, index_t pieces) {
  __shared__ bool last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    last = atomicAdd(arrived, 1u) == unsigned(pieces) - 1;
    if (last) *arrived = 0;
  }
  __syncthreads();
  __threadfence();
  return last;
}

/// The sum over pieces of output `threadIdx.x` < outputs <= 256; piece p of it is partial[p * distance + output].
/// `room` holds a number a thread. All threads must call.
template <int Unroll = 16, class S>
__device__ S sum_pieces(const S* partial, index_t pieces, index_t distance, int outputs, S* room) {
  const int share = gpu_threads / outputs, output = int(threadIdx.x) % outputs, rank = int(threadIdx.x) / outputs;
  S sum{};
  if (rank < share) {
    for (index_t p = rank; p < pieces; p += Unroll * share) {
      S piece[Unroll];
#pragma unroll
      for (int u = 0; u < Unroll; ++u)
        piece[u] = p + u * share < pieces ? __ldcg(partial + (p + u * share) * distance + output) : S(0);
#pragma unroll
      for (int u = 0; u < Unroll; ++u) sum += piece[u];
    }
  }
  __syncthreads();
  room[threadIdx.x] = sum;
  __syncthreads();
  if (int(threadIdx.x) < outputs)
    for (int r = 1; r < share; ++r) sum += room[r * outputs + output];
  __syncthreads();
  return sum;
}

/// Writes N neighbours that are not read again soon: they make room in the second cache before the matrix does.
template <int N, class V> __device__ void store_once(V* to, const neighbours<N, V>& values) {
  if constexpr (sizeof(values) % 16 == 0) {
    const auto* const from = reinterpret_cast<const uint4*>(&values);
#pragma unroll
    for (int k = 0; k < int(sizeof(values) / 16); ++k) __stcs(reinterpret_cast<uint4*>(to) + k, from[k]);
  } else if constexpr (sizeof(values) == 8) {
    __stcs(reinterpret_cast<uint2*>(to), *reinterpret_cast<const uint2*>(&values));
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
