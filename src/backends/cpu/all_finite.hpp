// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "isa.hpp"

#include <furrow/view.hpp>

namespace furrow::cpu {

/// Whether none is a NaN or an infinity, or becomes one when it is multiplied by `factor`. One vectorised pass.
template <class V> bool all_finite(cview<V> a, V factor = 1) {
  V result = 0;
  widest([&]() FURROW_INLINE {
    constexpr int width = 2 * 64 / int(sizeof(V)); // sums side by side, so that few additions wait for the one before
    V zero[width] = {};                            // 0 of finite numbers alone
    index_t i = 0;
    for (; i + width <= a.size; i += width) {
#pragma omp simd
      for (int j = 0; j < width; ++j) zero[j] += a.data[i + j] * factor * V(0);
    }
#pragma omp simd
    for (index_t j = 0; j < a.size - i; ++j) zero[j] += a.data[i + j] * factor * V(0);
    V sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int j = 0; j < width; ++j) sum += zero[j];
    result = sum;
  });
  return result == V(0);
}

} // namespace furrow::cpu
