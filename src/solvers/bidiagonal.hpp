// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "bidiagonal_steps.hpp"

#include "core/parameters.hpp"
#include "solvers/method.hpp"

namespace furrow {

namespace bidiagonal_messages {
/// The sentence of the least-squares answer; `ratio`: |A'r| / (|A| |r|), recomputed, which may be small by its goal or
/// up to rounding.
ending least_squares(double ratio, double damping, bool up_to_rounding = false);
/// The end that a verdict means. `patient`: empty for one that starting again may mend.
/// `by_itself`: without M.
std::optional<ending> explain(int verdict, const double* slots, bool patient, double ratio, bool by_itself);
} // namespace bidiagonal_messages

/// What LSQR and LSMR share: the bidiagonalisation of G. Golub and W. Kahan (1965), written once for every space,
///
///   beta u = A M v - alpha u;   alpha v = M'A'u - beta v,   from beta u = b - A x
///
/// for A of any shape, with the verdict of least squares. M is a column scaling, and for a symmetric A any M that is
/// symmetric, so that M' is M. With a damping d the operator is [A; d I] and the right-hand side (b; 0), which takes a
/// vector more: starting again, or from a first guess, then needs no special case.
/// u, v are kept as beta u and alpha v, and M v in the place of v where M is a diagonal: a step is two products, a pass
/// over 3 vectors of the rows, one over 3 of the columns (4 with a diagonal), and what the method does to x. Another M
/// is applied twice. Damping adds 4 vectors of the columns.
template <vector_space S> class bidiagonal : public method<S> {
  using base = method<S>;

protected:
  using base::s_, base::a_, base::m_, base::x_, base::n_, base::it_, base::at, base::plain, base::diagonal,
      base::stored, base::system_;
  using typename base::array;
  using typename base::V;

  bidiagonal(S& space, const linear_system<V>& system, const solve_options& options, int slots, double damping)
      : base(space, system, options, slots), damping_(damping), back_(*system.transposed),
        depth_(8 * double(std::numeric_limits<V>::epsilon())), q_(space.make(rows())), t_(base::make()),
        v_(base::make()), mv_(base::make(stored())), g_(base::make(damped())) {}

  static double damping_of(std::string_view usage, std::string_view parameters) {
    return entry_parameters(usage, parameters).number(0, 0, 0, 1e150);
  }
  /// Beside those of `iteration` and what the method takes.
  static constexpr index_t own_vectors = 4;

  bool damped() const { return damping_ > 0; }
  index_t rows() const { return system_.b.size; }
  /// M v, times alpha.
  view<V> direction() { return as_view(stored() ? mv_ : v_); }

  /// u and v from the residual; slots alpha, beta.
  void begin() {
    using namespace bidiagonal_steps;
    s_.scalars(set{{at(gg), at(alpha)}, {0, 0}});
    if (damped()) s_.sweep(n_, pass(begin_damped<V>{-damping_}, out(as_view(g_)), in(x_)), at(gg));
    s_.scalars(set_beta{it_.slots()});
    s_.sweep(n_, pass(set_zero{}, out(as_view(v_))));
    turn(at(beta));
  }

  /// The next u and v. Slots alpha and beta still are those of the last ones: `advance_norms` carries them on.
  void expand() {
    using namespace bidiagonal_steps;
    const view<V> u = it_.r();
    const auto along = in(direction());
    a_.apply(V(1), direction(), V(0), as_view(q_));
    s_.sweep(rows(), pass(next_u<V>{at(alpha), at(beta)}, both(u), in(as_view(q_))), at(uu), at(qq));
    if (damped()) s_.sweep(n_, pass(next_damped<V>{at(alpha), at(beta), damping_}, both(as_view(g_)), along), at(gg));
    turn(at(new_beta));
  }

  /// |A'r| / (|A| |r|), or with a damping the same of [A; d I], from r() and x; r() is not touched. |A| is the largest
  /// |A w| / |w| that was met, with A'r among the w: it lies along the large columns where sizes of columns differ.
  /// 1 where numbers leave the range on the way, which says nothing about r.
  double normal_residual_of(double norm) {
    using namespace bidiagonal_steps;
    back_.apply(V(1), it_.r(), V(0), as_view(t_));
    if (damped())
      s_.sweep(n_, pass(subtract_damped<V>{damping_ * damping_}, both(as_view(t_)), in(x_)), at(tt), at(xx));
    else s_.dot(as_view(t_), as_view(t_), at(tt));
    const double normal = std::sqrt(s_.read(at(tt)));
    if (damped()) norm = std::hypot(norm, damping_ * std::sqrt(s_.read(at(xx))));
    if (normal == 0 || norm == 0) {
      s_.sweep(n_, pass(sum_sizes{}, in(as_view(t_))), at(tt));
      const bool vanishes = norm > 0 && system_.norm_2 > 0 && system_.norm_2 * norm < least_size;
      return ratio_ = s_.read(at(tt)) == 0 && !vanishes ? 0 : 1; // squares and products that vanish say nothing
    }
    a_.apply(V(1), as_view(t_), V(0), as_view(q_));
    s_.dot(as_view(q_), as_view(q_), at(qq));
    const double product = std::max(std::sqrt(s_.read(at(qq))) / normal, std::sqrt(s_.read(at(largest_product))));
    const double size = std::max(std::hypot(product, damping_), normal / norm);
    const double ratio = normal / (size * norm);
    return ratio_ = std::isfinite(size) && std::isfinite(ratio) ? ratio : 1;
  }
  ending best_fit(double ratio, bool up_to_rounding) const {
    return bidiagonal_messages::least_squares(ratio, damping_, up_to_rounding);
  }
  /// As `bidiagonal_steps::judge` holds it against the recurrence.
  bool tells_of_range(double ratio, const double* home) const {
    return ratio * home[bidiagonal_steps::condition] <= bidiagonal_steps::little_of_range;
  }
  std::optional<ending> explain_verdict(int verdict, const double* slots, bool patient) const {
    return bidiagonal_messages::explain(verdict, slots, patient, ratio_, plain());
  }
  bidiagonal_steps::judge judge_of_steps() { return {it_.slots(), depth_}; }

  double bytes_of_expansion() const {
    return a_.bytes_per_apply() + back_.bytes_per_apply() + (stored() ? 2 * base::bytes_of_precondition() : 0) +
           3 * double(rows()) * sizeof(V) + base::vectors(3 + (diagonal() ? 1 : 0) + (damped() ? 4 : 0));
  }

  solve_report with_condition(solve_report report) {
    using namespace bidiagonal_steps;
    if (report.iterations == 0) return report;
    report.condition_estimate = s_.read(at(condition));
    ++report.waits;
    return report;
  }

private:
  /// A'r of less is zeros whatever r is: its terms lie below the normal numbers of V, beyond what rounding hides.
  static constexpr double least_size =
      double(std::numeric_limits<V>::min()) / double(std::numeric_limits<V>::epsilon());

  /// v = M'(A'u + d g) / size - (size / alpha) v.
  void turn(slot size) {
    using namespace bidiagonal_steps;
    const auto v = both(as_view(v_));
    const next_v<V> next{size, at(alpha), damping_};
    const auto t = in(as_view(t_)), g = in(as_view(g_));
    if (size.at != at(beta).at) s_.scalars(set_new_beta{it_.slots()});
    back_.apply(V(1), it_.r(), V(0), as_view(t_));
    if (diagonal()) {
      const auto d = in(m_.diagonal());
      if (damped()) s_.sweep(n_, pass(next_scaled<V>{next}, v, t, d, g), at(vv));
      else s_.sweep(n_, pass(next_scaled<V>{next}, v, t, d), at(vv));
      return;
    }
    if (stored()) {
      if (damped()) s_.sweep(n_, pass(add_damped<V>{damping_}, both(as_view(t_)), g));
      m_.apply(as_view(t_), as_view(mv_));
      s_.sweep(n_, pass(next, v, in(as_view(mv_))), at(vv));
      m_.apply(as_view(v_), as_view(mv_));
      return;
    }
    if (damped()) s_.sweep(n_, pass(next, v, t, g), at(vv));
    else s_.sweep(n_, pass(next, v, t), at(vv));
  }

  double damping_;
  const any_operator<V>& back_;
  double depth_;
  array q_, t_, v_, mv_, g_;
  double ratio_ = std::numeric_limits<double>::quiet_NaN();
};

} // namespace furrow
