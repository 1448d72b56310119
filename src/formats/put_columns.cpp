// SPDX-License-Identifier: BSD-3-Clause
#include "put_columns.hpp"

#include "backends/cpu/isa.hpp"

#include <algorithm>

namespace furrow {

template <class T>
void put_columns(const row_group& of, std::int32_t width, index_t apart, const T* from, T padding, T* to) {
  const index_t rows = of.rows;
  const index_t* const begin = of.begin.data();
  const std::int32_t* const length = of.length.data();
  const std::int32_t shortest = std::min(width, *std::min_element(length, length + rows));
  cpu::widest([&]() FURROW_INLINE {
    for (std::int32_t k = 0; k < shortest; ++k, to += apart) {
#pragma omp simd
      for (index_t i = 0; i < rows; ++i) to[i] = from[begin[i] + k];
    }
    for (std::int32_t k = shortest; k < width; ++k, to += apart) {
#pragma omp simd
      for (index_t i = 0; i < rows; ++i) to[i] = k < length[i] ? from[begin[i] + k] : padding;
    }
  });
}

template void put_columns(const row_group&, std::int32_t, index_t, const std::int32_t*, std::int32_t, std::int32_t*);
template void put_columns(const row_group&, std::int32_t, index_t, const float*, float, float*);
template void put_columns(const row_group&, std::int32_t, index_t, const double*, double, double*);

} // namespace furrow
