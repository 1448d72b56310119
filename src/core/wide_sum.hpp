// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/view.hpp>

#include <math.h>

namespace furrow {

/// A first number less products, in twice the digits of the factors, for host and device (T. Ogita, S. M. Rump, S.
/// Oishi, Accurate sum and dot product, 2005, algorithm 5.3). On a device each operation is rounded by itself: no
/// product and sum may become one.
template <class V> class wide_sum;
template <> class wide_sum<float> {
public:
  FURROW_HD explicit wide_sum(float first) : high_(double(first)) {}
  [[gnu::always_inline]] FURROW_HD void subtract(float a, float x) {
    high_ -= double(a) * double(x);
  } // the product is exact
  FURROW_HD double value() const { return high_; }

private:
  double high_;
};
template <> class wide_sum<double> {
public:
  FURROW_HD explicit wide_sum(double first) : high_(first) {}
  [[gnu::always_inline]] FURROW_HD void subtract(double a, double x) {
    const double product = times(-a, x), lost = fma(-a, x, -product);
    const double sum = plus(high_, product), part = plus(sum, -high_);
    low_ = plus(low_, plus(plus(plus(high_, -plus(sum, -part)), plus(product, -part)), lost));
    high_ = sum;
  }
  FURROW_HD double value() const { return high_ + low_; }

private:
#if defined(__CUDA_ARCH__)
  static __device__ double times(double a, double b) { return __dmul_rn(a, b); }
  static __device__ double plus(double a, double b) { return __dadd_rn(a, b); }
#else
  [[gnu::always_inline]] static FURROW_HD double times(double a, double b) { return a * b; }
  [[gnu::always_inline]] static FURROW_HD double plus(double a, double b) { return a + b; }
#endif

  double high_, low_ = 0;
};

} // namespace furrow
