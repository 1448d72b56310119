// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "dot.hpp"

#include "backends/cpu/isa.hpp"

#include <furrow/array.hpp>

#include <slu_ddefs.h>

#include <cstdint>

namespace furrow::lu {

/// Substitution with the factors L and U that SuperLU made, for one vector y in place. SuperLU's own calls BLAS for
/// each supernode; of small factors, most of whose supernodes are a column or two, that takes most of the time.
///
/// A supernode is w columns of L with the same h rows, the first w of which are its own: h x w values by columns, whose
/// upper triangle belongs to U. The rest of U is columns.
class superlu_sweeps {
public:
  superlu_sweeps(const SuperMatrix& l, const SuperMatrix& u)
      : l_(*static_cast<const SCformat*>(l.Store)), u_(*static_cast<const NCformat*>(u.Store)), work_(l.nrow) {}

  /// y <- (L U)^-1 y
  void solve(double* y) {
    cpu::widest([&]() FURROW_INLINE {
      for (int k = 0; k <= l_.nsuper; ++k) forward(node(k), y);
      for (int k = l_.nsuper; k >= 0; --k) backward(node(k), y);
    });
  }
  /// y <- (L U)'^-1 y
  void solve_transposed(double* y) {
    cpu::widest([&]() FURROW_INLINE {
      for (int k = 0; k <= l_.nsuper; ++k) forward_transposed(node(k), y);
      for (int k = l_.nsuper; k >= 0; --k) backward_transposed(node(k), y);
    });
  }

private:
  struct supernode {
    index_t first, w, h;
    const int* rows;
    const double* val;
  };
  FURROW_INLINE supernode node(int k) const {
    const int first = l_.sup_to_col[k], rows = l_.rowind_colptr[first];
    return {first, l_.sup_to_col[k + 1] - first, l_.rowind_colptr[first + 1] - rows, l_.rowind + rows,
            static_cast<const double*>(l_.nzval) + l_.nzval_colptr[first]};
  }

  FURROW_INLINE void forward(const supernode& s, double* y) {
    if (s.w == 1) {
      const double t = y[s.first];
      if (t == 0) return; // columns of the identity and few others
      for (index_t i = 1; i < s.h; ++i) y[s.rows[i]] -= t * s.val[i];
      return;
    }
    double *const own = y + s.first, *const below = work_.data();
    const index_t under = s.h - s.w;
    for (index_t i = 0; i < under; ++i) below[i] = 0;
    for (index_t j = 0; j < s.w; ++j) {
      const double t = own[j];
      const double* const column = s.val + j * s.h;
      for (index_t i = j + 1; i < s.w; ++i) own[i] -= t * column[i];
      for (index_t i = 0; i < under; ++i) below[i] += t * column[s.w + i];
    }
    for (index_t i = 0; i < under; ++i) y[s.rows[s.w + i]] -= below[i];
  }
  FURROW_INLINE void backward(const supernode& s, double* y) const {
    double* const own = y + s.first;
    const auto* const val = static_cast<const double*>(u_.nzval);
    for (index_t j = s.w; j-- > 0;) {
      const double* const column = s.val + j * s.h;
      const double t = own[j] /= column[j];
      for (index_t i = 0; i < j; ++i) own[i] -= t * column[i];
    }
    for (index_t j = 0; j < s.w; ++j) {
      const double t = own[j];
      for (index_t e = u_.colptr[s.first + j]; t != 0 && e < u_.colptr[s.first + j + 1]; ++e)
        y[u_.rowind[e]] -= t * val[e];
    }
  }

  FURROW_INLINE void forward_transposed(const supernode& s, double* y) const {
    double* const own = y + s.first;
    const auto* const val = static_cast<const double*>(u_.nzval);
    for (index_t j = 0; j < s.w; ++j) {
      const double* const column = s.val + j * s.h;
      const int begin = u_.colptr[s.first + j], count = u_.colptr[s.first + j + 1] - begin;
      const int* const at = u_.rowind + begin;
      double sum = sum_of_products(val + begin, count, [at, y](index_t i) FURROW_INLINE { return y[at[i]]; });
      for (index_t i = 0; i < j; ++i) sum += column[i] * own[i];
      own[j] = (own[j] - sum) / column[j];
    }
  }
  FURROW_INLINE void backward_transposed(const supernode& s, double* y) {
    double *const own = y + s.first, *const below = work_.data();
    const index_t under = s.h - s.w;
    if (s.w == 1) {
      const int* const at = s.rows + 1;
      own[0] -= sum_of_products(s.val + 1, under, [at, y](index_t i) FURROW_INLINE { return y[at[i]]; });
      return;
    }
    for (index_t i = 0; i < under; ++i) below[i] = y[s.rows[s.w + i]];
    for (index_t j = s.w; j-- > 0;) {
      const double* const column = s.val + j * s.h;
      double sum = sum_of_products(column + s.w, under, [below](index_t i) FURROW_INLINE { return below[i]; });
      for (index_t i = j + 1; i < s.w; ++i) sum += column[i] * own[i];
      own[j] -= sum;
    }
  }

  const SCformat& l_;
  const NCformat& u_;
  host_array<double> work_;
};

} // namespace furrow::lu
