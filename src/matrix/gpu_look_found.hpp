// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "gpu_format_look.hpp"

#include "backends/gpu/primitives.hpp"

/// What the kernels of a look at rows on a GPU find, in words that all of them share.
namespace furrow::gpu_look {

using word = found_word;

/// Where kernels leave what they found. Numbers that are not negative are compared by their bits.
/// `diagonals` are counted when all of them are marked, by the kernel that looks at lengths.
enum place { zeros, stored_diagonal, zero_diagonal, negative_diagonal, small_diagonal, dominant, diagonals, counted };
enum extreme { norm_inf, largest, least_row, wide_extremes };
enum mark { lower, upper, infinite, wrong, outside, disordered, marks };
constexpr int first_extreme = counted, first_mark = first_extreme + int(wide_extremes),
              wrong_word = first_mark + int(wrong), entries_word = first_mark + int(marks), words = entries_word + 1;

__device__ inline word bits(double v) { return static_cast<word>(__double_as_longlong(v)); }
__device__ inline word larger(word a, word b) { return a > b ? a : b; }

/// What a thread has found; `most` of what 32 bits hold.
struct found {
  unsigned count[counted] = {}, most[marks] = {};
  word widest[wide_extremes] = {};

  __device__ void raise(mark m, unsigned v) { most[m] = v > most[m] ? v : most[m]; }
  __device__ void raise(extreme e, word v) { widest[e] = larger(widest[e], v); }
  /// Over the block, then for all: a word of all takes one addition at a time, some 2 ns each.
  __device__ void leave(word* to) {
    constexpr int warps = gpu::each_threads / gpu::warp, each = entries_word;
    __shared__ word of_warp[each][warps];
    const int thread = static_cast<int>(threadIdx.x), own = thread / gpu::warp;
    __syncwarp();
    const auto put = [&](int k, word v) {
      if (thread % gpu::warp == 0) of_warp[k][own] = v;
    };
    for (int k = 0; k < counted; ++k) put(k, __reduce_add_sync(~0u, count[k]));
    for (int k = 0; k < wide_extremes; ++k) {
      word v = widest[k];
      for (int d = gpu::warp / 2; d > 0; d /= 2) v = larger(v, gpu::from_lane_across<gpu::warp>(v, d));
      put(first_extreme + k, v);
    }
    for (int k = 0; k < marks; ++k) put(first_mark + k, __reduce_max_sync(~0u, most[k]));
    __syncthreads();
    if (thread >= each) return;
    word all = of_warp[thread][0];
    for (int w = 1; w < warps; ++w) all = thread < counted ? all + of_warp[thread][w] : larger(all, of_warp[thread][w]);
    if (thread < counted && all) atomicAdd(to + thread, all);
    if (thread >= counted && all > *static_cast<volatile word*>(to + thread)) atomicMax(to + thread, all);
  }
};

/// Which diagonals have entries, a bit each. A block marks near ones in words of its own, and those in memory in the
/// end: all blocks come at once, and a word takes one of them at a time.
struct diagonal_marks {
  static constexpr int near = 1 << 14;
  struct memory {
    unsigned near_bit[2 * near / 32];
  };
  /// What a thread has marked last at each place of a batch: rows of a grid have the same diagonals one after another.
  template <int Batch> struct last_ones {
    int offset[Batch];
    __device__ last_ones() {
      constexpr int no_offset = -0x7fffffff - 1;
#pragma unroll
      for (int n = 0; n < Batch; ++n) offset[n] = no_offset;
    }
  };
  unsigned* bit; ///< of column - row + rows - 1
  memory& mine;

  /// The beginning of a kernel: nothing is marked, and what the kernels before have written can be read.
  static __device__ diagonal_marks begin(unsigned* bit, memory& mine) {
    for (int k = static_cast<int>(threadIdx.x); k < 2 * near / 32; k += gpu::each_threads) mine.near_bit[k] = 0;
    gpu::take_turn();
    __syncthreads();
    return {bit, mine};
  }
  /// `Batch` diagonals, far ones in memory. These are looked at together: where all diagonals differ, each is a trip to
  /// memory. Nobody waits for what marks them.
  template <int Batch>
  __device__ void add(const int (&offset)[Batch], const bool (&is)[Batch], last_ones<Batch>& last, index_t rows) const {
    bool asks[Batch];
    unsigned there[Batch];
#pragma unroll
    for (int n = 0; n < Batch; ++n) {
      const auto at = static_cast<unsigned>(offset[n]) + near;
      const bool is_new = is[n] && offset[n] != last.offset[n], is_near = at < 2 * near;
      if (is_new) last.offset[n] = offset[n];
      if (is_new && is_near) atomicOr(mine.near_bit + at / 32, 1u << at % 32);
      asks[n] = is_new && !is_near;
    }
#pragma unroll
    for (int n = 0; n < Batch; ++n) there[n] = asks[n] ? __ldcg(bit + (offset[n] + rows - 1) / 32) : 0;
#pragma unroll
    for (int n = 0; n < Batch; ++n) {
      const index_t at = offset[n] + rows - 1;
      const unsigned mask = 1u << (at % 32);
      if (asks[n] && !(there[n] & mask)) atomicOr(bit + at / 32, mask);
    }
  }
  /// The near ones, by the whole block in the end.
  __device__ void end(index_t rows) const {
    __syncthreads();
    for (int k = static_cast<int>(threadIdx.x); k < 2 * near / 32; k += gpu::each_threads) {
      const unsigned own = mine.near_bit[k];
      if (!own) continue;
      const index_t at = index_t(32) * k - near + rows - 1, word = at >> 5; // of the first of them; some are before
      const int shift = static_cast<int>(at & 31);
      mark(word, own << shift);
      if (shift) mark(word + 1, own >> (32 - shift));
    }
  }

private:
  __device__ void mark(index_t word, unsigned mask) const {
    if (mask && (mask & ~__ldcg(bit + word))) atomicOr(bit + word, mask);
  }
};

/// Offsets as they came; `to`: null, or where they go in 64 bits.
template <class I> struct given_offsets {
  const I* from;
  index_t* to;
  index_t rows, places; ///< places: entries that there may be

  struct bounds {
    index_t from, end;
  };
  /// Of row i; one lane writes. Wrong ones are those of an empty row.
  __device__ bounds of(index_t i, bool writes, found& f) const {
    const index_t begin = from[i], end = from[i + 1];
    if (to && writes) to[i] = begin;
    if (0 <= begin && begin <= end && end <= places) return {begin, end};
    f.most[wrong] = 1;
    return {0, 0};
  }
  /// What belongs to no row, by one thread of all.
  __device__ void look_at_ends(found& f, word* found_words) const {
    if (blockIdx.x != 0 || threadIdx.x != 0) return;
    const index_t all = from[rows];
    if (to) to[rows] = all;
    if (from[0] != 0 || all < 0 || all > places) f.most[wrong] = 1;
    found_words[entries_word] = static_cast<word>(all);
  }
};

} // namespace furrow::gpu_look
