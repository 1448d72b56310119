// SPDX-License-Identifier: BSD-3-Clause
#include "gpu_distinct.hpp"
#include "rows_on_gpu.hpp"

#include "backends/gpu/primitives.hpp"
#include "core/distinct.hpp"

#include <bit>
#include <cstring>

namespace furrow {
namespace gpu_distinct {

/// Places of a set; at most 256 of them are to be taken in the end, so that walks stay short.
constexpr int places = 1024, most = few_values<double>::most;

/// Bits as compare-and-swap wants them.
template <class V> using key = std::conditional_t<sizeof(V) == 8, unsigned long long, unsigned>;
template <class V> constexpr key<V> nothing = ~key<V>(0);

/// What all blocks share: a set, all bits of it set before, and zeros before.
template <class V> struct values_found {
  key<V>* set;
  found_word *count, *many, *has_nothing; ///< `has_nothing`: a value whose bits say `nothing`
};

__device__ inline unsigned long long bits_of(double v) {
  return static_cast<unsigned long long>(__double_as_longlong(v));
}
__device__ inline unsigned bits_of(float v) { return __float_as_uint(v); }

template <class K> __device__ int place_of(K b) { return static_cast<int>(b * 0x9e3779b97f4a7c15ull >> 54); }

enum class added { no, yes, full };

/// Adds b to a set where it is not there; gives up once `stop` is raised.
template <class K, class Stop> __device__ added add(K* set, K b, volatile Stop* stop) {
  for (int tried = 0, at = place_of(b); tried < places && !*stop; ++tried, at = (at + 1) % places) {
    const K there = *static_cast<volatile K*>(set + at);
    if (there == b) return added::no;
    if (there != ~K(0)) continue;
    const K before = atomicCAS(set + at, ~K(0), b);
    if (before == ~K(0)) return added::yes;
    if (before == b) return added::no;
  }
  return added::full;
}

/// Whether some thousand of them tell: where all differ, threads that add them to one set stand in each other's way.
/// One block.
constexpr index_t looked_at = 2048;
constexpr int few_threads = 512;
template <class V> __global__ void __launch_bounds__(few_threads) few_kernel(cview<V> values, values_found<V> found) {
  constexpr int room = 2 * int(looked_at), each = int(looked_at) / few_threads;
  __shared__ key<V> mine[room];
  for (int k = static_cast<int>(threadIdx.x); k < room; k += few_threads) mine[k] = nothing<V>;
  gpu::lead_others();
  const index_t apart = values.size / looked_at;
  key<V> b[each];
#pragma unroll
  for (int n = 0; n < each; ++n) b[n] = bits_of(values[(index_t(n) * few_threads + threadIdx.x) * apart]);
  __syncthreads();
  int different = 0;
#pragma unroll
  for (int n = 0; n < each; ++n) {
    if (b[n] == nothing<V>) continue;
    for (int at = 4 * place_of(b[n]);; at = (at + 1) % room) {
      const key<V> before = atomicCAS(mine + at, nothing<V>, b[n]);
      different += before == nothing<V>;
      if (before == nothing<V> || before == b[n]) break;
    }
  }
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  different = __reduce_add_sync(~0u, different);
  if (threadIdx.x % gpu::warp == 0) atomicAdd(&count, different);
  __syncthreads();
  if (threadIdx.x == 0 && count > most) *found.many = 1;
}

/// Each block has a set of its own in front of the one that all share, which sees a value once a block. leads: no other
/// kernel has looked at the values before.
constexpr int batch = 4; ///< values under way together
template <class V>
__global__ void __launch_bounds__(gpu::each_threads)
    distinct_kernel(cview<V> values, values_found<V> found, bool leads) {
  __shared__ key<V> mine[places];
  __shared__ unsigned stopped;
  volatile unsigned* const stop = &stopped;
  volatile found_word* const many = found.many;
  for (int k = static_cast<int>(threadIdx.x); k < places; k += gpu::each_threads) mine[k] = nothing<V>;
  if (leads) gpu::lead_others();
  else gpu::take_turn();
  if (threadIdx.x == 0) stopped = *many != 0;
  __syncthreads();
  const index_t stride = index_t(gridDim.x) * gpu::each_threads;
  key<V> last = nothing<V>, before = nothing<V>; // what most entries of a grid are
  for (index_t i = index_t(blockIdx.x) * gpu::each_threads + threadIdx.x; i < values.size && !*stop;
       i += batch * stride) {
    key<V> value[batch];
#pragma unroll
    for (int n = 0; n < batch; ++n)
      value[n] = i + n * stride < values.size ? bits_of(values[i + n * stride]) : nothing<V>;
#pragma unroll
    for (int n = 0; n < batch && i + n * stride < values.size; ++n) {
      const key<V> b = value[n];
      if (b == nothing<V>) *found.has_nothing = 1;
      if (b == last || b == before || b == nothing<V>) continue;
      before = last, last = b;
      added done = add(mine, b, stop);
      if (done == added::no) continue;
      if (done == added::yes) done = add(found.set, b, many);
      if (done == added::full || (done == added::yes && atomicAdd(found.count, found_word(1)) >= most)) *many = 1;
      if (*many) atomicExch(&stopped, 1u);
    }
  }
}

template <class V> void enqueue(cview<V> values, key<V>* set, found_word* words) {
  const values_found<V> found{set, words, words + 1, words + 2};
  const gpu::queue& q = gpu::current_queue();
  const bool many_values = values.size >= 4 * looked_at;
  if (many_values) gpu::launch(few_kernel<V>, 1, few_threads, 0, q, values, found);
  gpu::launch(distinct_kernel<V>, gpu::blocks_for((values.size + batch - 1) / batch, gpu::each_threads, q, 8),
              gpu::each_threads, 0, q, values, found, !many_values);
}

} // namespace gpu_distinct

template <class V> void enqueue_distinct(cview<V> values, found_word* set, found_word* to) {
  using namespace gpu_distinct;
  static_assert(distinct_set_words == places);
  if (!values.empty()) enqueue(values, reinterpret_cast<key<V>*>(set), to);
}
template void enqueue_distinct(cview<double>, found_word*, found_word*);
template void enqueue_distinct(cview<float>, found_word*, found_word*);

index_t distinct_found(const found_word* home) {
  constexpr index_t many = gpu_distinct::most + 1;
  const index_t count = static_cast<index_t>(home[0]) + static_cast<index_t>(home[2]);
  return home[1] || count > many ? many : count;
}

template <class V> std::vector<V> distinct_of(const found_word* home, const found_word* set) {
  using namespace gpu_distinct;
  few_values<V> all;
  for (int at = 0; at < places; ++at) {
    key<V> b;
    std::memcpy(&b, reinterpret_cast<const char*>(set) + static_cast<std::size_t>(at) * sizeof b, sizeof b);
    if (b != nothing<V>) all.add(std::bit_cast<V>(b));
  }
  if (home[2]) all.add(std::bit_cast<V>(nothing<V>));
  return all.sorted();
}
template std::vector<double> distinct_of(const found_word*, const found_word*);
template std::vector<float> distinct_of(const found_word*, const found_word*);

template <class V> std::vector<V> distinct_on_gpu(cview<V> values) {
  using namespace gpu_distinct;
  if (values.empty()) return {};
  gpu_array<found_word> there(distinct_words + distinct_set_words);
  gpu::fill_bytes(there.data(), 0, distinct_words * sizeof(found_word), gpu::current_queue());
  gpu::fill_bytes(there.data() + distinct_words, 0xff, distinct_set_words * sizeof(found_word), gpu::current_queue());
  enqueue_distinct(values, there.data() + distinct_words, there.data());
  const host_array<found_word> home(there);
  if (distinct_found(home.data()) > most) return {};
  return distinct_of<V>(home.data(), home.data() + distinct_words);
}

template std::vector<double> distinct_on_gpu(cview<double>);
template std::vector<float> distinct_on_gpu(cview<float>);

} // namespace furrow
