// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace furrow::chebyshev {

/// c += A B by a warp, A of 16 x 8, B of 8 x 8 and c of 16 x 8 doubles. A lane holds of A the rows lane / 4 and 8 more
/// in the column lane % 4, then in column 4 more; of B the rows lane % 4 and 4 more in the column lane / 4; of c the
/// columns 2 (lane % 4) and the next in row lane / 4, then in row 8 more. Every product and sum is rounded as by fma.
__device__ inline void multiply_matrices(double (&c)[4], const double (&a)[4], const double (&b)[2]) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
               : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  const auto quarter = [&](int rows, int terms) {
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
                 : "+d"(c[2 * rows]), "+d"(c[2 * rows + 1])
                 : "d"(a[2 * terms + rows]), "d"(b[terms]));
  };
  quarter(0, 0);
  quarter(1, 0);
  quarter(0, 1);
  quarter(1, 1);
#else // one term at a time, on any device
  const int lane = int(threadIdx.x % 32), row = lane / 4 * 4, col = lane % 4 * 8;
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    const double upper = __shfl_sync(~0u, a[k / 4 * 2], row + k % 4),
                 lower = __shfl_sync(~0u, a[k / 4 * 2 + 1], row + k % 4);
    const double left = __shfl_sync(~0u, b[k / 4], col + k % 4), right = __shfl_sync(~0u, b[k / 4], col + 4 + k % 4);
    c[0] = fma(upper, left, c[0]);
    c[1] = fma(upper, right, c[1]);
    c[2] = fma(lower, left, c[2]);
    c[3] = fma(lower, right, c[3]);
  }
#endif
}

} // namespace furrow::chebyshev
