// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "messages.hpp"

#include "preconditioners/lu/condition.hpp"
#include "preconditioners/lu/factor_size.hpp"
#include "preconditioners/lu/substitution.hpp"
#include "solvers/method.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace furrow {

namespace direct_steps {

/// x += z.
template <class V> struct correct {
  FURROW_HD void load() {}
  FURROW_HD void operator()(V& x, V z, sums<0>) const { x = x + z; }
  FURROW_HD void operator()(V& x, V r, V d, sums<0>) const { x = x + d * r; }
};

/// Of a factorisation, and of any other M.
enum verdict : int { idle = control::own_verdict, idle_without_factors };

/// Ends the loop by `why` after `patience` steps in a row that made no residual smaller than all before.
struct judge {
  double* s;
  double patience;
  int why;
  FURROW_HD int before() const { return control::running; }
  FURROW_HD int after() const { return s[control::since_best] >= patience ? why : int(control::running); }
};

} // namespace direct_steps

/// Iterative refinement around a factorisation, or around any other M that is close to the inverse of A:
///
///   z = M r;  x += z;  r = b - A x
///
/// A step is two such corrections where M is a factorisation, which says so by the condition number that it estimates,
/// and one otherwise. The first one reaches the backward error of the factorisation; the second one makes that error
/// one of rounding, whatever the pivots were (R. D. Skeel, Iterative refinement implies numerical stability for
/// Gaussian elimination, 1980), and its length is the error before it. So
///
///   error_estimate = |z| / |x| + u cond(A),   largest elements, cond(A) = | |A^-1| |A| |_inf
///
/// where the second part is what rounding does to r and to b. Where that is more than 1 %, cond(A, x) = | |A^-1| |A|
/// |x| | / |x| stands for cond(A), which units of the elements of x do not make large (N. J. Higham, Accuracy and
/// Stability of Numerical Algorithms, 2002, 7.2); some six solves. The loop stops when the residual no longer falls.
/// A first guess whose residual is small enough at once may be as far from x as cond(A) is large: factors make a step
/// from it all the same, which is kept where it moves x by more than rounding does and ends within the goal. Likewise
/// one step more is made where |z| alone is more than 1 %. Cost of a correction: M, a product, and passes over 6
/// vectors (5 and 4 where M is a diagonal and the identity). Goal, verdicts and what comes back: `iteration`.
template <vector_space S> class refinement : method<S> {
  using base = method<S>;
  using base::s_, base::system_, base::a_, base::m_, base::x_, base::n_, base::it_, base::plain, base::diagonal,
      base::stored;
  using typename base::V;

public:
  refinement(S& space, const linear_system<V>& system, const solve_options& options)
      : base(space, system, options, 0), o_(options), known_(system.m.condition()), z_(base::make(stored())) {}

  solve_report run() {
    solve_report report = refine();
    const bool in_doubt = report.why == status::stagnated || report.why == status::diverged || !report.warning.empty();
    return in_doubt && inverse() ? by_substitution(std::move(report)) : report;
  }

  solve_report refine() {
    solve_report report = base::run_iteration(*this);
    if (known_.norm_1 > 0) report.condition_estimate = known_.norm_1;
    if (report.why == status::converged && lu::factor_size_of(system_.m).raised > 0)
      report.warning = direct_messages::pivots_were_raised();
    if (report.why != status::converged || !(known_.norm_1 > 0 || inverse())) return report;
    if (report.iterations == 0 && !(largest(x_) > 0)) return report;
    const bool guessed = report.iterations == 0;
    const double moved = guessed ? step_onwards(report) : largest(as_view(z_));
    if (known_.norm_1 > 0) {
      report.error_estimate = error_estimate(moved);
      if (!guessed && ends_early(moved, report.error_estimate))
        report.error_estimate = error_estimate(step_onwards(report));
      report.warning = direct_messages::warning(report.error_estimate, known_.norm_1);
    } else if (inverse() && inverse()->hides_condition()) {
      report.warning = direct_messages::nobody_knows();
    }
    return report;
  }

  void start() {}
  void step() {
    for (int k = 0; k < corrections(); ++k) {
      move_x();
      a_.residual(system_.b, x_, it_.r(), it_.at(control::rr));
    }
  }

  direct_steps::judge judge() {
    using namespace direct_steps;
    if (corrections() == 2) return {it_.slots(), 2, idle};
    return {it_.slots(), 10, idle_without_factors};
  }
  std::optional<ending> explain(int verdict, const double* slots, bool) {
    return direct_messages::explain(verdict, slots, it_.rounding_of_residual());
  }

  double bytes_per_iteration() const {
    const double each = a_.bytes_per_apply() + (stored() ? m_.stored_bytes() : 0);
    return corrections() * (each + base::vectors(stored() ? 6 : diagonal() ? 5 : 4));
  }

private:
  int corrections() const { return known_.norm_1 > 0 ? 2 : 1; }

  void move_x() {
    using direct_steps::correct;
    const auto x = both(x_);
    const auto r = in(it_.r());
    if (diagonal()) return s_.sweep(n_, pass(correct<V>{}, x, r, in(m_.diagonal())));
    if (plain()) return s_.sweep(n_, pass(correct<V>{}, x, r));
    m_.apply(it_.r(), as_view(z_));
    s_.sweep(n_, pass(correct<V>{}, x, in(as_view(z_))));
  }

  /// Whether the last correction went farther than 1 %, and than rounding lets x go: what it left may be much less. Of
  /// a guess of 1e12 beside an x of 1 the first correction leaves 1e-4 of rounding times the condition number.
  bool ends_early(double moved, double estimate) const {
    const double share = moved / largest(x_);
    return direct_messages::is_large(share) && share > 0.5 * estimate;
  }

  /// How far the last correction of one step more went; where x stays, to where it led.
  double step_onwards(solve_report& report) {
    const auto began = std::chrono::steady_clock::now();
    const host_array<V> guess = at_home(x_);
    step();
    const double far = distance_from(guess);
    residual_at_hand<S> now(s_, system_);
    now.look_first();
    const double share = far / std::max(largest(x_), std::numeric_limits<double>::min());
    const bool leads_on = !(share <= unit * known_.skeel) || direct_messages::is_large(share);
    const bool kept = leads_on && now.x_is_finite() && now.norm() <= it_.goal() && now.is_surely_below(it_.goal());
    if (kept) tell_of_step(report, now.norm_of_b() > 0 ? now.norm() / now.norm_of_b() : now.norm());
    else s_.copy(as_cview(typename base::array(guess)), x_);
    report.waits += now.waits() + 3;
    report.solve_seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    if (kept && o_.history) {
      report.history.push_back(report.relative_residual);
      report.history_seconds.push_back(report.solve_seconds);
    }
    return kept ? largest(as_view(z_)) : far;
  }
  double distance_from(const host_array<V>& guess) const {
    const host_array<V> x = at_home(x_);
    double far = 0; // a maximum would lose what is not a number
    for (index_t i = 0; i < n_; ++i)
      if (const double d = std::abs(double(x[i]) - double(guess[i])); !(d <= far)) far = d;
    return far;
  }
  void tell_of_step(solve_report& report, double relative) {
    ++report.iterations;
    report.message = solver_messages::converged({.iterations = report.iterations,
                                                 .relative = relative,
                                                 .first_relative = report.relative_residual,
                                                 .preconditioned = true,
                                                 .single_precision = !is_wide<V>});
    report.relative_residual = relative;
  }

  /// Instead of an x in doubt the one by substitution, where A is a triangle and that one converges: its residual is
  /// one of rounding beside |A| |x|, which beside b it need not be.
  solve_report by_substitution(solve_report first) {
    const auto a = a_.to_triplets();
    const auto m = a ? lu::substitution<V>(*a) : nullptr;
    if (!m) return first;
    const typename base::array before(at_home(x_));
    s_.sweep(n_, pass(set_zero{}, out(x_)));
    const linear_system<V> again{.a = a_,
                                 .m = *m,
                                 .b = system_.b,
                                 .x = x_,
                                 .norm_inf = system_.norm_inf,
                                 .norm_2 = system_.norm_2,
                                 .longest_row = system_.longest_row,
                                 .parameters = system_.parameters,
                                 .inner = system_.inner};
    solve_report other = refinement(s_, again, o_).refine();
    const bool better = other.why == status::converged;
    if (!better) s_.copy(as_cview(before), x_);
    const double seconds = first.solve_seconds + other.solve_seconds;
    const index_t waits = first.waits + other.waits;
    solve_report& taken = better ? other : first;
    taken.solve_seconds = seconds, taken.waits = waits;
    return std::move(taken);
  }

  double error_estimate(double far) {
    const double size = largest(x_), moved = size > 0 ? far / size : 0, most = moved + unit * known_.skeel;
    return direct_messages::is_large(most) && size > 0 ? moved + unit * amplification_of(size) : most;
  }
  /// cond(A, x), and cond(A), which is no less, where it cannot be had: also where rounding of the factors hides it.
  double amplification_of(double size) {
    const auto a = inverse() && !inverse()->is_blurred() ? a_.to_triplets() : std::nullopt;
    if (!a) return known_.skeel;
    const double found = inverse()->amplified(errors_of_rows(*a), size);
    return found <= known_.skeel ? found : known_.skeel;
  }
  /// |A| |x|, and what there is of |r| beyond its rounding, which some rows may keep where these are steep: over u.
  host_array<double> errors_of_rows(const coo<V>& a) {
    a_.residual(system_.b, x_, it_.r(), base::at(control::rr));
    const host_array<V> x = at_home(x_), r = at_home(it_.r());
    host_array<double> d(n_, 0.0);
    for (index_t k = 0; k < a.nnz(); ++k) d[a.row[k]] += std::abs(double(a.val[k]) * double(x[a.col[k]]));
    const double rounding = double(system_.longest_row) + 1;
    for (index_t i = 0; i < n_; ++i) d[i] += std::max(0.0, std::abs(double(r[i])) / unit - rounding * d[i]);
    return d;
  }
  const lu::amplifies_errors* inverse() const { return dynamic_cast<const lu::amplifies_errors*>(&m_); }
  host_array<V> at_home(cview<V> v) const {
    auto copy = s_.make(n_);
    s_.copy(v, as_view(copy));
    return host_array<V>(copy);
  }
  double largest(cview<V> v) const {
    double most = 0;
    for (const V e : at_home(v)) most = std::max(most, std::abs(double(e)));
    return most;
  }

  static constexpr double unit = std::numeric_limits<V>::epsilon() / 2;

  const solve_options& o_;
  condition_numbers known_;
  typename base::array z_;
};

struct direct_method {
  static constexpr std::string_view name = "direct";
  template <vector_space S> using solver = refinement<S>;
};

} // namespace furrow
