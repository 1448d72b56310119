// SPDX-License-Identifier: BSD-3-Clause
#include "strips.hpp"

#include "backends/gpu/primitives.hpp"
#include "matrix/gpu_format_look.hpp"

namespace furrow::hdia_format {
namespace gpu_strips {

using word = found_word;
constexpr int threads = 128, height = int(strip_height);
/// Kinds of diagonals as in `slice_diagonals::plan`, and the entries that are 0, which lie beside whatever strips there
/// are.
constexpr int kinds = 4;
/// A table of diagonals takes so many entries; every row of a slice but its longest one enters its diagonals there.
constexpr int most_entered = 2048, places = 2 * most_entered;
constexpr int nothing = 0x7fffffff;

__device__ inline int kind_of(unsigned count) {
  return count >= 8 ? 0 : count >= 4 ? 1 : count >= 2 ? 2 : count == 1 ? 3 : 4;
}

/// The rows of a slice in shared memory; absent ones are empty.
struct slice_rows {
  index_t begin[height + 1];
  int longest;                    ///< row
  int strips[kinds + 1];          ///< diagonals of each kind
  int of_kind[kinds + 1][height]; ///< entries of each row on them

  __device__ int row_of(index_t k) const {
    int low = 0, high = height - 1;
    while (low < high) {
      const int middle = (low + high + 1) / 2;
      if (begin[middle] <= k) low = middle;
      else high = middle - 1;
    }
    return low;
  }
  __device__ index_t length(int i) const { return begin[i + 1] - begin[i]; }
};

/// Bytes that threads add to: at most 16 rows count a diagonal, and one marks it.
constexpr unsigned of_longest = 0x40;
__device__ inline void add_to_byte(unsigned* words, int at, unsigned n) {
  atomicAdd(words + at / 4, n << 8 * (at % 4));
}
__device__ inline unsigned byte_at(const unsigned* words, int at) {
  return *reinterpret_cast<const volatile unsigned*>(words + at / 4) >> 8 * (at % 4) & 0xff;
}

/// Diagonals in an open table of `size` places, a power of two, which is at most half full.
struct diagonal_table {
  int* key;
  unsigned* count; ///< a byte each
  int size, shift;

