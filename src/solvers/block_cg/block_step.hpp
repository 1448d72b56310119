// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "passes.hpp"
#include "ritz.hpp"

#include "solvers/control.hpp"
#include "solvers/entry.hpp"

#include <limits>

namespace furrow::block_cg {

/// What a step can end with beside the verdicts of `control`.
enum verdict : int { negative_pivot = control::own_verdict, zero_pivot };

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
/// stored M; 14 W^2 n operations.
/// A. A. Dubrulle, Retooling the method of block conjugate gradients, 2001, with the M of D. P. O'Leary, The block
/// conjugate gradient algorithm and related methods, 1980.
template <class V, int W> class block_step {
public:
  static double bytes(index_t n, bool stored) { return double(sizeof(V)) * double(n) * W * (stored ? 5 : 4); }

  /// `systems`: b and x hold columns of n elements, of which `numbers` are taken.
  block_step(const linear_system<V>& systems, const std::vector<index_t>& numbers)
      : systems_(systems), numbers_(numbers), n_(systems.a.shape().rows), run_(n_), x_(n_ * W), q_(n_ * W), p_(n_ * W),
        s_(n_ * W), z_(stored() ? n_ * W : 0), m_{systems.m.diagonal(), stored() ? z_.data() : nullptr} {}

  /// Q = B - A X, and the norms of its columns.
  std::vector<double> load() {
    each_row([&](index_t i) {
      for (int k = 0; k < W; ++k) x_[i * W + k] = k < count() ? systems_.x[numbers_[k] * n_ + i] : V(0);
    });
    systems_.a.apply_block(as_cview(x_), as_view(p_), W);
    each_row([&](index_t i) {
      for (int k = 0; k < W; ++k) q_[i * W + k] = k < count() ? systems_.b[numbers_[k] * n_ + i] - p_[i * W + k] : V(0);
    });
    c_ = matrix::identity();
    return norms(run_.gram(q_.data(), q_.data()));
  }
  /// The first directions, from Q as `load` left it: its columns are made equally long before they are compared.
  void start(const std::vector<double>& lengths) {
    matrix to_unit;
    c_ = {};
    for (int k = 0; k < count(); ++k) c_[k][k] = lengths[k], to_unit[k][k] = 1 / lengths[k];
    each_row([&](index_t i) {
      for (int k = 0; k < W; ++k)
        q_[i * W + k] = static_cast<V>(double(q_[i * W + k]) * to_unit[k][k]), s_[i * W + k] = 0;
    });
    precondition();
    norms_in_m_ = x_in_m_ = {};
    ritz_ = {};
    squares_of_x_.assign(numbers_.size(), 0);
    turn(gram_in_m(), true);
  }
  /// One step: X, and the norms of the residuals.
  int step(std::vector<double>& residuals) {
    systems_.a.apply_block(as_cview(s_), as_view(p_), W);
    const matrix d = run_.gram(s_.data(), p_.data());
    if (!d.finite()) return control::not_finite;
    const auto inverse = invert(d, rank_, 8 * W * std::numeric_limits<double>::epsilon());
    if (!inverse.found) return judge(inverse);
    const matrix move = inverse.value * c_;
    follow_x(move);
    ritz_.add(d, inverse.value, beta_, rank_);
    last_ = run_.shrink(q_.data(), p_.data(), inverse.value, x_.data(), s_.data(), move, m_);
    residuals = norms(last_.h);
    return control::running;
  }
  /// The next directions.
  bool advance() {
    precondition();
    return turn(m_.stored ? gram_in_m() : last_.g, false);
  }
  /// Column k of the block is small enough.
  void leave(int k) {
    for (int i = 0; i < W; ++i) c_[i][k] = 0;
  }
  /// X goes to where it came from.
  void store() {
    each_row([&](index_t i) {
      for (int k = 0; k < count(); ++k) systems_.x[numbers_[k] * n_ + i] = x_[i * W + k];
    });
  }

  typename ritz_blocks<W>::extremes ritz_values() const { return ritz_.eigenvalues(); }
  /// r'M r over (x - x0)'M^-1 (x - x0) of column k, for the r that the step before the last one left.
  double ratio_in_m(int k) const {
    double squares = 0;
    for (int i = 0; i < W; ++i) squares += c_[i][k] * c_[i][k];
    return squares_of_x_[k] > 0 ? squares / squares_of_x_[k] : 0;
  }
  double pivot() const { return pivot_; }
  double bytes_per_step() const {
    const double blocks = 2 + 2 + 6 + 4 + (stored() ? 6 : 0);
    return systems_.a.stored_bytes() + blocks * double(sizeof(V)) * double(n_) * W +
           (stored() ? count() * systems_.m.stored_bytes() : double(sizeof(V)) * 2.0 * double(m_.diagonal.size));
  }

private:
  using matrix = square<W>;
  using kind = typename any_preconditioner<V>::kind;
  static constexpr double unit = std::numeric_limits<V>::epsilon() / 2;
  /// Of a pivot beside the largest one: T is known to some units of its largest column.
  static constexpr double nothing = std::max(1e-14, 256 * unit * unit);

  bool stored() const { return systems_.m.what() == kind::general; }
  int count() const { return static_cast<int>(numbers_.size()); }
  template <class F> void each_row(F f) {
    cpu::for_each_range(n_, rows_of_task, [&](index_t first, index_t last) {
      for (index_t i = first; i < last; ++i) f(i);
    });
  }
  /// T'M T of the T in Q.
  matrix gram_in_m() { return run_.gram(q_.data(), m_.stored ? m_.stored : q_.data(), m_.diagonal); }
  /// |T C| of every column, from T'T.
  std::vector<double> norms(const matrix& h) const {
    std::vector<double> all(numbers_.size());
    for (int k = 0; k < count(); ++k) all[k] = std::sqrt(std::max(h.form(c_, k), 0.0)); // NaN stays
    return all;
  }
  /// Z = M Q where M is more than a diagonal, column by column.
  void precondition() {
    if (!stored()) return;
    host_array<V> one(n_), result(n_);
    for (int k = 0; k < W; ++k) {
      each_row([&](index_t i) { one[i] = q_[i * W + k]; });
      if (k < std::max(rank_, count())) systems_.m.apply(as_cview(one), as_view(result));
      else std::fill(result.begin(), result.end(), V(0));
      each_row([&](index_t i) { z_[i * W + k] = result[i]; });
    }
  }
  /// From T in Q and its Gram matrix. False where nothing of T is left.
  bool turn(const matrix& g, bool twice) {
    auto once = orthonormalise(g, nothing);
    matrix factor = once.factor, inverse = once.inverse;
    rank_ = once.rank;
    if (twice || once.least < 1e-4) { // Q'M Q - I is of the size of u / least
      run_.turn(q_.data(), inverse, m_);
      const auto again = orthonormalise(gram_in_m(), nothing);
      factor = again.factor * factor, inverse = again.inverse;
      rank_ = again.rank;
    }
    c_ = factor * c_;
    beta_ = factor.transposed();
    run_.turn(q_.data(), inverse, m_, s_.data(), beta_);
    norms_in_m_ = factor * norms_in_m_ * beta_; // M Q is orthogonal to S and to X - X0 in M^-1
    x_in_m_ = x_in_m_ * beta_;
    for (int k = 0; k < rank_; ++k) norms_in_m_[k][k] += 1;
    return rank_ > 0 && c_.finite();
  }
  /// The squares of the columns of X - X0 in M^-1, as T. Steihaug has them for one column (1983).
  void follow_x(const matrix& move) {
    const matrix by_x = x_in_m_ * move;
    for (int k = 0; k < count(); ++k) squares_of_x_[k] += 2 * by_x[k][k] + norms_in_m_.form(move, k);
    x_in_m_ = x_in_m_ + move.transposed() * norms_in_m_;
  }
  /// As the judge of cg has it: v'D v is negative beyond the rounding of v'S'A S v, or zero within it.
  int judge(const inverse_of_definite<W>& stopped) {
    const double length = double(systems_.longest_row);
    const double rounding = (length + 64) * unit * (m_.diagonal.empty() ? systems_.norm_inf : length);
    const matrix size = stored() ? run_.gram(s_.data(), s_.data()) : norms_in_m_;
    matrix v;
    for (int i = 0; i < W; ++i) v[i][0] = stopped.v[i];
    pivot_ = stopped.pivot;
    return pivot_ < -rounding * size.form(v, 0) ? int(negative_pivot) : int(zero_pivot);
  }

  const linear_system<V>& systems_;
  const std::vector<index_t>& numbers_;
  index_t n_;
  passes<V, W> run_;
  host_array<V> x_, q_, p_, s_, z_;
  preconditioned<V> m_;
  matrix c_, beta_, norms_in_m_, x_in_m_; ///< the last two: S'M^-1 S and (X - X0)'M^-1 S
  std::vector<double> squares_of_x_;      ///< of X - X0 in M^-1
  ritz_blocks<W> ritz_;
  typename passes<V, W>::grams last_;
  int rank_ = 0;
  double pivot_ = 0;
};

} // namespace furrow::block_cg
