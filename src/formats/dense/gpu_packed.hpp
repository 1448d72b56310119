// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "gpu_pieces.hpp"

namespace furrow::dense {

/// y <- alpha A x + beta y, one vector, for lines of L elements without gaps, several whole ones in 16 bytes. Reads
/// every byte once.
template <class T, class S, int L>
__global__ void __launch_bounds__(gpu_threads, (loads_of_packed(sizeof(T), L) > 1 ? resident : 8))
    packed_kernel(call<T> c, gpu_plan p, gpu_scratch<S>) {
  using V = vector_value<T>;
  constexpr int each = per_load<T>, lines = each / L, loads = loads_of_packed(sizeof(T), L);
  index_t item = blockIdx.x;
  do { // the first loads do not wait for the number of items
    const gpu_item at = item_of(p, item);
    const T* const a = c.a_of(at.problem);
    const V* const x = c.x_of(at.problem);
    V* const y = c.y_of(at.problem);
    S factor[L];
#pragma unroll
    for (int j = 0; j < L; ++j) factor[j] = S(x[j * c.x_stride]);
    const index_t first = at.tile * p.outputs, left = c.lines - first;
    const bool plain = c.y_stride == 1 && c.beta == V(0) && reinterpret_cast<std::uintptr_t>(y) % 16 == 0;
    if (left >= p.outputs && misalignment(a) == 0 && plain) {
      bytes16 raw[loads];
#pragma unroll
      for (int u = 0; u < loads; ++u)
        raw[u] = load_once(a + first * L + index_t(u * gpu_threads + int(threadIdx.x)) * each);
#pragma unroll
      for (int u = 0; u < loads; ++u) {
        neighbours<lines, V> out;
#pragma unroll
        for (int i = 0; i < lines; ++i) {
          S sum{};
#pragma unroll
          for (int j = 0; j < L; ++j) sum += S(element<T>(raw[u], i * L + j)) * factor[j];
          put(c.alpha, sum, V(0), out.of[i]);
        }
        store_once(y + first + index_t(u * gpu_threads + int(threadIdx.x)) * lines, out);
      }
      continue;
    }
    const index_t end = left < p.outputs ? c.lines : first + p.outputs;
    for (index_t i = first + threadIdx.x; i < end; i += gpu_threads) {
      S sum{};
#pragma unroll
      for (int j = 0; j < L; ++j) sum += S(number(a[i * L + j])) * factor[j];
      put_output(c, at.problem, 0, i, sum);
    }
  } while ((item += gridDim.x) < p.items(c.batch));
}

} // namespace furrow::dense
