// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "../way.hpp"

namespace furrow::dense::along {

/// Loads of a thread where one has several lines of `length` elements: of 16-bit numbers many, but where as much is
/// written as read, one.
FURROW_HD constexpr int loads_of_packed(int size, int length) {
  return length == 1 || length * size == 4 ? 1 : size > 2 ? 2 : 8;
}

struct packed_plan : cut {
  bool whole = false;  ///< there is a load of the matrix, and it and the only y begin at multiples of 16 bytes
  bool y_stays = true; ///< the second cache has room for y
};

struct packed {
  static constexpr std::string_view name = "packed", about = "lines of which a load of 16 bytes has several";
  static constexpr bool one_vector = true;
  static constexpr int order = 10;

  static constexpr std::optional<packed_plan> fits(const gemv_shape& p, const gpu_shape& g) {
    if (p.vectors > 1 || p.length != p.leading || p.per_load() % p.length != 0) return {};
    packed_plan c;
    c.whole = p.a_aligned && p.y_aligned && p.lines * p.length >= p.per_load();
    c.y_stays = g.keeps(p.lines, p);
    c.terms = p.length;
    tile(c, p.lines, gpu_threads * loads_of_packed(p.size, int(p.length)) * (p.per_load() / p.length), p.batch);
    return c;
  }
};

#if defined(__CUDACC__)

/// Blocks a multiprocessor that such a kernel has registers for.
template <class T, class S, int L>
inline constexpr int blocks_of_packed = loads_of_packed(sizeof(T), L) > 2     ? resident
                                        : sizeof(S) > sizeof(vector_value<T>) ? 6
                                                                              : 8;

/// The sum of one line, an element at a time.
template <int L, class S, class T> __device__ S packed_sum(const T* line, const S* factor) {
  S sum{};
#pragma unroll
  for (int j = 0; j < L; ++j) sum += S(number(line[j])) * factor[j];
  return sum;
}

/// y <- alpha A x + beta y, one vector, for lines of L elements without gaps, several whole ones in 16 bytes. A thread
/// has little to do and much is written: nothing is asked that the plan can know. Reads every byte once.
template <class T, class S, int L>
__global__ void __launch_bounds__(gpu_threads, blocks_of_packed<T, S, L>)
    packed_whole_kernel(call<T> c, packed_plan p, gpu_scratch<S>) {
  using V = vector_value<T>;
  constexpr int each = per_load<T>, lines = each / L, loads = loads_of_packed(sizeof(T), L), step = gpu_threads * lines;
  const index_t first = index_t(blockIdx.x) * (loads * step) + int(threadIdx.x) * lines;
  const std::uint64_t policy = once_policy(p.y_stays);
  bytes16 raw[loads];
#pragma unroll
  for (int u = 0; u < loads; ++u) {
    const index_t line = first + u * step;
    raw[u] = load_once(c.a + (line + lines <= c.lines ? line : 0) * L, policy);
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
      for (index_t i = line; i < c.lines; ++i) put(c.alpha, packed_sum<L>(c.a + i * L, factor), c.beta, c.y[i]);
    }
  }
}

/// The same for A and y at any address, y with gaps, and several problems.
template <class T, class S, int L>
__global__ void __launch_bounds__(gpu_threads, resident) packed_kernel(call<T> c, packed_plan p, gpu_scratch<S>) {
  index_t item = blockIdx.x;
  do { // the first loads do not wait for the number of items
    const gpu_item at = item_of(p, item);
    const T* const a = c.a_of(at.problem);
    const vector_value<T>* const x = c.x_of(at.problem);
    S factor[L];
#pragma unroll
    for (int j = 0; j < L; ++j) factor[j] = S(x[j * c.x_stride]);
    const index_t first = at.tile * p.outputs, end = c.lines - first < p.outputs ? c.lines : first + p.outputs;
    for (index_t i = first + threadIdx.x; i < end; i += gpu_threads)
      put_output(c, at.problem, 0, i, packed_sum<L>(a + i * L, factor));
  } while ((item += gridDim.x) < p.items(c.batch));
}

template <class T, class S, int Rhs>
gpu_kernel<T, S, packed_plan> kernel_of(packed, const call<T>& c, const packed_plan& p) {
  const auto of = [&]<int L>(fixed<L>) -> gpu_kernel<T, S, packed_plan> {
    return {p.whole ? packed_whole_kernel<T, S, L> : packed_kernel<T, S, L>};
  };
  if constexpr (per_load<T> >= 8)
    if (c.length == 8) return of(fixed<8>{});
  if constexpr (per_load<T> >= 4)
    if (c.length == 4) return of(fixed<4>{});
  return c.length == 2 ? of(fixed<2>{}) : of(fixed<1>{});
}

#endif

} // namespace furrow::dense::along
