// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "panel_sweeps.hpp"

#include "backends/cpu/isa.hpp"

#include <furrow/array.hpp>

#include <cstdint>
#include <vector>

namespace furrow::lu {

/// Where factors L and U lie, by columns, as SuperLU keeps them. A supernode is w columns of L with the same h rows,
/// the first w of which are its own: h x w values by columns, whose upper triangle belongs to U, and L has ones on its
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
  explicit supernodal_sweeps(const supernodal& f) : f_(f), work_(static_cast<std::size_t>(2 * f.n)) {}

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

  FURROW_INLINE panel_work<T> work_for(const supernode& s) { return {work_.data(), s.h}; }

  FURROW_INLINE static panel_sweeps<T> sweeps_of(const supernode& s, panel_work<T> work) {
    return {s.val, s.h, s.w, work};
  }

  FURROW_INLINE void forward(const supernode& s, T* y) {
    if (s.w == 1) {
      const T t = y[s.first];
      if (is_zero(t)) return; // columns of the identity and few others
      for (index_t i = 1; i < s.h; ++i) y[s.rows[i]] -= t * s.val[i];
      return;
    }
    panel_work<T> work = work_for(s);
    for (index_t i = 0; i < s.w; ++i) work.set(i, y[s.first + i]);
    for (index_t i = s.w; i < s.h; ++i) work.set(i, T{});
    sweeps_of(s, work).template lower<true>();
    for (index_t i = 0; i < s.w; ++i) y[s.first + i] = work[i];
    for (index_t i = s.w; i < s.h; ++i) y[s.rows[i]] += work[i];
  }
  FURROW_INLINE void backward(const supernode& s, T* y) {
    if (s.w == 1) {
      y[s.first] /= s.val[0];
    } else {
      panel_work<T> work = work_for(s);
      for (index_t i = 0; i < s.w; ++i) work.set(i, y[s.first + i]);
      sweeps_of(s, work).upper();
      for (index_t i = 0; i < s.w; ++i) y[s.first + i] = work[i];
    }
    for (index_t j = 0; j < s.w; ++j) {
      const T t = y[s.first + j];
      if (is_zero(t)) continue;
      for (index_t e = f_.u_from[s.first + j]; e < f_.u_from[s.first + j + 1]; ++e) y[f_.u_row[e]] -= t * f_.u[e];
    }
  }

  FURROW_INLINE void forward_transposed(const supernode& s, T* y) {
    panel_work<T> work = work_for(s);
    for (index_t j = 0; j < s.w; ++j) {
      const index_t begin = f_.u_from[s.first + j], count = f_.u_from[s.first + j + 1] - begin;
      const std::int32_t* const at = f_.u_row + begin;
      work.set(j, y[s.first + j] -
                      sum_of_products<T>(f_.u + begin, count, [at, y](index_t i) FURROW_INLINE { return y[at[i]]; }));
    }
    sweeps_of(s, work).upper_transposed();
    for (index_t j = 0; j < s.w; ++j) y[s.first + j] = work[j];
  }
  FURROW_INLINE void backward_transposed(const supernode& s, T* y) {
    if (s.w == 1) {
      const std::int32_t* const at = s.rows + 1;
      y[s.first] -= sum_of_products<T>(s.val + 1, s.h - 1, [at, y](index_t i) FURROW_INLINE { return y[at[i]]; });
      return;
    }
    panel_work<T> work = work_for(s);
    for (index_t i = 0; i < s.h; ++i) work.set(i, y[s.rows[i]]);
    sweeps_of(s, work).template lower_transposed<true>();
    for (index_t i = 0; i < s.w; ++i) y[s.first + i] = work[i];
  }

  const supernodal f_;
  std::vector<double> work_;
};

/// x <- A^-1 x, or A'^-1 x, and y likewise where there is one; `row_place` and `column_place`: where the rows and
/// columns of A stand in the factors.
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
  if (!y)
    return run(
        0.0, [&](index_t i) { return x[i]; }, [&](index_t i, double v) { x[i] = v; });
  run(
      two{},
      [&](index_t i) {
        return two{x[i], y[i]};
      },
      [&](index_t i, two v) { x[i] = v[0], y[i] = v[1]; });
}

} // namespace furrow::lu