  __device__ void clear() const {
    for (int k = static_cast<int>(threadIdx.x); k < size; k += threads) key[k] = nothing;
    for (int k = static_cast<int>(threadIdx.x); k < (size + 3) / 4; k += threads) count[k] = 0;
  }
  /// The place of a diagonal, taken where it is not there unless it is only looked for: -1 then.
  template <bool Enter> __device__ int find(int offset) const {
    int at = static_cast<int>(static_cast<unsigned>(offset) * 0x9e3779b9u >> shift);
    for (;; at = (at + 1) & (size - 1)) {
      const int there = *static_cast<volatile int*>(key + at);
      if (there == offset) return at;
      if (there != nothing) continue;
      if (!Enter) return -1;
      const int before = atomicCAS(key + at, nothing, offset);
      if (before == nothing || before == offset) return at;
    }
  }
};

/// Where all rows but the longest one fit a table: what that one has beside them is a diagonal of its own.
template <class V>
__device__ void count_by_table(const csr<V, index_t, cview>& a, slice_rows& s, index_t first, int entered,
                               unsigned* memory) {
  const int thread = static_cast<int>(threadIdx.x), bits = entered < 2 ? 2 : 33 - __clz(entered - 1);
  const diagonal_table table{reinterpret_cast<int*>(memory), memory + places, 1 << bits, 32 - bits};
  const int longest = s.longest;
  const index_t apart = s.begin[longest], behind = s.begin[longest + 1];
  const auto entry = [&](int n) { return s.begin[0] + n < apart ? s.begin[0] + n : n + (s.begin[0] + behind - apart); };
  table.clear();
  __syncthreads();
  for (int n = thread; n < entered; n += threads) {
    const index_t k = entry(n);
    const int at = table.find<true>(static_cast<int>(a.col[k] - first - s.row_of(k)));
    if (a.val[k] != V(0)) add_to_byte(table.count, at, 1);
  }
  __syncthreads();
  constexpr int batch = 4; // so that loads are under way together
  int alone = 0, zeros = 0;
  for (index_t base = apart + thread; base < behind; base += batch * threads) {
    int offset[batch];
    V val[batch];
#pragma unroll
    for (int n = 0; n < batch; ++n) {
      const index_t k = base + n * threads;
      if (k < behind) offset[n] = static_cast<int>(a.col[k] - first - longest), val[n] = a.val[k];
    }
#pragma unroll
    for (int n = 0; n < batch; ++n) {
      if (base + n * threads >= behind) break;
      const int at = val[n] != V(0) ? table.find<false>(offset[n]) : -1;
      zeros += val[n] == V(0);
      alone += val[n] != V(0) && at < 0;
      if (at >= 0) add_to_byte(table.count, at, of_longest + 1);
    }
  }
  if (alone) atomicAdd(s.strips + kind_of(1), alone), atomicAdd(&s.of_kind[kind_of(1)][longest], alone);
  if (zeros) atomicAdd(&s.of_kind[kinds][longest], zeros);
  __syncthreads();
  for (int at = thread; at < table.size; at += threads) {
    const unsigned count = byte_at(table.count, at);
    if (count == 0) continue;
    const int kind = kind_of(count % of_longest);
    atomicAdd(s.strips + kind, 1);
    if (count >= of_longest) atomicAdd(&s.of_kind[kind][longest], 1);
  }
  for (int n = thread; n < entered; n += threads) {
    const index_t k = entry(n);
    const int row = s.row_of(k);
    const int at = table.find<false>(static_cast<int>(a.col[k] - first - row));
    atomicAdd(&s.of_kind[a.val[k] != V(0) ? kind_of(byte_at(table.count, at) % of_longest) : kinds][row], 1);
  }
}

/// f(i, k, offset) for the entries of all rows from `from` on that lie on diagonals before `end`, by all threads; then
/// done(i, n) where n of row i were this thread's.
template <class V, class F, class Done>
__device__ void each_before(const csr<V, index_t, cview>& a, const slice_rows& s, const index_t* from, index_t first,
                            index_t end, F f, Done done) {
  for (int i = 0; i < height; ++i) {
    int n = 0;
    for (index_t k = from[i] + threadIdx.x; k < s.begin[i + 1]; k += threads, ++n) {
      const index_t offset = a.col[k] - first - i;
      if (offset >= end) break;
      f(i, k, offset);
    }
    if (n > 0) done(i, n);
  }
}

/// Where they do not: a window of diagonals after the other, a byte for each of its diagonals.
template <class V>
__device__ void count_by_windows(const csr<V, index_t, cview>& a, slice_rows& s, index_t first, unsigned* memory,
                                 int words) {
  __shared__ index_t next[height];
  __shared__ int passed[height];
  __shared__ int lowest;
  const int thread = static_cast<int>(threadIdx.x);
  if (thread < height) next[thread] = s.begin[thread], passed[thread] = 0;
  for (;;) {
    if (thread == 0) lowest = nothing;
    for (int k = thread; k < words; k += threads) memory[k] = 0;
    __syncthreads();
    if (thread < height) {
      next[thread] += passed[thread];
      passed[thread] = 0;
      if (next[thread] < s.begin[thread + 1])
        atomicMin(&lowest, static_cast<int>(a.col[next[thread]] - first - thread));
    }
    __syncthreads();
    const index_t low = lowest, end = low + 4 * index_t(words);
    if (low == nothing) return;
    each_before(
        a, s, next, first, end,
        [&](int, index_t k, index_t offset) {
          if (a.val[k] != V(0)) add_to_byte(memory, static_cast<int>(offset - low), 1);
        },
        [](int, int) {});
    __syncthreads();
    for (int k = thread; k < words; k += threads)
      for (unsigned rest = memory[k]; rest; rest >>= 8)
        if (rest & 0xff) atomicAdd(s.strips + kind_of(rest & 0xff), 1);
    each_before(
        a, s, next, first, end,
        [&](int i, index_t k, index_t offset) {
          const unsigned count = byte_at(memory, static_cast<int>(offset - low));
          atomicAdd(&s.of_kind[a.val[k] != V(0) ? kind_of(count) : kinds][i], 1);
        },
        [&](int i, int n) { atomicAdd(passed + i, n); });
    __syncthreads();
  }
}

/// A block a slice. What it adds: entries, strips, and places beside them, by the plan of `slice_diagonals::plan`.
template <class V>
__global__ void __launch_bounds__(threads) strips_kernel(csr<V, index_t, cview> a, spread_rows sample, word* to) {
  constexpr int words = places + places / 4;
  __shared__ slice_rows s;
  __shared__ unsigned memory[words];
  const gpu::beside_others turn;
  const int thread = static_cast<int>(threadIdx.x);
  const row_range rows = sample[blockIdx.x];
  const index_t first = rows.first;
  if (thread <= height) s.begin[thread] = a.row_ptr[first + (thread < rows.count ? thread : rows.count)];
  for (int k = thread; k < (kinds + 1) * height; k += threads) s.of_kind[k / height][k % height] = 0;
  if (thread <= kinds) s.strips[thread] = 0;
  __syncthreads();
  if (thread == 0) {
    s.longest = 0;
    for (int i = 1; i < height; ++i)
      if (s.length(i) > s.length(s.longest)) s.longest = i;
  }
  __syncthreads();
  const index_t entries = s.begin[height] - s.begin[0], entered = entries - s.length(s.longest);
  if (entries == 0) return; // the whole block
  if (entered <= most_entered) count_by_table(a, s, first, static_cast<int>(entered), memory);
  else count_by_windows(a, s, first, memory, words);
  __syncthreads();
  if (thread >= gpu::warp) return;
  int fewest = nothing, sum = 0, strips = 0, width = 0;
  for (int all = 0; all < kinds; ++all) {
    sum += s.strips[all];
    int beside = 0;
    for (int kind = all + 1; kind <= kinds; ++kind) beside += s.of_kind[kind][thread % height];
    const int widest = __reduce_max_sync(~0u, beside);
    if (sum + 2 * widest >= fewest) continue;
    fewest = sum + 2 * widest;
    strips = sum;
    width = widest;
  }
  if (thread != 0) return;
  atomicAdd(to, static_cast<word>(entries));
  atomicAdd(to + 1, static_cast<word>(strips));
  atomicAdd(to + 2, static_cast<word>(width) * height);
}

template <class V> void begin(const csr<V, index_t, cview>& a, const stats& sizes, const gpu_format_look::memory& at) {
  const spread_rows sample = sampled_slices(sizes);
  if (sample.count > 0)
    gpu::launch(strips_kernel<V>, static_cast<unsigned>(sample.count), threads, 0, gpu::current_queue(), a, sample,
                at.words);
}

estimate_numbers numbers(const stats&, const word* home, const word*) {
  return strip_counts{static_cast<index_t>(home[0]), static_cast<index_t>(home[1]), static_cast<index_t>(home[2])}
      .numbers();
}

} // namespace gpu_strips

extern const gpu_format_look gpu_look{
    "hdia", 3, 0, 0, gpu_strips::begin<double>, gpu_strips::begin<float>, nullptr, gpu_strips::numbers};

} // namespace furrow::hdia_format
