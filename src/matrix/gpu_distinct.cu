// SPDX-License-Identifier: BSD-3-Clause
#include "rows_on_gpu.hpp"

#include "backends/gpu/primitives.hpp"
#include "core/distinct.hpp"

#include <algorithm>
#include <bit>

namespace furrow {
namespace gpu_distinct {

/// Places of a set; at most 256 of them are to be taken in the end, so that walks stay short.
constexpr int places = 1024, most = few_values<double>::most;

/// Bits as compare-and-swap wants them.
template <class V> using key = std::conditional_t<sizeof(V) == 8, unsigned long long, unsigned>;
template <class V> constexpr key<V> nothing = ~key<V>(0);

/// What all blocks share. A value whose bits say `nothing` is told by a flag.
template <class V> struct values_found {
  key<V> set[places];
  unsigned count, many, has_nothing;
};

__device__ inline unsigned long long bits_of(double v) {
  return static_cast<unsigned long long>(__double_as_longlong(v));
}
__device__ inline unsigned bits_of(float v) { return __float_as_uint(v); }

template <class K> __device__ int place_of(K b) { return static_cast<int>(b * 0x9e3779b97f4a7c15ull >> 54); }

enum class added { no, yes, full };

/// Adds b to a set where it is not there; gives up once `stop` is raised.
template <class K> __device__ added add(K* set, K b, volatile unsigned* stop) {
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

template <class V> struct every_other {
  const V* from;
  index_t apart;
  V* to;
  FURROW_HD void operator()(index_t k) const { to[k] = from[k * apart]; }
};
/// Whether some thousand of them tell: where all differ, threads that add them to one set stand in each other's way.
template <class V> bool are_many(cview<V> values) {
  constexpr index_t looked_at = 2048;
  if (values.size < 4 * looked_at) return false;
  gpu_array<V> there(looked_at);
  gpu::for_each(looked_at, every_other<V>{values.data, values.size / looked_at, there.data()});
  few_values<V> few;
  const host_array<V> some(there);
  return !std::all_of(some.begin(), some.end(), [&](V v) { return few.add(v); });
}

/// Each block has a set of its own in front of the one that all share, which sees a value once a block.
template <class V>
__global__ void __launch_bounds__(gpu::each_threads) distinct_kernel(cview<V> values, values_found<V>* found) {
  __shared__ key<V> mine[places];
  __shared__ unsigned stopped;
  volatile unsigned* const stop = &stopped;
  volatile unsigned* const many = &found->many;
  for (int k = threadIdx.x; k < places; k += gpu::each_threads) mine[k] = nothing<V>;
  if (threadIdx.x == 0) stopped = 0;
  gpu::take_turn();
  __syncthreads();
  const index_t stride = index_t(gridDim.x) * gpu::each_threads;
  key<V> last = nothing<V>;
  for (index_t i = index_t(blockIdx.x) * gpu::each_threads + threadIdx.x; i < values.size && !*stop; i += stride) {
    const auto b = bits_of(values[i]);
    if (b == nothing<V>) found->has_nothing = 1;
    if (b == last || b == nothing<V>) continue;
    last = b;
    added done = add(mine, b, stop);
    if (done == added::no) continue;
    if (done == added::yes) done = add(found->set, b, many);
    if (done == added::full || (done == added::yes && atomicAdd(&found->count, 1u) >= most)) *many = 1;
    if (*many) atomicExch(&stopped, 1u);
  }
}

} // namespace gpu_distinct

template <class V> std::vector<V> distinct_on_gpu(cview<V> values) {
  using namespace gpu_distinct;
  if (values.empty() || are_many(values)) return {};
  gpu_array<values_found<V>> there(1);
  gpu::fill_bytes(there, 0xff);
  const gpu::queue& q = gpu::current_queue();
  gpu_array<unsigned> zero(3);
  gpu::fill_bytes(zero, 0);
  gpu_memory::copy(&there.data()->count, zero.data(), zero.byte_count());
  gpu::launch(distinct_kernel<V>, gpu::blocks_for(values.size, gpu::each_threads, q, 8), gpu::each_threads, 0, q,
              values, there.data());
  const host_array<values_found<V>> home(there);
  const values_found<V>& f = home[0];
  few_values<V> all;
  if (f.many) return {};
  for (const key<V> b : f.set)
    if (b != nothing<V> && !all.add(std::bit_cast<V>(b))) return {};
  if (f.has_nothing && !all.add(std::bit_cast<V>(nothing<V>))) return {};
  return all.sorted();
}

template std::vector<double> distinct_on_gpu(cview<double>);
template std::vector<float> distinct_on_gpu(cview<float>);

} // namespace furrow
