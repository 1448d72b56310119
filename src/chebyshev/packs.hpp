// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "unity.hpp"

#include "backends/cpu/isa.hpp"

#include <algorithm>

/// Complex numbers that are worked on side by side: tile_lanes real parts, then as many imaginary ones.
namespace furrow::chebyshev {

inline constexpr index_t tile_lanes = 8, pair_size = 2 * tile_lanes;

/// A vector register of doubles, anywhere in memory. How one is passed by value depends on the instruction set, so
/// functions take references.
template <int Bytes> using pack [[gnu::vector_size(Bytes), gnu::may_alias, gnu::aligned(8)]] = double;
template <int Bytes> FURROW_INLINE inline pack<Bytes>& at(double* p) { return *reinterpret_cast<pack<Bytes>*>(p); }
template <int Bytes> FURROW_INLINE inline const pack<Bytes>& at(const double* p) {
  return *reinterpret_cast<const pack<Bytes>*>(p);
}

/// to[l * step] <- the element of number l in number d's place d, for eight complex packs each.
template <int Bytes>
FURROW_INLINE inline void transpose(const double* from, index_t from_step, double* to, index_t to_step) {
  for (index_t part = 0; part < pair_size; part += tile_lanes, from += tile_lanes, to += tile_lanes) {
    if constexpr (Bytes < 64) {
      for (index_t l = 0; l < tile_lanes; ++l)
        for (index_t d = 0; d < tile_lanes; ++d) to[d * to_step + l] = from[l * from_step + d];
    } else {
      pack<64> x[8], y[8], z[8];
#pragma GCC unroll 8
      for (int i = 0; i < 8; ++i) x[i] = at<64>(from + i * from_step);
#pragma GCC unroll 8
      for (int i = 0; i < 8; ++i) {
        const auto &a = x[i & ~1], &b = x[i | 1];
        y[i] = i & 1 ? __builtin_shufflevector(a, b, 1, 9, 3, 11, 5, 13, 7, 15)
                     : __builtin_shufflevector(a, b, 0, 8, 2, 10, 4, 12, 6, 14);
      }
#pragma GCC unroll 8
      for (int i = 0; i < 8; ++i) {
        const auto &a = y[i & ~2], &b = y[i | 2];
        z[i] = i & 2 ? __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15)
                     : __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13);
      }
#pragma GCC unroll 8
      for (int i = 0; i < 8; ++i) {
        const auto &a = z[i & ~4], &b = z[i | 4];
        at<64>(to + i * to_step) = i & 4 ? __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15)
                                         : __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11);
      }
    }
  }
}

} // namespace furrow::chebyshev
