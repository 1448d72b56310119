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
#pragma GCC ivdep
      for (index_t i = from; i < to; ++i) {
        a[i] -= of_a * column[i];
        b[i] -= of_b * column[i];
      }
    } else {
      double* const a = first_;
      for (index_t i = from; i < to; ++i) a[i] -= t * column[i];
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
