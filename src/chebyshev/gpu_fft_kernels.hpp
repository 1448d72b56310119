// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "gpu_fft.hpp"
#include "gpu_points.hpp"

/// What happens between the transforms of one or many products; product first + blockIdx.y, a thread an element.
namespace furrow::chebyshev {

inline constexpr int fft_threads = 256;

/// What the kernels know.
template <class V> struct fft_job {
  batch<const V> a, b;
  batch<V> c;
  product_shape shape;
  convention series;
  index_t m, first;
  const int* exponents;
  const int* fixed; ///< exponent of a factor that was transformed before, or nullptr

  __device__ index_t product() const { return first + blockIdx.y; }
  __device__ index_t thread() const { return index_t(blockIdx.x) * fft_threads + threadIdx.x; }
  __device__ V head() const { return series == convention::plain ? V(2) : V(1); }
  __device__ scaled<V> left() const {
    return scaled_by(factor<V>{series_at(a, product()), shape.na, head()}, exponents[2 * product()]);
  }
  __device__ scaled<V> right() const {
    return scaled_by(factor<V>{series_at(b, product()), shape.nb, head()}, exponents[2 * product() + 1]);
  }
  __device__ int exponent() const { return (fixed ? *fixed : exponents[2 * product()]) + exponents[2 * product() + 1]; }
};

/// e^(pi i k / 2M)
__device__ inline complex_number half_root(index_t k, index_t m) {
  complex_number e;
  sincospi(double(k) / double(2 * m), &e.im, &e.re);
  return e;
}

/// w^a + i w^b
template <class V> __global__ void __launch_bounds__(fft_threads) pair_kernel(fft_job<V> j, double2* z) {
  const index_t k = j.thread();
  if (k > j.m / 2) return;
  const two_numbers w = pair_points(j.left(), j.right(), k, j.m, half_root(k, j.m));
  double2* const to = z + j.product() * j.m;
  to[k] = {w.here.re, w.here.im};
  if (k > 0 && 2 * k != j.m) to[j.m - k] = {w.mirror.re, w.mirror.im};
}

/// Half of w^b; of w^a where `left`.
template <class V> __global__ void __launch_bounds__(fft_threads) half_kernel(fft_job<V> j, bool left, double2* z) {
  const index_t k = j.thread();
  if (k > j.m / 2) return;
  const complex_number w = half_points(left ? j.left() : j.right(), k, j.m, half_root(k, j.m));
  z[j.product() * (j.m / 2 + 1) + k] = {w.re, w.im};
}

/// Values of a times values of b: two neighbours are a complex number of the transform back.
template <class V>
__global__ void __launch_bounds__(fft_threads) pair_product_kernel(fft_job<V> j, const double2* z, double* u) {
  const index_t k = j.thread();
  if (k >= j.m) return;
  const double2 v = z[j.product() * j.m + k];
  u[j.product() * 2 * (j.m / 2 + 1) + k] = v.x * v.y;
}

/// The same where the values of a are at hand.
template <class V>
__global__ void __launch_bounds__(fft_threads) fixed_product_kernel(fft_job<V> j, const double* values, double* u) {
  const index_t k = j.thread();
  if (k < j.m) u[j.product() * 2 * (j.m / 2 + 1) + k] *= values[k];
}

/// c from the transform back w, four coefficients a thread. Threads beyond a quarter serve zeros that were asked for.
template <class V> __global__ void __launch_bounds__(fft_threads) coefficients_kernel(fft_job<V> j, const double2* w) {
  const index_t k = j.thread(), n = j.shape.nonzero(), half = j.m / 2;
  V* const c = j.c.data + j.product() * j.c.stride;
  if (n + k < j.shape.keep) c[n + k] = V(0);
  if (k > half / 2) return;
  w += j.product() * (half + 1);
  const double2 x = w[k], y = w[k > 0 ? half - k : 0];
  const four_coefficients r = coefficients_from({x.x, x.y}, {y.x, y.y}, half_root(k, j.m), half_root(5 * k, j.m), j.m);
  const int exponent = j.exponent();
  const auto put = [&](index_t at, double value) {
    if (at < n) c[at] = V(scalbn(value, exponent));
  };
  put(k, k == 0 && j.series == convention::plain ? 0.5 * r.low : r.low);
  put(half + k, r.above);
  if (k == 0) return;
  put(j.m - k, r.high);
  put(half - k, r.below);
}

} // namespace furrow::chebyshev
