// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "messages.hpp"

#include "preconditioners/lu/condition.hpp"
#include "solvers/method.hpp"

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
/// Cost of a correction: M, a product, and passes over 6 vectors (5 and 4 where M is a diagonal and the identity).
/// Goal, verdicts and what comes back: `iteration`.
template <vector_space S> class refinement : method<S> {
  using base = method<S>;
  using base::s_, base::system_, base::a_, base::m_, base::x_, base::n_, base::it_, base::plain, base::diagonal,
      base::stored;
  using typename base::V;

public:
  refinement(S& space, const linear_system<V>& system, const solve_options& options)
      : base(space, system, options, 0), known_(system.m.condition()), z_(base::make(stored())) {}

  solve_report run() {
    solve_report report = base::run_iteration(*this);
    if (known_.norm_1 > 0) {
      report.condition_estimate = known_.norm_1;
      if (report.why == status::converged && report.iterations > 0) {
        report.error_estimate = error_estimate();
        report.warning = direct_messages::warning(report.error_estimate, known_.norm_1);
      }
    } else if (report.why == status::converged && report.iterations > 0 && inverse() && inverse()->hides_condition()) {
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
  static std::optional<ending> explain(int verdict, const double* slots, bool patient) {
    return direct_messages::explain(verdict, slots, patient);
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

  double error_estimate() {
    const double size = largest(x_), unit = std::numeric_limits<V>::epsilon() / 2;
    const double moved = size > 0 ? largest(as_view(z_)) / size : 0, most = moved + unit * known_.skeel;
    return direct_messages::is_large(most) && size > 0 ? moved + unit * amplification_of(size) : most;
  }
  /// cond(A, x), and cond(A), which is no less, where it cannot be had.
  double amplification_of(double size) const {
    const auto a = inverse() ? a_.to_triplets() : std::nullopt;
    if (!a) return known_.skeel;
    auto copy = s_.make(n_);
    s_.copy(x_, as_view(copy));
    const host_array<V> x(copy);
    host_array<double> d(n_, 0.0);
    for (index_t k = 0; k < a->nnz(); ++k) d[a->row[k]] += std::abs(double(a->val[k]) * double(x[a->col[k]]));
    const double found = inverse()->amplified(d, size);
    return found <= known_.skeel ? found : known_.skeel;
  }
  const lu::amplifies_errors* inverse() const { return dynamic_cast<const lu::amplifies_errors*>(&m_); }
  double largest(cview<V> v) {
    auto copy = s_.make(n_);
    s_.copy(v, as_view(copy));
    double most = 0;
    for (const V e : host_array<V>(copy)) most = std::max(most, std::abs(double(e)));
    return most;
  }

  condition_numbers known_;
  typename base::array z_;
};

struct direct_method {
  static constexpr std::string_view name = "direct";
  template <vector_space S> using solver = refinement<S>;
};

} // namespace furrow
