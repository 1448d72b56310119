// SPDX-License-Identifier: BSD-3-Clause
#include "strips.hpp"

#include "backends/gpu/primitives.hpp"
#include "matrix/gpu_format_look.hpp"

namespace furrow::hdia_format {
namespace gpu_strips {

using word = found_word;
constexpr int threads = 128, height = int(strip_height);
/// Kinds of diagonals as in `plan_strips`; entries that are 0 lie beside whatever strips there are.
constexpr int kinds = 4;
/// Slices of at most so many entries count their diagonals in a table in shared memory.
constexpr int few_entries = 1024, places = 2 * few_entries;
constexpr int nothing = 0x7fffffff;

__device__ inline int kind_of(int count) {
  return count >= 8 ? 0 : count >= 4 ? 1 : count >= 2 ? 2 : count == 1 ? 3 : 4;
}

/// The rows of a slice in shared memory; absent ones are empty.
struct slice_rows {
  index_t begin[height + 1];
  int strips[kinds];
  int beside[kinds][height]; ///< [k]: entries of each row in no strip of kinds 0 to k

  __device__ int row_of(index_t k) const {
    int low = 0, high = height - 1;
    while (low < high) {
      const int middle = (low + high + 1) / 2;
      if (begin[middle] <= k) low = middle;
      else high = middle - 1;
    }
    return low;
  }
  __device__ void put_beside(int row, int kind) {
    for (int all = 0; all < kind; ++all) atomicAdd(&beside[all][row], 1);
  }
};

/// The place of a diagonal in an open table, taken where it is not there.
__device__ inline int place_of(int* key, int offset) {
  int at = static_cast<int>((static_cast<unsigned>(offset) * 0x9e3779b9u) >> 21);
  static_assert(places == 1 << 11);
  for (;; at = (at + 1) % places) {
    const int there = *static_cast<volatile int*>(key + at);
    if (there == offset) return at;
    if (there != nothing) continue;
    const int before = atomicCAS(key + at, nothing, offset);
    if (before == nothing || before == offset) return at;
  }
}

/// Whether row i of the slice has an entry on the diagonal that is not 0.
template <class V>
__device__ bool has_entry(const csr<V, index_t, cview>& a, const slice_rows& s, index_t first, int i, index_t offset) {
  index_t low = s.begin[i], high = s.begin[i + 1];
  const index_t end = high, col = first + i + offset;
  while (low < high) {
    const index_t middle = low + (high - low) / 2;
    if (a.col[middle] < col) low = middle + 1;
    else high = middle;
  }
  return low < end && a.col[low] == col && a.val[low] != V(0);
}

/// A block a slice. What it adds: entries, strips, and places beside them, by the plan of `plan_strips`.
template <class V>
__global__ void __launch_bounds__(threads) strips_kernel(csr<V, index_t, cview> a, spread_rows sample, word* to) {
  __shared__ slice_rows s;
  __shared__ int key[places], count[places];
  gpu::take_turn();
  const int thread = static_cast<int>(threadIdx.x);
  const row_range rows = sample[blockIdx.x];
  const index_t first = rows.first;
  if (thread <= height) s.begin[thread] = a.row_ptr[first + (thread < rows.count ? thread : rows.count)];
  if (thread < kinds) s.strips[thread] = 0;
  for (int k = thread; k < kinds * height; k += threads) s.beside[k / height][k % height] = 0;
  for (int k = thread; k < places; k += threads) key[k] = nothing, count[k] = 0;
  __syncthreads();
  const index_t begin = s.begin[0], end = s.begin[height];
  if (begin == end) return; // the whole block
  if (end - begin <= few_entries) {
    for (index_t k = begin + thread; k < end; k += threads) {
      const int at = place_of(key, static_cast<int>(a.col[k] - first - s.row_of(k)));
      if (a.val[k] != V(0)) atomicAdd(count + at, 1);
    }
    __syncthreads();
    for (int at = thread; at < places; at += threads)
      if (count[at]) atomicAdd(s.strips + kind_of(count[at]), 1);
    for (index_t k = begin + thread; k < end; k += threads) {
      const int row = s.row_of(k);
      const int at = place_of(key, static_cast<int>(a.col[k] - first - row));
      s.put_beside(row, a.val[k] != V(0) ? kind_of(count[at]) : kinds);
    }
  } else {
    for (index_t k = begin + thread; k < end; k += threads) {
      const int row = s.row_of(k);
      if (a.val[k] == V(0)) {
        s.put_beside(row, kinds);
        continue;
      }
      int on_diagonal = 1;
      bool is_first = true;
      for (int i = 0; i < height; ++i)
        if (i != row && has_entry(a, s, first, i, a.col[k] - first - row)) {
          ++on_diagonal;
          is_first = is_first && i > row;
        }
      if (is_first) atomicAdd(s.strips + kind_of(on_diagonal), 1);
      s.put_beside(row, kind_of(on_diagonal));
    }
  }
  __syncthreads();
  if (thread != 0) return;
  int fewest = nothing, sum = 0, strips = 0, width = 0;
  for (int all = 0; all < kinds; ++all) {
    sum += s.strips[all];
    int widest = 0;
    for (int i = 0; i < height; ++i) widest = s.beside[all][i] > widest ? s.beside[all][i] : widest;
    if (sum + 2 * widest >= fewest) continue;
    fewest = sum + 2 * widest;
    strips = sum;
    width = widest;
  }
  atomicAdd(to, static_cast<word>(end - begin));
  atomicAdd(to + 1, static_cast<word>(strips));
  atomicAdd(to + 2, static_cast<word>(width) * height);
}

template <class V> void begin(const csr<V, index_t, cview>& a, const stats& sizes, word* words, word*) {
  const spread_rows sample = sampled_slices(sizes);
  if (sample.count > 0)
    gpu::launch(strips_kernel<V>, static_cast<unsigned>(sample.count), threads, 0, gpu::current_queue(), a, sample,
                words);
}

estimate_numbers numbers(const stats&, const word* home, const word*) {
  return strip_counts{static_cast<index_t>(home[0]), static_cast<index_t>(home[1]), static_cast<index_t>(home[2])}
      .numbers();
}

} // namespace gpu_strips

extern const gpu_format_look gpu_look{
    "hdia", 3, 0, gpu_strips::begin<double>, gpu_strips::begin<float>, nullptr, gpu_strips::numbers};

} // namespace furrow::hdia_format
