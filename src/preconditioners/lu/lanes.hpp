// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "dot.hpp"

#include "backends/cpu/isa.hpp"

#include <furrow/view.hpp>

#include <type_traits>

namespace furrow::lu {

/// Two numbers side by side, those of two vectors at the same place. Loops that find their places by indices take them
/// at nearly the price of one number, for most of it is reading indices and entries.
using two = double __attribute__((vector_size(16)));

inline bool is_zero(double v) { return v == 0; }
inline bool is_zero(two) { return false; } // asking costs more than it saves: columns of the identity come alone

/// `size` numbers, or pairs, that columns of a panel work on. Numbers of a vector lie together, so that loops over a
/// column fill vector registers, of a pair for each of the two.
template <class T> class panel_work {
public:
  FURROW_INLINE panel_work(double* at, index_t size) : panel_work(at, at + size) {}
  FURROW_INLINE panel_work(double* first, double* second) : first_(first), second_(second) {}

  FURROW_INLINE T operator[](index_t i) const {
    if constexpr (pair) return T{first_[i], second_[i]};
    else return first_[i];
  }
  FURROW_INLINE void set(index_t i, T v) {
    if constexpr (pair) first_[i] = v[0], second_[i] = v[1];
    else first_[i] = v;
  }
  /// Takes t times the column from the numbers in [from, to).
  FURROW_INLINE void subtract(T t, const double* column, index_t from, index_t to) {
    if constexpr (pair) {
      double *const a = first_, *const b = second_;
      const double of_a = t[0], of_b = t[1];
#pragma omp simd
      for (index_t i = from; i < to; ++i) {
        a[i] -= of_a * column[i];
        b[i] -= of_b * column[i];
      }
    } else {
      double* const a = first_;
      for (index_t i = from; i < to; ++i) a[i] -= t * column[i];
    }
  }
  /// The same of four columns that stand side by side.
  FURROW_INLINE void subtract_four(const T* t, const double* columns, index_t stride, index_t from, index_t to) {
    const double *const c = columns, *const d = c + stride, *const e = d + stride, *const f = e + stride;
    double* const a = first_;
    if constexpr (pair) {
      double* const b = second_;
      const double p = t[0][0], q = t[1][0], r = t[2][0], s = t[3][0];
      const double k = t[0][1], l = t[1][1], m = t[2][1], n = t[3][1];
#pragma omp simd
      for (index_t i = from; i < to; ++i) {
        a[i] -= (p * c[i] + q * d[i]) + (r * e[i] + s * f[i]);
        b[i] -= (k * c[i] + l * d[i]) + (m * e[i] + n * f[i]);
      }
    } else {
      const double p = t[0], q = t[1], r = t[2], s = t[3];
#pragma omp simd
      for (index_t i = from; i < to; ++i) a[i] -= (p * c[i] + q * d[i]) + (r * e[i] + s * f[i]);
    }
  }
  /// The sums of products with four columns that stand side by side.
  FURROW_INLINE void dot_four(T* sums, const double* columns, index_t stride, index_t from, index_t to) const {
    if (to - from < 8) {
      for (int q = 0; q < 4; ++q) sums[q] = dot(columns + q * stride, from, to);
      return;
    }
    const auto of = [&](const double* v, auto put) FURROW_INLINE {
      double part[4][8] = {};
      index_t i = from;
      for (; i + 8 <= to; i += 8)
        for (int q = 0; q < 4; ++q)
          for (int u = 0; u < 8; ++u) part[q][u] += columns[q * stride + i + u] * v[i + u];
      for (int q = 0; q < 4; ++q) {
        double* const p = part[q];
        for (int u = 0; u < 4; ++u) p[u] += p[u + 4];
        double sum = (p[0] + p[1]) + (p[2] + p[3]);
        for (index_t rest = i; rest < to; ++rest) sum += columns[q * stride + rest] * v[rest];
        put(q, sum);
      }
    };
    if constexpr (pair) {
      of(first_, [&](int q, double sum) { sums[q][0] = sum; });
      of(second_, [&](int q, double sum) { sums[q][1] = sum; });
    } else {
      of(first_, [&](int q, double sum) { sums[q] = sum; });
    }
  }
  /// The sum of products with the column over [from, to).
  FURROW_INLINE T dot(const double* column, index_t from, index_t to) const {
    const double* const c = column + from;
    if constexpr (pair) return sums_of_products(c, to - from, first_ + from, second_ + from);
    else return sum_of_products<double>(c, to - from, [v = first_ + from](index_t i) FURROW_INLINE { return v[i]; });
  }

private:
  static constexpr bool pair = std::is_same_v<T, two>;

  FURROW_INLINE static two sums_of_products(const double* c, index_t count, const double* a, const double* b) {
    double of_a = 0, of_b = 0;
    index_t i = 0;
    if (count >= 8) {
      double part_a[8] = {}, part_b[8] = {};
      for (; i + 8 <= count; i += 8)
        for (int u = 0; u < 8; ++u) part_a[u] += c[i + u] * a[i + u], part_b[u] += c[i + u] * b[i + u];
      for (int u = 0; u < 4; ++u) part_a[u] += part_a[u + 4], part_b[u] += part_b[u + 4];
      of_a = (part_a[0] + part_a[1]) + (part_a[2] + part_a[3]);
      of_b = (part_b[0] + part_b[1]) + (part_b[2] + part_b[3]);
    }
    for (; i < count; ++i) of_a += c[i] * a[i], of_b += c[i] * b[i];
    return two{of_a, of_b};
  }

  double *first_, *second_;
};

} // namespace furrow::lu
