// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "guarded.hpp"

#include <furrow/gemv.hpp>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

/// What gemv promises, checked with integers: A_ij = ((7 i + 13 j) mod 11) - 5 and x_j = ((5 j) mod 7) - 3 are exact in
/// every order of summation and in every type, so results must be right to the last bit.
namespace furrow::kit {

/// One call.
struct gemv_case {
  shape2 shape;
  bool transposed = false;
  storage_order order = storage_order::row_major;
  index_t padding = 0; ///< leading dimension beyond what is needed
  index_t x_stride = 1, y_stride = 1;
  index_t count = 1;   ///< vectors
  bool beside = false; ///< the vectors lie element by element side by side
  index_t batch = 1;
  bool lists = false;
  index_t shift = 0; ///< elements off the alignment
  double alpha = 1, beta = 0;
  bool f64_sums = false;
  std::string kernel = "auto";

  index_t terms() const { return transposed ? shape.rows : shape.cols; }
  index_t outputs() const { return transposed ? shape.cols : shape.rows; }
  bool by_rows() const { return order == storage_order::row_major; }
  index_t lines() const { return by_rows() ? shape.rows : shape.cols; }
  index_t leading() const { return (by_rows() ? shape.cols : shape.rows) + padding; }

  std::string text() const {
    std::ostringstream s;
    s << shape.rows << " x " << shape.cols << (transposed ? " transposed, " : ", ") << (by_rows() ? "rows" : "columns")
      << ", padding " << padding << ", strides " << x_stride << ' ' << y_stride << ", vectors " << count
      << (beside ? " beside" : "") << ", batch " << batch << (lists ? " lists" : "") << ", shift " << shift
      << ", alpha " << alpha << ", beta " << beta << (f64_sums ? ", f64 sums" : "") << ", " << kernel;
    return s.str();
  }
};

inline index_t oracle_a(index_t i, index_t j) { return (7 * i + 13 * j) % 11 - 5; }
inline index_t oracle_x(index_t j) { return 5 * j % 7 - 3; }
/// Problem b of a batch and vector r differ by a shift of the indices.
inline index_t oracle_x(index_t j, index_t r, index_t b) { return oracle_x(j + 2 * r + 3 * b); }
inline index_t oracle_y(index_t i, index_t r) { return (i + r) % 9 - 4; }

/// Writes problem b's A; what lies between its lines stays as it was.
template <class T> void fill_with_oracle(T* a, const gemv_case& q, index_t b);

/// Where elements lie in a buffer that begins with the lowest of them.
struct strided_place {
  index_t stride, next, step, first = 0, total = 0;
  strided_place(index_t size, index_t stride_, index_t count, bool beside, index_t batch)
      : stride(beside ? stride_ * (count + 1) : stride_) {
    const index_t span = size > 0 ? (size - 1) * std::abs(stride) + 1 : 0;
    next = beside ? 1 : span + 3;
    const index_t all = span + (count - 1) * next;
    step = all + 2;
    total = all + (batch - 1) * step;
    first = stride < 0 && size > 0 ? (size - 1) * -stride : 0;
  }
  index_t operator()(index_t i, index_t r, index_t b) const { return first + i * stride + r * next + b * step; }
};

/// Pointers to the problems of a batch, in the memory of the side.
template <class P, class Side> auto pointer_list(P first, index_t step, index_t count) {
  host_array<P> list(count);
  for (index_t b = 0; b < count; ++b) list[b] = first + b * step;
  return typename Side::template array<P>(list);
}

/// The sums of a case. A has the period 11 in both indices and x the period 7: there are only 77 of them, and their
/// terms have the period 77.
class oracle_sums {
public:
  explicit oracle_sums(const gemv_case& q) : transposed_(q.transposed) {
    const index_t periods = q.terms() / 77, rest = q.terms() % 77;
    for (index_t i = 0; i < 11; ++i)
      for (index_t s = 0; s < 7; ++s)
        for (index_t k = 0; k < 77; ++k)
          sum_[i][s] += (periods + (k < rest)) * (q.transposed ? oracle_a(k, i) : oracle_a(i, k)) * oracle_x(k + s);
  }
  index_t operator()(index_t i, index_t r, index_t b) const {
    // Problem b has b added to the row: to i, or, where 13 * 9 b = 7 b modulo 11, 9 b to the column.
    return sum_[(transposed_ ? i + 9 * b : i + b) % 11][(2 * r + 3 * b) % 7];
  }

private:
  bool transposed_;
  index_t sum_[11][7] = {};
};

/// Runs a case and compares all of y, gaps too. Whatever must not be read is NaN. Returns y's memory.
template <class T, class Side> host_array<vector_value<T>> check_gemv(const gemv_case& q, device where) {
  using V = vector_value<T>;
  SCOPED_TRACE(q.text());
  const V nan = std::numeric_limits<V>::quiet_NaN();
  const T hole = T(std::numeric_limits<float>::quiet_NaN());
  const index_t of_a = q.lines() * q.leading(), a_step = of_a + q.padding;
  host_array<T> a(std::max<index_t>(a_step * q.batch - q.padding - (q.lines() > 0 ? q.padding : 0), 0), hole);
  const strided_place px(q.terms(), q.x_stride, q.count, q.beside, q.batch);
  const strided_place py(q.outputs(), q.y_stride, q.count, q.beside, q.batch);
  host_array<V> x(px.total, nan), y(py.total, nan);
  host_array<V> expected = y;
  const oracle_sums sums(q);
  for (index_t b = 0; b < q.batch; ++b) {
    if (q.alpha != 0) {
      fill_with_oracle(a.data() + b * a_step, q, b);
      for (index_t r = 0; r < q.count; ++r)
        for (index_t k = 0; k < q.terms(); ++k) x[px(k, r, b)] = V(oracle_x(k, r, b));
    }
    for (index_t i = 0; i < q.outputs(); ++i)
      for (index_t r = 0; r < q.count; ++r) {
        const index_t sum = q.alpha != 0 ? sums(i, r, b) : 0;
        if (q.beta != 0) y[py(i, r, b)] = V(oracle_y(i, r));
        expected[py(i, r, b)] = V(q.alpha * double(sum) + (q.beta != 0 ? q.beta * double(oracle_y(i, r)) : 0));
      }
  }
  guarded<T, Side> there_a(a, q.shift);
  guarded<V, Side> there_x(x, q.shift), there_y(y, q.shift);
  const T* const at_a = there_a.get().data;
  const V* const at_x = there_x.get().data + px.first;
  V* const at_y = there_y.get().data + py.first;
  const auto list_a = pointer_list<const T*, Side>(at_a, a_step, q.batch);
  const auto list_x = pointer_list<const V*, Side>(at_x, px.step, q.batch);
  const auto list_y = pointer_list<V*, Side>(at_y, py.step, q.batch);
  gemv_batch<T> batch{q.batch, a_step, px.step, py.step};
  if (q.lists) batch = {q.batch, 0, 0, 0, list_a.data(), list_x.data(), list_y.data()};
  gemv<T>(V(q.alpha), {q.lists ? nullptr : at_a, q.shape, q.leading(), q.order},
          {q.lists ? nullptr : at_x, q.terms(), px.stride, q.count, px.next}, V(q.beta),
          {q.lists ? nullptr : at_y, q.outputs(), py.stride, q.count, py.next},
          {q.transposed, q.f64_sums, where, q.kernel}, batch);
  auto result = there_y.take();
  index_t wrong = 0;
  for (index_t k = 0; k < result.size(); ++k) {
    const bool right = result[k] == expected[k] || (std::isnan(result[k]) && std::isnan(expected[k]));
    if (!right && wrong++ == 0) ADD_FAILURE() << "y[" << k << "] is " << result[k] << " instead of " << expected[k];
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_TRUE(same_bits(as_cview(there_a.take()), as_cview(a))) << "A was written";
  EXPECT_TRUE(same_bits(as_cview(there_x.take()), as_cview(x))) << "x was written";
  return result;
}

/// Shapes at the edges of what kernels take at a time.
inline std::vector<shape2> gemv_shapes() {
  return {{0, 0},     {0, 5},    {5, 0},    {1, 1},     {31, 33},   {33, 32},   {32, 31},   {2, 2003},
          {2003, 2},  {7, 513},  {513, 7},  {10, 4001}, {4001, 10}, {64, 1030}, {1030, 64}, {130, 129},
          {300, 256}, {65, 520}, {1, 4099}, {4099, 1},  {3, 9000},  {9000, 3},  {520, 1030}};
}

/// Every order, operation and shape, with the variants that a call may have.
template <class T, class Side> void check_all_gemv(device where) {
  for (const shape2 shape : gemv_shapes())
    for (const bool transposed : {false, true})
      for (const auto order : {storage_order::row_major, storage_order::col_major}) {
        gemv_case q;
        q.shape = shape;
        q.transposed = transposed;
        q.order = order;
        std::vector<gemv_case> all;
        const auto with = [&](auto change) {
          all.push_back(q);
          change(all.back());
        };
        with([](gemv_case&) {});
        with([](gemv_case& c) { c.alpha = -2, c.beta = 3, c.padding = 5; });
        with([](gemv_case& c) { c.padding = 16, c.shift = 1, c.beta = 1; });
        with([](gemv_case& c) { c.shift = 3, c.x_stride = 2, c.y_stride = -3, c.beta = -1; });
        with([](gemv_case& c) { c.padding = 8, c.x_stride = -1, c.y_stride = 2; });
        with([](gemv_case& c) { c.alpha = 0, c.beta = 2, c.y_stride = 2; });
        with([](gemv_case& c) { c.alpha = 0; });
        for (const index_t count : {2, 3, 4, 5, 8}) with([&](gemv_case& c) { c.count = count; });
        with([](gemv_case& c) { c.count = 3, c.beside = true, c.beta = 2, c.padding = 1; });
        with([](gemv_case& c) { c.batch = 3, c.beta = 1; });
        with([](gemv_case& c) { c.batch = 3, c.count = 3, c.beta = -1; });
        with([](gemv_case& c) { c.batch = 2, c.lists = true, c.count = 2, c.padding = 3, c.y_stride = -1; });
        if (sizeof(T) == 4) with([](gemv_case& c) { c.f64_sums = true, c.count = 2, c.beta = 1; });
        if (where.is_gpu() && (order == storage_order::row_major) != transposed)
          for (const char* name : {"naive", "tiled"})
            with([&](gemv_case& c) { c.kernel = name, c.beta = 2, c.padding = 3, c.x_stride = 2; });
        for (const gemv_case& c : all) {
          check_gemv<T, Side>(c, where);
          if (testing::Test::HasFailure()) return;
        }
      }
}

} // namespace furrow::kit
