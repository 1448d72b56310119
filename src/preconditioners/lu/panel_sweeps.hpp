// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "lanes.hpp"

#include "backends/cpu/isa.hpp"

#include <furrow/view.hpp>

namespace furrow::lu {

/// Substitution with w columns of h numbers each, whose first w rows hold triangles, for numbers that lie together.
/// Columns are taken four at once, so that what they change is read and written once: a third less time for 131 dense
/// rows. `Unit`: ones stand on the diagonal of L, which is not stored then.
template <class T> class panel_sweeps {
public:
  FURROW_INLINE panel_sweeps(const double* panel, index_t h, index_t w, panel_work<T> work)
      : panel_(panel), h_(h), w_(w), work_(work) {}

  /// L^-1 of the first w numbers, and L of those below times that is taken from these.
  template <bool Unit> FURROW_INLINE void lower() {
    index_t j = 0;
    for (; j + 4 <= w_; j += 4) {
      T v[4];
      for (int q = 0; q < 4; ++q) {
        v[q] = work_[j + q];
        for (int p = 0; p < q; ++p) v[q] -= v[p] * column(j + p)[j + q];
        if constexpr (!Unit) v[q] /= column(j + q)[j + q];
        work_.set(j + q, v[q]);
      }
      if (!(is_zero(v[0]) && is_zero(v[1]) && is_zero(v[2]) && is_zero(v[3])))
        work_.subtract_four(v, column(j), h_, j + 4, h_);
    }
    for (; j < w_; ++j) {
      T v = work_[j];
      if constexpr (!Unit) v /= column(j)[j], work_.set(j, v);
      if (!is_zero(v)) work_.subtract(v, column(j), j + 1, h_);
    }
  }

  /// U^-1 of the first w numbers.
  FURROW_INLINE void upper() {
    index_t end = w_;
    for (; end >= 4; end -= 4) {
      const index_t j = end - 4;
      const double *const c = column(j) + j, *const d = c + h_, *const e = d + h_, *const f = e + h_;
      const T v3 = work_[j + 3] / f[3], v2 = (work_[j + 2] - v3 * f[2]) / e[2];
      const T v1 = (work_[j + 1] - v3 * f[1] - v2 * e[1]) / d[1];
      const T v0 = (work_[j] - v3 * f[0] - v2 * e[0] - v1 * d[0]) / c[0];
      const T v[4] = {v0, v1, v2, v3};
      for (int q = 0; q < 4; ++q) work_.set(j + q, v[q]);
      work_.subtract_four(v, column(j), h_, 0, j);
    }
    for (index_t j = end; j-- > 0;) {
      const T v = work_[j] / column(j)[j];
      work_.set(j, v);
      work_.subtract(v, column(j), 0, j);
    }
  }

  /// U'^-1 of the first w numbers.
  FURROW_INLINE void upper_transposed() {
    index_t j = 0;
    for (; j + 4 <= w_; j += 4) {
      T v[4];
      work_.dot_four(v, column(j), h_, 0, j);
      for (int q = 0; q < 4; ++q) {
        v[q] = work_[j + q] - v[q];
        for (int p = 0; p < q; ++p) v[q] -= v[p] * column(j + q)[j + p];
        v[q] /= column(j + q)[j + q];
        work_.set(j + q, v[q]);
      }
    }
    for (; j < w_; ++j) work_.set(j, (work_[j] - work_.dot(column(j), 0, j)) / column(j)[j]);
  }

  /// L'^-1 of the first w numbers, less L' of those below times these.
  template <bool Unit> FURROW_INLINE void lower_transposed() {
    index_t end = w_;
    for (; end >= 4; end -= 4) {
      const index_t j = end - 4;
      T v[4];
      work_.dot_four(v, column(j), h_, end, h_);
      for (int q = 3; q >= 0; --q) {
        v[q] = work_[j + q] - v[q];
        for (int p = 3; p > q; --p) v[q] -= v[p] * column(j + q)[j + p];
        if constexpr (!Unit) v[q] /= column(j + q)[j + q];
        work_.set(j + q, v[q]);
      }
    }
    for (index_t j = end; j-- > 0;) {
      T v = work_[j] - work_.dot(column(j), j + 1, h_);
      if constexpr (!Unit) v /= column(j)[j];
      work_.set(j, v);
    }
  }

private:
  FURROW_INLINE const double* column(index_t j) const { return panel_ + j * h_; }

  const double* panel_;
  index_t h_, w_;
  panel_work<T> work_;
};

} // namespace furrow::lu
