// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "../way.hpp"

#if defined(__CUDACC__)
#include "../pieces.hpp"
#endif

namespace furrow::dense::across {

struct few {
  static constexpr std::string_view name = "few", about = "at most four aligned lines, in one go";
  static constexpr bool one_vector = true;
  static constexpr int order = 30;

  static constexpr std::optional<cut> fits(const gemv_shape& p, index_t /*multiprocessors*/) {
    if (p.vectors > 1 || p.lines > 4 || !p.even() || !p.y_aligned) return {};
    cut c;
    c.terms = p.lines;
    tile(c, p.length, gpu_threads * p.per_load());
    return c;
  }
};

#if defined(__CUDACC__)

/// y <- alpha A' x + beta y, one vector, where at most L long lines of memory are added up: a stream of L lines in and
/// one out. A thread has 16 bytes of every line: y is written as they are read, and little of both at a time is best.
/// Nothing is asked that the plan can know. Reads every byte of A once.
template <class T, class S, int L>
__global__ void __launch_bounds__(gpu_threads, L == 2 ? 6 : 4) few_kernel(call<T> c, cut, gpu_scratch<S>) {
  using V = vector_value<T>;
  constexpr int each = per_load<T>;
  const index_t place = (index_t(blockIdx.x) * gpu_threads + int(threadIdx.x)) * each;
  if (place >= c.length) return;
  const auto line = [&](int l) { return l < c.lines ? l : 0; };
  bytes16 raw[L];
#pragma unroll
  for (int l = 0; l < L; ++l) raw[l] = load_beside_stores(c.a + line(l) * c.leading + place);
  S sum[each] = {};
#pragma unroll
  for (int l = 0; l < L; ++l)
    if (l < c.lines) add_multiples<T>(sum, raw[l], c.x[l * c.x_stride]);
  V* const to = c.y + place;
  neighbours<each, V> out{};
  if (c.beta != V(0)) out = *reinterpret_cast<const neighbours<each, V>*>(to);
#pragma unroll
  for (int j = 0; j < each; ++j) put(c.alpha, sum[j], c.beta, out.of[j]);
  store_neighbours(to, out);
}

template <class T, class S, int Rhs> gpu_kernel<T, S, cut> kernel_of(few, const cut& p) {
  return {p.terms <= 2 ? few_kernel<T, S, 2> : few_kernel<T, S, 4>};
}

#endif

} // namespace furrow::dense::across
