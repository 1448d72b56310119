// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "primitives.hpp"

/// Short rows, a thread each, through shared memory.
namespace furrow::gpu {

/// The rows of a block of `each_threads` threads, whose entries all of its threads fetch together, in whole lines and
/// many at a time. A thread that walks along its row in memory has a line for each of its loads to itself, and eight
/// lanes a row do what a row needs once for four rows in a warp in place of 32.
template <class V> class staged_rows {
public:
  /// Entries that a block fetches at a time: all of its rows of a grid in space, 21 KiB of f64, of which eight blocks
  /// fit on a multiprocessor. No row may be longer.
  static constexpr int room = 7 * each_threads;

  struct memory {
    V val[room];
    std::int32_t col[room];
    index_t begin[each_threads / warp], first_end[each_threads / warp], end[each_threads / warp];
    unsigned open[each_threads / warp];
  };

  /// Columns and values of compressed rows.
  __device__ staged_rows(memory& m, const std::int32_t* col, const V* val) : m_(m), col_(col), val_(val) {}

  /// walk(col, val, n) once for the row [from, end) of a thread that has entries; by all threads of the block. Rows
  /// need not ascend: as they lie, such a block fetches more often.
  template <class Walk> __device__ void each(index_t from, index_t end, const Walk& walk) const {
    for (bool open = from < end; __syncthreads_or(open);) { // and nobody reads the entries before these any more
      const auto [begin, count] = next(from, end, open);
      fetch(begin, count);
      __syncthreads();
      if (!open || from < begin || end > begin + count) continue;
      walk(m_.col + (from - begin), m_.val + (from - begin), static_cast<int>(end - from));
      open = false;
    }
  }

private:
  struct part {
    index_t begin;
    int count;
  };
  /// From the first open row on, at least this one, at most to the end of the last one.
  __device__ part next(index_t from, index_t end, bool open) const {
    const int own = static_cast<int>(threadIdx.x) / warp;
    const unsigned votes = __ballot_sync(~0u, open);
    const int first = votes ? __ffs(static_cast<int>(votes)) - 1 : 0,
              last = votes ? 31 - __clz(static_cast<int>(votes)) : 0;
    const int rank = static_cast<int>(threadIdx.x) % warp;
    if (rank == first) m_.open[own] = votes, m_.begin[own] = from, m_.first_end[own] = end;
    if (rank == last) m_.end[own] = end;
    __syncthreads();
    int w = 0, z = each_threads / warp - 1;
    while (!m_.open[w]) ++w;
    while (!m_.open[z]) --z;
    const index_t begin = m_.begin[w], least = m_.first_end[w] - begin, all = m_.end[z] - begin;
    const index_t wanted = all < least ? least : all;
    return {begin, static_cast<int>(wanted < room ? wanted : room)};
  }
  __device__ void fetch(index_t begin, int count) const {
    constexpr int batch = 4;
    const std::int32_t* const from_col = col_ + begin;
    const V* const from_val = val_ + begin;
    for (int base = static_cast<int>(threadIdx.x); base < count; base += batch * each_threads) {
      std::int32_t col[batch];
      V val[batch];
#pragma unroll
      for (int n = 0; n < batch; ++n) {
        const int k = base + n * each_threads;
        if (k < count) col[n] = __ldcs(from_col + k), val[n] = __ldcs(from_val + k);
      }
#pragma unroll
      for (int n = 0; n < batch; ++n) {
        const int k = base + n * each_threads;
        if (k < count) m_.col[k] = col[n], m_.val[k] = val[n];
      }
    }
  }
  memory& m_;
  const std::int32_t* col_;
  const V* val_;
};

} // namespace furrow::gpu
