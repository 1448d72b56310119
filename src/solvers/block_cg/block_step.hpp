// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "ritz.hpp"
#include "state.hpp"

#include "solvers/entry.hpp"
#include "solvers/pass.hpp"

#include <cmath>
#include <limits>
#include <vector>

namespace furrow::block_cg {

inline constexpr int most_columns = 16;

/// Elements of blocks from those of columns, `number[k]` the one that column k of the block is; zeros beyond `count`.
struct column_numbers {
  index_t n;
  int count, width;
  std::int32_t number[most_columns];
  FURROW_HD bool holds(index_t e) const { return e % width < count; }
  FURROW_HD index_t at(index_t e) const { return number[e % width] * n + e / width; }
};
/// Element e of the block `to` from columns, less `minus` where there is one.
template <class V> struct gather_columns {
  static constexpr int reads = 1, writes = 1;
  column_numbers of;
  cview<V> from;
  const V* minus;
  V* to;
  FURROW_HD void load() {}
  FURROW_HD V at(index_t e) const { return of.holds(e) ? from[of.at(e)] - (minus ? minus[e] : V(0)) : V(0); }
  FURROW_HD void operator()(index_t e, V v, sums<0>) const { to[e] = v; }
};
template <class V> struct scatter_columns {
  static constexpr int reads = 1, writes = 1;
  column_numbers of;
  const V* from;
  view<V> to;
  FURROW_HD void load() {}
  FURROW_HD V at(index_t e) const { return from[e]; }
  FURROW_HD void operator()(index_t e, V v, sums<0>) const {
    if (of.holds(e)) to[of.at(e)] = v;
  }
};
/// Column k of a block, as a vector, and back.
template <class V> struct take_column {
  static constexpr int reads = 1, writes = 1;
  const V* block;
  index_t width, k;
  V* one;
  FURROW_HD void load() {}
  FURROW_HD V at(index_t i) const { return block[i * width + k]; }
  FURROW_HD void operator()(index_t i, V v, sums<0>) const { one[i] = v; }
};
template <class V> struct put_column {
  static constexpr int reads = 1, writes = 1;
  const V* one;
  V* block;
  index_t width, k;
  FURROW_HD void load() {}
  FURROW_HD V at(index_t i) const { return one[i]; }
  FURROW_HD void operator()(index_t i, V v, sums<0>) const { block[i * width + k] = v; }
};
/// Columns made equally long.
template <class V> struct scale_columns {
  static constexpr int reads = 1, writes = 1;
  double by[most_columns];
  index_t width;
  V* block;
  FURROW_HD void load() {}
  FURROW_HD V at(index_t e) const { return block[e]; }
  FURROW_HD void operator()(index_t e, V v, sums<0>) const { block[e] = V(double(v) * by[e % width]); }
};

/// Columns of a system, solved at once: what a step of block conjugate gradients works on, and the step.
///
///   R = Q C with Q'M Q = I;  S = M Q
///   P = A S;  xi = (S'P)^-1;  X += S xi C;  T = Q - P xi;  R = T C
///   T = Q zeta with Q'M Q = I;  C = zeta C;  S = M Q + S zeta'
///
/// zeta comes of Cholesky's factor with pivots of T'M T, twice where the first one is not accurate. Directions whose
/// pivot is nothing beside the largest one are dropped: Q gets narrower, zeta rectangular, and all systems go on
/// through the directions that are left. A column that is small enough leaves C; the directions stay, since they help
/// the others. Cost of a step: a product with W vectors, and passes over 12 blocks of W vectors, 6 more with a
/// stored M; 14 W^2 n operations. The W x W matrices stay beside the vectors: a step only enqueues.
/// A. A. Dubrulle, Retooling the method of block conjugate gradients, 2001, with the M of D. P. O'Leary, The block
/// conjugate gradient algorithm and related methods, 1980.
///
/// S: the space of the vectors, P: the passes over its blocks (passes.hpp, gpu_passes.hpp).
template <class S, class P, class V, int W> class block_step {
public:
  static double bytes(index_t n, bool stored) { return double(sizeof(V)) * double(n) * W * (stored ? 5 : 4); }

  /// `systems`: b and x hold columns of n elements, of which `numbers` are taken.
  block_step(S& space, const linear_system<V>& systems, const std::vector<index_t>& numbers)
      : s_(space), systems_(systems), count_(static_cast<int>(numbers.size())), n_(systems.a.shape().rows), run_(n_),
        x_(space.make(n_ * W)), q_(space.make(n_ * W)), p_(space.make(n_ * W)), directions_(space.make(n_ * W)),
        z_(space.make(stored() ? n_ * W : 0)), one_(space.make(one_by_one() ? n_ : 0)),
        result_(space.make(one_by_one() ? n_ : 0)), m_{systems.m.diagonal(), stored() ? z_.data() : nullptr},
        of_{n_, count_, W, {}} {
    for (int k = 0; k < count_; ++k) of_.number[k] = static_cast<std::int32_t>(numbers[k]);
    set_zero_block(p_), set_zero_block(z_);
  }

  /// Q = B - A X, and the norms of its columns.
  std::vector<double> load() {
    s_.sweep(n_ * W, gather_columns<V>{of_, as_cview(systems_.x), nullptr, x_.data()});
    multiply(x_);
    s_.sweep(n_ * W, gather_columns<V>{of_, systems_.b, p_.data(), q_.data()});
    run_.send(block_state<W>{});
    run_.template gram<after_nothing<W>>(q_.data(), q_.data());
    const block_state<W>& s = run_.look();
    std::vector<double> norms(static_cast<std::size_t>(count_));
    for (int k = 0; k < count_; ++k) {
      const double squares = s.g[k][k];
      norms[k] = std::sqrt(squares < 0 ? 0 : squares); // NaN stays
    }
    return norms;
  }

  /// The first directions, from Q as `load` left it: its columns are made equally long before they are compared.
  /// `slots` and `most`: of `control::until`, whose rr is the square of the largest residual over its goal.
  void start(const std::vector<double>& lengths, const std::vector<double>& goals, const double* slots,
             const control::limits& most) {
    block_state<W> s{};
    scale_columns<V> scale{{}, W, q_.data()};
    for (int k = 0; k < count_; ++k) {
      s.c[k][k] = s.residual[k] = lengths[k], scale.by[k] = 1 / lengths[k];
      s.goal[k] = goals[k];
    }
    std::copy_n(slots, int(control::own_slot), s.slots);
    s.most = most, s.nothing = nothing, s.count = count_, s.stored = stored(), s.again = true, s.why = control::running;
    run_.send(s);
    s_.sweep(n_ * W, scale);
    set_zero_block(directions_);
    precondition();
    run_.template gram<after_gram<W>>(q_.data(), m_.stored ? m_.stored : q_.data(), m_.diagonal);
    finish();
    ritz_ = {};
  }
  /// Enqueues a step.
  void step() {
    multiply(directions_);
    run_.template gram<after_product<W>>(directions_.data(), p_.data());
    run_.template shrink<after_shrink<W>>(q_.data(), p_.data(), x_.data(), directions_.data(), m_);
    if (stored()) {
      precondition();
      run_.template gram<after_gram<W>>(q_.data(), m_.stored);
    }
    finish();
  }
  auto until() const { return has_ended<W>{run_.state()}; }
  static constexpr index_t kept() { return P::kept(); }
  /// The state, and `told(record)` for each step since `first`; waits. At most `kept()` steps.
  template <class F> const block_state<W>& look(index_t first, F told) {
    const block_state<W>& s = run_.look();
    const auto last = static_cast<index_t>(s.slots[control::steps]);
    if (last > first) {
      const step_record<W>* const records = run_.look_at_records();
      for (index_t k = first; k < last; ++k) {
        const step_record<W>& r = records[k % kept()];
        ritz_.add(r.d, r.inverse, r.beta, r.rank);
        told(r, last - 1 - k);
      }
    }
    return s;
  }
  /// X goes to where it came from.
  void store() { s_.sweep(n_ * W, scatter_columns<V>{of_, x_.data(), systems_.x}); }

  /// As the judge of cg has it, of a state whose inversion was stopped: v'D v is negative beyond the rounding of
  /// v'S'A S v, or zero within it.
  int judge() {
    block_state<W> s = run_.look();
    const double length = double(systems_.longest_row);
    const double rounding = (length + 64) * unit * (m_.diagonal.empty() ? systems_.norm_inf : length);
    if (stored()) {
      run_.template gram<after_nothing<W>>(directions_.data(), directions_.data());
      s.norms_in_m = run_.look().g;
    }
    square<W> v{};
    for (int i = 0; i < W; ++i) v[i][0] = s.v[i];
    return s.pivot < -rounding * s.norms_in_m.form(v, 0) ? int(negative_pivot) : int(zero_pivot);
  }

  typename ritz_blocks<W>::extremes ritz_values() const { return ritz_.eigenvalues(); }
  double bytes_per_step() const {
    const double blocks = 2 + 2 + 6 + 4 + (stored() ? 6 : 0);
    return systems_.a.stored_bytes() + blocks * double(sizeof(V)) * double(n_) * W +
           (stored() ? count_ * systems_.m.stored_bytes() : double(sizeof(V)) * 2.0 * double(m_.diagonal.size));
  }

private:
  using array = decltype(std::declval<S&>().make(0));
  using kind = typename any_preconditioner<V>::kind;
  static constexpr double unit = std::numeric_limits<V>::epsilon() / 2;
  /// Of a pivot beside the largest one: T is known to some units of its largest column.
  static constexpr double nothing = std::max(1e-14, 256 * unit * unit);

  bool stored() const { return systems_.m.what() == kind::general; }
  /// Formats that multiply vectors one by one on a GPU; on the CPU they see to it themselves.
  bool product_is_single() const { return P::on_gpu && !systems_.a.multiplies_blocks(); }
  bool one_by_one() const { return stored() || product_is_single(); }
  void set_zero_block(array& block) {
    if (!block.empty()) s_.sweep(block.size(), pass(set_zero{}, out(as_view(block))));
  }
  /// P = A times a block.
  void multiply(const array& block) {
    if (product_is_single())
      column_by_column(block, p_, [&] { systems_.a.apply(V(1), as_cview(one_), V(0), as_view(result_)); });
    else systems_.a.apply_block(as_cview(block), as_view(p_), W);
  }
  /// Z = M Q where M is more than a diagonal.
  void precondition() {
    if (stored()) column_by_column(q_, z_, [&] { systems_.m.apply(as_cview(one_), as_view(result_)); });
  }
  /// Beyond `count_`, and so in `to`, there are zeros.
  template <class F> void column_by_column(const array& from, array& to, F apply) {
    for (int k = 0; k < count_; ++k) {
      s_.sweep(n_, take_column<V>{from.data(), W, k, one_.data()});
      apply();
      s_.sweep(n_, put_column<V>{result_.data(), to.data(), W, k});
    }
  }
  /// From T in Q and the first factor of its Gram matrix.
  void finish() {
    run_.template turn_again<after_gram_again<W>>(q_.data(), m_);
    run_.turn(q_.data(), directions_.data(), m_);
  }

  S& s_;
  const linear_system<V>& systems_;
  int count_;
  index_t n_;
  P run_;
  array x_, q_, p_, directions_, z_, one_, result_;
  preconditioned<V> m_;
  column_numbers of_;
  ritz_blocks<W> ritz_;
};

} // namespace furrow::block_cg
