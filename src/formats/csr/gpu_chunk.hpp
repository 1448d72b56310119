// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "backends/gpu/primitives.hpp"

/// What begins in a chunk of rows that is cut into tiles on a GPU.
namespace furrow::csr_format::gpu_cut {

constexpr int chunk = 3072, threads = 1024, each = chunk / threads;

/// Tiles of rows, and rows that are longer, of a chunk: those from the front, these from the back. A matrix of short
/// tiles has a thousand of them in a chunk, and one thread from tile to tile would take some 30 us: all threads mark
/// where tiles begin, the steps doubled each time, and a scan gives each its place.
struct of_chunk {
  struct places {
    int tiles, longer, parts;
  };
  int taken[chunk];
  int before[chunk];         ///< parts of the longer rows before the m-th one
  std::uint16_t next[chunk]; ///< the tile so many tiles on; `count`: it is behind the chunk
  std::uint16_t row[chunk];
  std::uint8_t begins[chunk];
  places of_warp[threads / gpu::warp];
  int tiles, longer, parts;

  __device__ void mark(int first, int count) {
    for (int r = static_cast<int>(threadIdx.x); r < count; r += threads) {
      const int to = r + (taken[r] ? taken[r] : 1);
      next[r] = static_cast<std::uint16_t>(to < count ? to : count);
      begins[r] = r == first;
    }
    __syncthreads();
    for (bool more = true; more;) {
      int to[each], on[each];
      bool marks[each];
      more = false;
#pragma unroll
      for (int j = 0; j < each; ++j) {
        const int r = static_cast<int>(threadIdx.x) + j * threads;
        to[j] = r < count ? next[r] : count;
        on[j] = to[j] < count ? next[to[j]] : count;
        marks[j] = to[j] < count && begins[r];
        more = more || marks[j];
      }
      more = __syncthreads_or(more);
#pragma unroll
      for (int j = 0; j < each; ++j) {
        const int r = static_cast<int>(threadIdx.x) + j * threads;
        if (marks[j]) begins[to[j]] = 1;
        if (r < count) next[r] = static_cast<std::uint16_t>(on[j]);
      }
      __syncthreads();
    }
  }
  /// What the threads before this one have.
  __device__ places scan(const places& mine) {
    const int lane = static_cast<int>(threadIdx.x) % gpu::warp, own = static_cast<int>(threadIdx.x) / gpu::warp;
    places upto = mine;
    const auto scan_warp = [&] {
      for (int d = 1; d < gpu::warp; d *= 2) {
        const places other{gpu::from_lane_below<gpu::warp>(upto.tiles, d),
                           gpu::from_lane_below<gpu::warp>(upto.longer, d),
                           gpu::from_lane_below<gpu::warp>(upto.parts, d)};
        if (lane >= d) upto = {upto.tiles + other.tiles, upto.longer + other.longer, upto.parts + other.parts};
      }
    };
    scan_warp();
    if (lane == gpu::warp - 1) of_warp[own] = upto;
    const places of_this_warp = upto;
    __syncthreads();
    static_assert(threads == gpu::warp * gpu::warp);
    if (own == 0) {
      upto = of_warp[lane];
      scan_warp();
      of_warp[lane] = upto;
      if (lane == gpu::warp - 1) tiles = upto.tiles, longer = upto.longer, parts = upto.parts;
    }
    __syncthreads();
    const places warps = own ? of_warp[own - 1] : places{0, 0, 0};
    return {warps.tiles + of_this_warp.tiles - mine.tiles, warps.longer + of_this_warp.longer - mine.longer,
            warps.parts + of_this_warp.parts - mine.parts};
  }
  /// parts(r): of a longer row; without `part` it is a tile.
  template <class Parts> __device__ void list(int count, bool longer_are_tiles, Parts parts_of_row) {
    int own[each]; // 0: a tile; below 0: nothing begins here
    places mine{0, 0, 0};
#pragma unroll
    for (int j = 0; j < each; ++j) {
      const int r = static_cast<int>(threadIdx.x) * each + j;
      own[j] = -1;
      if (r >= count || !begins[r]) continue;
      own[j] = taken[r] || longer_are_tiles ? 0 : parts_of_row(r);
      if (own[j] == 0) ++mine.tiles;
      else ++mine.longer, mine.parts += own[j];
    }
    places at = scan(mine);
#pragma unroll
    for (int j = 0; j < each; ++j) {
      const auto r = static_cast<std::uint16_t>(static_cast<int>(threadIdx.x) * each + j);
      if (own[j] < 0) continue;
      if (own[j] == 0) {
        row[at.tiles++] = r;
        continue;
      }
      before[at.longer] = at.parts;
      row[chunk - ++at.longer] = r;
      at.parts += own[j];
    }
    __syncthreads();
  }
  /// The longer row that has the n-th of all parts.
  __device__ int longer_of_part(int n) const {
    int low = 0, high = longer - 1;
    while (low < high) {
      const int middle = (low + high + 1) / 2;
      if (before[middle] <= n) low = middle;
      else high = middle - 1;
    }
    return low;
  }
};
static_assert(chunk <= 0xffff);

} // namespace furrow::csr_format::gpu_cut
