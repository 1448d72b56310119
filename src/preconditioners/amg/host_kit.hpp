// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "by_diagonals.hpp"
#include "diagonal.hpp"
#include "level_plan.hpp"
#include "levels.hpp"
#include "matrix/multiply.hpp"
#include "matrix/transpose.hpp"
#include "near_null.hpp"
#include "rounding.hpp"

#include "preconditioners/stop.hpp"

#include <utility>

namespace furrow::amg {

template <class T> host_array<T> copied(cview<T> v) {
  host_array<T> own(v.size);
  cpu::for_each_range(v.size, 1 << 15, [&](index_t first, index_t last) {
    std::copy(v.begin() + first, v.begin() + last, own.data() + first);
  });
  return own;
}
template <class W> rows<W> kept(row_view<double> a, double scale) {
  return {a.shape, copied(a.row_ptr), copied(a.col), rounded<W>(a.val, scale)};
}
template <class W> rows<W> kept(row_matrix<double>&& a) {
  auto values = rounded<W>(as_cview(a.val), 1);
  return {a.shape, std::move(a.row_ptr), std::move(a.col), std::move(values)};
}

diagonal_extremes extremes_of_diagonal(row_view<double> a);

/// See build_levels: what the host does for every kind of levels; `coarsen` is the kind's.
class host_kit {
public:
  host_kit(row_view<double> a, int block) : m_{a, block} {}

  shape2 shape() const { return m_.a.shape; }
  index_t entries() const { return m_.a.nnz(); }
  int block() const { return m_.block; }
  int coarse_block() const { return m_.block; }
  diagonal_extremes extremes() const { return extremes_of_diagonal(m_.a); }
  auto dense_inverse() const { return amg::dense_inverse(m_.a); }
  [[noreturn]] void refuse(std::size_t level) const { refuse_indefinite(level); }
  smoother_steps steps() const { return {}; }
  double look() {
    inverse_ = inverse_diagonal(m_);
    return lambda_ = largest_eigenvalue(m_, inverse_);
  }
  shape2 coarse() const { return coarse_.shape; }
  index_t coarse_entries() const { return coarse_.nnz(); }
  template <class W> void keep(level<W>& l, double scale) {
    l.p = kept<W>(std::exchange(p_, {}));
    l.r = kept<W>(std::exchange(r_, {}));
    l.inverse = rounded<W>(as_cview(inverse_), 1 / scale);
    if (m_.block == 1) l.diagonals = by_diagonals<W>(m_.a, scale);
    if (!l.by_diagonals()) l.a = kept<W>(m_.a, scale);
  }
  template <class W> host_array<W> keep_dense(const host_array<double>& t, double scale) {
    return rounded<W>(as_cview(t), scale);
  }
  void go_down() {
    own_ = std::exchange(coarse_, {});
    m_.a = own_.view();
  }

protected:
  /// With P there: R, and R A P.
  void multiply() {
    r_ = transposed(p_.view());
    coarse_ = triple_product(r_.view(), m_.a, p_.view(), [] { stops_set_up::at_row(0); });
  }
  bool would_shrink(index_t aggregates) const {
    return aggregates > 0 && double(aggregates) * least_shrinking <= double(m_.nodes());
  }

  node_matrix m_;
  row_matrix<double> own_, p_, r_, coarse_; ///< own: the matrix of a level below the first
  host_array<double> inverse_;
  double lambda_ = 1;
};

/// Of smoothed aggregation. plan: gets what stays for other values; P keeps its zeros then.
class aggregation_kit : public host_kit {
public:
  using host_kit::host_kit;

  bool coarsen(double theta, bool smoothed, level_plan* plan = nullptr);
};

/// Of smoothed aggregation with vectors that A nearly maps to zero: a node of a smaller level has an unknown for each.
class near_null_kit : public host_kit {
public:
  near_null_kit(row_view<double> a, int block, near_null vectors) : host_kit(a, block), vectors_(std::move(vectors)) {}

  int coarse_block() const { return vectors_.count; }
  bool coarsen(double theta, bool smoothed);
  void go_down() {
    host_kit::go_down();
    m_.block = vectors_.count;
    vectors_ = std::exchange(coarse_vectors_, {});
  }

protected:
  near_null vectors_, coarse_vectors_;
};

/// Of aggregation for a matrix that is not symmetric: P is smoothed by A and R' by A', both by the step of the
/// smoother, a damped Jacobi iteration, see `look`.
class nonsymmetric_kit : public host_kit {
public:
  explicit nonsymmetric_kit(row_view<double> a) : host_kit(a, 1) {}

  std::optional<host_array<double>> dense_inverse() const { return general_inverse(m_.a); }
  [[noreturn]] void refuse(std::size_t level) const { refuse_diagonal(level); }
  smoother_steps steps() const { return {false}; }
  double look();
  bool coarsen(double theta, bool smoothed);
};

/// Of rows in pairs, three times over; P is 1 where a row is in an aggregate, never smoothed.
class pairwise_kit : public host_kit {
public:
  using host_kit::host_kit;

  bool coarsen(double theta, bool first_time, level_plan* plan = nullptr);
};

} // namespace furrow::amg
