// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "indefinite.hpp"
#include "judge.hpp"
#include "messages.hpp"
#include "ritz.hpp"
#include "steps.hpp"

#include "solvers/method.hpp"

namespace furrow {

/// Preconditioned conjugate gradients: A x = b for symmetric positive definite A and M, written once for every space.
///
///   q = A p;  alpha = r'z / p'q;  x += alpha p;  r -= alpha q;  z = M r;  beta = r'z / (r'z)_old;  p = z + beta p
///
/// `a` and `m` act in the space's memory; system.b and system.x are views of it and must not overlap. x holds the first
/// guess. Allocates p, q, and z where M is neither the identity nor a diagonal, beside what `iteration` takes.
/// Cost of an iteration: one product with A fused with p'q, and two passes: r (3 vectors) and x, p (5 vectors); a
/// diagonal M adds one vector to each. Scalars stay beside the vectors; the host waits once a chunk of iterations.
/// Stops as `status` says; verdicts, starting again and what comes back: `iteration`.
/// The report estimates the condition of M A from the Ritz values, and from them the error of x, as |x - A^-1 b| / |x|
/// in the norm of M^-1 (where the first guess is 0). The same bits on every run with the same build and device. M. R.
/// Hestenes, E. Stiefel, Methods of conjugate gradients for solving linear systems, 1952; the fused passes as in Y.
/// Saad, Iterative Methods for Sparse Linear Systems, 2nd ed., algorithm 9.1.
template <vector_space S> class conjugate_gradients : protected method<S> {
protected:
  using base = method<S>;
  using base::s_, base::a_, base::m_, base::x_, base::n_, base::it_, base::at, base::stored, base::diagonal;
  using typename base::V;

public:
  conjugate_gradients(S& space, const linear_system<V>& system, const solve_options& options)
      : base(space, system, options, cg_scalars::slot_count, cg_scalars::number_count), p_(base::make()),
        q_(base::make()), z_(base::make(stored())) {}

  solve_report run() { return run_as(*this); }

  /// p = z = M r and the scalars that go with it.
  void start() {
    using namespace cg_scalars;
    ritz_.start_again();
    const auto p = out(as_view(p_));
    const auto r = in(it_.r());
    if (stored()) {
      m_.apply(it_.r(), as_view(z_));
      s_.sweep(n_, pass(cg_steps::begin_stored<V>{}, p, r, in(as_view(z_))), at(rz), at(pp));
    } else if (diagonal()) s_.sweep(n_, pass(cg_steps::begin<V>{}, p, r, in(m_.diagonal())), at(rz));
    else s_.sweep(n_, pass(cg_steps::begin<V>{}, p, r), at(rz));
    s_.scalars(reset{it_.slots()});
  }

  /// One iteration, enqueued.
  void step() {
    using namespace cg_scalars;
    using cg_steps::advance;
    using cg_steps::shrink;
    const guarded_quotient alpha{at(rz), at(pq)}, beta{at(rz_next), at(rz)};
    const auto x = both(x_), p = both(as_view(p_)), r = both(it_.r());
    const auto q = in(as_view(q_)), z = in(stored() ? as_view(z_) : it_.r());
    a_.apply_dot(as_view(p_), as_view(q_), at(pq)); // q = A p,  p'q
    if (stored()) {
      s_.sweep(n_, pass(cg_steps::shrink_alone<V>{alpha}, r, q), at(control::rr)); // r -= alpha q,  r'r
      m_.apply(it_.r(), as_view(z_));                                              // z = M r
      s_.dot(it_.r(), as_view(z_), at(rz_next));                                   // r'z
      s_.sweep(n_, pass(cg_steps::advance_stored<V>{alpha, beta}, x, p, z),
               at(pp_next)); // x += alpha p, p = z + beta p
    } else if (diagonal()) {
      const auto d = in(m_.diagonal());
      s_.sweep(n_, pass(shrink<V>{alpha}, r, q, d), at(control::rr), at(rz_next)); // r -= alpha q,  r'r,  r'z
      s_.sweep(n_, pass(advance<V>{alpha, beta}, x, p, z, d));                     // x += alpha p,  p = d r + beta p
    } else {
      s_.sweep(n_, pass(shrink<V>{alpha}, r, q), at(control::rr), at(rz_next));
      s_.sweep(n_, pass(advance<V>{alpha, beta}, x, p, z));
    }
  }

  void look(const control::step_records& records, index_t first, index_t last) {
    for (index_t i = first; i <= last; ++i) {
      const double* const of_step = records.of(i);
      const double alpha = of_step[cg_scalars::alpha];
      if (alpha > 0) ritz_.add(alpha, of_step[cg_scalars::beta]);
    }
  }

  cg_scalars::judge judge() {
    return {it_.slots(), it_.records(), rounding(), std::numeric_limits<V>::epsilon() / 2, stored()};
  }
  std::optional<ending> explain(int verdict, const double* slots, bool patient) {
    return cg_messages::explain(verdict, slots, patient, [&] {
      return cg_scalars::is_indefinite(s_, base::system_, judge(), slots, as_view(q_), as_view(p_), at(cg_scalars::pq));
    });
  }

  /// What the passes of an iteration must move.
  double bytes_per_iteration() const {
    if (stored()) return a_.bytes_per_apply() + m_.stored_bytes() + base::vectors(3 + 2 + 2 + 5);
    return a_.bytes_per_apply() + base::vectors(diagonal() ? 4 + 6 : 3 + 5);
  }

protected:
  /// `self`: this one, or a method that makes its steps otherwise.
  template <class Self> solve_report run_as(Self& self) {
    solve_report report = base::run_iteration(self);
    if (report.iterations > 1) estimate(report);
    return report;
  }

  typename base::array p_;

private:
  /// From the extreme Ritz values of M A: its condition, and |x - A^-1 b| <= |r|_M / smallest in the norm of M^-1,
  /// which the scalars know of x too.
  void estimate(solve_report& report) {
    using namespace cg_scalars;
    const double* const s = it_.last_slots();
    const auto [smallest, largest] = ritz_.eigenvalues();
    if (!(smallest > 0 && s[farthest] > 0 && s[control::rr] > 0)) return;
    report.smallest_ritz = smallest, report.largest_ritz = largest;
    if (report.why != status::converged) return; // of no answer
    report.condition_estimate = largest / smallest;
    const double r_squares = s[rz_next] * (it_.residual() * it_.residual() / s[control::rr]);
    report.error_estimate =
        std::max(report.error_estimate, std::sqrt(r_squares / s[farthest]) / smallest * it_.moved_since_first_guess());
    base::warn(report);
  }

  /// |fl(p'Ap) - p'Ap| <= (row length + log2 n + a few) u |p|'|A||p|, where |p|'|A||p| is at most |A|_inf p'p, and for
  /// M = D^-1 at most (row length) p'D p, for |a_ij|^2 <= a_ii a_jj of a positive definite matrix.
  double rounding() const {
    const double length = double(base::system_.longest_row);
    return (length + 64) * (std::numeric_limits<V>::epsilon() / 2) * (diagonal() ? length : base::system_.norm_inf);
  }

  typename base::array q_, z_;
  ritz_matrix ritz_;
};

struct cg_method {
  static constexpr std::string_view name = "cg";
  template <vector_space S> using solver = conjugate_gradients<S>;
};

} // namespace furrow
