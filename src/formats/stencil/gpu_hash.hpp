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

/// A sum over the entries of a row, so that lanes share them. Values of few digits end in zeros, which a product keeps.
template <class V> __device__ word hash_of_entry(int k, int offset, V v) {
  const word bits = bits_of(v);
  word z =
      (bits ^ bits >> 32) * 0xbf58476d1ce4e5b9 ^ static_cast<word>(static_cast<unsigned>(offset)) * 0x9e3779b97f4a7c15;
  z ^= static_cast<word>(k) << 40;
  return (z ^ z >> 32) * 0x94d049bb133111eb;
}
__device__ inline word hash_of_sum(word sum, index_t entries) { return mixed(sum + static_cast<word>(entries)) >> 1; }

/// Of a row, by all lanes of a group.
template <int Lanes, class V>
__device__ word hash_of_row(const gpu::lane_group<Lanes>& lane, const csr<V, index_t, cview>& a, index_t row) {
  const index_t from = a.row_ptr[row], to = a.row_ptr[row + 1];
  const int own = static_cast<int>(row);
  word sum = 0;
  constexpr int batch = 4; // so that the loads of a long row are under way together
  index_t k = from + lane.rank;
  for (; k + (batch - 1) * Lanes < to; k += batch * Lanes) {
    std::int32_t col[batch];
    V val[batch];
#pragma unroll
    for (int n = 0; n < batch; ++n) col[n] = a.col[k + n * Lanes], val[n] = a.val[k + n * Lanes];
#pragma unroll
    for (int n = 0; n < batch; ++n) sum += hash_of_entry(static_cast<int>(k - from) + n * Lanes, col[n] - own, val[n]);
  }
  for (; k < to; k += Lanes) sum += hash_of_entry(static_cast<int>(k - from), a.col[k] - own, a.val[k]);
  return hash_of_sum(static_cast<word>(lane.sum(static_cast<index_t>(sum))), to - from);
}

} // namespace furrow::gpu_stencils
