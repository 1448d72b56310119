// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/gemv.hpp>

#if defined(__CUDACC__)
#include <cuda_fp16.h>
#endif

namespace furrow::dense {

/// A gemv without its four cases. In memory a matrix is `lines` runs of `length` elements each, `leading` apart: its
/// rows or its columns. Either every line is summed up against x ("along": y[line] = sum_k A[line][k] x[k], row-major A
/// and column-major A transposed), or the lines are added up ("across": y[k] = sum_line x[line] A[line][k]).
template <class T> struct call {
  using value = vector_value<T>;

  const T* a = nullptr;
  index_t lines = 0, length = 0, leading = 0;
  bool across = false, f64_sums = false;
  value alpha{}, beta{};
  const value* x = nullptr;
  value* y = nullptr;
  index_t x_stride = 1, x_next = 0, y_stride = 1, y_next = 0;
  int count = 1; ///< vectors
  index_t batch = 1, a_step = 0, x_step = 0, y_step = 0;
  const T* const* a_list = nullptr;
  const value* const* x_list = nullptr;
  value* const* y_list = nullptr;

  FURROW_HD index_t outputs() const { return across ? length : lines; }
  FURROW_HD index_t terms() const { return across ? lines : length; }

  FURROW_HD const T* a_of(index_t problem) const { return a_list ? a_list[problem] : a + problem * a_step; }
  FURROW_HD const value* x_of(index_t problem) const { return x_list ? x_list[problem] : x + problem * x_step; }
  FURROW_HD value* y_of(index_t problem) const { return y_list ? y_list[problem] : y + problem * y_step; }

  /// `problems` of the batch, from `first` on.
  call part(index_t first, index_t problems) const {
    call some = *this;
    some.batch = problems;
    if (a_list) some.a_list += first;
    else some.a += first * a_step;
    if (x_list) some.x_list += first;
    else some.x += first * x_step;
    if (y_list) some.y_list += first;
    else some.y += first * y_step;
    return some;
  }
};

/// One element as the number that it is multiplied by.
FURROW_HD inline double number(double a) { return a; }
FURROW_HD inline float number(float a) { return a; }
#if defined(__CUDA_ARCH__)
__device__ inline float number(half a) { return __half2float(__ushort_as_half(a.bits)); }
__device__ inline float number(bfloat16 a) { return __uint_as_float(std::uint32_t(a.bits) << 16); }
#else
inline float number(half a) { return float(a); }
inline float number(bfloat16 a) { return float(a); }
#endif

/// y <- alpha sum + beta y for one element, worked out in the type of the sum. beta == 0 does not read y.
template <class S, class V> FURROW_HD void put(V alpha, S sum, V beta, V& y) {
  y = beta == V(0) ? V(S(alpha) * sum) : V(S(alpha) * sum + S(beta) * S(y));
}

/// On the host.
template <class T> void run_on_cpu(const call<T>& c);

#if FURROW_HAS_GPU
/// Enqueues on the selected GPU. `kernel` is a name that gemv_kernels lists, or "auto". False, and nothing enqueued,
/// where that kernel does not serve such a call.
template <class T> bool run_on_gpu(const call<T>& c, std::string_view kernel);
#endif

} // namespace furrow::dense
