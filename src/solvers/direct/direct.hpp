// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "messages.hpp"

#include "solvers/iteration.hpp"

namespace furrow {

namespace direct_steps {

/// x += z.
template <class V> struct correct {
  FURROW_HD void load() {}
  FURROW_HD void operator()(V& x, V z, sums<0>) const { x = x + z; }
  FURROW_HD void operator()(V& x, V r, V d, sums<0>) const { x = x + d * r; }
};

enum verdict : int { idle = control::own_verdict };

/// Ends the loop after `patience` steps in a row that made no residual smaller than all before.
struct judge {
  double* s;
  double patience;
  FURROW_HD int before() const { return control::running; }
  FURROW_HD int after() const { return s[control::since_best] >= patience ? int(idle) : int(control::running); }
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
/// where the second part is what rounding does to r and to b. The loop stops when the residual no longer falls.
/// Cost of a correction: M, a product, and passes over 8 vectors (7 and 6 where M is a diagonal and the identity).
/// Goal, verdicts and what comes back: `iteration`.
template <vector_space S> class refinement {
  using V = value_of<S>;
  using kind = typename any_preconditioner<V>::kind;

public:
  refinement(S& space, const linear_system<V>& system, const solve_options& options)
      : s_(space), system_(system), n_(system.b.size), what_(system.m.what()), known_(system.m.condition()),
        it_(space, system, options, 0), z_(space.make(what_ == kind::general ? n_ : 0)) {}

  solve_report run() {
    const direct_steps::judge judge{it_.slots(), corrections() == 2 ? 2.0 : 10.0};
    solve_report report = it_.run([] {}, [this] { step(); }, judge, direct_messages::explain);
    report.bytes_per_iteration = corrections() * bytes_per_correction();
    if (known_.norm_1 > 0) {
      report.condition_estimate = known_.norm_1;
      if (report.why == status::converged && report.iterations > 0) {
        report.error_estimate = error_estimate();
        report.warning = direct_messages::warning(report.error_estimate, known_.norm_1);
      }
    }
    return report;
  }

private:
  int corrections() const { return known_.norm_1 > 0 ? 2 : 1; }

  void step() {
    for (int k = 0; k < corrections(); ++k) {
      move_x();
      s_.copy(system_.b, it_.r());
      system_.a.apply(V(-1), system_.x, V(1), it_.r());
    }
    s_.dot(it_.r(), it_.r(), it_.at(control::rr));
  }

  void move_x() {
    using direct_steps::correct;
    const auto x = both(system_.x);
    const auto r = in(it_.r());
    if (what_ == kind::diagonal) return s_.sweep(n_, pass(correct<V>{}, x, r, in(system_.m.diagonal())));
    if (what_ == kind::identity) return s_.sweep(n_, pass(correct<V>{}, x, r));
    system_.m.apply(it_.r(), as_view(z_));
    s_.sweep(n_, pass(correct<V>{}, x, in(as_view(z_))));
  }

  double bytes_per_correction() const {
    const double vector = double(n_) * sizeof(V);
    const int vectors = what_ == kind::general ? 8 : what_ == kind::diagonal ? 7 : 6;
    return system_.a.bytes_per_apply() + (what_ == kind::general ? system_.m.stored_bytes() : 0) + vectors * vector;
  }

  double error_estimate() {
    const double size = largest(system_.x), unit = std::numeric_limits<V>::epsilon() / 2;
    return (size > 0 ? largest(as_view(z_)) / size : 0) + unit * known_.skeel;
  }
  double largest(cview<V> v) {
    auto copy = s_.make(n_);
    s_.copy(v, as_view(copy));
    double most = 0;
    for (const V e : host_array<V>(copy)) most = std::max(most, std::abs(double(e)));
    return most;
  }

  S& s_;
  const linear_system<V>& system_;
  index_t n_;
  kind what_;
  condition_numbers known_;
  iteration<S> it_;
  decltype(s_.make(0)) z_;
};

struct direct_method {
  static constexpr std::string_view name = "direct";
  template <vector_space S>
  static solve_report run(S& space, const linear_system<value_of<S>>& system, const solve_options& options) {
    return refinement<S>(space, system, options).run();
  }
};

} // namespace furrow
