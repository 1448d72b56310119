// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "block_rows.hpp"
#include "space.hpp"

#include "core/wide_sum.hpp"

#include <cmath>

/// b - A x beyond rounding, for formats whose rows can be walked.
namespace furrow::gpu {

/// r = b - A x and the sum of its squares; a thread takes a row.
template <class A, class V>
__global__ void __launch_bounds__(sweep_threads)
    exact_rows_kernel(A a, cview<V> b, cview<V> x, view<V> r, sum_target<1> to) {
  take_turn();
  double squares = 0;
  const index_t step = index_t(gridDim.x) * sweep_threads;
  for (index_t position = index_t(blockIdx.x) * sweep_threads + threadIdx.x; position < a.shape.rows;
       position += step) {
    const index_t row = row_of(a, position);
    wide_sum<V> sum(b[row]);
    each_entry(lanes{}, a, position, [&](index_t col, V val) { sum.subtract(val, x[col]); });
    const double rest = sum.value();
    r[row] = static_cast<V>(rest);
    squares += rest * rest;
  }
  finish<sweep_threads, 1>(&squares, to);
}

/// Its norm. Waits.
template <class A, class V> double exact_rows(const A& a, cview<V> b, cview<V> x, view<V> r) {
  space<V> s;
  auto norm = s.make_slots(1);
  const slot squares{norm.data()};
  const queue q = current_queue();
  launch(exact_rows_kernel<A, V>, blocks_for(a.shape.rows, sweep_threads, q, 8), sweep_threads, 0, q, a, b, x, r,
         target(q, squares));
  return std::sqrt(s.read(squares));
}

} // namespace furrow::gpu
