// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "../way.hpp"

namespace furrow::dense::across {

/// Places in lines that a thread has where at most `lines` of them are added up: y is written as they are read, and
/// little of both at a time is best; but a place of 16-bit numbers is two stores.
FURROW_HD constexpr int places_of_few(int size, int lines) { return size == 2 ? 8 / lines : 1; }

struct few_plan : cut {
  int most = 8;        ///< lines that there may be
  bool pair = false;   ///< at most two lines of whole loads, and the only y begins at one
  bool y_stays = true; ///< the second cache has room for y
};

struct few {
  static constexpr std::string_view name = "few", about = "at most eight lines, in one go";
  static constexpr bool one_vector = true;
  static constexpr int order = 30;

  static constexpr std::optional<few_plan> fits(const gemv_shape& p, const gpu_shape& g) {
    if (p.vectors > 1 || p.lines > 8) return {};
    few_plan c;
    c.most = p.lines > 4 ? 8 : p.lines > 2 ? 4 : 2;
    c.pair = p.even() && p.y_aligned && p.size > 2 && p.lines <= 2;
    c.y_stays = g.keeps(p.length, p);
    c.terms = p.lines;
    tile(c, p.length, gpu_threads * p.per_load() * places_of_few(p.size, c.most), p.batch);
    return c;
  }
};

#if defined(__CUDACC__)

/// y <- alpha A' x + beta y, one vector, where at most L long lines of memory are added up: a stream of L lines in and
/// one out. A thread has 16 bytes of outputs of every line, a few times over. Reads every byte of A once.
template <class T, class S, int L>
__global__ void __launch_bounds__(gpu_threads, sizeof(S) == 8 ? 3 : 4)
    few_kernel(call<T> c, few_plan p, gpu_scratch<S>) {
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
          if (l < lines) add_multiples<T>(sum, raw[k][l], factor[l]);
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
    pair_kernel(call<T> c, few_plan p, gpu_scratch<S>) {
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

template <class T, class S, int Rhs> gpu_kernel<T, S, few_plan> kernel_of(few, const call<T>&, const few_plan& p) {
  if constexpr (sizeof(T) > 2)
    if (p.pair) return {pair_kernel<T, S>};
  return {p.most == 2 ? few_kernel<T, S, 2> : p.most == 4 ? few_kernel<T, S, 4> : few_kernel<T, S, 8>};
}

#endif

} // namespace furrow::dense::across
