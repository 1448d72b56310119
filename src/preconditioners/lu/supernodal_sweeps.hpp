// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "dot.hpp"
#include "lanes.hpp"

#include "backends/cpu/isa.hpp"

#include <furrow/array.hpp>

#include <cstdint>
#include <vector>

namespace furrow::lu {

/// Where factors L and U lie, by columns, as SuperLU keeps them. A supernode is w columns of L with the same h rows, the
/// first w of which are its own: h x w values by columns, whose upper triangle belongs to U, and L has ones on its
/// diagonal. The rest of U is columns. Offsets of a supernode are those of its first column.
struct supernodal {
  index_t n = 0, supernodes = 0;
  const std::int32_t *first_column = nullptr, *rows_from = nullptr, *rows = nullptr, *values_from = nullptr;
  const double* values = nullptr;
  const std::int32_t *u_from = nullptr, *u_row = nullptr;
  const double* u = nullptr;
};

/// Substitution with such factors, in place, for a vector y of numbers or of `two` of them. SuperLU's own calls BLAS
/// for each supernode; of small factors, most of whose supernodes are a column or two, that takes most of the time.
template <class T> class supernodal_sweeps {
public:
  explicit supernodal_sweeps(const supernodal& f) : f_(f), work_(static_cast<std::size_t>(f.n)) {}

  /// y <- (L U)^-1 y
  void solve(T* y) {
    cpu::widest([&]() FURROW_INLINE {
      for (index_t k = 0; k < f_.supernodes; ++k) forward(node(k), y);
      for (index_t k = f_.supernodes; k-- > 0;) backward(node(k), y);
    });
  }
  /// y <- (L U)'^-1 y
  void solve_transposed(T* y) {
    cpu::widest([&]() FURROW_INLINE {
      for (index_t k = 0; k < f_.supernodes; ++k) forward_transposed(node(k), y);
      for (index_t k = f_.supernodes; k-- > 0;) backward_transposed(node(k), y);
    });
  }

private:
  struct supernode {
    index_t first, w, h;
    const std::int32_t* rows;
    const double* val;
  };
  FURROW_INLINE supernode node(index_t k) const {
    const std::int32_t first = f_.first_column[k], rows = f_.rows_from[first];
    return {first, f_.first_column[k + 1] - first, f_.rows_from[first + 1] - rows, f_.rows + rows,
            f_.values + f_.values_from[first]};
  }

  FURROW_INLINE void forward(const supernode& s, T* y) {
    if (s.w == 1) {
      const T t = y[s.first];
      if (is_zero(t)) return; // columns of the identity and few others
      for (index_t i = 1; i < s.h; ++i) y[s.rows[i]] -= t * s.val[i];
      return;
    }
    T *const own = y + s.first, *const below = work_.data();
    const index_t under = s.h - s.w;
    for (index_t i = 0; i < under; ++i) below[i] = T{};
    for (index_t j = 0; j < s.w; ++j) {
      const T t = own[j];
      const double* const column = s.val + j * s.h;
      for (index_t i = j + 1; i < s.w; ++i) own[i] -= t * column[i];
      for (index_t i = 0; i < under; ++i) below[i] += t * column[s.w + i];
    }
    for (index_t i = 0; i < under; ++i) y[s.rows[s.w + i]] -= below[i];
  }
  FURROW_INLINE void backward(const supernode& s, T* y) const {
    T* const own = y + s.first;
    for (index_t j = s.w; j-- > 0;) {
      const double* const column = s.val + j * s.h;
      const T t = own[j] /= column[j];
      for (index_t i = 0; i < j; ++i) own[i] -= t * column[i];
    }
    for (index_t j = 0; j < s.w; ++j) {
      const T t = own[j];
      if (is_zero(t)) continue;
      for (index_t e = f_.u_from[s.first + j]; e < f_.u_from[s.first + j + 1]; ++e) y[f_.u_row[e]] -= t * f_.u[e];
    }
  }

  FURROW_INLINE void forward_transposed(const supernode& s, T* y) const {
    T* const own = y + s.first;
    for (index_t j = 0; j < s.w; ++j) {
      const double* const column = s.val + j * s.h;
      const index_t begin = f_.u_from[s.first + j], count = f_.u_from[s.first + j + 1] - begin;
      const std::int32_t* const at = f_.u_row + begin;
      T sum = sum_of_products<T>(f_.u + begin, count, [at, y](index_t i) FURROW_INLINE { return y[at[i]]; });
      for (index_t i = 0; i < j; ++i) sum += column[i] * own[i];
      own[j] = (own[j] - sum) / column[j];
    }
  }
  FURROW_INLINE void backward_transposed(const supernode& s, T* y) {
    T *const own = y + s.first, *const below = work_.data();
    const index_t under = s.h - s.w;
    if (s.w == 1) {
      const std::int32_t* const at = s.rows + 1;
      own[0] -= sum_of_products<T>(s.val + 1, under, [at, y](index_t i) FURROW_INLINE { return y[at[i]]; });
      return;
    }
    for (index_t i = 0; i < under; ++i) below[i] = y[s.rows[s.w + i]];
    for (index_t j = s.w; j-- > 0;) {
      const double* const column = s.val + j * s.h;
      T sum = sum_of_products<T>(column + s.w, under, [below](index_t i) FURROW_INLINE { return below[i]; });
      for (index_t i = j + 1; i < s.w; ++i) sum += column[i] * own[i];
      own[j] -= sum;
    }
  }

  const supernodal f_;
  std::vector<T> work_;
};

/// x <- A^-1 x, or A'^-1 x, and y likewise where there is one; `row_place` and `column_place`: where the rows and columns
/// of A stand in the factors.
inline void solve_with(const supernodal& f, const host_array<std::int32_t>& row_place,
                       const host_array<std::int32_t>& column_place, double* x, double* y, bool transposed) {
  const auto &to = transposed ? column_place : row_place, &from = transposed ? row_place : column_place;
  const auto run = [&](auto kind, auto load, auto store) {
    using T = decltype(kind);
    std::vector<T> z(static_cast<std::size_t>(f.n));
    for (index_t i = 0; i < f.n; ++i) z[static_cast<std::size_t>(to[i])] = load(i);
    supernodal_sweeps<T> sweeps(f);
    transposed ? sweeps.solve_transposed(z.data()) : sweeps.solve(z.data());
    for (index_t i = 0; i < f.n; ++i) store(i, z[static_cast<std::size_t>(from[i])]);
  };
  if (!y) return run(0.0, [&](index_t i) { return x[i]; }, [&](index_t i, double v) { x[i] = v; });
  run(two{}, [&](index_t i) { return two{x[i], y[i]}; }, [&](index_t i, two v) { x[i] = v[0], y[i] = v[1]; });
}

} // namespace furrow::lu
