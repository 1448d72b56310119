// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "gpu_pieces.hpp"

namespace furrow::dense {

/// y <- alpha A' x + beta y, one vector, where at most L long lines of memory are added up: a stream of L lines in and
/// one out. A thread has 16 bytes of outputs of every line, a few times over. Reads every byte of A once.
template <class T, class S, int L>
__global__ void __launch_bounds__(gpu_threads, sizeof(S) == 8 ? 3 : 4)
    few_kernel(call<T> c, gpu_plan p, gpu_scratch<S>) {
  using V = vector_value<T>;
  constexpr int each = per_load<T>, places = places_of_few(sizeof(T), L), step = gpu_threads * each;
  const int lines = int(c.lines);
  const std::uint64_t policy = once_policy(p.y_stays);
  index_t item = blockIdx.x;
  do { // the first loads do not wait for the number of items
    const gpu_item at = item_of(p, item);
    const index_t first = at.tile * (places * step), left = c.length - first;
    const T* const a = c.a_of(at.problem) + first;
    const V* const x = c.x_of(at.problem);
    V* const y = c.y_of(at.problem) + first * c.y_stride;
    const auto line = [&](int l) { return l < lines ? l : 0; };
    S factor[L];
#pragma unroll
    for (int l = 0; l < L; ++l) factor[l] = S(x[line(l) * c.x_stride]);
    const bool plain = c.leading % each == 0 && misalignment(a) == 0 && c.y_stride == 1 && misalignment(y) == 0;
    if (left >= places * step && plain) {
      const int mine = int(threadIdx.x) * each;
      bytes16 raw[places][L];
#pragma unroll
      for (int k = 0; k < places; ++k)
#pragma unroll
        for (int l = 0; l < L; ++l) raw[k][l] = load_once(a + line(l) * c.leading + k * step + mine, policy);
#pragma unroll
      for (int k = 0; k < places; ++k) {
        S sum[each] = {};
#pragma unroll
        for (int l = 0; l < L; ++l)
#pragma unroll
          for (int j = 0; j < each; ++j)
            if (l < lines) sum[j] += S(element<T>(raw[k][l], j)) * factor[l];
        V* const to = y + k * step + mine;
        neighbours<each, V> out{};
        if (c.beta != V(0)) out = *reinterpret_cast<const neighbours<each, V>*>(to);
#pragma unroll
        for (int j = 0; j < each; ++j) put(c.alpha, sum[j], c.beta, out.of[j]);
        store_neighbours(to, out);
      }
      continue;
    }
    const int count = left < places * step ? int(left) : places * step;
    for (int k = int(threadIdx.x); k < count; k += gpu_threads) {
      S sum{};
#pragma unroll
      for (int l = 0; l < L; ++l)
        if (l < lines) sum += S(number(a[l * c.leading + k])) * factor[l];
      put(c.alpha, sum, c.beta, y[k * c.y_stride]);
    }
  } while ((item += gridDim.x) < p.items(c.batch));
}

/// The same for one or two lines of at least f32 and one y that all begin at multiples of 16 bytes: where a third of
/// what moves is written, a thread has little to do, and nothing is asked that the plan can know.
template <class T, class S>
__global__ void __launch_bounds__(gpu_threads, sizeof(S) > sizeof(T) ? 4 : 8)
    pair_kernel(call<T> c, gpu_plan p, gpu_scratch<S>) {
  using V = vector_value<T>;
  constexpr int each = per_load<T>;
  const index_t place = (index_t(blockIdx.x) * gpu_threads + int(threadIdx.x)) * each;
  if (place >= c.length) return;
  const bool both = c.lines > 1;
  const std::uint64_t policy = once_policy(p.y_stays);
  const bytes16 first = load_once(c.a + place, policy),
                second = load_once(c.a + (both ? c.leading : 0) + place, policy);
  const S factor = S(c.x[0]), other = S(c.x[both ? c.x_stride : 0]);
  V* const to = c.y + place;
  neighbours<each, V> out{};
  if (c.beta != V(0)) out = *reinterpret_cast<const neighbours<each, V>*>(to);
#pragma unroll
  for (int j = 0; j < each; ++j) {
    S sum = S(element<T>(first, j)) * factor;
    if (both) sum += S(element<T>(second, j)) * other;
    put(c.alpha, sum, c.beta, out.of[j]);
  }
  store_neighbours(to, out);
}

} // namespace furrow::dense
