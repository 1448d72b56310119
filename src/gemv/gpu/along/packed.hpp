// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "../way.hpp"

#if defined(__CUDACC__)
#include "../pieces.hpp"
#endif

namespace furrow::dense::along {

/// Loads of a thread where one has several lines of `length` elements: of 16-bit numbers many, but where as much is
/// written as read, one.
FURROW_HD constexpr int loads_of_packed(int size, int length) {
  return length == 1 || length * size == 4 ? 1 : size > 2 ? 2 : 8;
}

struct packed {
  static constexpr std::string_view name = "packed", about = "lines of which a load of 16 bytes has several";
  static constexpr bool one_vector = true;
  static constexpr int order = 10;

  static constexpr std::optional<cut> fits(const gemv_shape& p, index_t /*multiprocessors*/) {
    if (p.vectors > 1 || p.length != p.leading || p.per_load() % p.length != 0 || !p.a_aligned || !p.y_aligned ||
        p.lines * p.length < p.per_load())
      return {};
    cut c;
    c.terms = p.length;
    tile(c, p.lines, gpu_threads * loads_of_packed(p.size, int(p.length)) * (p.per_load() / p.length));
    return c;
  }
};

#if defined(__CUDACC__)

/// Blocks that a multiprocessor has threads for: 2,048, and 1,536 of GPUs that draw pictures, too.
#if defined(__CUDA_ARCH__) &&                                                                                          \
    (__CUDA_ARCH__ == 860 || __CUDA_ARCH__ == 870 || __CUDA_ARCH__ == 890 || __CUDA_ARCH__ >= 1200)
inline constexpr int blocks_that_fit = 1536 / gpu_threads;
#else
inline constexpr int blocks_that_fit = 2048 / gpu_threads;
#endif

/// Blocks a multiprocessor that such a kernel has registers for.
template <class T, class S, int L>
inline constexpr int blocks_of_packed = loads_of_packed(sizeof(T), L) > 2     ? resident
                                        : sizeof(S) > sizeof(vector_value<T>) ? 6
                                                                              : blocks_that_fit;

/// y <- alpha A x + beta y, one vector, for lines of L elements without gaps, several whole ones in 16 bytes. A thread
/// has little to do and much is written: nothing is asked that the plan can know. Reads every byte once.
template <class T, class S, int L>
__global__ void __launch_bounds__(gpu_threads, blocks_of_packed<T, S, L>)
    packed_kernel(call<T> c, cut, gpu_scratch<S>) {
  using V = vector_value<T>;
  constexpr int each = per_load<T>, lines = each / L, loads = loads_of_packed(sizeof(T), L), step = gpu_threads * lines;
  const index_t first = index_t(blockIdx.x) * (loads * step) + int(threadIdx.x) * lines;
  bytes16 raw[loads];
#pragma unroll
  for (int u = 0; u < loads; ++u) {
    const index_t line = first + u * step;
    raw[u] = load_beside_stores(c.a + (line + lines <= c.lines ? line : 0) * L);
  }
  S factor[L];
#pragma unroll
  for (int j = 0; j < L; ++j) factor[j] = S(c.x[j * c.x_stride]);
#pragma unroll
  for (int u = 0; u < loads; ++u) {
    const index_t line = first + u * step;
    if (line + lines <= c.lines) {
      neighbours<lines, V> out{};
      if (c.beta != V(0)) out = *reinterpret_cast<const neighbours<lines, V>*>(c.y + line);
#pragma unroll
      for (int i = 0; i < lines; ++i) {
        S sum{};
#pragma unroll
        for (int j = 0; j < L; ++j) sum += S(element<T>(raw[u], i * L + j)) * factor[j];
        put(c.alpha, sum, c.beta, out.of[i]);
      }
      store_neighbours(c.y + line, out);
    } else { // the last lines, fewer than a load has
      for (index_t i = line; i < c.lines; ++i) {
        S sum{};
#pragma unroll
        for (int j = 0; j < L; ++j) sum += S(number(c.a[i * L + j])) * factor[j];
        put(c.alpha, sum, c.beta, c.y[i]);
      }
    }
  }
}

template <class T, class S, int Rhs> gpu_kernel<T, S, cut> kernel_of(packed, const cut& p) {
  if constexpr (per_load<T> >= 8)
    if (p.terms == 8) return {packed_kernel<T, S, 8>};
  if constexpr (per_load<T> >= 4)
    if (p.terms == 4) return {packed_kernel<T, S, 4>};
  return {p.terms == 2 ? packed_kernel<T, S, 2> : packed_kernel<T, S, 1>};
}

#endif

} // namespace furrow::dense::along
