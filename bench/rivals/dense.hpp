// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "rival.hpp"

#include <furrow/gemv.hpp>

namespace furrow::bench {

/// y = op(A) x as BLAS has it: A is column-major, rows x cols without gaps; x is of A's type. All lie in the memory of
/// the library's device; on the GPU the product is enqueued on the current queue. Sizes fit into 31 bits.
template <class T>
using multiply_dense = void (*)(bool transposed, index_t rows, index_t cols, const T* a, const T* x,
                                vector_value<T>* y);

/// A library's dense products; null: it has none of that type.
struct dense_ways {
  multiply_dense<double> f64 = nullptr;
  multiply_dense<float> f32 = nullptr;
  multiply_dense<half> f16 = nullptr;
  multiply_dense<bfloat16> bf16 = nullptr;

  template <class T> multiply_dense<T> of() const {
    if constexpr (std::is_same_v<T, double>) return f64;
    else if constexpr (std::is_same_v<T, float>) return f32;
    else if constexpr (std::is_same_v<T, half>) return f16;
    else return bf16;
  }
};

} // namespace furrow::bench
