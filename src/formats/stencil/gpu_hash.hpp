// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "backends/gpu/primitives.hpp"
#include "formats/csr/csr.hpp"

/// Rows told apart by hashes of their stencils.
namespace furrow::gpu_stencils {

using word = unsigned long long;
using gpu::walking_lanes;
constexpr word nothing = ~word(0); ///< the hash of no row

__device__ inline word mixed(word z) { // as splitmix64
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}
__device__ inline word bits_of(double v) { return static_cast<word>(__double_as_longlong(v)); }
__device__ inline word bits_of(float v) { return __float_as_uint(v); }

/// A sum over the entries of a row, so that lanes share them.
template <class V> __device__ word hash_of_entry(index_t k, index_t offset, V v) {
  return mixed(mixed(bits_of(v)) ^ static_cast<word>(offset) * 0x9e3779b97f4a7c15 ^ static_cast<word>(k) << 40);
}

/// Of a row, by all lanes of a group.
template <class V>
__device__ word hash_of_row(const gpu::lane_group<walking_lanes>& lane, const csr<V, index_t, cview>& a, index_t row) {
  const index_t from = a.row_ptr[row], to = a.row_ptr[row + 1];
  word sum = 0;
  constexpr int batch = 4; // so that the loads of a long row are under way together
  index_t k = from + lane.rank;
  for (; k + (batch - 1) * walking_lanes < to; k += batch * walking_lanes) {
    std::int32_t col[batch];
    V val[batch];
#pragma unroll
    for (int n = 0; n < batch; ++n) col[n] = a.col[k + n * walking_lanes], val[n] = a.val[k + n * walking_lanes];
#pragma unroll
    for (int n = 0; n < batch; ++n) sum += hash_of_entry(k + n * walking_lanes - from, col[n] - row, val[n]);
  }
  for (; k < to; k += walking_lanes) sum += hash_of_entry(k - from, a.col[k] - row, a.val[k]);
  return mixed(static_cast<word>(lane.sum(static_cast<index_t>(sum))) + static_cast<word>(to - from)) >> 1;
}

} // namespace furrow::gpu_stencils
