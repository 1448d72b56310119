// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "call.hpp"

#include "core/check.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

/// The arguments of a product, checked and in one form.
namespace furrow::dense {

/// |a| * b where that stays far inside 63 bits; the sentence otherwise.
inline index_t product(index_t a, index_t b, std::string_view what) {
  index_t result = 0;
  const bool fits = a != INT64_MIN && !__builtin_mul_overflow(std::abs(a), b, &result) && result < INT64_MAX / 64;
  check(fits, fault::usage, "gemv: {}: {} times {} elements are more than any memory holds", what, a, b);
  return result;
}

/// Elements from the first to the last that vectors touch, counted from data[0]: [low, high].
struct extent {
  index_t low = 0, high = 0;
  index_t span() const { return high - low; }
  void widen(index_t distance, index_t steps, std::string_view what) {
    const index_t reach = product(distance, std::max<index_t>(steps, 0), what);
    (distance < 0 ? low : high) += distance < 0 ? -reach : reach;
  }
};

template <class V> extent extent_of(const vectors<V>& v, index_t step, index_t problems, std::string_view name) {
  extent e;
  e.widen(v.stride, v.size - 1, name);
  e.widen(v.next, v.count - 1, name);
  e.widen(step, problems - 1, name);
  return e;
}

template <class V> void check_vectors(const vectors<V>& v, std::string_view name, index_t wanted, bool listed) {
  check(v.size == wanted, fault::usage, "gemv: {} has {} elements, but op(A) asks for {}", name, v.size, wanted);
  check(v.stride != 0, fault::usage,
        "gemv: the stride of {} is 0: elements must differ, give 1 or more, or below 0 to go backwards", name);
  check(v.count >= 1 && v.count <= 8, fault::usage, "gemv: {} has {} vectors: give 1 to 8, call again for more", name,
        v.count);
  check(v.data || listed || wanted == 0, fault::usage, "gemv: {} points nowhere, but has {} elements", name, wanted);
}

/// Vectors of y may lie one behind the other or element by element side by side.
template <class V> void check_apart(const vectors<V>& y, const extent& one_problem, const auto& batch) {
  if (y.size == 0) return;
  const index_t stride = std::abs(y.stride), next = std::abs(y.next);
  const bool behind = next > product(stride, y.size - 1, "y");
  const bool beside = next > 0 && stride > product(next, y.count - 1, "y");
  check(y.count == 1 || behind || beside, fault::usage,
        "gemv: the {} vectors of y overlap: {} elements from one to the next, at stride {}", y.count, y.next, y.stride);
  if (batch.count > 1 && !batch.y_list)
    check(std::abs(batch.y_step) > one_problem.span(), fault::usage,
          "gemv: the problems of the batch overlap in y: {} elements from one to the next, but each "
          "spans {}",
          batch.y_step, one_problem.span() + 1);
}

template <class T> view<const T> memory_of(const T* data, const extent& e) { return {data + e.low, e.span() + 1}; }

/// Brings them into that form. Throws `fault::usage`.
template <class T>
call<T> canonical(vector_value<T> alpha, const dense_view<T>& a, const vectors<const vector_value<T>>& x,
                  vector_value<T> beta, const vectors<vector_value<T>>& y, const gemv_options& options,
                  const gemv_batch<T>& batch) {
  using V = vector_value<T>;
  const index_t m = a.shape.rows, n = a.shape.cols;
  check(m >= 0 && n >= 0, fault::usage, "gemv: A is {} x {}: sizes must not be negative", m, n);
  const bool by_rows = a.order == storage_order::row_major;
  const call<T> c{.a = a.data,
                  .lines = by_rows ? m : n,
                  .length = by_rows ? n : m,
                  .leading = a.leading,
                  .across = by_rows == options.transposed,
                  .f64_sums = options.f64_sums,
                  .alpha = alpha,
                  .beta = beta,
                  .x = x.data,
                  .y = y.data,
                  .x_stride = x.stride,
                  .x_next = x.next,
                  .y_stride = y.stride,
                  .y_next = y.next,
                  .count = static_cast<int>(x.count),
                  .batch = batch.count,
                  .a_step = batch.a_step,
                  .x_step = batch.x_step,
                  .y_step = batch.y_step,
                  .a_list = batch.a_list,
                  .x_list = batch.x_list,
                  .y_list = batch.y_list};
  check(a.leading >= c.length, fault::usage, "gemv: the leading dimension is {}, but a {} of A has {} elements",
        a.leading, by_rows ? "row" : "column", c.length);
  check(!options.f64_sums || sizeof(T) >= 4, fault::usage,
        "gemv: sums in double are for matrices of float: store A in f32, or leave f64_sums out");
  check(batch.count >= 0, fault::usage, "gemv: a batch of {} problems: give 0 or more", batch.count);
  const bool used = m > 0 && n > 0 && alpha != V(0) && batch.count > 0;
  check(a.data || batch.a_list || !used, fault::usage, "gemv: A points nowhere, but is {} x {}", m, n);
  check_vectors(x, "x", c.terms(), batch.x_list || alpha == V(0) || batch.count == 0);
  check_vectors(y, "y", c.outputs(), batch.y_list || batch.count == 0);
  check(x.count == y.count, fault::usage, "gemv: x has {} vectors and y has {}: give as many", x.count, y.count);

  extent of_a;
  of_a.widen(c.leading, c.lines - 1, "A");
  of_a.widen(1, c.length - 1, "A");
  of_a.widen(batch.a_list ? 0 : batch.a_step, batch.count - 1, "A");
  check_apart(y, extent_of(y, 0, 1, "y"), batch);
  const extent of_x = extent_of(x, batch.x_list ? 0 : batch.x_step, batch.count, "x");
  const extent of_y = extent_of(y, batch.y_list ? 0 : batch.y_step, batch.count, "y");
  if (used && !batch.y_list) {
    const auto written = memory_of<V>(y.data, of_y);
    check(batch.x_list || !overlap(memory_of<V>(x.data, of_x), written), fault::usage,
          "gemv: x and y overlap: y must have memory of its own");
    check(batch.a_list || !overlap(memory_of<T>(a.data, of_a), written), fault::usage,
          "gemv: A and y overlap: y must have memory of its own");
  }

  return c;
}

} // namespace furrow::dense
