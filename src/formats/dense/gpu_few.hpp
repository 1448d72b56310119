// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "gpu_pieces.hpp"

namespace furrow::dense {

/// y <- alpha A' x + beta y, one vector, where at most L long lines of memory are added up: a stream of L lines in and
/// one out. A thread has 16 bytes of outputs of every line, a few times over, and asks nothing that the plan can know.
/// Reads every byte of A once.
template <class T, class S, int L>
__global__ void __launch_bounds__(gpu_threads, few_blocks(sizeof(T), sizeof(S), L))
    few_whole_kernel(call<T> c, gpu_plan, gpu_scratch<S>) {
  using V = vector_value<T>;
  constexpr int each = per_load<T>, places = places_of_few(sizeof(T), L), step = gpu_threads * each;
  const int lines = int(c.lines);
  const index_t first = index_t(blockIdx.x) * (places * step) + int(threadIdx.x) * each;
  bytes16 raw[places][L];
#pragma unroll
  for (int k = 0; k < places; ++k) {
    const index_t place = first + k * step;
#pragma unroll
    for (int l = 0; l < L; ++l)
      raw[k][l] = load_once(c.a + (l < lines ? l : 0) * c.leading + (place < c.length ? place : 0));
  }
  S factor[L];
#pragma unroll
  for (int l = 0; l < L; ++l) factor[l] = S(c.x[(l < lines ? l : 0) * c.x_stride]);
  const std::uint64_t policy = keep_policy();
#pragma unroll
  for (int k = 0; k < places; ++k) {
    const index_t place = first + k * step;
    if (place >= c.length) return;
    S sum[each] = {};
#pragma unroll
    for (int l = 0; l < L; ++l)
#pragma unroll
      for (int j = 0; j < each; ++j)
        if (l < lines) sum[j] += S(element<T>(raw[k][l], j)) * factor[l];
    neighbours<each, V> out{};
    if (c.beta != V(0)) out = *reinterpret_cast<const neighbours<each, V>*>(c.y + place);
#pragma unroll
    for (int j = 0; j < each; ++j) put(c.alpha, sum[j], c.beta, out.of[j]);
    store_kept(c.y + place, out, policy);
  }
}

/// The same for A and y at any address, y with gaps, and several problems.
template <class T, class S, int L>
__global__ void __launch_bounds__(gpu_threads, 4) few_kernel(call<T> c, gpu_plan p, gpu_scratch<S>) {
  const int lines = int(c.lines);
  for (index_t item = blockIdx.x; item < p.items(c.batch); item += gridDim.x) {
    const gpu_item at = item_of(p, item);
    const T* const a = c.a_of(at.problem);
    const vector_value<T>* const x = c.x_of(at.problem);
    S factor[L];
#pragma unroll
    for (int l = 0; l < L; ++l) factor[l] = S(x[(l < lines ? l : 0) * c.x_stride]);
    const index_t first = at.tile * p.outputs, end = c.length - first < p.outputs ? c.length : first + p.outputs;
    for (index_t k = first + threadIdx.x; k < end; k += gpu_threads) {
      S sum{};
#pragma unroll
      for (int l = 0; l < L; ++l)
        if (l < lines) sum += S(number(a[l * c.leading + k])) * factor[l];
      put_output(c, at.problem, 0, k, sum);
    }
  }
}

} // namespace furrow::dense
